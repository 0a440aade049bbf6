"""Minimisers of a bound: closed forms derived here, and those that the papers print."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import NoMinimumError
from bounds.numerics.closed import closed_form, Optimum
from bounds.scenario_values import Role, role_of
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.checkers import ArgminIs

from .verdicts import names, walk


class Stated(NamedTuple):
    """A bound of the catalogue that a claim compares with the minimiser of ``of`` over ``over``."""

    of: str
    over: str
    name: str


@cache
def derived(bound: Bound) -> dict[str, Optimum]:
    """Return the closed form of the minimiser over each quantity that a run chooses, if there is one."""
    minimisers: dict[str, Optimum] = {}
    for quantity in bound.quantities:
        if role_of(quantity.name) != Role.DESIGN or bound.relation not in ("<=", "<~"):
            continue
        try:
            minimisers[quantity.name] = closed_form(bound, quantity)
        except NoMinimumError:
            continue
    return minimisers


def stated(bound: Bound) -> dict[str, list[Bound]]:
    """Return the printed minimisers of a bound by quantity, as the claims about them pair them with ``bound``."""
    minimisers: dict[str, list[Bound]] = {}
    if BOUNDS.get(bound.name) is bound:
        for one in _pairs():
            if one.of == bound.name:
                minimisers.setdefault(one.over, []).append(BOUNDS[one.name])
    return minimisers


@cache
def _pairs() -> tuple[Stated, ...]:
    """Return the pairs in the claims (and repairs) that one formula minimises another."""
    parts: list[Any] = [part for claim in CLAIMS.values() for part in (claim.check, claim.repair)]
    checks = [part for part in walk(parts) if isinstance(part, ArgminIs)]
    pairs: Mapping[Stated, None] = {
        Stated(of, check.by.name, name): None
        for check in checks
        for of in sorted(names(check.of))
        for name in sorted(names(check.printed))
        if BOUNDS[name].target == check.by and BOUNDS[name].relation == "="
    }
    return tuple(pairs)
