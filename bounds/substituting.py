"""What of a scenario is put into a bound, so that the theorem holds with it, and what comes out.

Three rules, by the role of a word. An *admissible* constant is put in at its weaker end, and of several the best one is
taken: every pair (G^2, B^2) that holds for the federation, every constant that a proof leaves free. A *defined* number
that is known within an interval alone counts with the end where the bound is largest. What is *chosen* is as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from .dissimilarity import convex_pair
from .domains import NONNEGATIVE
from .errors import BoundsError, MissingQuantityError
from .known import Known
from .numerics.evaluate import at_point, AtPoint
from .stated import ADMISSIBLE, DEFINED, DOWN, EXACT, FREE, LOWER, OUTCOME, PAIR, QUANTITIES, role_of, Stated, worst
from .ties import FEDAVG, TAKEN, TIES, WHY_NOT

if TYPE_CHECKING:
    from .core import Bound

OFFSET, FACTOR = "dissimilarity_offset", "dissimilarity_factor"
FAR = 1e30
"""Where an interval has no end, a bound is evaluated so far out."""
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
    """``bound(**values)`` is ``value``, NaN where the theorem does not apply; ``at`` has its terms, and what fails.

    ``low`` is what the bound would be if every uncertain constant were at its other end, and no less than what it
    bounds can be; ``high`` is the end that is safe, infinite where a constant is known from below alone (``floor``
    names those). ``how`` says of every word where it comes from, ``provenance`` what it is worth.
    """

    values: dict[str, Any]
    at: AtPoint
    low: float
    high: float
    floor: tuple[str, ...]
    how: dict[str, str]
    provenance: dict[str, str]

    @property
    def value(self) -> float:
        return self.at.value


def substitute(scenario: Known, bound: Bound) -> Substituted:
    """Put the scenario's words into the bound; raises ``MissingQuantityError`` naming all that it lacks."""
    search, stated, fixed = _prepared(scenario, bound)
    best = search.worst_of(_corners(fixed, stated))
    values, how = best.values, search.told(best.pair)
    at = at_point(bound, values)
    value = at.value
    strong = {w: _number(_stronger(w, s)) if s.role in ADMISSIBLE else fixed[w] for w, s in stated.items()}
    certain = all(s.certain for s in stated.values())
    with_less = value if certain else search.best_of(_corners(strong, stated))
    floor = tuple(w for w in stated if stated[w].floor)
    floor += tuple(search.paired) if search.worth(best) == LOWER else ()
    low = value if np.isnan(with_less) or np.isnan(value) else min(value, with_less)
    told = {w: how.get(w) or stated[w].how for w in values}
    worth = {w: s.provenance for w, s in stated.items()}
    worth |= dict.fromkeys(search.paired, search.worth(best)) | dict.fromkeys(
        [search.free] if search.free else [], FREE
    )
    low = max(low, min(value, float(bound.target.card.domain.low)))
    return Substituted(values, at, low, np.inf if floor else value, floor, told, worth)


def missing(scenario: Known, bound: Bound) -> dict[str, str]:
    """The words that the bound needs and the scenario lacks, each with how to give it."""
    wanted = [q.name for q in bound.quantities if role_of(q.name) != FREE]
    lacking = [word for word in wanted if scenario.source_of(word, bound) not in scenario]
    if any(role_of(word) == PAIR for word in lacking):
        lacking = [word for word in lacking if role_of(word) != PAIR or first_pair(scenario) is None]
    return {word: _how_to_give(word, scenario._why.get(word, "")) for word in lacking}


def _how_to_give(word: str, why: str) -> str:
    by = [str(tie.right) for tie in TIES if tie.left.name == word and tie.needs and tie.relation != TAKEN]
    why = why or WHY_NOT.get(word, "" if by or role_of(word) != OUTCOME else "read off a run")
    return f"give {word}=NUMBER" + (f", or what {' or '.join(by)} needs" if by else "") + (f" ({why})" if why else "")


def chosen(scenario: Known, bound: Bound, along: Mapping[str, np.ndarray] | None = None) -> dict[str, Any]:
    """The values that ``substitute`` puts in, and no other value of it.

    ``along`` are words of the plan at several plans at once, arrays of one length: what is best chosen at each of them,
    pairs and free constants, are arrays of that length then. Raises as ``substitute`` does.
    """
    search, stated, fixed = _prepared(scenario, bound)
    corners = _corners(fixed, stated)
    if not along or not search.chooses:
        return {**search.worst_of(corners).values, **(along or {})}
    count = len(next(iter(along.values())))
    if len(corners) == 1:
        return {**corners[0], **along, **search.best_at(corners[0], along, count)[1]}
    each = [{**fixed, **{word: float(array[i]) for word, array in along.items()}} for i in range(count)]
    found = [search.worst_of(_corners(one, stated)).values for one in each]
    varied = {word for word, s in stated.items() if s.role in (DEFINED, OUTCOME) and not s.certain}
    return {**fixed, **along, **{w: np.array([one[w] for one in found]) for w in {*search.chooses, *varied}}}


