"""Plant one error at a time in the code that judges, and see whether the tests notice.

    python tests/benchmarks/mutants.py measuring --count 60 --out mutants.csv

Rooms are those of ``ROOMS``. Errors are drawn with ``--seed``; one that is in ``--out`` already is not tried again, so
that a run may be stopped and resumed. Every error is tried in a process of its own, forked once what the tests need of
others is loaded: nothing is written to the source, and a test that starts processes anew does not see the error. An
error is shown to the tests that execute its statement, the quickest first (``touched.py``; learnt once, and kept in
``.benchmarks``), until one fails or they have taken four times the processor time that they take without it. After
tests or code have changed, ``--again`` tries those that were left, and ``--same FILE`` the very errors of an earlier
run, for a comparison of two test suites. Tests marked slow are asked only with ``--slow``.
``MUTANTS.md`` holds what was found, and what is to be said of errors that nobody notices.
"""

from __future__ import annotations

import argparse
import ast
import csv
import importlib
import os
import random
import resource
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import pytest
from touched import Loader, ROOT, Test, Touched

ROOMS = {
    "measuring": ("empirics/measuring", ("tests/empirics/test_measuring*.py", "tests/empirics/test_constants.py",
                  "tests/empirics/test_one_round.py")),
    "exact": ("empirics/exact", ("tests/empirics/test_exact*.py", "tests/paper_checks/test_exact*.py")),
    "runs": ("paper_checks/runs", ("tests/paper_checks/test_words_of_runs.py", "tests/paper_checks/test_exact*.py",
             "tests/paper_checks/test_validation*.py")),
    "validation": ("paper_checks/validation", ("tests/paper_checks/test_validation*.py",
                   "tests/paper_checks/test_exact_validation.py")),
    "checkers": ("paper_checks/claims/checkers", ("tests/paper_checks/test_checkers*.py",)),
    "falsifier": ("paper_checks/falsifier", ("tests/paper_checks/test_falsifier*.py",
                  "tests/paper_checks/test_checkers_more.py", "tests/paper_checks/test_planted_regimes.py")),
    "algorithms": ("empirics/algorithms", ("tests/empirics/test_algorithms*.py", "tests/empirics/test_consensus*.py",
                   "tests/empirics/test_network_methods.py", "tests/empirics/test_engine*.py")),
    "bounds": ("bounds", ("tests/bounds/test_*.py", "tests/test_every_bound.py",
               "tests/test_command*.py", "tests/test_python.py")),
    "empirics": ("empirics", ("tests/empirics/test_*.py",)),
    "paper_checks": ("paper_checks", ("tests/paper_checks/test_*.py",)),
    "figures": ("figures", ("tests/figures/test_*.py",)),
}  # fmt: skip
"""What is attacked, and the tests that should notice."""
LOADED = ("matplotlib", "mpmath", "numpy", "pandas", "pyarrow", "scipy.optimize", "scipy.stats", "sympy", "torch",
          "bounds.catalog", "bounds.points", "bounds.vocabulary")  # fmt: skip
BELOW = ("empirics.experiments.command", "empirics.exact", "empirics.measuring.constants", "empirics.algorithms")
"""What tests need of others: in every room, and in those of ``paper_checks``, on which nothing here depends."""
COLUMNS = ("room", "file", "code", "error", "nth", "line", "outcome", "by")
LEFT = ("survived", "untouched")
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
    """Finds the places where an error can be planted (line and error), and plants the one of number ``wanted``."""

    def __init__(self, wanted: int = -1) -> None:
        self.wanted, self.places = wanted, list[tuple[int, str]]()

    def _here(self, node: Any, old: str, new: str) -> bool:
        self.places.append((node.lineno, f"{old} -> {new}"))
        return len(self.places) - 1 == self.wanted

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


