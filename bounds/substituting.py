"""Substitute a scenario into a bound, so that the theorem is valid with the values used.

Three rules, by the role of a quantity. An *admissible* constant is used at its weaker end, and among several admissible
choices (the pairs (G^2, B^2) that hold for the federation, constants that a proof leaves free) the best one is used. A
*defined* number that is only known within an interval is used at the end where the bound is largest. A quantity of the
plan is used as given.
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
from .identities import BY_DEFAULT, FEDAVG, IDENTITIES, WHY_NOT
from .numerics.evaluate import at_point, AtPoint
from .scenario_mapping import ScenarioMapping
from .scenario_values import ADMISSIBLE, Provenance, QUANTITIES, Role, role_of, ScenarioValue, worst

if TYPE_CHECKING:
    from .core import Bound

OFFSET, FACTOR = "dissimilarity_offset", "dissimilarity_factor"
FAR = 1e30
"""The end at which a bound is evaluated if an interval is unbounded."""
SPLITS = np.geomspace(1e-4, 1e4, 41)
"""The values of Young's parameter s for which pairs of the family in ``bounds.dissimilarity`` are tried."""
SHARES = np.concatenate([np.geomspace(1e-6, 0.05, 12), np.linspace(0.1, 0.999, 19)])
"""The first grid of values of a free constant, which lies between 0 and 1."""
ZOOMS, FINE = 7, 9
"""The number of grids, each around the best point of the one before, and its points on either side of that point."""


class Pair(NamedTuple):
    """A valid (G^2, B^2): the mean squared client gradient is at most G^2 + B^2 ||grad F||^2."""

    offset: float
    factor: float
    how: str
    provenance: Provenance


@dataclass(frozen=True, eq=False)
class Substituted:
    """The value of a bound at a scenario: ``bound(**values)``, with the terms and failed conditions in ``at``.

    ``low`` is the value with every uncertain constant at its other end, but no less than the target's own minimum;
    ``high`` is the value that is safe to use, infinite if constants are only known from below (``lower_estimates``).
    ``how`` and ``provenance`` are the source and the reliability of every quantity (of a free constant: its role).
    """

    values: dict[str, Any]
    at: AtPoint
    low: float
    high: float
    lower_estimates: tuple[str, ...]
    how: dict[str, str]
    provenance: dict[str, Provenance | Role]

    @property
    def value(self) -> float:
        """The value of the bound, NaN if a condition fails."""
        return self.at.value


def substitute(scenario: ScenarioMapping, bound: Bound) -> Substituted:
    """Evaluate the bound at the scenario; raise ``MissingQuantityError`` naming everything that is missing."""
    search, inputs, fixed = _prepared(scenario, bound)
    best = search.worst_of(_corners(fixed, inputs))
    at = at_point(bound, best.values)
    value = at.value
    strong = {w: _number(_stronger(w, s)) if s.role in ADMISSIBLE else fixed[w] for w, s in inputs.items()}
    certain = all(s.certain for s in inputs.values())
    optimistic = value if certain else search.best_of(_corners(strong, inputs))
    low = value if np.isnan(optimistic) or np.isnan(value) else min(value, optimistic)
    low = max(low, min(value, float(bound.target.card.domain.low)))
    of_pair = best.pair.provenance if best.pair is not None else Provenance.EXACT
    estimates = tuple(w for w in inputs if inputs[w].only_estimated)
    estimates += tuple(search.paired) if of_pair == Provenance.LOWER else ()
    choices = search.sources(best.pair)
    how = {w: choices.get(w) or inputs[w].how for w in best.values}
    provenance: dict[str, Provenance | Role] = {w: s.provenance for w, s in inputs.items()}
    provenance |= dict.fromkeys(search.paired, of_pair)
    if search.free:
        provenance[search.free] = Role.FREE
    return Substituted(best.values, at, low, np.inf if estimates else value, estimates, how, provenance)


def missing(scenario: ScenarioMapping, bound: Bound) -> dict[str, str]:
    """Return the quantities that the bound needs and the scenario lacks, each with how to give it."""
    needed = [q.name for q in bound.quantities if role_of(q.name) != Role.FREE]
    lacking = [word for word in needed if scenario.source_of(word, bound) not in scenario]
    if any(role_of(word) == Role.PAIR for word in lacking) and first_pair(scenario) is not None:
        lacking = [word for word in lacking if role_of(word) != Role.PAIR]
    return {word: _how_to_give(word, scenario.why_missing.get(word, "")) for word in lacking}


