"""The table of an advice: who recommends which plan, what that plan gives, and what to run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TYPE_CHECKING

from bounds.showing.tables import number, plain

from .columns import Columns, ColumnTable, FEW, section, with_aliases
from .goal import Goal, OVER, Point
from .rows import INFORMATIVE, VACUOUS

if TYPE_CHECKING:
    from .worst_advice import ProvedPlan

BOUND, REFUTED, FORMULA, SCHEDULE = "bound", "refuted bound", "formula", "schedule"
WORST, SURROGATE, MEASURED = "worst case", "surrogate", "measured"
THEORY = (BOUND, FORMULA, REFUTED)
ADVISE_JSON = """\
--json prints one object: goal, over, start (the target before training), advice (the last sentences), judged_by
(measured, surrogate or ""), seeds (fresh ones), limit (the most that a run to a target may cost), no_advice (adviser,
why) and rows. A row has adviser, kind (bound, refuted bound, formula, schedule, worst case, surrogate, measured),
alias, local_steps, step_size, cohort, product (local_steps times step_size), rounds, schedule (local steps and step
size of every round where they change, else null), steps (the range of local_steps over uncertain constants, or of plans
as good as the best, or along a schedule), products (the same of the product) and cohorts, bound_value (in the unit that
is minimised; null for a formula), state of a bound, open (quantities at an end of what was searched), no_training,
unrounded (the number of a formula), surrogate, measured (mean and standard error), failed (how many seeds diverged, or
stopped at the limit, with which they count), measured_seeds, runs, worst_case (value; lower and upper ends of a proof,
unproved: why there is none; given: the constants of its federations; estimate: how their class is relaxed), as_good
(schedules as good as the best), regret (over the best; at least that where runs failed) and judged_by. NaN is null,
infinity is "inf"."""
GOOD = 1.5
"""Regret up to which a plan is called well chosen."""


class Trained(NamedTuple):
    """What a plan gave in training: mean and standard error over ``seeds``, and on how many of them it failed.

    With a target a run fails that does not reach it within the limit, and counts with the limit: the mean is then a
    lower estimate. Within a budget a run fails that diverges.
    """

    mean: float
    error: float
    failed: int
    seeds: int

    def __str__(self) -> str:
        error = "" if math.isnan(self.error) else f" ± {number(self.error, 1)}"
        return f"{number(self.mean, FEW)}{error}"


@dataclass(frozen=True)
class Recommendation:
    """One plan, by an adviser of a ``kind``.

    ``steps``, ``products`` (K times step size) and ``cohorts`` are ranges: over uncertain constants, or of the plans
    that are as good as the best. ``no_training``: a run by it hardly leaves its start. ``unrounded`` is a formula's
    number; ``surrogate`` and ``measured`` are what is minimised, by the surrogate and in training. The best fixed plan
    in training has the number of ``runs``, the schedules that are ``as_good``, and whether it is itself (``tied``).
    """

    name: str
    kind: str
    point: Point
    steps: tuple[int, int]
    state: str
    no_training: bool
    alias: tuple[str, ...] = ()
    unrounded: float = math.nan
    surrogate: float = math.nan
    measured: Trained | None = None
    products: tuple[float, float] = (math.nan, math.nan)
    cohorts: tuple[int, int] | None = None
    runs: int = 0
    as_good: tuple[str, ...] = ()
    tied: bool = False
    worst: ProvedPlan | None = None

    @property
    def failed(self) -> int:
        return 0 if self.measured is None else self.measured.failed

    @property
    def always_failed(self) -> bool:
        return self.measured is not None and self.measured.failed == self.measured.seeds


@dataclass(frozen=True, eq=False)
class AdviceTable(ColumnTable):
    """The recommendations for a goal, the best first as far as they are judged by runs.

    ``no_advice`` are advisers without a plan and why; ``seeds`` the fresh ones, ``limit`` the most that a run to a
    target may cost in training; ``known`` whether the federation itself was given.
    """

    goal: Goal
    over: tuple[str, ...]
    rows: tuple[Recommendation, ...]
    no_advice: tuple[tuple[str, str], ...]
    seeds: int = 0
    limit: float = math.inf
    known: bool = False

    # ---- how good the plans are ----

    @property
    def judged_by(self) -> str:
        """What regrets are computed from: ``measured``, ``surrogate``, or nothing."""
        if any(row.measured is not None for row in self.rows):
            return MEASURED
        return SURROGATE if any(row.kind == SURROGATE for row in self.rows) else ""

    def value(self, row: Recommendation) -> float:
        """What is minimised, at a row's plan, by training or else by the surrogate; NaN where it is not known."""
        if self.judged_by == MEASURED:
            return math.nan if row.measured is None else row.measured.mean
        return row.surrogate

    def regret(self, row: Recommendation) -> float:
        """The value of a row's plan over the best one; a lower estimate where runs of it failed."""
        value, best = (
            self.value(row),
            min((x for x in map(self.value, self.rows) if not math.isnan(x)), default=math.nan),
        )
        return 1.0 if value == best else value / best if best else math.inf

    @property
    def best(self) -> Recommendation | None:
        """The row to follow: the best fixed plan, or a schedule that is better."""
        own = [row for row in self.rows if row.kind in (self.judged_by, SCHEDULE)]
        return min(own, key=lambda row: (self.value(row), row.kind == SCHEDULE)) if self.judged_by else None

    @property
    def useful(self) -> bool:
        """Whether some plan trains, and reaches the target if there is one."""
        if self.best is not None:
            return not self._failure(self.best)
        return any(not row.no_training for row in self.rows)

    # ---- what to run, in a few sentences ----

    @property
    def advice(self) -> str:
        if self.judged_by:
            parts = [self._theory(), self._worst_case(), self._no_training(), self._follow()]
        else:
            parts = [self._theory_alone(), self._worst_case(), self._why_not_judged()]
        return " ".join(filter(None, parts))

    @property
    def _by(self) -> str:
        return "" if self.judged_by == MEASURED else " by the surrogate"

    def _theory(self) -> str:
        """Which theorems choose well."""
        theory = [row for row in self.rows if row.kind in THEORY]
        rows = sorted(theory, key=lambda row: (math.isnan(self.regret(row)), self.regret(row)))
        if not rows:
            return "No bound applies here."
        if good := [row for row in theory if self.regret(row) <= GOOD]:
            names = ", ".join(f"{row.name} ({number(self.regret(row), 2)}x)" for row in good)
            return f"{names} choose{'s' * (len(good) == 1)} well here{self._by}: {self._plan(good[0].point)}."
        bounds, others = ([row for row in rows if (row.kind == BOUND) == is_bound] for is_bound in (True, False))
        parts = []
        if bounds:
            many = f"the best of {len(bounds)}, " if len(bounds) > 1 else ""
            vacuous = all(row.state == VACUOUS for row in bounds) * (", all are vacuous" if many else ", it is vacuous")
            parts.append(f": {many}{bounds[0].name}, costs {_times(self.regret(bounds[0]))}{self._by}{vacuous}")
        parts += [f"; {row.name} costs {_times(self.regret(row))}" for row in others[:1]]
        return f"No bound chooses well here{''.join(parts)}."

    def _theory_alone(self) -> str:
        """What bounds promise where no plan was run."""
        bounds = [row for row in self.rows if row.kind == BOUND]
        informative = [row for row in bounds if row.state == INFORMATIVE and not row.no_training]
        if not bounds:
            return "No bound applies here."
        if informative:
            best = min(informative, key=lambda row: row.point.value)
            return f"{best.name} has the smallest bound: {number(best.point.value, FEW)} at {self._plan(best.point)}."
        states = sorted({"informative without training" if r.state == INFORMATIVE else r.state for r in bounds})
        if states == [VACUOUS]:
            which = "The only bound is" if len(bounds) == 1 else f"All {len(bounds)} bounds are"
            return f"{which} vacuous, even at the plan that minimises it."
        return f"No bound is certainly informative; at the plans that minimise them: {', '.join(states)}."

    def _worst_case(self) -> str:
        """The plan of the smallest worst case, and its regret."""
        row = next((row for row in self.rows if row.worst is not None), None)
        if row is None or row.worst is None:
            return ""
        proved = "" if row.worst.unproved else f" (proved: {row.worst.interval})"
        costs = f"; it costs {_times(self.regret(row))}{self._by}" if self.judged_by else ""
        return (
            f"By the exact worst case, without noise and with all clients: {self._plan(row.point)}; after "
            f"{row.point.rounds} rounds {self.goal.target} is at most {number(row.worst.value, FEW)}{proved} in every "
            f"federation with these constants{costs}."
        )

    def _no_training(self) -> str:
        names = [row.name for row in self.rows if row.no_training]
        return f"Ignored, since their plans hardly train: {', '.join(names)}." if names else ""

    def _why_not_judged(self) -> str:
        why = dict(self.no_advice)
        if not self.known:
            return "No simulation was run. Pass --problem to evaluate these recommendations."
        reason = why.get("measured") or why.get("quadratic surrogate", "there is no surrogate")
        more = "" if "measured" in why else " Pass --measure to evaluate these recommendations."
        return f"No simulation was run: {reason}.{more}"

    def _failure(self, best: Recommendation) -> str:
        """Why even the best plan is of no use; empty where it is."""
        value = self.value(best)
        if not math.isfinite(value) or best.always_failed:
            if self.goal.to is None:
                return "every plan diverges: give a smaller step_size, or optimise it"
            limit = f" within {number(self.limit, FEW)} {self.goal.unit}" if math.isfinite(self.limit) else ""
            return f"no plan reaches the target{limit}: allow more, or raise the target"
        if self.goal.to is None and value >= self.goal.start:
            start = number(self.goal.start, FEW)
            return f"no plan ends below the start, {start}: the best gives {number(value, FEW)}; optimise the step size"
        return ""

    def _follow(self) -> str:
        """The plan to run, what is as good, and how certain that is."""
        best, fixed = self.best, next(row for row in self.rows if row.kind == self.judged_by)
        assert best is not None
        measured = self.judged_by == MEASURED
        runs = sum(row.runs for row in self.rows)
        if why := self._failure(best):
            return f"{f'In {runs} runs of training' if measured else 'By the surrogate'} {why}."
        surrogate = next((row for row in self.rows if row.kind == SURROGATE), None)
        plan, certain = self._plan(best.point), ""
        if measured and surrogate is not None and self.regret(surrogate) <= GOOD and not surrogate.failed:
            which = f"{best.name} from {plan}" if best.kind == SCHEDULE else plan
            certain = f"the best measured, {which}, gave "
            text = f"Follow the surrogate ({_times(self.regret(surrogate))}): {self._plan(surrogate.point)}"
            text += self._as_good_as(fixed)
        elif best.kind == SCHEDULE:
            tied = ", indistinguishable from it" if fixed.tied else ""
            text = f"Run {best.name} from {plan}; the best fixed plan is {self._plan(fixed.point)}"
            text += f"{self._as_good_as(fixed)} ({_times(self.regret(fixed))}{tied})"
        else:
            text = f"Run {plan}{self._as_good_as(best)}"
        text += f"; {', '.join(fixed.as_good)} is indistinguishable from the best too" if fixed.as_good else ""
        text += f"; {' and '.join(best.point.open)} is at the end of the searched range (open)" * bool(best.point.open)
        text += "".join(f", with {word} fixed" for word in OVER if word not in self.over)
        if not measured or best.measured is None:
            return f"{text} (by the surrogate, which is accurate where runs end near the minimiser: train to be sure)."
        certain += f"{best.measured} on {best.measured.seeds} fresh seeds, {runs} runs in all"
        if best.failed and self.goal.to is not None:
            limit = f"{number(self.limit, FEW)} {self.goal.unit}"
            certain += f"; {best.failed} of them did not reach the target and count with the limit, {limit}"
        return f"{text} ({certain})."

    def _as_good_as(self, row: Recommendation) -> str:
        """The ranges of the fixed plans that are as good as a row's."""
        (low, high), cohorts = row.steps, row.cohorts or (0, 0)
        wide = "cohort" in self.over and cohorts[0] < cohorts[1]
        if not math.isfinite(row.products[0]) or not (low < high or wide):
            return ""
        steps = f"any K from {low} to {high}" if low < high else f"K = {low}"
        steps += f" and N from {cohorts[0]} to {cohorts[1]}" if wide else ""
        ends = [number(end, 2) for end in row.products]
        apart = "indistinguishable" if row.kind == MEASURED else "within 10 %"
        return f", or {steps} with K*step_size of {' to '.join(dict.fromkeys(ends))}, {apart}"

    def _plan(self, point: Point) -> str:
        cohort = f" cohort={point.cohort}" if "cohort" in self.over else ""
        return f"local_steps={point.local_steps} step_size={number(point.step_size, FEW)}{cohort}"

    # ---- the table ----

    def before(self) -> Iterator[str]:
        yield headline(self.goal, self.over)

    def after(self) -> Iterator[str]:
        yield from section("no advice", self.no_advice)
        yield self.advice

    def shown(self) -> Sequence[Recommendation]:
        return self.rows

    def columns(self) -> Columns:
        def along(row: Recommendation, digits: int, of: Any) -> str:
            """First and last round of a schedule."""
            plan = row.point.plan
            ends = (number(of(*plan.of_round(i)), digits) for i in (0, row.point.rounds))
            return "..".join(dict.fromkeys(ends))

        def steps(row: Recommendation) -> str:
            ends = "..".join(dict.fromkeys(map(str, row.steps)))
            as_good = row.kind in (SURROGATE, MEASURED)
            return "" if row.kind == SCHEDULE else f"{{{ends}}}" if as_good else f"[{ends}]"

        def judged(row: Recommendation) -> str:
            if self.judged_by == SURROGATE:
                return number(row.surrogate, FEW)
            return "-" if row.measured is None else str(row.measured)

        def regret(row: Recommendation) -> str:
            times = self.regret(row)
            shown = "-" if math.isnan(times) else _times(times).removesuffix("x")
            return f">={shown}" if row.failed and math.isfinite(times) else shown

        return {
            "adviser": lambda row: with_aliases(row.name, row.alias),
            "K": lambda row: along(row, 6, lambda k, size: k),
            "range": steps,
            **({"N": lambda row: str(row.point.cohort)} if "cohort" in self.over else {}),
            "step size": lambda row: along(row, FEW, lambda k, size: size),
            "K*step": lambda row: along(row, 2, lambda k, size: k * size),
            "rounds": lambda row: str(row.point.rounds or "-"),
            "bound": lambda row: "-" if math.isnan(row.point.value) else number(row.point.value, FEW),
            self.judged_by or SURROGATE: judged,
            "x best": regret,
            "notes": lambda row: "; ".join(self._notes(row)),
        }

    def _notes(self, row: Recommendation) -> Iterator[str]:
        yield from filter(
            None, [row.state, "refuted as printed" * (row.kind == REFUTED), "no training" * row.no_training]
        )
        if row.worst is not None:
            yield from row.worst.notes
        if row.kind == MEASURED and row.measured is not None:
            same = [one.name for one in self.rows if one is not row and one.point.plan == row.point.plan]
            yield f"the best fixed plan in training, {row.measured.seeds} fresh seeds"
            yield f"also recommended by {', '.join(same)}" if same else "recommended by no adviser"
        if row.kind == SCHEDULE:
            yield "of the papers, from the start that is best on the surrogate"
        if row.measured is not None and row.failed:
            what = "diverged" if self.goal.to is None else "did not reach it"
            yield f"{row.failed} of {row.measured.seeds} seeds {what}"
        if row.point.local_steps == 1 and "local_steps" in self.over and row.kind not in (FORMULA, SCHEDULE):
            yield "K at its minimum"
        yield from (f"{word} open" for word in row.point.open if not row.no_training)
        if row.kind == FORMULA:
            other = "step_size" if abs(row.unrounded - row.point.step_size) > 1e-12 else "local_steps"
            yield f"formula, {other} as given; unrounded {number(row.unrounded, FEW)}"

    # ---- for programs ----

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds advise --json`` prints."""
        found: dict[str, Any] = plain(
            {
                "goal": str(self.goal),
                "over": self.over,
                "start": self.goal.start,
                "advice": self.advice,
                "judged_by": self.judged_by,
                "seeds": self.seeds,
                "limit": self.limit,
                "no_advice": [{"adviser": name, "why": why} for name, why in self.no_advice],
                "rows": list(map(self._row, self.rows)),
            }
        )
        return found

    def _row(self, row: Recommendation) -> dict[str, Any]:
        point, measured = row.point, row.measured
        return {
            "adviser": row.name,
            "kind": row.kind,
            "alias": row.alias,
            "local_steps": point.local_steps,
            "step_size": point.step_size,
            "product": point.local_steps * point.step_size,
            "cohort": point.cohort,
            "rounds": point.rounds,
            "schedule": point.schedule or None,
            "steps": row.steps,
            "products": row.products,
            "cohorts": row.cohorts or (point.cohort, point.cohort),
            "bound_value": point.value,
            "state": row.state,
            "open": point.open,
            "no_training": row.no_training,
            "unrounded": row.unrounded,
            "surrogate": row.surrogate,
            "measured": measured and measured[:2],
            "failed": measured and measured.failed,
            "measured_seeds": measured and measured.seeds,
            "runs": row.runs,
            "worst_case": row.worst and row.worst.as_json(),
            "as_good": row.as_good,
            "regret": self.regret(row),
            "judged_by": self.judged_by,
        }

    def records(self) -> list[dict[str, Any]]:
        """A row with one number or word to a column; lists as JSON text."""
        found = []
        for row, own in zip(map(self._row, self.rows), self.rows, strict=True):
            row |= {"worst_lower": own.worst and own.worst.lower, "worst_upper": own.worst and own.worst.upper}
            row |= {"steps_low": own.steps[0], "steps_high": own.steps[1]}
            row |= {
                "measured": own.measured and own.measured.mean,
                "standard_error": own.measured and own.measured.error,
            }
            del row["worst_case"], row["steps"]
            found.append({key: json.dumps(x) if isinstance(x, (tuple, list)) else x for key, x in row.items()})
        return found


def headline(goal: Goal, over: Sequence[str]) -> str:
    """The goal, what is optimised, and what is known before training."""
    words = ("clients",) if "cohort" in over else ("clients", "cohort")
    who = [f"{number(goal.scenario[word].value)} {word}" for word in words if word in goal.scenario]
    start = [f"{number(goal.start, FEW)} before training"] if math.isfinite(goal.start) else []
    return "; ".join([f"{goal}, over {', '.join(over)}", *start, *who])


def _times(regret: float) -> str:
    if not math.isfinite(regret):
        return "more than was tried"
    return f"{regret:.0f}x" if 100 <= regret < 1e6 else f"{number(regret, 2)}x"