def _prepared(scenario: Known, bound: Bound) -> tuple[_Search, dict[str, Stated], dict[str, Any]]:
    """The search for what may be chosen; what the scenario states for all other words, and their numbers."""
    if lacking := missing(scenario, bound):
        raise MissingQuantityError(f"{bound.name} needs {', '.join(lacking)}: {'; '.join(lacking.values())}")
    names = [q.name for q in bound.quantities]
    free = [w for w in names if role_of(w) == FREE and w not in scenario]
    if len(free) > 1:
        raise BoundsError(f"{bound.name} has {len(free)} free constants; give all but one: {', '.join(free)}")
    paired = [w for w in (OFFSET, FACTOR) if w in names]
    stated = {w: scenario[scenario.source_of(w, bound)] for w in names if w not in (*free, *paired)}
    search = _Search(bound, free[0] if free else "", paired, pairs(scenario) if paired else [], _edges(stated))
    fixed = {word: _number(s.safe) for word, s in stated.items()}
    if "runtime" in fixed and bound.relation == "<=" and {"rounds", "communication_time"} <= scenario.keys():
        rounds, steps, exchange, step = (
            scenario[word].value for word in ("rounds", "local_steps", "communication_time", "minibatch_time")
        )
        fixed["runtime"] = float(rounds * (exchange + step * steps))  # a last round that does not fit is not run
    return search, stated, fixed


def _number(value: Any) -> Any:
    return np.asarray(value, dtype=float) if np.ndim(value) else value


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


def _edges(stated: Mapping[str, Stated]) -> dict[str, float]:
    """The ends of defined numbers that are those of their domain, since only the other end follows from what is known.

    A theorem that excludes such an end says nothing less of the federation.
    """
    found = {word: (s, QUANTITIES[word].card.domain) for word, s in stated.items() if word in QUANTITIES}
    return {
        word: float(domain.low)
        for word, (s, domain) in found.items()
        if s.role in (DEFINED, OUTCOME) and not s.certain and word not in s.support and np.ndim(s.value) == 0
        and s.low == domain.low
    }  # fmt: skip


def _reached(stated: Stated) -> tuple[Any, Any]:
    def near(end: Any) -> Any:
        return np.clip(np.asarray(end, dtype=float), -FAR, FAR)

    return near(stated.low), near(stated.high)


# ---- pairs of dissimilarity constants ----


def pairs(scenario: Known) -> list[Pair]:
    """All pairs (G^2, B^2) that hold, as far as the scenario tells: each is admissible, and the best may be taken.

    The pair that is given; the family for smooth and strongly convex clients (``bounds.dissimilarity``);
    (zeta^2, 1) where no client's gradient is further than zeta from the global one, which is their mean; and
    (G_cap^2, 1) along a run of FedAvg whose stochastic gradients have a second moment of at most G_cap^2.
    """
    return list(_pairs(scenario))


def first_pair(scenario: Known) -> Pair | None:
    """One of the pairs that hold; None where there is none."""
    return next(_pairs(scenario), None)


def _pairs(scenario: Known) -> Iterator[Pair]:
    yield from _given(scenario)
    yield from _family(scenario)
    yield from _uniform(scenario)
    yield from _capped(scenario)


def _given(scenario: Known) -> Iterator[Pair]:
    if OFFSET in scenario and FACTOR in scenario:
        offset, factor = scenario[OFFSET], scenario[FACTOR]
        floor = offset.floor or factor.floor
        yield Pair(float(offset.safe), float(factor.safe), offset.how, LOWER if floor else worst(offset, factor))


def _family(scenario: Known) -> tuple[Pair, ...]:
    if not {"optimum_dissimilarity", "smoothness", "strong_convexity"} <= scenario.keys():
        return ()
    at_best, cap, low = (scenario[w] for w in ("optimum_dissimilarity", "smoothness", "strong_convexity"))
    if cap.floor or low.floor or not np.isfinite(at_best.high) or not low.safe > 0:
        return ()
    return _of_constants(float(at_best.high), float(cap.safe), float(low.safe), worst(at_best, cap, low))


@lru_cache(maxsize=64)
def _of_constants(at_best: float, smoothness: float, strong_convexity: float, provenance: str) -> tuple[Pair, ...]:
    told = "L-smooth, mu-strongly convex clients, s = {:.4g}: (1 + 1/s) optimum_dissimilarity, 1 + (1 + s) e"
    return tuple(
        Pair(*convex_pair(at_best, smoothness, strong_convexity, s), told.format(s), provenance) for s in SPLITS
    )