def _how_to_give(word: str, why: str) -> str:
    identities = (each for each in IDENTITIES if each.left.name == word and each.relation != BY_DEFAULT)
    formulas = [str(identity.right) for identity in identities if identity.needs]
    why = why or WHY_NOT.get(word, "" if formulas or role_of(word) != Role.OUTCOME else "an outcome of a run")
    how = f"give {word}=NUMBER"
    if formulas:
        how += f", or what {' or '.join(formulas)} needs"
    return f"{how} ({why})" if why else how


def chosen_values(
    scenario: ScenarioMapping, bound: Bound, along: Mapping[str, np.ndarray] | None = None
) -> dict[str, Any]:
    """Return only the arguments that ``substitute`` uses, without evaluating the bound there; raise as it does.

    ``along`` gives quantities of the plan for several plans at once, as arrays of one length. The constants that are
    optimised for each plan (pairs and free constants) are then arrays of that length, too.
    """
    search, inputs, fixed = _prepared(scenario, bound)
    corners = _corners(fixed, inputs)
    if not along or not search.chooses:
        return {**search.worst_of(corners).values, **(along or {})}
    count = len(next(iter(along.values())))
    if len(corners) == 1:
        return {**corners[0], **along, **search.best_at(corners[0], along, count)[1]}
    plans = [{**fixed, **{word: float(array[i]) for word, array in along.items()}} for i in range(count)]
    worst_cases = [search.worst_of(_corners(plan, inputs)).values for plan in plans]
    varied = {word for word, s in inputs.items() if s.role in (Role.DEFINED, Role.OUTCOME) and not s.certain}
    return {**fixed, **along, **{w: np.array([one[w] for one in worst_cases]) for w in {*search.chooses, *varied}}}


def _prepared(scenario: ScenarioMapping, bound: Bound) -> tuple[_Search, dict[str, ScenarioValue], dict[str, Any]]:
    """Return the search over what may be chosen, the scenario's values of all other quantities, and their numbers."""
    if lacking := missing(scenario, bound):
        raise MissingQuantityError(f"{bound.name} needs {', '.join(lacking)}: {'; '.join(lacking.values())}")
    names = [q.name for q in bound.quantities]
    free = [w for w in names if role_of(w) == Role.FREE and w not in scenario]
    if len(free) > 1:
        raise BoundsError(f"{bound.name} has {len(free)} free constants; give all but one: {', '.join(free)}")
    paired = [w for w in (OFFSET, FACTOR) if w in names]
    inputs = {w: scenario[scenario.source_of(w, bound)] for w in names if w not in (*free, *paired)}
    search = _Search(bound, free[0] if free else "", paired, pairs(scenario) if paired else [], _edges(inputs))
    fixed = {word: _number(s.safe) for word, s in inputs.items()}
    if "runtime" in fixed and bound.relation == "<=" and {"rounds", "communication_time"} <= scenario.keys():
        rounds, steps, exchange, step = (
            scenario[word].value for word in ("rounds", "local_steps", "communication_time", "minibatch_time")
        )
        fixed["runtime"] = float(rounds * (exchange + step * steps))  # of complete rounds: an incomplete one is not run
    return search, inputs, fixed


def _number(value: Any) -> Any:
    return np.asarray(value, dtype=float) if np.ndim(value) else value


def _stronger(word: str, constant: ScenarioValue) -> Any:
    """Return the stronger end of an admissible constant: the smallest value (or largest) that is not ruled out."""
    end = np.asarray(constant.high if constant.role == Role.DOWN else constant.low, dtype=float)
    domain = QUANTITIES[word].card.domain if word in QUANTITIES else NONNEGATIVE
    return end if domain.contains(end).all() else constant.value


def _corners(fixed: Mapping[str, Any], inputs: Mapping[str, ScenarioValue]) -> list[dict[str, Any]]:
    """Return all combinations of values with every uncertain defined or measured number at an end of its interval."""
    uncertain = [w for w in fixed if inputs[w].role in (Role.DEFINED, Role.OUTCOME) and not inputs[w].certain]
    ends = [[_number(np.clip(np.asarray(end, dtype=float), -FAR, FAR)) for end in (inputs[w].low, inputs[w].high)]
            for w in uncertain]  # fmt: skip
    return [{**fixed, **dict(zip(uncertain, corner, strict=True))} for corner in product(*ends)]


