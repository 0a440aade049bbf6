"""Plant one error at a time in the code that judges, and see whether the tests notice.

    python tests/benchmarks/mutants.py measuring --count 60 --out mutants.csv

Rooms are those of ``ROOMS``. Errors are drawn with ``--seed``; one that is in ``--out`` already is not tried again, so
that a run may be stopped and resumed. Every error is tried in a process of its own, forked once what the tests need of
others is loaded: nothing is written to the source, and a test that starts processes of its own does not see the error.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib.abc
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "measuring": ("empirics/measuring", ("tests/empirics/test_measuring*.py", "tests/empirics/test_constants.py",
                  "tests/empirics/test_estimates.py", "tests/empirics/test_one_round.py")),
    "exact": ("empirics/exact", ("tests/empirics/test_exact*.py", "tests/paper_checks/test_exact*.py")),
    "runs": ("paper_checks/runs", ("tests/paper_checks/test_words_of_runs.py", "tests/paper_checks/test_exact*.py",
             "tests/paper_checks/test_validation*.py")),
    "validation": ("paper_checks/validation", ("tests/paper_checks/test_validation*.py",
                   "tests/paper_checks/test_gaussian_mean.py", "tests/paper_checks/test_exact_validation.py")),
    "checkers": ("paper_checks/claims/checkers", ("tests/paper_checks/test_checkers*.py",)),
    "falsifier": ("paper_checks/falsifier", ("tests/paper_checks/test_falsifier*.py",
                  "tests/paper_checks/test_checkers_instances.py")),
    "algorithms": ("empirics/algorithms", ("tests/empirics/test_algorithms*.py", "tests/empirics/test_consensus*.py",
                   "tests/empirics/test_fed*.py", "tests/empirics/test_contrast.py", "tests/empirics/test_virtual.py",
                   "tests/empirics/test_network_methods.py", "tests/empirics/test_engine*.py")),
}  # fmt: skip
"""What is attacked, and the tests that should notice."""
LOADED = ("matplotlib", "mpmath", "numpy", "pandas", "pyarrow", "scipy.optimize", "scipy.stats", "sympy", "torch")
COLUMNS = ("file", "line", "error", "outcome", "seconds")
OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.FloorDiv: (ast.Div,), ast.MatMult: (ast.Mult,), ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,),
    ast.And: (ast.Or,), ast.Or: (ast.And,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.BitOr: (ast.BitAnd,), ast.BitAnd: (ast.BitOr,),
}  # fmt: skip
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sum": "max", "mean": "sum", "ceil": "floor",
         "floor": "ceil", "argmin": "argmax", "argmax": "argmin", "fmin": "fmax", "fmax": "fmin"}  # fmt: skip


class Planted(ast.NodeTransformer):
    """Counts the places where an error can be planted, and plants the one of number ``wanted``."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.places, self.line, self.said = wanted, 0, 0, ""

    def _here(self, node: Any, old: str, new: str) -> bool:
        self.places += 1
        if self.places - 1 != self.wanted:
            return False
        self.line, self.said = node.lineno, f"{old} -> {new}"
        return True

    def _swapped(self, node: Any, operator: Any) -> Any:
        for other in OPERATORS.get(type(operator), ()):
            if self._here(node, type(operator).__name__, other.__name__):
                return other()
        return operator

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if not (_is_text(node.left) or _is_text(node.right)):
            node.op = self._swapped(node, node.op)
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        node.op = self._swapped(node, node.op)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        node.ops = [self._swapped(node, op) for op in node.ops]
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not | ast.USub) and self._here(node, type(node.op).__name__, "left out"):
            return node.operand
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in CALLS and self._here(node, name, CALLS[name]):
            if isinstance(node.func, ast.Name):
                node.func.id = CALLS[name]
            elif isinstance(node.func, ast.Attribute):
                node.func.attr = CALLS[name]
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bool):
            return ast.Constant(not node.value) if self._here(node, str(node.value), str(not node.value)) else node
        if isinstance(node.value, int | float):
            moved = node.value + 1
            return ast.Constant(moved) if self._here(node, str(node.value), str(moved)) else node
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Any:
        return node  # words

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        node.value = self.visit(node.value) if node.value is not None else None
        return node

    def visit_arg(self, node: ast.arg) -> Any:
        return node  # an annotation

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.args, node.body = self.visit(node.args), [self.visit(part) for part in node.body]
        return node  # decorators and what is returned are declarations

    def visit_If(self, node: ast.If) -> Any:
        return node if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


class Loader(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Gives one file's text in place of what lies on disk."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = str(path), source
        self.name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        if name != self.name:
            return None
        package = [str(Path(self.path).parent)] if self.path.endswith("__init__.py") else None
        return importlib.util.spec_from_file_location(name, self.path, loader=self, submodule_search_locations=package)

    def get_filename(self, fullname: str) -> str:
        return self.path

    def get_data(self, path: str) -> bytes:
        return self.source.encode()

    def path_stats(self, path: str) -> Any:
        raise OSError  # no bytecode of the true file


def mutants(folder: Path) -> Iterator[tuple[Path, int]]:
    """Every place of every file."""
    for path in sorted(folder.rglob("*.py")):
        count = Planted()
        count.visit(ast.parse(path.read_text(encoding="utf-8")))
        yield from ((path, place) for place in range(count.places))


def tried(path: Path | None, place: int, tests: Sequence[str], limit: float) -> tuple[str, str, int, float]:
    """Plant one error (or none) and run the tests in a child: what it was, what came of it, its line, the seconds."""
    planted, source = Planted(place), ""
    if path is not None:
        source = ast.unparse(planted.visit(deepcopy(ast.parse(path.read_text(encoding="utf-8")))))
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        status = 3
        try:
            os.setpgid(0, 0)
            if path is not None:
                sys.meta_path.insert(0, Loader(path, source))
            with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
                status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]))
        finally:
            os._exit(status)
    outcome = _ended(child, began + limit)
    return planted.said, outcome, planted.line, time.monotonic() - began


def _ended(child: int, latest: float) -> str:
    while time.monotonic() < latest:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "survived" if os.waitstatus_to_exitcode(status) == 0 else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed by the clock"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", choices=ROOMS, metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--count", type=int, default=40, help="errors per room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    args = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for name in LOADED:
        importlib.import_module(name)
    sys.modules["torch"].set_num_threads(1)
    rows = list(csv.DictReader(args.out.open())) if args.out.exists() else []
    for room in args.rooms:
        folder, patterns = ROOMS[room]
        tests = sorted(str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern))
        _, outcome, _, seconds = tried(None, -1, tests, 1800)
        if outcome != "survived":
            print(f"{room}: its tests fail as it is", file=sys.stderr)
            return 1
        places = list(mutants(ROOT / folder))
        random.Random(args.seed).shuffle(places)
        for path, place in places[: args.count]:
            file, key = str(path.relative_to(ROOT)), place
            planted = Planted(place)
            planted.visit(ast.parse(path.read_text(encoding="utf-8")))
            if any((row["file"], row["line"], row["error"]) == (file, str(planted.line), planted.said) for row in rows):
                continue
            said, outcome, line, took = tried(path, key, tests, 3 * seconds + 60)
            rows.append(dict(zip(COLUMNS, (file, str(line), said, outcome, f"{took:.1f}"), strict=True)))
            with args.out.open("w", newline="", encoding="utf-8") as out:
                writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            print(f"{outcome:20} {file}:{line} {said}", flush=True)
        own = [row for row in rows if row["file"].startswith(folder)]
        print(f"{room}: {sum(r['outcome'] != 'survived' for r in own)} of {len(own)} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
