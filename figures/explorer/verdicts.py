"""Find the claims of the audit on each bound, with their committed verdicts; nothing is checked here.

The names of the bounds that a check looks up are constants in its fields or in the functions that it is made of. A test
compares the names found here with those that are looked up when the check runs (``fedbounds check``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from importlib.resources import files
from types import CodeType, FunctionType, MethodType
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Claim, Status

JUDGED = re.compile(r"^#### ([\w.]+)\n\n\*\*\w+\*\*(?:, (\w+))? \((\w+)\)", re.MULTILINE)
"""The beginning of a claim in the committed reports: its name, defect and grade."""


def verdict(claim: Claim) -> str:
    """Return the audited verdict, which is REPAIRED for a failing statement that has a repair."""
    return "REPAIRED" if claim.audited is Status.FAILS and claim.repair is not None else str(claim.audited)


@cache
def kinds() -> Mapping[str, str]:
    """Return the defect of each claim, or else the grade of its verdict, from the committed reports."""
    pages = (page for page in files("paper_checks").joinpath("reports").iterdir() if page.name.endswith(".md"))
    rows = [row for page in pages for row in JUDGED.findall(page.read_text(encoding="utf-8"))]
    return {name: defect or grade for name, defect, grade in rows}


def about(claim: Claim) -> set[str]:
    """Return the bounds that the claim names and that its check and its repair's check look up."""
    made_of = [claim.check, *([claim.repair.check, claim.repair.bound] if claim.repair else [])]
    return {*claim.about, *(name for part in made_of for name in names(part))}


def by_bound(wanted: Mapping[str, Bound]) -> dict[str, list[Claim]]:
    """Return the claims about each bound of the catalogue, in the order of the audit."""
    claims: dict[str, list[Claim]] = {name: [] for name in wanted}
    for claim in CLAIMS.values():
        for name in about(claim):
            if name in claims and wanted[name] is BOUNDS.get(name):
                claims[name].append(claim)
    return claims


def names(part: Any) -> set[str]:
    """Return the names of bounds of the catalogue that a check contains."""
    return {item for item in walk(part) if isinstance(item, str) and item in BOUNDS}


def walk(part: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Yield everything that a check is made of: fields, items, arguments and what its functions refer to."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    yield part
    for inner in _parts(part):
        yield from walk(inner, seen)


def _parts(part: Any) -> list[Any]:
    if isinstance(part, type):
        return []
    if is_dataclass(part):
        called = vars(type(part)).get("__call__")
        methods = [called] if isinstance(called, FunctionType) and "checkers" not in called.__module__ else []
        return [*(getattr(part, f.name) for f in fields(part)), *methods]
    if isinstance(part, Mapping):
        return [*part.keys(), *part.values()]
    if isinstance(part, (tuple, list, set, frozenset)):
        return list(part)
    if isinstance(part, partial):
        return [part.func, *part.args, *part.keywords.values()]
    if isinstance(part, MethodType):
        return [part.__func__, part.__self__]
    if isinstance(part, FunctionType):
        return _of_function(part)
    return []


def _of_function(function: Callable[..., Any]) -> list[Any]:
    """Return the constants, defaults, closure cells and globals that a function of the audit refers to."""
    assert isinstance(function, FunctionType)
    if not function.__module__.startswith("paper_checks."):
        return []
    codes = _codes(function.__code__)
    known = (function.__globals__.get(n) for code in codes for n in code.co_names)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    constants = [c for code in codes for c in code.co_consts if isinstance(c, (str, tuple))]
    wrapped = [inner] if (inner := getattr(function, "__wrapped__", None)) else []
    return [*constants, *defaults, *cells, *wrapped, *(g for g in known if g is not None)]


def _codes(code: CodeType) -> list[CodeType]:
    return [code, *(inner for c in code.co_consts if isinstance(c, CodeType) for inner in _codes(c))]
