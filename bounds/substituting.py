"""What of a scenario is put into a bound, so that the theorem holds with it, and what comes out.

Three rules, by the role of a word. An *admissible* constant is put in at its weaker end, and of several the best one is
taken: every pair (G^2, B^2) that holds for the federation, every constant that a proof leaves free. A *defined* number
that is known within an interval alone counts with the end where the bound is largest. What is *chosen* is as it is.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from .dissimilarity import convex_pair
from .domains import NONNEGATIVE
from .errors import BoundsError, MissingQuantityError
from .scenario import FEDAVG, Scenario
from .stated import ADMISSIBLE, DEFINED, DOWN, EXACT, FREE, LOWER, OUTCOME, QUANTITIES, role_of, Stated, worst

if TYPE_CHECKING:
    from .core import Bound

OFFSET, FACTOR = "dissimilarity_offset", "dissimilarity_factor"
FAR = 1e30
"""Where an interval has no end, a bound is looked at so far out."""
SPLITS = np.geomspace(1e-4, 1e4, 41)
"""Shares s of Young's inequality by which the family of pairs is looked through at first."""
SHARES = np.concatenate([np.geomspace(1e-6, 0.05, 12), np.linspace(0.1, 0.999, 19)])
"""Values of a free constant that lies between 0 and 1."""
ZOOMS, FINE = 7, 9
"""How often a search looks closer around its best place, and at how many places."""


class Pair(NamedTuple):
    """One (G^2, B^2) with which the mean squared client gradient is at most G^2 + B^2 ||grad F||^2."""

    offset: float
    factor: float
    how: str
    provenance: str


@dataclass(frozen=True, eq=False)
class Substituted:
    """``bound(**values)`` is ``value``, NaN where the theorem is silent.

    ``low`` is what the bound would be if every uncertain constant were at its other end; ``high`` is the end that is
    safe, infinite where a constant is known from below alone (``floor`` names those). ``how`` says of every word where
    it comes from, ``provenance`` what it is worth.
    """

    values: dict[str, Any]
    value: float
    low: float
    high: float
    floor: tuple[str, ...]
    how: dict[str, str]
    provenance: dict[str, str]


def substitute(scenario: Scenario, bound: Bound) -> Substituted:
    """Put the scenario's words into the bound; raises ``MissingQuantityError`` naming all that it lacks."""
    if missing := scenario.missing(bound):
        raise MissingQuantityError(f"{bound.name} needs {', '.join(missing)}: {'; '.join(missing.values())}")
    names = [q.name for q in bound.quantities]
    free = [w for w in names if role_of(w) == FREE and w not in scenario]
    if len(free) > 1:
        raise BoundsError(f"{bound.name} has {len(free)} free constants; give all but one: {', '.join(free)}")
    paired = [w for w in (OFFSET, FACTOR) if w in names]
    stated = {w: scenario[scenario.source_of(w, bound)] for w in names if w not in (*free, *paired)}
    search = _Search(bound, free[0] if free else "", paired, pairs(scenario) if paired else [])
    fixed = {word: _number(s.safe) for word, s in stated.items()}
    if "runtime" in fixed and bound.relation == "<=" and {"rounds", "communication_time"} <= scenario.keys():
        fixed["runtime"] = _time_of_whole_rounds(scenario)
    best = search.worst_of(_corners(fixed, stated))
    values, how = best.values, best.how
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(bound(**values))
    strong = {w: _number(_stronger(w, s)) if s.role in ADMISSIBLE else fixed[w] for w, s in stated.items()}
    with_less = search.best_of(_corners(strong, stated))
    floor = tuple(w for w in stated if stated[w].floor)
    floor += tuple(paired) if search.worth(best) == LOWER else ()
    low = value if np.isnan(with_less) or np.isnan(value) else min(value, with_less)
    told = {w: how.get(w) or stated[w].how for w in values}
    worth = {w: s.provenance for w, s in stated.items()}
    worth |= dict.fromkeys(paired, search.worth(best)) | dict.fromkeys(free, FREE)
    return Substituted(values, value, low, np.inf if floor else value, floor, told, worth)


def _number(value: Any) -> Any:
    return np.asarray(value, dtype=float) if np.ndim(value) else value


def _time_of_whole_rounds(scenario: Scenario) -> float:
    """What of a budget is spent: a last round that does not fit is not run."""
    rounds, steps = scenario["rounds"].value, scenario["local_steps"].value
    return float(rounds * (scenario["communication_time"].value + scenario["minibatch_time"].value * steps))


def _stronger(word: str, stated: Stated) -> Any:
    """The other end of an admissible constant: how small it may be for all that is known (how large, a lower one)."""
    end = np.asarray(stated.high if stated.role == DOWN else stated.low, dtype=float)
    domain = QUANTITIES[word].card.domain if word in QUANTITIES else NONNEGATIVE
    return end if domain.contains(end).all() else stated.value


def _corners(fixed: Mapping[str, Any], stated: Mapping[str, Stated]) -> list[dict[str, Any]]:
    """The values with every defined or measured number at either end of its interval."""
    open_ = [w for w in fixed if stated[w].role in (DEFINED, OUTCOME) and not stated[w].certain]
    around = [[_number(end) for end in _reached(stated[w])] for w in open_]
    return [{**fixed, **dict(zip(open_, corner, strict=True))} for corner in product(*around)]


def _reached(stated: Stated) -> tuple[Any, Any]:
    def near(end: Any) -> Any:
        return np.clip(np.asarray(end, dtype=float), -FAR, FAR)

    return near(stated.low), near(stated.high)


# ---- pairs of dissimilarity constants ----