class Error(NamedTuple):
    """One place of a file where an error can be planted; ``code`` is the line that stands there."""

    path: Path
    place: int
    line: int
    said: str
    code: str
    nth: int  # of the places of this file with the same code and error

    @property
    def file(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What names the error still when other lines of the file have changed."""
        return self.file, self.code, self.said, str(self.nth)

    def tree(self) -> ast.Module:
        """The file with the error in it."""
        tree = Planted(self.place).visit(ast.parse(self.path.read_text(encoding="utf-8")))
        return ast.fix_missing_locations(tree)


def errors(folder: Path) -> Iterator[Error]:
    """Every place of every file."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        lines, seen = text.splitlines(), Counter[tuple[str, str]]()
        finder = Planted()
        finder.visit(ast.parse(text))
        for place, (line, said) in enumerate(finder.places):
            code = lines[line - 1].strip()
            seen[code, said] += 1
            yield Error(path, place, line, said, code, seen[code, said])


class Chosen:
    """Runs these tests alone, in this order, and says the first that fails."""

    def __init__(self, names: Sequence[str], told: int) -> None:
        self.order, self.told = {name: k for k, name in enumerate(names)}, told

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            os.write(self.told, report.nodeid.encode())

    pytest_collectreport = pytest_runtest_logreport  # an error on which the file's import ends


def tried(error: Error, tests: Sequence[Test], quick: float) -> tuple[str, str]:
    """What comes of an error, and the test that notices it: quick tests are asked first, the others if those do not."""
    if not tests:
        return "untouched", ""
    for some in ([t for t in tests if t.seconds <= quick], [t for t in tests if t.seconds > quick]):
        outcome, by = _asked(error, some) if some else ("survived", "")
        if outcome != "survived":
            return outcome, by
    return "survived", ""


def _asked(error: Error, tests: Sequence[Test]) -> tuple[str, str]:
    """Plant an error and run the tests in a child, up to the first that fails."""
    files = sorted({test.name.split("::")[0] for test in tests})
    read, write = os.pipe()
    limit = 60 + round(4 * sum(test.seconds for test in tests))
    child = os.fork()
    if child == 0:
        status = 3
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            sys.meta_path.insert(0, Loader({error.path: error.tree()}))
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            chosen = Chosen([test.name for test in tests], write)
            status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *files], plugins=[chosen]))
        finally:
            os._exit(status)
    os.close(write)
    outcome = _ended(child, time.monotonic() + 30 * limit)
    with os.fdopen(read, "rb") as said:
        return outcome, said.read().decode()


def _ended(child: int, latest: float) -> str:
    """What became of the child: it ends by itself, when its processor time is over, or, if it waits, at ``latest``."""
    while time.monotonic() < latest:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
                raise RuntimeError("no test was asked")
            out_of_time = code in (-signal.SIGXCPU, -signal.SIGKILL)
            return "survived" if code == 0 else "killed by the clock" if out_of_time else "killed"
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "killed by the clock"


def _rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in COLUMNS[1:5])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="+", choices=ROOMS, metavar="ROOM", help=", ".join(ROOMS))
    parser.add_argument("--count", type=int, default=40, help="errors per room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    parser.add_argument("--quick", type=float, default=30, help="tests of more seconds are asked after the others")
    parser.add_argument("--slow", action="store_true", help="ask tests marked slow too")
    parser.add_argument("--again", action="store_true", help="no new errors: those of --out that are left, once more")
    parser.add_argument("--same", type=Path, help="the errors of this earlier --out that can still be planted")
    args = parser.parse_args()
    same = None if args.same is None else {_key(row) for row in _rows(args.same)}
    out = args.out.resolve()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    attacked = {ROOMS[room][0].partition("/")[0] for room in args.rooms}
    for name in LOADED + BELOW * (attacked == {"paper_checks"}):
        if name.partition(".")[0] not in attacked:  # what is loaded here no longer takes an error
            importlib.import_module(name)
    if "bounds" not in attacked:
        for name in importlib.import_module("bounds").BOUNDS:  # a paper's formulas are built when first asked for
            importlib.import_module("bounds").BOUNDS[name]
    sys.modules["torch"].set_num_threads(1)
    rows = _rows(out)
    for room in args.rooms:
        folder, patterns = ROOMS[room]
        places = list(errors(ROOT / folder))
        random.Random(args.seed).shuffle(places)
        known = {_key(row): row for row in rows}
        if args.again:
            drawn = [e for e in places if known.get(e.key, {}).get("outcome") in LEFT]
        elif same is not None:
            drawn = [e for e in places if e.key in same and e.key not in known]
        else:
            drawn = [e for e in places[: args.count] if e.key not in known]
        tests = sorted({str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)})
        kept = ROOT / ".benchmarks" / f"touched_{room}{'_slow' * args.slow}.json"
        touched = Touched(ROOT / folder, tests, kept, args.slow)
        print(f"{room}: {len(places)} places, {len(touched.tests)} tests", flush=True)
        first = touched.by(drawn[0].file, drawn[0].line) if drawn else []
        if first and tried(drawn[0]._replace(place=-1), first, args.quick)[0] != "survived":
            raise SystemExit(f"{room}: its tests fail though no error is planted")
        for error in drawn:
            began = time.monotonic()
            outcome, by = tried(error, touched.by(error.file, error.line), args.quick)
            if args.again and outcome not in LEFT:
                outcome = "killed since"
            row = dict(zip(COLUMNS, (room, *error.key, str(error.line), outcome, by), strict=True))
            rows = [old for old in rows if _key(old) != error.key] + [row]
            with out.open("w", newline="", encoding="utf-8") as written:
                writer = csv.DictWriter(written, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            print(f"{time.monotonic() - began:6.1f} s  {outcome:12} {error.file}:{error.line} {error.said}", flush=True)
        own = [row for row in rows if row["room"] == room]
        print(f"{room}: {sum(row['outcome'] not in LEFT for row in own)} of {len(own)} noticed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
