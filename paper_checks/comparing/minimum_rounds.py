"""The minimum number of rounds at which any local steps and step size make a bound informative.

The bound is evaluated on a grid of plans, with the constants that the scenario puts in and all pairs of dissimilarity
constants and free constants that it allows; the plan that is found is confirmed by the comparison's own row there.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.anyway import trivial
from bounds.core import Bound
from bounds.scenario import Scenario
from bounds.stated import FREE, role_of
from bounds.substituting import chosen, pairs, SHARES
from bounds.ties import evaluated

from .bound_advice import BoundAdvice, movable, numbers, with_derived
from .bound_rows import federated_rows, rows_of
from .goal import BUDGETS, given, Goal
from .rows import INFORMATIVE, MinimumRounds, RANKED

LOCAL_STEPS = (1, 2, 4, 8, 16, 32, 64)
MOST_ROUNDS = 15
"""As a power of ten."""
COARSE, FINE = 4, 48
"""Numbers of rounds per power of ten at first, and then between two neighbours."""
STEP_SIZES = np.geomspace(1e-9, 4, 61)
"""Times 1/L."""
ZOOM, ZOOMS = 15, 3
THIN = 4
"""Every so many of the pairs of dissimilarity constants are tried at first."""
RAISES = 12
"""How often the result is raised by five percent until the comparison confirms it."""
PAIRED = ("dissimilarity_offset", "dissimilarity_factor")
Array = np.ndarray[Any, Any]


def minimum_rounds(bound: Bound, scenario: Scenario, target: str) -> MinimumRounds | None:
    """The fewest rounds, with the cohort as given or else all clients; None for a bound without a level here."""
    cohort, clients = (float(scenario[w].value) if w in scenario else math.nan for w in ("cohort", "clients"))
    found = _with_cohort(bound, scenario, target, cohort)
    if (found is None or not math.isfinite(found.rounds)) and clients != cohort:
        found = _with_cohort(bound, scenario, target, clients) or found
    return found


def _with_cohort(bound: Bound, scenario: Scenario, target: str, cohort: float) -> MinimumRounds | None:
    plan = ("local_steps", "step_size", *BUDGETS, "cohort", "participation")
    words = {word: scenario[word] for word in scenario if given(scenario, word) and word not in plan}
    base = Scenario.of(words, **scenario.said, also=bound.quantities)
    base = base if math.isnan(cohort) else base.at(cohort=cohort)
    level = trivial(target, base)[1]
    if not math.isfinite(level) or "smoothness" not in base:
        return None
    small = base.at(local_steps=1, step_size=1e-6 / _smoothness(base), rounds=1000)
    if not any(movable(row) for row in federated_rows(bound, small, target)[:1]):
        return None
    search = _Search(bound, base, target, level)
    best = MinimumRounds(math.inf)
    for neighbours in (False, True):
        for steps in _between(best.local_steps) if neighbours else LOCAL_STEPS:
            if (found := search.first(steps, best.rounds)) is not None:
                best = _confirmed(bound, base, target, MinimumRounds(*found, cohort), best)
    return best


def _between(steps: int) -> list[int]:
    """Numbers of local steps around the best of those on the grid, at most eight."""
    around = np.linspace(steps / 2, 2 * steps, 10).round().astype(int)[1:-1]
    return [k for k in dict.fromkeys(around.tolist()) if k >= 1 and k not in LOCAL_STEPS]


def _confirmed(bound: Bound, base: Scenario, target: str, found: MinimumRounds, best: MinimumRounds) -> MinimumRounds:
    """The rounds, raised until the comparison says that the bound is informative; the best so far if it never does."""
    for i in range(RAISES):
        rounds = math.ceil(found.rounds * 1.05**i)
        if rounds >= best.rounds:
            return best
        there = base.at(local_steps=found.local_steps, step_size=found.step_size, rounds=rounds)
        rows = rows_of(bound, there, target)
        row = min(rows, key=lambda row: row.high if row.state in RANKED else math.inf, default=None)
        if row is not None and row.state == INFORMATIVE:
            return replace(found, rounds=float(rounds))
    return best


def _smoothness(scenario: Scenario) -> float:
    return float(np.max(scenario["smoothness"].safe))


class _Search:
    """One bound in one federation: its number over rounds and step sizes, for given local steps."""

    def __init__(self, bound: Bound, base: Scenario, target: str, level: float) -> None:
        self.bound, self.base, self.level = bound, base, level
        names = [q.name for q in bound.quantities]
        self.free = [word for word in names if role_of(word) == FREE and word not in base]
        self.paired = [word for word in PAIRED if word in names]
        known = pairs(base) if self.paired else []
        self.pairs = np.array([(pair.offset, pair.factor) for pair in known]).reshape(-1, 2)
        self.advice = BoundAdvice(bound, Goal(base, "rounds", (target, level)))
        self.code = bound.compile()
        self.sizes = STEP_SIZES / _smoothness(base)

    def first(self, steps: int, below: float) -> tuple[float, int, float] | None:
        """The fewest rounds below ``below`` at which it is below the level, with local steps and step size."""
        rounds = np.unique(np.rint(np.geomspace(1, 10.0**MOST_ROUNDS, COARSE * MOST_ROUNDS + 1)))
        rounds = np.append(rounds[rounds < below], below if math.isfinite(below) else [])
        sizes, best = self.sizes, None
        pairs_, shares = np.arange(0, len(self.pairs), THIN), SHARES[::2]
        for _ in range(ZOOMS):
            values = self._values(steps, rounds, sizes, pairs_, shares)
            reached = values.min((1, 2, 3)) < self.level
            if not reached.any():
                break
            at = int(reached.argmax())
            size, pair, share = (int(i) for i in np.unravel_index(values[at].argmin(), values.shape[1:]))
            best = float(rounds[at]), steps, float(self._fixed(steps, rounds[at], sizes[size]))
            rounds = np.unique(np.rint(np.geomspace(rounds[max(at - 2, 0)], rounds[at], FINE)))
            sizes = _closer(sizes, size, 3)
            if self.paired:
                middle = int(pairs_[pair])
                pairs_ = np.arange(max(middle - THIN, 0), min(middle + THIN + 1, len(self.pairs)))
            shares = _closer(shares, share, 1) if self.free else shares
        return best

    def _fixed(self, steps: int, rounds: Any, sizes: Any) -> Any:
        """The step sizes as a condition of the bound fixes them, if one does."""
        fixed = self.advice.fixed_step_size
        if fixed is None:
            return sizes
        plan = {**numbers(self.base), "local_steps": float(steps), "step_size": sizes, "rounds": rounds}
        return evaluated(fixed, with_derived(plan))

    def _values(self, steps: int, rounds: Array, sizes: Array, paired: Array, shares: Array) -> Array:
        """Its numbers ``(rounds, sizes, pairs, shares)`` for the target; infinite where its conditions fail."""
        here = self.base.at(local_steps=steps, step_size=float(sizes[0]), rounds=1e6)
        known = {**numbers(here), **chosen(here, self.bound)}
        r, s = rounds[:, None, None, None], sizes[None, :, None, None]
        s = np.asarray(self._fixed(steps, r, s), dtype=float)
        known = with_derived({**known, "local_steps": float(steps), "step_size": s, "rounds": r})
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
    """Numbers around one of a grid, between those that are ``away`` places from it."""
    return np.geomspace(grid[max(at - away, 0)], grid[min(at + away, len(grid) - 1)], ZOOM)
