"""Checks with one planted error each: in the expressions, numbers, words and switches they are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any

import sympy as sp
from sympy.logic.boolalg import Boolean

from paper_checks.claims.checkers import Ordered
from paper_checks.claims.claim import Claim

from .expressions import errors

SEARCH = ("evaluations", "seed", "sigmas", "tolerance", "slack", "where", "under", "within", "squares", "least")
"""Arguments that say how to look, not what is stated."""
WEAKER = ("at_most",)
"""Switches between a statement and a weaker one: what holds may hold either way."""


@dataclass(frozen=True)
class MutantCheck:
    """A claim whose check has one planted error."""

    claim: Claim
    error: str

    @property
    def name(self) -> str:
        return f"{self.claim.name} | {self.error}"


def mutant_checks(claim: Claim) -> Iterator[MutantCheck]:
    """The claim with its check changed in one place."""
    for error, check in _changed(claim.check):
        yield MutantCheck(replace(claim, check=check, repair=None), error)


def _changed(item: Any) -> Iterator[tuple[str, Any]]:
    if not is_dataclass(item) or isinstance(item, type):
        return
    if isinstance(item, Ordered):  # moving a digit keeps most orders; turning a pair round does not
        for pair in item.pairs:
            turned = " < ".join(reversed(pair.split(" < ")))
            pairs = tuple(turned if p == pair else p for p in item.pairs)
            yield f"Ordered.pairs: {pair} turned around", replace(item, pairs=pairs)
        return
    wrong = getattr(item, "wrong", ())
    for field in fields(item):
        if field.name in (*SEARCH, *WEAKER, "wrong"):
            continue
        for error, other in _values(getattr(item, field.name), wrong):
            yield f"{type(item).__name__}.{field.name}: {error}", replace(item, **{field.name: other})


def _values(value: Any, wrong: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The value with one error in it, by its sort; entries that are audited as ``wrong`` cannot become wronger."""
    if isinstance(value, bool):
        yield "turned", not value
    elif isinstance(value, sp.Expr) and not isinstance(value, Boolean) and value.free_symbols:
        yield from _few(errors(value))
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if key in wrong:
                continue
            for error, other in _entry(part):
                yield f"{key}: {error}", {**value, key: other}
    elif is_dataclass(value):
        yield from _changed(value)


def _entry(part: Any) -> Iterator[tuple[str, Any]]:
    """An entry of a mapping: a printed number with its last digit moved, a nested check, an expression."""
    if isinstance(part, str):
        moved = _moved(part)
        if moved is not None:
            yield f"{part} made {moved}", moved
    elif isinstance(part, sp.Expr) and part.free_symbols:
        yield from _few(errors(part))
    elif is_dataclass(part) or isinstance(part, Callable):  # type: ignore[arg-type]
        yield from _changed(part)


def _moved(text: str) -> str | None:
    """A printed number two units of its last digit higher; None where the text is no number."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return str(number + 2 * Decimal(10) ** int(number.as_tuple().exponent))


def _few(found: Iterator[tuple[str, sp.Expr]], most: int = 4) -> Iterator[tuple[str, sp.Expr]]:
    for _, pair in zip(range(most), found, strict=False):
        yield pair
