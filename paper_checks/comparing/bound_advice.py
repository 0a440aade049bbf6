"""Plans that theorems recommend: where a bound is smallest, and where the papers' formulas say.

Constants are the best admissible ones at every plan, as in ``Scenario.substituted``. Many step sizes are evaluated
together as an array, with the quantities of the plan that follow from them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy as sp

from bounds.bounded_quantity import BoundedQuantity, mismatch, routes
from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.identities import evaluated, IDENTITIES
from bounds.quantities import quantities_of
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, Role, role_of
from bounds.substituting import chosen_values
from bounds.trivial_bounds import trivial
from bounds.vocabulary import step_scale, step_size
from empirics.progress import Progress

from .advice_table import BOUND, FORMULA, Recommendation, REFUTED
from .goal import BUDGETS, Goal, is_given, number_of, OVER, Point, search_integers, TARGETS, UNIT_PLAN
from .rows import federated_rows, FormulaValue, in_order, MinimumRounds, numbers_of, RANKED, Row, rows_of, State

DERIVED = ("iterations", "runtime", "initial_step_size", "initial_local_steps", "squared_step_sizes",
           "steps_cubed_ratio", "step_scale")  # fmt: skip
"""Quantities of the plan that follow from local steps, rounds and a fixed step size."""
SMALLEST, LARGEST = 1e-9, 4.0
"""Range of step sizes, times 1/L."""
MANY, FIRST, FEW, ZOOMS = 145, 15, 7, 4
"""Step sizes in one pass of the search; the same in the first and in later passes if constants are chosen for each of
them; and the number of later passes, which zoom in on the best one."""
NO_TRAINING = 0.5
"""A run stays near its start if step size times L, summed over all iterations, is below this."""
ROUNDS = np.unique(np.rint(np.geomspace(1, 1e15, 400)))
"""The grid of rounds on which the first bound below the target level is searched."""
CLOSE = 1e-3
"""Relative difference below which two plans are the same."""
PLAN = ("local_steps", "step_size", *BUDGETS, "cohort", "participation")
"""Quantities that the search for the minimum number of rounds chooses."""
RAISES, HALVED, APART = 12, 4, 1.1
"""To confirm a minimum number of rounds: how often it may be raised by five percent; how often it is bisected; and the
factor between it and the lower end of the bisection."""
Reasons = list[tuple[str, str]]
"""Names of advisers that recommend no plan, and why."""


@dataclass(frozen=True, eq=False)
class BoundAdvice:
    """The plan at which a bound on the goal's target is smallest, among those that meet its conditions."""

    bound: Bound
    goal: Goal
    _known: dict[tuple[int, int], tuple[Scenario, dict[str, Any]]] = field(default_factory=dict, init=False)
    """By local steps and number of constants that hold only for smaller steps: the scenario and its constants."""

    def best(self, over: tuple[str, ...] = OVER) -> Point | None:
        """The recommended plan, or None if no plan meets the conditions."""
        if "local_steps" not in over:
            return self._with_steps(int(self.goal.scenario["local_steps"].value), over)
        return search_integers(self.goal.steps(), lambda steps: self._with_steps(steps, over))

    def _with_steps(self, steps: int, over: tuple[str, ...]) -> Point | None:
        """The plan with the best step size for these local steps."""
        if "step_size" not in over:
            sizes = np.array([float(self.goal.scenario["step_size"].value)])
        elif self.fixed_step_size is not None:
            sizes = np.array([SMALLEST / self._smoothness])  # a placeholder: the condition prescribes the step size
        else:
            sizes = np.geomspace(SMALLEST, LARGEST, FIRST if self._chosen else MANY) / self._smoothness
        ends = sizes[[0, -1]]
        best = Point(steps, float(sizes[0]), 0, math.inf, cohort=self.goal.cohort)
        for _ in range(ZOOMS + 1):
            values, rounds, used = self._values(steps, sizes)
            i = int(np.argmin(np.where(np.isnan(values), np.inf, values)))
            if not math.isnan(values[i]) and values[i] <= best.value:
                best = Point(steps, float(used[i]), int(rounds[i]), float(values[i]), cohort=self.goal.cohort)
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
        """Whether constants are chosen for every step size: admissible pairs, and free constants of a proof."""
        return any(role_of(q.name) in (Role.PAIR, Role.FREE) for q in self.bound.quantities)

    @cached_property
    def _smoothness(self) -> float:
        if "smoothness" not in self.goal.scenario:
            raise BoundsError("a search over step sizes needs smoothness=NUMBER")
        return float(np.max(self.goal.scenario["smoothness"].safe))

    @cached_property
    def fixed_step_size(self) -> sp.Expr | None:
        """The step size that a condition prescribes, if the scenario has its quantities."""
        for condition in self.bound.conditions:
            left, right = condition.sides or (None, None)
            if left == step_size and right is not None and step_scale not in right.free_symbols:
                known = {*self.goal.scenario, "local_steps", "rounds", "iterations"}
                return right if {q.name for q in quantities_of([right])} <= known else None
        return None

    def _values(self, steps: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The minimised values at step sizes, the rounds, and the step sizes that were used.

        A condition may prescribe other step sizes. Constants that hold only up to some step size are not used beyond.
        """
        parts = [sizes[self._beyond(sizes) == count] for count in np.unique(self._beyond(sizes))]
        results = [self._together(steps, part) for part in parts]
        values, rounds, used = (np.concatenate([one[i] for one in results]) for i in range(3))
        return values, rounds, used

    def _beyond(self, sizes: np.ndarray) -> np.ndarray:
        """For each step size, the number of constants that hold only for smaller ones."""
        limits = [limit for _, s in self.goal.scenario.items() for word, limit in s.up_to if word == "step_size"]
        return np.searchsorted(np.sort(limits), sizes)

    def _together(self, steps: int, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """``_values`` at step sizes at which the same constants hold."""
        goal, here = self.goal, self.goal.plan(steps)
        rounds: Any = float(here["rounds"].value) if goal.to is None else ROUNDS[:, None]
        if (fixed := self.fixed_step_size) is None:
            known = {**self._constants(steps, sizes), "step_size": sizes}
        else:
            plan = with_derived({**numbers(here), "rounds": np.ravel(rounds)})
            with np.errstate(divide="ignore"):  # without noise a part of a minimum is infinite
                own = evaluated(fixed, plan)
            known = self._constants(steps, np.broadcast_to(own, np.shape(plan["rounds"])), plan)
            by_client = {q.name for q in self.bound.quantities if q.card.axis}
            known = {w: x[:, None] if np.ndim(x) == 1 and w not in by_client else x for w, x in known.items()}
            sizes = known["step_size"] + 0 * sizes
        known = with_derived({**known, "rounds": rounds})
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = np.asarray(self._code(**{q.name: known[q.name] for q in self.bound.quantities}), dtype=float)
        values = values * self.factor(steps, sizes, rounds)
        if goal.to is None:
            return np.broadcast_to(values, sizes.shape).ravel(), np.full(sizes.size, rounds), sizes.ravel()
        values, sizes = (np.broadcast_to(one, (len(ROUNDS), sizes.shape[-1])) for one in (values, sizes))
        enough = values <= goal.to[1]
        first, column = enough.argmax(0), np.arange(sizes.shape[-1])
        rounds_needed = np.where(enough[first, column], ROUNDS[first], np.nan)
        return goal.cost(steps, rounds_needed), np.nan_to_num(rounds_needed), sizes[first, column]

    def _constants(self, steps: int, sizes: np.ndarray, plans: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The values of quantities at step sizes (in ``plans``); constants are common to all, or the best at each."""
        key = steps, int(self._beyond(sizes[:1])[0])
        if key not in self._known:
            here = self.goal.plan(steps, float(sizes[0]))
            self._known[key] = here, {} if self._chosen else chosen_values(here, self.bound)
        here, constants = self._known[key]
        plan = with_derived({**numbers(here), **(plans or {}), "step_size": sizes})
        if self._chosen:
            names = {q.name for q in self.bound.quantities}
            along = {word: plan[word] for word in ("step_size", "rounds", *DERIVED) if np.ndim(plan.get(word, 0))}
            along = {word: x for word, x in along.items() if word in names}
            constants = chosen_values(here, self.bound, along)
        return {**plan, **constants}

    @cached_property
    def _code(self) -> Callable[..., Any]:
        return self.bound.compile()

    def factor(self, steps: int, sizes: Any, rounds: Any) -> Any:
        """The factor of the conversions to the target, a product of powers that four plans determine.

        NaN for plans at which no conversion leads there, such as several local steps of a bound on one machine.
        """
        base, powers = self._powers
        return base * steps ** powers["local_steps"] * sizes ** powers["step_size"] * rounds ** powers["rounds"]

    @cached_property
    def _powers(self) -> tuple[float, dict[str, float]]:
        def at(scenario: Scenario) -> float:
            reached, _ = routes(BoundedQuantity.of(self.bound), scenario)
            own = [way for way in reached if way.to.target == self.goal.target and not mismatch(way.to, scenario)]
            return own[0].factor if own else math.nan

        base, *doubled = (at(scenario) for scenario in self.goal.unit_plans)
        return base, {word: math.log2(x / base) for word, x in zip(UNIT_PLAN, doubled, strict=True)}


def numbers(scenario: Scenario) -> dict[str, Any]:
    """The values of quantities that are single numbers."""
    return {word: stated.value for word, stated in scenario.items() if np.ndim(stated.value) == 0}


def with_derived(plan: dict[str, Any]) -> dict[str, Any]:
    """The quantities of a plan and those of ``DERIVED`` that follow from them."""
    values = dict(plan)
    for tie in IDENTITIES:
        if tie.left.name in DERIVED and set(tie.needs) <= values.keys():
            values[tie.left.name] = tie.value(*(values[word] for word in tie.needs))
    return values


# ---- the recommendations of bounds ----


def of_bounds(
    goal: Goal, over: tuple[str, ...], book: Mapping[str, Bound], bar: Progress
) -> tuple[list[Recommendation], Reasons]:
    """The recommendations of all applicable bounds in ``book``, equal ones merged, and the bounds without one.

    If the cohort is optimised, a bound is evaluated at the cohorts that its premises allow (some clients, or all). A
    bound that recommends hardly to train with the largest cohort is not evaluated at smaller ones.
    """
    clients = int(goal.scenario["clients"].value) if "cohort" in over else 0
    cohorts = list(goal.cohorts()) if clients else [goal.cohort]
    rest = tuple(word for word in over if word != "cohort")
    groups = {  # by whether all clients take part
        everyone: can_advise(goal.of_cohort(group[0]), book)
        for everyone in (True, False)
        if (group := [number for number in cohorts if (number == clients) == everyone])
    }
    advisers = dict.fromkeys(name for able, _ in groups.values() for name in able)
    refused = {row.bound: row for _, rows in groups.values() for row in rows if row.bound not in advisers}
    no_advice = [(name, next((f.condition for f in row.failed if math.isnan(f.left)), f"add {numbers_of(row)}"))
                 for name, row in refused.items()]  # fmt: skip
    found: list[Recommendation] = []
    for name in advisers:
        bar.doing(f"minimising {name}")
        own = [number for number in cohorts if name in groups[number == clients][0]]

        @cache
        def at(cohort: int, bound: Bound = book[name], own: Sequence[int] = own) -> Point | None:
            return BoundAdvice(bound, goal.of_cohort(cohort)).best(rest) if cohort in own else None

        point = at(max(own))
        if clients and (point is None or not hardly_trains(goal.of_cohort(point.cohort), point)):
            point = search_integers(cohorts, at, word="cohort") or point
        here, rows = goal, []
        if point is not None:
            here = goal.of_cohort(point.cohort)
            rounds = {} if goal.to is None else {"rounds": point.rounds}
            rows = federated_rows(book[name], here.at(point.local_steps, step_size=point.step_size, **rounds),
                                  goal.target)  # fmt: skip
        if point is not None and "step_size" not in rest and not math.isclose(
            point.step_size, number_of(goal.scenario, "step_size"), rel_tol=CLOSE
        ):  # fmt: skip
            no_advice.append((name, "it prescribes a step size of its own, not the given one"))
            continue
        row = next((row for row in rows if row.state in RANKED), None)
        if point is None or row is None:
            no_advice.append((name, "its conditions fail at all plans within reach"))
            continue
        idle, state = hardly_trains(here, point), row.state + "?" * (not row.conclusive)
        kind, steps = REFUTED if row.refuted else BOUND, (point.local_steps,) * 2
        recommendation = Recommendation(name, kind, point, steps, state, idle)
        if merge_into(found, recommendation):
            continue
        if rest and not idle:
            bar.doing(f"how certain the plan of {name} is")
            ends = (BoundAdvice(book[name], end).best(rest) for end in here.ends)
            each = [point.local_steps, *(end.local_steps for end in ends if end is not None)]
            found[-1] = replace(recommendation, steps=(min(each), max(each)))
    return found, no_advice


def merge_into(found: list[Recommendation], new: Recommendation) -> bool:
    """Add a recommendation, or only its name to one with the same plan and value; return whether there was one."""
    for i, one in enumerate(found):
        ends = [(one.point.step_size, new.point.step_size)]
        same = one.point.local_steps == new.point.local_steps
        if new.kind == FORMULA:
            same = same and one.steps == new.steps
        else:
            ends.append((one.point.value, new.point.value))
        if same and all(math.isclose(a, b, rel_tol=CLOSE) for a, b in ends):
            found[i] = replace(one, alias=(*one.alias, new.name))
            return True
    found.append(new)
    return False


def may_hold_elsewhere(row: Row) -> bool:
    """Whether a bound has a value at this plan, or may have one at another because only inequalities fail."""
    return row.state in RANKED or (row.state == State.NOT_MET and all(not math.isnan(one.left) for one in row.failed))


def can_advise(goal: Goal, book: Mapping[str, Bound]) -> tuple[dict[str, Row], list[Row]]:
    """Bounds that may recommend a plan, with their rows at a small step size, and the rows of those that never do.

    Inequalities may hold at other plans; conditions on the federation, such as full participation, hold at all or none.
    Theorems on one machine, which need one local step, are left out.
    """
    smoothness = goal.scenario["smoothness"].safe if "smoothness" in goal.scenario else 1.0
    small = {"step_size": 1e-6 / float(np.max(smoothness)), **({} if goal.to is None else {"rounds": 1000})}
    scenario = goal.at(1, **small)
    rows = in_order(book, [row for bound in book.values() for row in federated_rows(bound, scenario, goal.target)])
    able: dict[str, Row] = {}
    for row in filter(may_hold_elsewhere, rows):
        for name in (row.bound, *row.alias):
            able.setdefault(name, row)
    return able, [row for row in rows if row.state in (State.NOT_MET, State.MISSING) and not may_hold_elsewhere(row)]


def hardly_trains(goal: Goal, point: Point) -> bool:
    """Whether a run by this plan stays near its start on any data; such a plan is not recommended."""
    if "smoothness" not in goal.scenario:
        return False
    reach = point.step_size * point.local_steps * point.rounds * float(np.max(goal.scenario["smoothness"].safe))
    return reach < NO_TRAINING


# ---- the minimum number of rounds ----


def minimum_rounds(bound: Bound, scenario: Scenario, target: str) -> MinimumRounds | None:
    """The smallest number of rounds at which some local steps and step size make a bound informative.

    It is confirmed by the bound's row, with the given cohort or else all clients. None if the value before training is
    unknown or the bound does not apply.
    """
    cohort, clients = (number_of(scenario, word) for word in ("cohort", "clients"))
    fewest = _with_cohort(bound, scenario, target, cohort)
    if (fewest is None or not math.isfinite(fewest.rounds)) and clients != cohort:
        fewest = _with_cohort(bound, scenario, target, clients) or fewest
    return fewest


def _with_cohort(bound: Bound, scenario: Scenario, target: str, cohort: float) -> MinimumRounds | None:
    words = {word: scenario[word] for word in scenario if is_given(scenario, word) and word not in PLAN}
    base = Scenario.of(words, **scenario.text_options, also=bound.quantities)
    base = base if math.isnan(cohort) else base.at(cohort=cohort)
    level = trivial(target, base)[1]
    if not math.isfinite(level) or "smoothness" not in base:
        return None
    goal = Goal(base, "rounds", (target, level))
    if not any(may_hold_elsewhere(row) for row in federated_rows(bound, goal.plan(1), target)[:1]):
        return None
    advice = BoundAdvice(bound, goal)
    point = advice.best()
    if point is None:
        return MinimumRounds(math.inf)

    def at(rounds: float) -> dict[str, Any]:
        plan, fixed = {"local_steps": point.local_steps, "rounds": math.ceil(rounds)}, advice.fixed_step_size
        known = {**numbers(base), **{word: float(value) for word, value in plan.items()}}
        size = point.step_size if fixed is None else evaluated(fixed, with_derived(known))
        return {**plan, "step_size": float(size)}

    def informative(rounds: float) -> bool:
        return any(row.state == State.INFORMATIVE for row in rows_of(bound, base.at(**at(rounds)), target))

    enough = (point.rounds * 1.05**i for i in range(RAISES))
    most = next((rounds for rounds in enough if informative(rounds)), math.inf)
    if not math.isfinite(most):
        return MinimumRounds(most)
    least = max(most / APART, 1.0)
    for _ in range(HALVED):
        middle = math.sqrt(least * most)
        least, most = (least, middle) if informative(middle) else (middle, most)
    found = at(most)
    return MinimumRounds(float(found["rounds"]), point.local_steps, found["step_size"], cohort)


# ---- formulas ----


def formulas(goal: Goal, over: tuple[str, ...]) -> list[Bound]:
    """The papers' formulas for the best local steps or step size whose quantities this scenario has."""
    plan = goal.at(1) if "local_steps" not in goal.scenario else goal.scenario
    whole = plan if "step_size" in plan else plan.at(step_size=1e-3)
    usable = []
    for bound in BOUNDS.values():
        if bound.relation != "=" or bound.target.name not in over or bound.about is None:
            continue
        names = [q.name for q in bound.quantities if q.name in plan]
        of_schedule = any(name.startswith("initial_") and plan[name].role == Role.DESIGN for name in names)
        of_federation = any(plan[name].role in (*ADMISSIBLE, Role.DEFINED) for name in names)
        if of_federation and not of_schedule and not whole.missing(bound):
            usable.append(bound)
    return usable


def of_formulas(goal: Goal, over: tuple[str, ...]) -> list[Recommendation]:
    """The plans of formulas for K* and eta*, each at the given value of the other one; none with a target."""
    found: list[Recommendation] = []
    for bound in formulas(goal, over) if goal.to is None else ():
        is_k = bound.target.name == "local_steps"
        if ("step_size" if is_k else "local_steps") not in goal.scenario:
            continue
        steps = 1 if is_k else int(goal.scenario["local_steps"].value)
        size = number_of(goal.scenario, "step_size") if "step_size" in goal.scenario else 1.0
        if (result := by_formula(bound, goal, steps, size)) is None:
            continue
        point, unrounded, ends = result
        low, high = (max(1, math.floor(ends[0])), max(1, math.ceil(ends[1]))) if is_k else (point.local_steps,) * 2
        idle = hardly_trains(goal, point)
        merge_into(found, Recommendation(bound.name, FORMULA, point, (low, high), "", idle, unrounded=unrounded))
    return found


def by_formula(
    bound: Bound, goal: Goal, local_steps: int, step_size: float
) -> tuple[Point, float, tuple[float, float]] | None:
    """The plan of a formula, its value before rounding, and the range of that value over uncertain constants.

    None if it has no value. If the rounds within the budget depend on K, the result is a fixed point of the formula.
    """

    def solved(goal: Goal) -> tuple[Point, float] | None:
        steps, size, value = local_steps, step_size, math.nan
        for _ in range(50):
            try:
                scenario = goal.at(steps, step_size=size)
            except BoundsError:  # the budget allows no round of these steps
                return None
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = float(bound(**chosen_values(scenario, bound)))
            if not math.isfinite(value):
                return None
            if bound.target.name == "step_size":
                size = value
                break
            before, steps = steps, max(1, round(value))
            if before == steps:
                break
        return Point(steps, size, goal.rounds(steps), math.nan, cohort=goal.cohort), value

    if (result := solved(goal)) is None:
        return None
    numbers = [result[1], *(end[1] for end in map(solved, goal.ends) if end is not None)]
    return *result, (min(numbers), max(numbers))


def formula_values(scenario: Scenario, target: str, of: Sequence[str]) -> Iterator[FormulaValue]:
    """The values of the papers' formulas, printed and derived ones; ``of`` restricts the papers."""
    if not {*OVER, "rounds"} <= scenario.keys():
        return
    try:
        goal = Goal.of(scenario, target if target in TARGETS else TARGETS[0], None, 1)
    except BoundsError:  # the scenario has no single budget
        return
    papers = {name.partition(".")[0] for name in of}
    plan = int(scenario["local_steps"].value), float(scenario["step_size"].value)
    for bound in formulas(goal, OVER):
        if papers and bound.name.partition(".")[0] not in papers:
            continue
        at = (1, plan[1]) if bound.target.name == "local_steps" else plan
        if (result := by_formula(bound, goal, *at)) is not None:
            _, value, ends = result
            source = str(bound.source)
            yield FormulaValue(bound.name, bound.target.name, value, *ends, "derived" not in source, source)