def _uniform(scenario: Known) -> Iterator[Pair]:
    if "uniform_dissimilarity" in scenario and not scenario["uniform_dissimilarity"].floor:
        zeta = scenario["uniform_dissimilarity"]
        yield Pair(float(zeta.safe), 1.0, "at every model: (uniform_dissimilarity, 1)", worst(zeta))


def _capped(scenario: Known) -> Iterator[Pair]:
    if scenario.method == FEDAVG and "grad_cap_sq" in scenario and not scenario["grad_cap_sq"].floor:
        cap = scenario["grad_cap_sq"]
        yield Pair(float(cap.safe), 1.0, "along the run: (grad_cap_sq, 1)", worst(cap))


# ---- the best admissible constants ----


class _Best(NamedTuple):
    value: float
    values: dict[str, Any]
    pair: Pair | None = None


class _Search:
    """The smallest value of a bound over its free constant and over the pairs that hold."""

    def __init__(
        self, bound: Bound, free: str, paired: list[str], known: list[Pair], edges: Mapping[str, float]
    ) -> None:
        self.bound, self.free, self.paired, self.pairs, self.edges = bound, free, paired, known, edges
        if paired and not known:
            raise BoundsError(f"{bound.name} needs a pair of dissimilarity constants that holds")

    @cached_property
    def code(self) -> Callable[..., Any]:
        """The bound for many choices at once."""
        return self.bound.compile()

    @property
    def chooses(self) -> tuple[str, ...]:
        """The words that it chooses."""
        return (*self.paired, *([self.free] if self.free else []))

    def worst_of(self, corners: list[dict[str, Any]]) -> _Best:
        """The best constants where the bound is largest over what is uncertain; NaN if its conditions fail somewhere.

        Where they fail at the edge of a domain only, at a start that is the minimiser, say, that corner does not count.
        """
        found = [self.best(corner) for corner in corners]
        undefined = [one for one in found if np.isnan(one.value)]
        inside = [one for one in undefined if not any(one.values[word] == end for word, end in self.edges.items())]
        if inside or len(undefined) == len(found):
            return (inside or undefined)[0]
        return max((one for one in found if not np.isnan(one.value)), key=lambda one: one.value)

    def best_of(self, corners: list[dict[str, Any]]) -> float:
        """The least value over what is uncertain; NaN if there is none."""
        found = [value for corner in corners if not np.isnan(value := self.best(corner).value)]
        return min(found, default=np.nan)

    def best(self, fixed: dict[str, Any]) -> _Best:
        """The best constants at one plan."""
        if not self.chooses:
            return _Best(at_point(self.bound, fixed, checked=False).value, fixed)
        value, made, at = self.best_at(fixed, {}, 1)
        values = {**fixed, **{word: float(array[0]) for word, array in made.items()}}
        return _Best(float(value[0]), values, self.pairs[at[0]] if self.paired else None)

    def worth(self, best: _Best) -> str:
        return best.pair.provenance if best.pair is not None else EXACT

    def told(self, pair: Pair | None) -> dict[str, str]:
        """Where what is chosen comes from."""
        how = {} if pair is None else dict.fromkeys(self.paired, pair.how)
        return {**how, **({self.free: "free in the proof: the best that the conditions allow"} if self.free else {})}

    def best_at(
        self, fixed: dict[str, Any], along: Mapping[str, np.ndarray], count: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """At each of ``count`` plans the least value, what is chosen, and the number of the pair."""
        each = len(self.pairs) if self.paired else 1
        held = {OFFSET: [p.offset for p in self.pairs], FACTOR: [p.factor for p in self.pairs]}
        columns = {word: np.tile(np.array(held[word]), count) for word in self.paired}
        columns |= {word: np.repeat(array, each) for word, array in along.items()}
        value, share = (found.reshape(count, each) for found in self._over_free(fixed, columns, count * each))
        at = np.argmin(np.where(np.isnan(value), np.inf, value), axis=1)
        plan = np.arange(count)
        made = {word: np.array(held[word])[at] for word in self.paired}
        return value[plan, at], {**made, **({self.free: share[plan, at]} if self.free else {})}, at

    def _over_free(
        self, fixed: dict[str, Any], columns: dict[str, np.ndarray], count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """The least value over the free constant and where it is, for every one of ``count`` points of the others."""
        with np.errstate(all="ignore"):
            if not self.free:
                found = np.asarray(self.code(**{**fixed, **columns}), dtype=float)
                return np.broadcast_to(found, (count,)), np.zeros(count)
            columns = {**fixed, **{word: column[:, None] for word, column in columns.items()}}
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
