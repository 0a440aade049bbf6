"""Where a bound is smallest over local steps and step size together, and what the papers' formulas for either say.

Constants are put in as the scenario does (``Scenario.substituted``): the best admissible ones at every point. In
between, step sizes are looked at as arrays, with the words of the plan that follow from them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from bounds.catalog import BOUNDS, with_own
from bounds.classes import ClassOf, SAID, ways
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.quantities import quantities_of
from bounds.scenario import Scenario
from bounds.stated import ADMISSIBLE, DEFINED, DESIGN, DOWN, FREE, PAIR, role_of
from bounds.substituting import chosen
from bounds.ties import evaluated, TIES
from bounds.vocabulary import step_scale, step_size

from .compare import in_order, of_this_run, rows_as_it_is
from .compare_rows import RANKED, Row, SILENT
from .goals import given, Goal, OVER, Point
from .whole_numbers import searched

FOLLOW = ("iterations", "runtime", "initial_step_size", "initial_local_steps", "squared_step_sizes",
          "steps_cubed_ratio", "step_scale")  # fmt: skip
"""Words of the plan that follow from local steps, rounds and a fixed step size."""
SMALLEST = 1e-9
"""Times 1/L: no smaller step size is looked at, and none above ``LARGEST``."""
LARGEST = 4.0
MANY, FIRST, FEW, CLOSER = 145, 15, 7, 4
"""Step sizes looked at together; one by one where constants are chosen for each, at first and then;
and how often a search looks closer around the best one."""
STILL = 0.5
"""Where step size times L, summed over all iterations, stays below this, a run has hardly left its start."""
ROUNDS = np.unique(np.rint(np.geomspace(1, 1e15, 400)))
"""Rounds among which a bound's first one below a level is sought."""


