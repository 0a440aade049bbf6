"""What the audit says of each bound: the claims that look it up, with their audited verdicts; nothing is run here.

A check holds the names of the bounds that it looks up, in its fields or in the functions it is made of. Whoever wants
the verdicts reached anew runs ``fedbounds check``; a test compares the names found here with those a run asks for.
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
"""How the committed report begins on a claim: its name, its verdict, what is wrong, how that was found."""


def verdict(claim: Claim) -> str:
    """The audited verdict as the report words it."""
    return "REPAIRED" if claim.known is Status.FAILS and claim.repair is not None else str(claim.known)


@cache
def kinds() -> Mapping[str, str]:
    """By claim what is wrong with it, or how far its verdict goes, as the committed reports have it."""
    pages = (page for page in files("paper_checks").joinpath("reports").iterdir() if page.name.endswith(".md"))
    told = [row for page in pages for row in JUDGED.findall(page.read_text(encoding="utf-8"))]
    return {name: defect or grade for name, defect, grade in told}


def about(claim: Claim) -> set[str]:
    """The bounds that the claim is about and that its check and its repair's look up."""
    made_of = [claim.check, *([claim.repair.check, claim.repair.bound] if claim.repair else [])]
    return {*claim.about, *(name for part in made_of for name in names(part))}


def by_bound(wanted: Mapping[str, Bound]) -> dict[str, list[Claim]]:
    """The claims about every bound that is in the catalogue under its name, in the order of the audit."""
    found: dict[str, list[Claim]] = {name: [] for name in wanted}
    for claim in CLAIMS.values():
        for name in about(claim):
            if name in found and wanted[name] is BOUNDS.get(name):
                found[name].append(claim)
    return found


def names(part: Any) -> set[str]:
    """The names of bounds of the catalogue that something holds."""
    return {item for item in walk(part) if isinstance(item, str) and item in BOUNDS}


def walk(part: Any, seen: set[int] | None = None) -> Iterator[Any]:
    """Everything that a check is made of: fields, items, arguments and what its functions refer to."""
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
    """Constants, defaults, cells and the globals of this project that the function names."""
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
