"""What it costs to make a bound speak: the least rounds at which any local steps and step size do.

The bound itself is looked at on a grid of plans, with the constants that the scenario puts in and every pair and every
free constant that it allows; the plan that is found is certified by the comparison's own number there.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from bounds.classes import trivial
from bounds.core import Bound
from bounds.scenario import Scenario
from bounds.stated import FREE, PAIR, role_of
from bounds.substituting import pairs, SHARES
from bounds.ties import evaluated, TIES

from .bound_advice import BoundAdvice, FOLLOW
from .compare import rows_of
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
KEPT = 8
"""Of the pairs of dissimilarity constants and of the free ones every so many are looked at on a grid."""


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
    base = Scenario.of(words, sampling=scenario.sampling, also=bound.quantities)
    base = base if math.isnan(cohort) else base.at(cohort=cohort)
    level = trivial(target, base)[1]
    if not math.isfinite(level) or "smoothness" not in base or not _movable(bound, base, target):
        return None
    search = _Search(bound, base, target, level)
    best = Price(math.inf)
    for numbers in (STEPS, None):
        for steps in numbers or _between(best.local_steps):
            if (found := search.first(steps, best.rounds)) is not None:
                best = _certified(bound, base, target, Price(*found, cohort), best)
    return best


def _between(steps: int) -> list[int]:
    """Numbers of local steps beside the best of those looked at, at most eight."""
    ends = np.linspace(steps / 2, 2 * steps, 10).round().astype(int)[1:-1]
    return [k for k in dict.fromkeys(ends.tolist()) if k >= 1 and k not in STEPS]


def _movable(bound: Bound, base: Scenario, target: str) -> bool:
    """Whether another plan may make it speak: nothing about the federation or the method forbids it."""
    row = _row(bound, base.at(local_steps=1, step_size=1e-6 / _smoothness(base), rounds=1000), target)
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
        self.paired = [word for word in names if role_of(word) == PAIR]
        known = pairs(base) if self.paired else []
        self.pairs = {f"dissimilarity_{which}": np.array([getattr(p, which) for p in known])
                      for which in ("offset", "factor")}  # fmt: skip
        self.advice = BoundAdvice(bound, Goal(base, "rounds", (target, level)))
        self.code = bound.compile()
        self.sizes = SIZES / _smoothness(base)

    def first(self, steps: int, below: float) -> tuple[float, int, float] | None:
        """The least rounds below ``below`` at which it is below the level, with the local steps and the step size."""
        rounds = np.unique(np.rint(np.geomspace(1, 10.0**LONGEST, COARSE * LONGEST + 1)))
        rounds = rounds[rounds <= below]
        rounds = rounds if len(rounds) else np.array([1.0])
        best, sizes = None, self.sizes
        for _ in range(3):
            values = self._values(steps, rounds, sizes)
            there = np.where(np.isnan(values), np.inf, values)
            speaks = there.min(1) < self.level
            if not speaks.any():
                break
            at = int(speaks.argmax())
            size = int(there[at].argmin())
            best = float(rounds[at]), steps, float(self._tied(steps, rounds[at], sizes[size]))
            low, high = rounds[max(at - 1, 0)], rounds[at]
            rounds = np.unique(np.rint(np.geomspace(max(low, 1), high, FINE)))
            sizes = np.geomspace(sizes[max(size - 3, 0)], sizes[min(size + 3, len(sizes) - 1)], ZOOM)
        return best

    def _tied(self, steps: int, rounds: Any, sizes: Any) -> Any:
        """The step sizes as a condition in words fixes them, if it does."""
        tied = self.advice.tied
        return sizes if tied is None else evaluated(tied, {"local_steps": steps, "rounds": rounds})

    def _values(self, steps: int, rounds: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """The least over what may be chosen ``(rounds, sizes)``; NaN where it is silent."""
        here = self.base.at(local_steps=steps, step_size=float(sizes[0]), rounds=1e6)
        known = {word: here[word].value for word in here if np.ndim(here[word].value) == 0}
        known |= here.substituted(self.bound).values
        r, s = rounds[:, None, None, None], sizes[None, :, None, None]
        s = np.asarray(self._tied(steps, r, s), dtype=float)
        known |= {"local_steps": float(steps), "step_size": s, "rounds": r}
        for tie in TIES:
            if tie.left.name in FOLLOW and set(tie.needs) <= known.keys():
                known[tie.left.name] = tie.value(*(known[word] for word in tie.needs))
        thin = KEPT // 2 if self.free else 1
        for word in self.paired:
            known[word] = self.pairs[word][::thin][None, None, :, None]
        for word in self.free:
            known[word] = SHARES[:: KEPT // 4][None, None, None, :]
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = np.asarray(self.code(**{q.name: known[q.name] for q in self.bound.quantities}), dtype=float)
        found = np.broadcast_to(found, np.broadcast_shapes(found.shape, (len(rounds), len(sizes), 1, 1)))
        least = np.where(np.isnan(found), np.inf, found).min((2, 3))
        return least * self.advice.factor(steps, np.broadcast_to(s[..., 0, 0], least.shape), rounds[:, None])


def sentence(prices: Mapping[str, tuple[str, Price]], clients: float, stated: float) -> str:
    """First to speak, by paper: the cheapest bound of each."""

    def of(name: str, one: Price) -> str:
        everyone = f" (all {clients:g} take part)" if one.cohort == clients != stated else ""
        return f"{name} at R = {_power(one.rounds)}{everyone}"

    told = sorted(prices.values(), key=lambda pair: pair[1].rounds)
    return f"First to speak: {', '.join(of(*pair) for pair in told)}." if told else ""


def _power(rounds: float) -> str:
    """One digit, as 25, 700, 6e4."""
    return f"{float(f'{rounds:.1g}'):g}" if rounds < 1e3 else f"{rounds:.0e}".replace("e+0", "e").replace("e+", "e")