def pairs(scenario: Scenario) -> list[Pair]:
    """All pairs (G^2, B^2) that hold, as far as the scenario tells: each is admissible, and the best may be taken.

    The pair that is given; the family for smooth and strongly convex clients (``bounds.dissimilarity``); and
    (G_cap^2, 1) along a run of FedAvg whose stochastic gradients have a second moment of at most G_cap^2.
    """
    return [*_given(scenario), *_family(scenario, SPLITS), *_capped(scenario)]


def _given(scenario: Scenario) -> Iterator[Pair]:
    if OFFSET in scenario and FACTOR in scenario:
        offset, factor = scenario[OFFSET], scenario[FACTOR]
        floor = offset.floor or factor.floor
        yield Pair(float(offset.safe), float(factor.safe), offset.how, LOWER if floor else worst(offset, factor))


def _family(scenario: Scenario, splits: Any) -> Iterator[Pair]:
    if not {"optimum_dissimilarity", "smoothness", "strong_convexity"} <= scenario.keys():
        return
    at_best, cap, low = (scenario[w] for w in ("optimum_dissimilarity", "smoothness", "strong_convexity"))
    if cap.floor or low.floor or not np.isfinite(at_best.high) or not low.safe > 0:
        return
    for s in splits:
        how = f"L-smooth, mu-strongly convex clients, s = {s:.4g}: (1 + 1/s) optimum_dissimilarity, 1 + (1 + s) e"
        offset, factor = convex_pair(at_best.high, cap.safe, low.safe, s)
        yield Pair(offset, factor, how, worst(at_best, cap, low))


def _capped(scenario: Scenario) -> Iterator[Pair]:
    if scenario.method == FEDAVG and "grad_cap_sq" in scenario and not scenario["grad_cap_sq"].floor:
        cap = scenario["grad_cap_sq"]
        yield Pair(float(cap.safe), 1.0, "along the run: (grad_cap_sq, 1)", worst(cap))


# ---- the best admissible constants ----


class _Best(NamedTuple):
    value: float
    values: dict[str, Any]
    how: dict[str, str]
    pair: Pair | None = None


class _Search:
    """The smallest value of a bound over its free constant and over the pairs that hold."""

    def __init__(self, bound: Bound, free: str, paired: list[str], known: list[Pair]) -> None:
        self.bound, self.free, self.paired, self.pairs = bound, free, paired, known
        self.code: Callable[..., Any] = bound.compile()

    def worst_of(self, corners: list[dict[str, Any]]) -> _Best:
        """The best constants where the bound is largest over what is uncertain."""
        found = [self.best(corner) for corner in corners]
        spoken = [one for one in found if not np.isnan(one.value)]
        return max(spoken, key=lambda one: one.value) if len(spoken) == len(found) else next(
            one for one in found if np.isnan(one.value))  # fmt: skip

    def best_of(self, corners: list[dict[str, Any]]) -> float:
        """The least value over what is uncertain; NaN if there is none."""
        found = [value for corner in corners if not np.isnan(value := self.best(corner).value)]
        return min(found, default=np.nan)

    def best(self, fixed: dict[str, Any]) -> _Best:
        if not self.paired:
            value, share = self._over_free(fixed, 1)
            return _Best(float(value[0]), {**fixed, **self._freed(share[0])}, self._told({}))
        if not self.pairs:
            raise BoundsError(f"{self.bound.name} needs a pair of dissimilarity constants that holds")
        known = self.pairs
        columns = self._columns(known)
        value, share = self._over_free({**fixed, **columns}, len(known))
        at = 0 if np.isnan(value).all() else int(np.nanargmin(value))
        pair = known[at]
        chosen = {w: float(columns[w][at]) for w in self.paired}
        return _Best(
            float(value[at]),
            {**fixed, **chosen, **self._freed(share[at])},
            self._told(dict.fromkeys(self.paired, pair.how)),
            pair,
        )

    def worth(self, best: _Best) -> str:
        return best.pair.provenance if best.pair is not None else EXACT

    def _columns(self, known: list[Pair]) -> dict[str, np.ndarray]:
        held = {OFFSET: [p.offset for p in known], FACTOR: [p.factor for p in known]}
        return {w: np.array(held[w]) for w in self.paired}

    def _freed(self, share: float) -> dict[str, float]:
        return {self.free: float(share)} if self.free else {}

    def _told(self, how: dict[str, str]) -> dict[str, str]:
        return {**how, **({self.free: "free in the proof: the best that the conditions allow"} if self.free else {})}

    def _over_free(self, values: dict[str, Any], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The least value over the free constant and where it is, for every one of ``count`` points of the others."""
        with np.errstate(all="ignore"):
            if not self.free:
                return np.broadcast_to(np.asarray(self.code(**values), dtype=float), (count,)), np.zeros(count)
            columns = {w: v[:, None] if w in self.paired else v for w, v in values.items()}
            grid = np.broadcast_to(SHARES, (count, len(SHARES)))
            for _ in range(ZOOMS):
                found = np.asarray(self.code(**columns, **{self.free: grid}), dtype=float)
                at = np.argmin(np.where(np.isnan(found), np.inf, found), axis=1)
                row = np.arange(count)
                least, where = found[row, at], grid[row, at]
                below = grid[row, np.maximum(at - 1, 0)]
                above = grid[row, np.minimum(at + 1, grid.shape[1] - 1)]
                grid = below[:, None] + (above - below)[:, None] * np.linspace(0, 1, 2 * FINE + 1)
                grid[:, FINE] = where  # what was best stays among them
                grid = np.sort(grid, axis=1)
        return least, where
