"""``fedbounds check FILE.py:bound``: the contract of the catalogue's bounds, held against one of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import isfunction
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp

from bounds.core import Bound
from bounds.quantities import Quantity
from bounds.showing.loading import from_file, run_file
from bounds.showing.tables import to_json
from bounds.showing.terminal import print_lines

from ..claims.checkers.points import points
from ..claims.claim import ClaimError
from . import contract

FINE, FINDING = 0, 1
POINTS, NEAR = 12, 20
"""Generic points that are drawn inside of domain and conditions, and neighbours of each at three distances."""
FEW = 5
"""Points at which units and conditions are looked at, until one shows nothing wrong."""
CLOSE = 1e-6
"""How near a twin must come, relatively: plain loops lose digits where terms cancel."""
CONTRACT_JSON = """\
Of a bound (FILE.py:NAME) the contract is checked: --json prints a list of objects with bound, points (how many were
drawn), checks (by name a list of what is wrong; null: not looked at, as without a twin), rises and falls (quantities in
which it did so at every point), broken (how many are wrong)."""
Point = dict[str, Any]


@dataclass(frozen=True)
class Held:
    """What the contract says of one bound: by check what is wrong, None where there was nothing to look at."""

    bound: Bound
    points: int
    checks: dict[str, list[str] | None]
    tendencies: dict[str, str]

    @property
    def broken(self) -> int:
        return sum(len(found or ()) for found in self.checks.values())

    def as_json(self) -> dict[str, Any]:
        moves = {way: [n for n, found in self.tendencies.items() if found == way] for way in ("rises", "falls")}
        return {"bound": self.bound.name, "points": self.points, "checks": self.checks, **moves, "broken": self.broken}

    def lines(self) -> list[str]:
        told = [f"{self.bound.name}: {self.points} generic points inside of its conditions"]
        for name, found in self.checks.items():
            state = "not looked at" if found is None else "WRONG" if found else "fine"
            told += [f"  {state:<15}{name}", *(f"  {'':15}{words}" for words in found or ())]
        for way in ("rises", "falls"):
            if names := [n for n, found in self.tendencies.items() if found == way]:
                told.append(f"  {way} in {', '.join(names)} at every point")
        told.append("  so much for its form; whether it is true: fedbounds falsify, validate, tightness")
        return told


def bounds_named(names: Sequence[str]) -> dict[str, Bound]:
    """Those of the names that are bounds of files (``file.py:variable``); all of them, or none."""
    found = {}
    for name in (n for n in names if ".py:" in n):
        path, _, variable = name.rpartition(":")
        if isinstance(vars(run_file(Path(path))).get(variable), Bound):
            found[name] = from_file(name, Bound)
    if found and (others := [name for name in names if name not in found]):
        raise ClaimError(f"{next(iter(found))} is a bound and {others[0]} is none: check bounds and claims separately")
    return found


def tell(named: dict[str, Bound], as_json: bool) -> int:
    """Print what the contract says of each; 1 where something is wrong."""
    found = [held(bound, twin_of(name, bound)) for name, bound in named.items()]
    if as_json:
        print(to_json([each.as_json() for each in found]))
    else:
        print_lines(line for each in found for line in each.lines())
    return FINDING if any(each.broken for each in found) else FINE


def twin_of(name: str, bound: Bound) -> Callable[[Any], float] | None:
    """The function of the file that is called as the bound is, or as the last part of its name."""
    module = run_file(Path(name.rpartition(":")[0]))
    found = vars(module).get(bound.name.rpartition(".")[2])
    return found if isfunction(found) else None


def held(bound: Bound, twin: Callable[[Any], float] | None = None) -> Held:
    """Check a bound at generic points of its domain."""
    at, missing = drawn(bound)
    rng = np.random.default_rng(20_409)
    checks: dict[str, list[str] | None] = {
        "its conditions can be met": missing,
        "a theorem says which number of which algorithm's run it bounds": contract.missing_words(bound),
        "no two quantities share a letter": contract.shared_letters(bound),
        "every term carries the unit of the target": None,
        "terms are nonnegative unless signed": None,
        "every numeric condition can fail, and the bound is silent there": None,
        "it equals its twin, the function of its name": None,
    }
    if at:
        with contract.quiet():
            results = (
                _everywhere(contract.wrong_units, bound, at),
                contract.wrong_signs(bound, [_near(bound, point, rng) for point in at]),
                _everywhere(contract.idle_conditions, bound, at),
                contract.unlike_twin(bound, twin, at, CLOSE) if twin is not None else None,
            )
            ways = contract.tendencies(bound, at)
        checks |= dict(zip(list(checks)[3:], results, strict=True))
        return Held(bound, len(at), checks, ways)
    return Held(bound, 0, checks, {})


def _everywhere(check: Callable[[Bound, Point], list[str]], bound: Bound, at: Sequence[Point]) -> list[str]:
    """What is wrong at each of a few points: at a single one a term may vanish, or a condition be far away."""
    found = check(bound, at[0])
    for point in at[1:FEW]:
        found = [words for words in found if words in check(bound, point)] if found else []
    return found


def _near(bound: Bound, point: Point, rng: np.random.Generator) -> Point:
    """A sweep around a point; the point alone where its neighbours are seldom in the domain."""
    try:
        return contract.neighbours(bound, point, NEAR, rng)
    except ClaimError:
        return contract.stack([point])


def drawn(bound: Bound) -> tuple[list[Point], list[str]]:
    """Generic points inside of domain and conditions, and why there is none."""
    given = {q: sp.nsimplify(bound.given[q.name]) for q in bound._all if np.ndim(bound.given.get(q.name, [])) == 0}
    try:
        each = points(bound.spelled_terms.values(), POINTS, bound.relations, given=given)
        found = [{q.name: _plain(q, v) for q, v in point.items() if q not in given} for point in islice(each, POINTS)]
    except ClaimError as error:
        return [], [str(error)]
    wanted = {q.name for q in bound.quantities}
    return [{name: value for name, value in point.items() if name in wanted} for point in found], []


def _plain(q: Quantity, value: Any) -> Any:
    kind = int if q.card.domain.whole else float
    return [kind(x) for x in value] if isinstance(value, tuple) else kind(value)
