"""Which tests execute which statements of a folder, so that an error planted in one is shown to those tests alone.

Every statement of the folder is given a mark before it. The marks lie in memory that forked processes share, so that
what they execute counts too; a process started anew is not seen. What a file executes as it is collected counts for all
its tests. A declaration is shown to the tests that execute other statements of its file: one that other files read
alone may seem to go unnoticed.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib.abc
import importlib.util
import json
import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
MARKS = "__touched__"


class Statement(NamedTuple):
    """One statement: its file, its first and last line, and whether it is executed as the file is imported."""

    file: str
    first: int
    last: int
    imported: bool


class Test(NamedTuple):
    """One test: its name, the processor time it took, and the numbers of the statements executed in it."""

    name: str
    seconds: float
    touched: frozenset[int]


class Loader(importlib.abc.MetaPathFinder, importlib.abc.SourceLoader):
    """Gives some files' modules from changed trees in place of what lies on disk."""

    def __init__(self, trees: Mapping[Path, ast.Module]) -> None:
        self.trees = {str(path): tree for path, tree in trees.items()}
        self.paths = {
            ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in trees
        }

    def find_spec(self, name: str, path: Any, target: ModuleType | None = None) -> Any:
        if name not in self.paths:
            return None
        found = self.paths[name]
        package = [str(found.parent)] if found.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, found, loader=self, submodule_search_locations=package)

    def get_filename(self, fullname: str) -> str:
        return str(self.paths[fullname])

    def get_data(self, path: str) -> bytes:
        return Path(path).read_bytes()

    def path_stats(self, path: str) -> Any:
        raise OSError  # no bytecode of the true file

    def source_to_code(self, data: Any, path: Any, **_: Any) -> CodeType:
        return compile(self.trees[str(path)], str(path), "exec", dont_inherit=True)


class Marked(ast.NodeTransformer):
    """Puts a mark before every statement of a file; the numbers of its statements go on from those of other files."""

    def __init__(self, file: str, statements: list[Statement]) -> None:
        self.file, self.statements, self.depth = file, statements, 0

    def generic_visit(self, node: Any) -> Any:
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        self.depth += inside
        for field in ("body", "orelse", "finalbody"):
            part = getattr(node, field, None)
            if isinstance(part, list):
                setattr(node, field, [new for statement in part for new in self._both(statement)])
        for handler in getattr(node, "handlers", ()):
            self.generic_visit(handler)
        for case in getattr(node, "cases", ()):
            self.generic_visit(case)
        self.depth -= inside
        return node

    def _both(self, statement: Any) -> Iterator[ast.stmt]:
        first = min((statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))))
        number = len(self.statements)
        self.statements.append(Statement(self.file, first, statement.end_lineno, not self.depth))
        bare = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not (bare or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")):
            mark = ast.parse(f"{MARKS}[{number}] = 1").body[0]
            for node in ast.walk(mark):
                ast.copy_location(node, statement)
            yield mark
        yield self.generic_visit(statement)


class Recorder:
    """What every test of a run executes, what all rest on as they are collected, and which tests fail."""

    def __init__(self, marks: mmap.mmap) -> None:
        self.marks, self.collected, self.found, self.failed = marks, [], [], []

    def pytest_collection_finish(self) -> None:
        self.collected = self._marked()

    def _marked(self) -> list[int]:
        return [n for n, mark in enumerate(self.marks[:]) if mark]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any, nextitem: Any) -> Any:
        self.marks[:] = bytes(len(self.marks))
        began = process_time()
        done = yield
        self.found.append((item.nodeid, process_time() - began, self._marked()))
        return done

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


class Touched:
    """The tests of some files, and which of them execute what of a folder; kept from one run to the next."""

    def __init__(self, folder: Path, files: Sequence[str], kept: Path, slow: bool) -> None:
        self.statements: list[Statement] = []
        trees = {}
        sources = hashlib.sha256(sys.version.encode() + Path(__file__).read_bytes())
        for path in sorted(folder.rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            sources.update(text.encode())
            trees[path] = Marked(str(path.relative_to(ROOT)), self.statements).generic_visit(ast.parse(text))
        known = json.loads(kept.read_text()) if kept.exists() else {}
        self.tests: list[Test] = []
        for file in files:
            key = hashlib.sha256(sources.digest() + (ROOT / file).read_bytes()).hexdigest()
            if known.get(file, {}).get("key") != key:
                known[file] = {"key": key} | _recorded(trees, len(self.statements), file, slow)
                kept.parent.mkdir(exist_ok=True)
                kept.write_text(json.dumps(known))
                print(f"{file}: {len(known[file]['found'])} tests seen", *known[file]["failed"], flush=True)
            failed, all_rest_on = set(known[file]["failed"]), known[file]["collected"]
            self.tests += [
                Test(n, s, frozenset((*t, *all_rest_on))) for n, s, t in known[file]["found"] if n not in failed
            ]

    def by(self, file: str, line: int) -> list[Test]:
        """The tests that execute what stands there, the quickest first; of a declaration, those that use its file."""
        here = [(s.last - s.first, n) for n, s in enumerate(self.statements) if s.file == file]
        own = {n for _, n in here}
        _, number = min((size, n) for size, n in here if self.statements[n].first <= line <= self.statements[n].last)
        if self.statements[number].imported:
            used = {n for n in own if not self.statements[n].imported}
            found = [t for t in self.tests if t.touched & used] or self.tests
        else:
            found = [t for t in self.tests if number in t.touched]
        return sorted(found, key=lambda test: test.seconds)


def _recorded(trees: Mapping[Path, ast.Module], count: int, file: str, slow: bool) -> dict[str, Any]:
    """Run one file's tests in a child, those marked slow only if asked for."""
    marks = mmap.mmap(-1, max(count, 1))
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            setattr(builtins, MARKS, marks)
            sys.meta_path.insert(0, Loader(trees))
            recorder = Recorder(marks)
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            chosen = [] if slow else ["-m", "not slow"]
            pytest.main(["-q", "-p", "no:cacheprovider", *chosen, file], plugins=[recorder])
            with os.fdopen(write, "w") as out:
                json.dump({name: getattr(recorder, name) for name in ("collected", "found", "failed")}, out)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as said:
        text = said.read()
    os.waitpid(child, 0)
    return json.loads(text)
