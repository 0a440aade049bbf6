"""What it costs to make a bound speak: the least rounds at which any local steps and step size do.

The bound itself is looked at on a grid of plans, with the constants that the scenario puts in and every pair and every
free constant that it allows; the plan that is found is certified by the comparison's own number there.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from bounds.anyway import trivial
from bounds.core import Bound
from bounds.scenario import Scenario
from bounds.stated import FREE, role_of
from bounds.substituting import chosen, pairs, SHARES
from bounds.ties import evaluated

from .bound_advice import BoundAdvice, followed, numbers
from .compare import rows_as_it_is, rows_of
from .compare_rows import Price, RANKED, Row, SILENT, SPEAKS
from .goals import BUDGETS, given, Goal

STEPS = (1, 2, 4, 8, 16, 32, 64)
"""Local steps that are looked at."""
LONGEST = 15
"""Powers of ten of the most rounds."""
COARSE, FINE = 4, 48
"""Rounds looked at for every power of ten, at first and between the two that the price lies between."""
SIZES = np.geomspace(1e-9, 4, 61)
"""Step sizes looked at, times 1/L."""
ZOOM = 15
SHIFTS = 12
"""How often a price is raised by a twentieth until the comparison says that the bound speaks there."""
THIN, LOOKS = 4, 3
"""Of the pairs of dissimilarity constants every so many are looked at first, and how often a search looks closer."""
PAIRED = ("dissimilarity_offset", "dissimilarity_factor")
Array = np.ndarray[Any, Any]


def price(bound: Bound, scenario: Scenario, target: str) -> Price | None:
    """The least rounds, with the cohort as stated or else all clients; None for a bound that says no level here."""
    cohort, clients = (float(scenario[w].value) if w in scenario else math.nan for w in ("cohort", "clients"))
    found = _of_cohort(bound, scenario, target, cohort)
    if (found is None or not math.isfinite(found.rounds)) and clients != cohort:
        everyone = _of_cohort(bound, scenario, target, clients)
        found = everyone if everyone is not None else found
    return found


def _of_cohort(bound: Bound, scenario: Scenario, target: str, cohort: float) -> Price | None:
    plan = ("local_steps", "step_size", *BUDGETS, "cohort", "participation")
    words = {word: scenario[word] for word in scenario if given(scenario, word) and word not in plan}
    base = Scenario.of(words, **scenario.said, also=bound.quantities)
    base = base if math.isnan(cohort) else base.at(cohort=cohort)
    level = trivial(target, base)[1]
    if not math.isfinite(level) or "smoothness" not in base or not _movable(bound, base, target):
        return None
    search = _Search(bound, base, target, level)
    best = Price(math.inf)
    for looked in (STEPS, None):
        for steps in looked or _between(best.local_steps):
            if (found := search.first(steps, best.rounds)) is not None:
                best = _certified(bound, base, target, Price(*found, cohort), best)
    return best


def _between(steps: int) -> list[int]:
    """Numbers of local steps beside the best of those looked at, at most eight."""
    ends = np.linspace(steps / 2, 2 * steps, 10).round().astype(int)[1:-1]
    return [k for k in dict.fromkeys(ends.tolist()) if k >= 1 and k not in STEPS]


def _movable(bound: Bound, base: Scenario, target: str) -> bool:
    """Whether another plan may make it speak: nothing about the federation or the method forbids it."""
    plan = base.at(local_steps=1, step_size=1e-6 / _smoothness(base), rounds=1000)
    row = next(iter(rows_as_it_is(bound, plan, target)), None)
    if row is None or row.state not in (*RANKED, SILENT):
        return False
    return row.state != SILENT or all(not math.isnan(f.left) for f in row.failed)


def _row(bound: Bound, scenario: Scenario, target: str) -> Row | None:
    """What the comparison says of the bound alone, in the class where it says most."""
    rows = rows_of(bound, scenario, target)
    return min(rows, key=lambda row: row.high if row.state in RANKED else math.inf, default=None)


def _certified(bound: Bound, base: Scenario, target: str, found: Price, best: Price) -> Price:
    """The price raised until the comparison itself says that the bound speaks; the best so far if it never does."""
    for shift in range(SHIFTS):
        rounds = math.ceil(found.rounds * 1.05**shift)
        if rounds >= best.rounds:
            return best
        row = _row(bound, base.at(local_steps=found.local_steps, step_size=found.step_size, rounds=rounds), target)
        if row is not None and row.state == SPEAKS:
            return found._replace(rounds=float(rounds))
    return best


def _smoothness(scenario: Scenario) -> float:
    return float(np.max(scenario["smoothness"].safe))


class _Search:
    """One bound in one federation: its number over rounds and step sizes, for so many local steps."""

    def __init__(self, bound: Bound, base: Scenario, target: str, level: float) -> None:
        self.bound, self.base, self.level = bound, base, level
        names = [q.name for q in bound.quantities]
        self.free = [word for word in names if role_of(word) == FREE and word not in base]
        self.paired = [word for word in PAIRED if word in names]
        known = pairs(base) if self.paired else []
        self.pairs = np.array([(pair.offset, pair.factor) for pair in known]).reshape(-1, 2)
        self.advice = BoundAdvice(bound, Goal(base, "rounds", (target, level)))
        self.code = bound.compile()
        self.sizes = SIZES / _smoothness(base)

    def first(self, steps: int, below: float) -> tuple[float, int, float] | None:
        """The least rounds below ``below`` at which it is below the level, with the local steps and the step size."""
        rounds = np.unique(np.rint(np.geomspace(1, 10.0**LONGEST, COARSE * LONGEST + 1)))
        rounds = np.append(rounds[rounds < below], below if math.isfinite(below) else [])
        sizes, best = self.sizes, None
        pairs_, shares = np.arange(0, len(self.pairs), THIN), SHARES[::2]
        for _ in range(LOOKS):
            values = self._values(steps, rounds, sizes, pairs_, shares)
            speaks = values.min((1, 2, 3)) < self.level
            if not speaks.any():
                break
            at = int(speaks.argmax())
            size, pair, share = (int(i) for i in np.unravel_index(values[at].argmin(), values.shape[1:]))
            best = float(rounds[at]), steps, float(self._tied(steps, rounds[at], sizes[size]))
            rounds = np.unique(np.rint(np.geomspace(rounds[max(at - 2, 0)], rounds[at], FINE)))
            sizes = _closer(sizes, size, 3)
            if self.paired:
                middle = int(pairs_[pair])
                pairs_ = np.arange(max(middle - THIN, 0), min(middle + THIN + 1, len(self.pairs)))
            shares = _closer(shares, share, 1) if self.free else shares
        return best

    def _tied(self, steps: int, rounds: Any, sizes: Any) -> Any:
        """The step sizes as a condition in words fixes them, if it does."""
        tied = self.advice.tied
        if tied is None:
            return sizes
        plan = {**numbers(self.base), "local_steps": float(steps), "step_size": sizes, "rounds": rounds}
        return evaluated(tied, followed(plan))

    def _values(self, steps: int, rounds: Array, sizes: Array, paired: Array, shares: Array) -> Array:
        """Its numbers ``(rounds, sizes, pairs, shares)`` in the class of the target; infinite where it is silent."""
        here = self.base.at(local_steps=steps, step_size=float(sizes[0]), rounds=1e6)
        known = {**numbers(here), **chosen(here, self.bound)}
        r, s = rounds[:, None, None, None], sizes[None, :, None, None]
        s = np.asarray(self._tied(steps, r, s), dtype=float)
        known = followed({**known, "local_steps": float(steps), "step_size": s, "rounds": r})
        for word in self.paired:
            known[word] = self.pairs[paired, PAIRED.index(word)][None, None, :, None]
        for word in self.free:
            known[word] = shares[None, None, None, :]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = np.asarray(self.code(**{q.name: known[q.name] for q in self.bound.quantities}), dtype=float)
        found = found * self.advice.factor(steps, s, r)
        found = np.broadcast_to(found, np.broadcast_shapes(found.shape, (len(rounds), len(sizes), 1, 1)))
        return np.where(np.isnan(found), np.inf, found)


def _closer(grid: Array, at: int, away: int) -> Array:
    """Numbers around one of a grid, between those that are so far away in it."""
    return np.geomspace(grid[max(at - away, 0)], grid[min(at + away, len(grid) - 1)], ZOOM)