@dataclass(frozen=True, eq=False)
class BoundAdvice:
    """A bound as an adviser: the plan where what it says of the goal's target is smallest, inside its conditions."""

    bound: Bound
    goal: Goal

    def best(self, over: tuple[str, ...] = OVER) -> Point | None:
        """The plan that it recommends, None where it is silent at all plans."""
        if "local_steps" not in over:
            return self._at(int(self.goal.scenario["local_steps"].value), over)
        found = searched(self.goal.steps(), lambda steps: self._at(steps, over))
        return None if found is None else found.points[found.best]

    def _at(self, steps: int, over: tuple[str, ...]) -> Point | None:
        """The best step size for so many local steps."""
        if "step_size" not in over:
            sizes = np.array([float(self.goal.scenario["step_size"].value)])
        else:
            sizes = np.geomspace(SMALLEST, LARGEST, FIRST if self._chosen else MANY) / self._smoothness
        ends = sizes[[0, -1]]
        best = Point(steps, float(sizes[0]), 0, math.inf, cohort=self.goal.cohort)
        for _ in range(CLOSER + 1):
            values, rounds, tied = self._values(steps, sizes)
            i = int(np.argmin(np.where(np.isnan(values), np.inf, values)))
            if not math.isnan(values[i]) and values[i] <= best.value:
                best = Point(steps, float(tied[i]), int(rounds[i]), float(values[i]), cohort=self.goal.cohort)
            if len(sizes) == 1:
                break
            around = sizes[max(i - 1, 0)], sizes[min(i + 1, len(sizes) - 1)]
            sizes = np.geomspace(*around, FEW if self._chosen else MANY)
        if not math.isfinite(best.value):
            return None
        at_end = len(sizes) > 1 and not ends[0] * 1.01 < best.step_size < ends[1] * 0.99
        return best._replace(open=("step_size",)) if at_end else best

    @cached_property
    def _chosen(self) -> bool:
        """Whether constants are chosen for every step size anew: admissible pairs, and what a proof leaves free."""
        return any(role_of(q.name) in (PAIR, FREE) for q in self.bound.quantities)

    @cached_property
    def _smoothness(self) -> float:
        if "smoothness" not in self.goal.scenario:
            raise BoundsError("a search over step sizes needs the scale of the smoothness: give smoothness=NUMBER")
        return float(np.max(self.goal.scenario["smoothness"].safe))

    @cached_property
    def tied(self) -> sp.Expr | None:
        """What a condition in words fixes the step size at, if there is one that the scenario has the words of."""
        for condition in self.bound.conditions:
            left, right = SAID.get(condition.words, (None, None))
            if left == step_size and right is not None and step_scale not in right.free_symbols:
                known = {*self.goal.scenario, "local_steps", "rounds", "iterations"}
                return right if {q.name for q in quantities_of([right])} <= known else None
        return None

    def _values(self, steps: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is minimised at step sizes, the rounds it takes, and the step sizes as conditions leave them.

        Constants that are known to hold for short steps alone are not put in at longer ones.
        """
        parts = [sizes[self._beyond(sizes) == count] for count in np.unique(self._beyond(sizes))]
        found = [self._together(steps, part) for part in parts]
        values, rounds, tied = (np.concatenate([one[i] for one in found]) for i in range(3))
        return values, rounds, tied

    def _beyond(self, sizes: np.ndarray) -> np.ndarray:
        """How many constants hold for shorter steps alone, for each of the step sizes."""
        limits = [limit for _, s in self.goal.scenario.items() for word, limit in s.up_to if word == "step_size"]
        return np.searchsorted(np.sort(limits), sizes)

    def _together(self, steps: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``_values`` at step sizes for which the same constants are known."""
        goal, here = self.goal, self.goal.plan(steps)
        rounds: Any = float(here["rounds"].value) if goal.to is None else ROUNDS[:, None]
        if self.tied is None:
            known = {**self._constants(here, sizes), "step_size": sizes}
        else:
            known = self._constants(here, np.array([evaluated(self.tied, numbers(here))], dtype=float))
            sizes = known["step_size"] = evaluated(self.tied, followed({**known, "rounds": rounds})) + 0 * sizes
        known = followed({**known, "rounds": rounds})
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = np.asarray(self._code(**{q.name: known[q.name] for q in self.bound.quantities}), dtype=float)
        found = found * self.factor(steps, sizes, rounds)
        if goal.to is None:
            return np.broadcast_to(found, sizes.shape), np.full(sizes.shape, rounds), sizes
        found, sizes = (np.broadcast_to(one, (len(ROUNDS), sizes.shape[-1])) for one in (found, sizes))
        enough = found <= goal.to[1]
        first, plan = enough.argmax(0), np.arange(sizes.shape[-1])
        taken = np.where(enough[first, plan], ROUNDS[first], np.nan)
        return goal.cost(steps, taken), np.nan_to_num(taken), sizes[first, plan]

    def _constants(self, here: Scenario, sizes: np.ndarray) -> dict[str, Any]:
        """The numbers that are put in at step sizes: the same at all, or the best constants at each."""
        here = here.at(step_size=float(sizes[0]))
        plan = followed({**numbers(here), "step_size": sizes})
        names = {q.name for q in self.bound.quantities}
        along = {word: plan[word] for word in ("step_size", *FOLLOW) if word in names and np.ndim(plan[word])}
        return {**plan, **chosen(here, self.bound, along if self._chosen else None)}

    @cached_property
    def _code(self) -> Callable[..., Any]:
        return self.bound.compile()

    def factor(self, steps: int, sizes: Any, rounds: Any) -> Any:
        """The factor of the conversions to the target: a product of powers, so four plans tell it for all.

        NaN for plans at which no conversion leads there, such as several local steps of what is one machine.
        """
        base, powers = self._powers
        return base * steps ** powers["local_steps"] * sizes ** powers["step_size"] * rounds ** powers["rounds"]

    @cached_property
    def _powers(self) -> tuple[float, dict[str, float]]:
        words = {word: stated for word, stated in self.goal.scenario.items() if given(self.goal.scenario, word)}
        plain = {word: stated for word, stated in words.items() if word not in ("runtime", "iterations")}

        def at(**plan: float) -> float:
            scenario = Scenario.of(plain, **self.goal.scenario.said, also=self.bound.quantities).at(**plan)
            reached, _ = ways(ClassOf.of(self.bound), scenario)
            own = [way for way in reached if way.to.target == self.goal.target and of_this_run(way, scenario)]
            return own[0].factor if own else math.nan

        one = {"local_steps": 1.0, "step_size": 1.0, "rounds": 1.0}
        base = at(**one)
        return base, {word: math.log2(at(**{**one, word: 2.0}) / base) for word in one}


def numbers(scenario: Scenario) -> dict[str, Any]:
    """The words that are one number each."""
    return {word: stated.value for word, stated in scenario.items() if np.ndim(stated.value) == 0}


def followed(plan: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a plan, and those of ``FOLLOW`` made of them; arrays where these are."""
    found = dict(plan)
    for tie in TIES:
        if tie.left.name in FOLLOW and set(tie.needs) <= found.keys():
            found[tie.left.name] = tie.value(*(found[word] for word in tie.needs))
    return found


def book(own: Sequence[Bound]) -> dict[str, Bound]:
    """The bounds of the catalogue and one's own, by name."""
    return with_own(own)


def recommended(
    goal: Goal, over: tuple[str, ...], own: Sequence[Bound] = (), hear: Callable[[str], None] = lambda words: None
) -> tuple[dict[str, Point | None], list[Row]]:
    """What every bound recommends by name, None where it is silent at all plans, and the rows of those not asked.

    Where the cohort is free a bound is asked at those at which its premises hold: some clients, all. One that asks
    not to train with the largest cohort is not asked who else should not. ``hear`` is told who is asked.
    """
    known = book(own)
    if "cohort" not in over:
        asked, refused = speaking(goal, own)
        found: dict[str, Point | None] = {}
        for name in asked:
            hear(name)
            found[name] = BoundAdvice(known[name], goal).best(over)
        return found, refused
    rest = tuple(word for word in over if word != "cohort")
    clients, numbers = int(goal.scenario["clients"].value), list(goal.cohorts())
    looked = {everyone: [n for n in numbers if (n == clients) == everyone] for everyone in (True, False)}
    told = {everyone: speaking(goal.of_cohort(ns[0]), own) for everyone, ns in looked.items() if ns}
    found = {}
    for name in dict.fromkeys(name for asked, _ in told.values() for name in asked):
        hear(name)
        held = {n for n in numbers if name in told[n == clients][0]}

        @cache
        def look(number: int, name: str = name) -> Point | None:
            if name not in told.get(number == clients, ({},))[0]:
                return None
            return BoundAdvice(known[name], goal.of_cohort(number)).best(rest)

        first = look(max(held))
        idle = first is not None and still(goal.of_cohort(first.cohort), first)
        best = None if idle else searched(numbers, look, word="cohort")
        found[name] = first if best is None else best.points[best.best]
    rows = {row.bound: row for _, refused in told.values() for row in refused if row.bound not in found}
    return found, list(rows.values())


# ---- which bounds may be asked ----


def speaking(goal: Goal, own: Sequence[Bound] = ()) -> tuple[dict[str, Row], list[Row]]:
    """Bounds that may advise, each with its row at a plan of small steps, and those that cannot, whatever the plan.

    A condition on numbers may hold at other plans; one on the federation, such as full participation, may not. What a
    theorem says of one local step by all clients, as of one machine, is no advice on local steps.
    """
    smoothness = goal.scenario["smoothness"].safe if "smoothness" in goal.scenario else 1.0
    small = {"step_size": 1e-6 / float(np.max(smoothness)), **({} if goal.to is None else {"rounds": 1000})}
    scenario, known = goal.at(1, **small), book(own)
    rows = in_order(known, [row for bound in known.values() for row in rows_as_it_is(bound, scenario, goal.target)])
    asked: dict[str, Row] = {}
    refused = []
    for row in rows:
        movable = row.state == SILENT and all(not math.isnan(f.left) for f in row.failed)
        if row.state in RANKED or movable:
            for name in (row.bound, *row.alias):
                asked.setdefault(name, row)
        elif row.state == SILENT:
            refused.append(row)
    return asked, refused


def certified(goal: Goal, bound: Bound, point: Point) -> Row | None:
    """The row of a bound at the plan that it recommends; None where it is silent there after all."""
    goal = goal.of_cohort(point.cohort)
    rounds = {} if goal.to is None else {"rounds": point.rounds}
    rows = rows_as_it_is(bound, goal.at(point.local_steps, step_size=point.step_size, **rounds), goal.target)
    return next((row for row in rows if row.state in RANKED), None)  # of the class that was searched in


def still(goal: Goal, point: Point) -> bool:
    """Whether a run by this plan hardly leaves its start, whatever the data: that is no recommendation."""
    if "smoothness" not in goal.scenario:
        return False
    reach = point.step_size * point.local_steps * point.rounds * float(np.max(goal.scenario["smoothness"].safe))
    return reach < STILL


# ---- uncertain constants ----


def other_ends(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with its uncertain constants at either end, those that are admissible all at their better ones."""
    better: dict[str, Any] = {}
    for word, stated in scenario.items():
        if stated.certain or stated.role not in ADMISSIBLE or not given(scenario, word):
            continue
        end = np.asarray(stated.high if stated.role == DOWN else stated.low, dtype=float)
        if np.all(np.isfinite(end)) and np.all(end > 0):
            better[word] = end.tolist()
    pair = [word for word, stated in scenario.items() if stated.role == PAIR and given(scenario, word)]
    if set(pair) & set(better):
        better = {**{word: scenario[word].value for word in pair}, **better}
    open_ = {
        w: (s.low, s.high)
        for w, s in scenario.items()
        if s.role == DEFINED and not s.certain and given(scenario, w) and np.ndim(s.value) == 0
        and math.isfinite(s.low) and math.isfinite(s.high)
    }  # fmt: skip
    choices = [(end for end in ends) for ends in open_.values()]
    for corner in product(*choices):
        for admissible in ({}, better):
            try:
                yield scenario.at(**dict(zip(open_, corner, strict=True)), **admissible)
            except BoundsError:  # ends that do not go together
                continue


# ---- formulas ----


def formulas(goal: Goal, over: tuple[str, ...]) -> list[Bound]:
    """Every formula of the papers for the best local steps or step size that this scenario has the words of."""
    plan = goal.at(1) if "local_steps" not in goal.scenario else goal.scenario
    whole = plan if "step_size" in plan else plan.at(step_size=1e-3)
    found = []
    for bound in BOUNDS.values():
        if bound.relation != "=" or bound.target.name not in over or bound.about is None:
            continue
        names = [q.name for q in bound.quantities if q.name in plan]
        replayed = any(name.startswith("initial_") and plan[name].role == DESIGN for name in names)
        federation = any(plan[name].role in (*ADMISSIBLE, DEFINED) for name in names)
        if federation and not replayed and not whole.missing(bound):
            found.append(bound)
    return found


def by_formula(bound: Bound, goal: Goal, local_steps: int, step_size: float) -> tuple[Point, float] | None:
    """The plan of a formula with the other number as stated, and the real number that it gives; None where silent.

    Where K enters by the rounds that the budget holds, K is the number at which the formula agrees with itself.
    """
    value = math.nan
    for _ in range(50):
        try:
            scenario = goal.at(local_steps, step_size=step_size)
        except BoundsError:  # no round of so many steps fits
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = float(bound(**chosen(scenario, bound)))
        if not math.isfinite(value):
            return None
        if bound.target.name == "step_size":
            return Point(local_steps, value, goal.rounds(local_steps), math.nan, cohort=goal.cohort), value
        before, local_steps = local_steps, max(1, round(value))
        if before == local_steps:
            break
    return Point(local_steps, step_size, goal.rounds(local_steps), math.nan, cohort=goal.cohort), value