def _edges(inputs: Mapping[str, ScenarioValue]) -> dict[str, float]:
    """Return the lower ends of intervals that are only the end of the quantity's domain, by quantity.

    Such an end is not information about the federation, so a theorem need not be valid there.
    """
    edges = {}
    for word, value in inputs.items():
        uncertain = value.role in (Role.DEFINED, Role.OUTCOME) and not value.certain and np.ndim(value.value) == 0
        if word in QUANTITIES and uncertain and word not in value.support:
            lowest = QUANTITIES[word].card.domain.low
            if value.low == lowest:
                edges[word] = float(lowest)
    return edges


# ---- pairs of dissimilarity constants ----


def pairs(scenario: ScenarioMapping) -> list[Pair]:
    """Return all pairs (G^2, B^2) that the scenario proves; each is admissible, and the best one may be used.

    They are the pair that is given; the family for smooth and strongly convex clients (``bounds.dissimilarity``);
    (zeta^2, 1) if no client's gradient is further than zeta from the global gradient; and (G_cap^2, 1) along a run of
    FedAvg whose stochastic gradients have a second moment of at most G_cap^2.
    """
    return [*_given(scenario), *_family(scenario), *_uniform(scenario), *_capped(scenario)]


def first_pair(scenario: ScenarioMapping) -> Pair | None:
    """Return one valid pair, or None if there is none."""
    return next(iter(pairs(scenario)), None)


def _given(scenario: ScenarioMapping) -> Iterator[Pair]:
    if OFFSET in scenario and FACTOR in scenario:
        offset, factor = scenario[OFFSET], scenario[FACTOR]
        provenance = Provenance.LOWER if offset.only_estimated or factor.only_estimated else worst(offset, factor)
        yield Pair(float(offset.safe), float(factor.safe), offset.how, provenance)


def _family(scenario: ScenarioMapping) -> tuple[Pair, ...]:
    if not {"optimum_dissimilarity", "smoothness", "strong_convexity"} <= scenario.keys():
        return ()
    at_best, cap, low = (scenario[w] for w in ("optimum_dissimilarity", "smoothness", "strong_convexity"))
    if cap.only_estimated or low.only_estimated or not np.isfinite(at_best.high) or not low.safe > 0:
        return ()
    return _of_constants(float(at_best.high), float(cap.safe), float(low.safe), worst(at_best, cap, low))


@lru_cache(maxsize=64)
def _of_constants(at_best: float, smoothness: float, convexity: float, provenance: Provenance) -> tuple[Pair, ...]:
    how = "L-smooth, mu-strongly convex clients, s = {:.4g}: (1 + 1/s) optimum_dissimilarity, 1 + (1 + s) e"
    return tuple(Pair(*convex_pair(at_best, smoothness, convexity, s), how.format(s), provenance) for s in SPLITS)


def _uniform(scenario: ScenarioMapping) -> Iterator[Pair]:
    if "uniform_dissimilarity" in scenario and not scenario["uniform_dissimilarity"].only_estimated:
        zeta = scenario["uniform_dissimilarity"]
        yield Pair(float(zeta.safe), 1.0, "at every model: (uniform_dissimilarity, 1)", worst(zeta))


def _capped(scenario: ScenarioMapping) -> Iterator[Pair]:
    if scenario.method == FEDAVG and "grad_cap_sq" in scenario and not scenario["grad_cap_sq"].only_estimated:
        cap = scenario["grad_cap_sq"]
        yield Pair(float(cap.safe), 1.0, "along the run: (grad_cap_sq, 1)", worst(cap))


# ---- the best admissible constants ----


class _Best(NamedTuple):
    value: float
    values: dict[str, Any]
    pair: Pair | None = None


class _Search:
    """The search for the smallest value of a bound over its free constant and over the valid pairs.

    ``free`` is the name of the free constant or empty, ``paired`` the names of the bound's dissimilarity constants.
    """

    def __init__(
        self, bound: Bound, free: str, paired: list[str], valid: list[Pair], edges: Mapping[str, float]
    ) -> None:
        self.bound, self.free, self.paired, self.pairs, self.edges = bound, free, paired, valid, edges
        if paired and not valid:
            raise BoundsError(f"{bound.name} needs a pair of dissimilarity constants that holds")

    @cached_property
    def code(self) -> Callable[..., Any]:
        """The bound as a fast function of arrays."""
        return self.bound.compile()

    @property
    def chooses(self) -> tuple[str, ...]:
        """The names of the quantities that the search chooses."""
        return (*self.paired, *([self.free] if self.free else []))

    def worst_of(self, corners: list[dict[str, Any]]) -> _Best:
        """Return the largest value over the corners, each with its best constants; NaN if conditions fail at a corner.

        A corner where they fail only at the edge of a domain (``edges``), such as a start at the minimiser, is ignored.
        """
        results = [self.best(corner) for corner in corners]
        undefined = [one for one in results if np.isnan(one.value)]
        inside = [one for one in undefined if not any(one.values[word] == end for word, end in self.edges.items())]
        if inside or len(undefined) == len(results):
            return (inside or undefined)[0]
        return max((one for one in results if not np.isnan(one.value)), key=lambda one: one.value)

    def best_of(self, corners: list[dict[str, Any]]) -> float:
        """Return the smallest value over the corners, NaN if all are NaN."""
        values = [self.best(corner).value for corner in corners]
        return min((value for value in values if not np.isnan(value)), default=np.nan)

    def best(self, fixed: dict[str, Any]) -> _Best:
        """Return the value with the best constants at one point."""
        if not self.chooses:
            return _Best(at_point(self.bound, fixed, checked=False).value, fixed)
        value, choices, at = self.best_at(fixed, {}, 1)
        values = {**fixed, **{word: float(array[0]) for word, array in choices.items()}}
        return _Best(float(value[0]), values, self.pairs[at[0]] if self.paired else None)

    def sources(self, pair: Pair | None) -> dict[str, str]:
        """Return where the chosen constants come from, by quantity."""
        how = {} if pair is None else dict.fromkeys(self.paired, pair.how)
        if self.free:
            how[self.free] = "free in the proof: the best value that the conditions allow"
        return how

    def best_at(
        self, fixed: dict[str, Any], along: Mapping[str, np.ndarray], count: int
    ) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
        """Return the smallest value, the chosen constants and the index of the pair, at each of ``count`` plans."""
        each = len(self.pairs) if self.paired else 1
        constants = {OFFSET: [p.offset for p in self.pairs], FACTOR: [p.factor for p in self.pairs]}
        columns = {word: np.tile(np.array(constants[word]), count) for word in self.paired}
        columns |= {word: np.repeat(array, each) for word, array in along.items()}
        value, free = (array.reshape(count, each) for array in self._over_free(fixed, columns, count * each))
        at = np.argmin(np.where(np.isnan(value), np.inf, value), axis=1)
        plan = np.arange(count)
        choices = {word: np.array(constants[word])[at] for word in self.paired}
        if self.free:
            choices[self.free] = free[plan, at]
        return value[plan, at], choices, at

    def _over_free(
        self, fixed: dict[str, Any], columns: dict[str, np.ndarray], count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest value over the free constant and its argument, at each of ``count`` points.

        It is searched on ``ZOOMS`` grids, each around the best point of the one before.
        """
        with np.errstate(all="ignore"):
            if not self.free:
                value = np.asarray(self.code(**{**fixed, **columns}), dtype=float)
                return np.broadcast_to(value, (count,)), np.zeros(count)
            columns = {**fixed, **{word: column[:, None] for word, column in columns.items()}}
            grid = np.broadcast_to(SHARES, (count, len(SHARES)))
            for _ in range(ZOOMS):
                value = np.asarray(self.code(**columns, **{self.free: grid}), dtype=float)
                at = np.argmin(np.where(np.isnan(value), np.inf, value), axis=1)
                row = np.arange(count)
                least, where = value[row, at], grid[row, at]
                below = grid[row, np.maximum(at - 1, 0)]
                above = grid[row, np.minimum(at + 1, grid.shape[1] - 1)]
                grid = below[:, None] + (above - below)[:, None] * np.linspace(0, 1, 2 * FINE + 1)
                grid[:, FINE] = where  # keep the best point in the grid
                grid = np.sort(grid, axis=1)
        return least, where
