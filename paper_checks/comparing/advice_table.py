"""The result of ``advise``: which adviser recommends which plan, the values of the plans, and what to run."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TYPE_CHECKING

from bounds.decaying_k.schedules import SCHEDULES
from bounds.showing.tables import number, plain

from ..columns import Columns, ColumnTable, FEW, section, with_aliases
from .goal import Goal, Point, WINDOW, ZERO
from .rows import State

if TYPE_CHECKING:
    from .seed_racing import Race
    from .worst_advice import ProvedPlan

BOUND, REFUTED, FORMULA, SCHEDULE = "bound", "refuted bound", "formula", "schedule"
WORST, SURROGATE, MEASURED = "worst case", "surrogate", "measured"
ADVISE_JSON = """\
--json prints one object: goal, over, start (the target before training), advice (the recommendation and what else
follows), command (the line that trains the recommended plan, or ""), judged_by (measured, surrogate or ""), seeds
(fresh ones), limit (the most that a run to a target may cost), no_advice (adviser, why) and rows. A row has adviser,
kind (bound, refuted bound, formula, schedule, worst case, surrogate, measured), alias, local_steps, step_size, cohort,
product (local_steps times step_size), rounds, schedule (local steps and step size of every round where they change,
else null), steps (the range of local_steps over uncertain constants, or of plans as good as the best, or along a
schedule), bound_value (in the unit that is minimised; null for a formula), state of a bound, open (quantities at an end
of what was searched), no_training, unrounded (the number of a formula), surrogate, measured (mean and standard error),
failed (how many seeds diverged, or stopped at the limit, with which they count), measured_seeds, runs, worst_case
(value; lower and upper ends of a proof, unproved: why there is none; given: the constants of its federations; estimate:
how their class is relaxed), regret (over the best fixed plan; at least that where runs failed or the best is 0) and
judged_by. NaN is null, infinity is "inf"."""
GOOD = 1.5
"""The largest regret of a plan that counts as well chosen."""
REACHED = " Its value is numerically zero: without gradient noise (full batches) every such plan reaches the minimum."
LEGEND = (
    "K: local steps; range: of K, [over uncertain constants] or {of plans as good}; K*step: K times the step size; "
    "bound: its value at the plan; hardly trains: a run stays near its start; open: the plan is at an end of what was "
    "searched"
)
LEGEND_OF_RUNS = "; x best: the value over that of the best fixed plan"
FREE_STEPS = (
    "Within a budget of rounds local steps cost nothing, so K is large: give a budget in iterations or runtime where "
    "they cost time."
)


class Trained(NamedTuple):
    """The value of a plan in training: mean and standard error over ``seeds``, and how many of the runs failed.

    Within a budget a run fails if it diverges. With a target it fails if it does not reach the target within the limit;
    it then counts with the limit, so the mean is a lower estimate.
    """

    mean: float
    error: float
    failed: int
    seeds: int

    def __str__(self) -> str:
        return f"{number(self.mean, FEW)}{'' if math.isnan(self.error) else f' ± {number(self.error, 1)}'}"


@dataclass(frozen=True)
class Recommendation:
    """One plan, recommended by an adviser of a ``kind``.

    ``steps`` is a range: over uncertain constants, or of the plans that are as good as the best. ``no_training``: a run
    by this plan hardly leaves its start. ``unrounded`` is a formula's value; ``surrogate`` and ``measured`` are the
    minimised quantity on the surrogate and in training.
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
    worst: ProvedPlan | None = None

    @property
    def failed(self) -> int:
        return 0 if self.measured is None else self.measured.failed


@dataclass(frozen=True, eq=False)
class AdviceTable(ColumnTable):
    """The recommendations for a goal, best first if runs evaluated them.

    ``no_advice`` lists advisers without a plan, and why. ``race`` is the training that evaluated the plans. ``known``:
    whether the federation's data were given, and ``typed`` are the options of ``fedbounds train`` that describe it
    (empty if there are none).
    """

    goal: Goal
    over: tuple[str, ...]
    rows: tuple[Recommendation, ...]
    no_advice: tuple[tuple[str, str], ...]
    race: Race | None = None
    known: bool = False
    typed: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        """The maximum cost of a run to a target in training."""
        return math.inf if self.race is None else self.race.limit

    @cached_property
    def judged_by(self) -> str:
        """What regrets are computed from: ``measured``, ``surrogate``, or an empty string."""
        if self.race is not None:
            return MEASURED
        return SURROGATE if any(row.kind == SURROGATE for row in self.rows) else ""

    def value(self, row: Recommendation) -> float:
        """The minimised quantity at a row's plan by training, or else on the surrogate; NaN if unknown."""
        if self.race is None:
            return row.surrogate
        return math.nan if row.measured is None else row.measured.mean

    def regret(self, row: Recommendation) -> float:
        """The value of a row's plan over that of the best fixed plan; a lower estimate if runs of it failed.

        Values that are numerically zero count as the largest number that is, so that a regret over such a value is a
        lower estimate too.
        """
        if self.best is None:
            return math.nan
        zero = ZERO * self.goal.start if self.goal.to is None and math.isfinite(self.goal.start) else 0.0
        value, best = (max(self.value(one), zero) for one in (row, self.best))
        return 1.0 if value == best else value / best if best else math.inf

    @property
    def best(self) -> Recommendation | None:
        """The row of the best fixed plan by training, or else on the surrogate."""
        return next((row for row in self.rows if row.kind == self.judged_by), None)

    @property
    def better(self) -> Recommendation | None:
        """The best schedule, if it is better than the best fixed plan."""
        better = [row for row in self.rows if row.kind == SCHEDULE and self.regret(row) < 1]
        return min(better, key=self.value, default=None)

    @property
    def recommended(self) -> Recommendation | None:
        """The row to follow: the surrogate's if training finds it good enough, else the best one.

        Without runs it is the row with the smallest informative bound; None if nothing is recommended.
        """
        if self.best is None:
            bounds = [row for row in self.rows if (row.kind, row.state) == (BOUND, State.INFORMATIVE)]
            return min((row for row in bounds if not row.no_training), key=lambda row: row.point.value, default=None)
        if self._failure(self.best):
            return None
        good = [row for row in self.rows if row.kind == SURROGATE and not row.failed and self.regret(row) <= GOOD]
        return good[0] if good and self.race is not None else self.best

    @property
    def useful(self) -> bool:
        """Whether some plan makes progress, and reaches the target if there is one."""
        if self.best is not None:
            return self.recommended is not None
        return any(not row.no_training for row in self.rows)

    def command_of(self, row: Recommendation | None) -> str:
        """The command that trains the plan of a row; empty without a plan or a problem that it could name."""
        goal = self.goal
        if row is None or not self.typed:
            return ""
        point, rounds = row.point, row.point.rounds
        if goal.to is not None and row.measured is not None:  # the measured cost in rounds
            rounds = math.ceil(row.measured.mean / float(goal.of_cohort(point.cohort).cost(point.local_steps)))
        options: dict[str, Any] = {}
        if row.kind == SCHEDULE:
            key = row.name.removeprefix("schedule ")
            window = f", window={WINDOW}" if SCHEDULES[key].needs_losses else ""
            options["algorithm"] = f"scheduled(fedavg(), schedule={key!r}{window})"
        if goal.scenario.sampling != "without_replacement":
            options["sampling"] = goal.scenario.sampling
        options |= {"cohort": point.cohort, "rounds": max(1, rounds), "local-steps": point.local_steps,
                    "step-size": number(point.step_size), "measure": goal.target}  # fmt: skip
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return " ".join(["fedbounds train", *map(_quoted, (*self.typed, *words))])

    @property
    def recommendation(self) -> str:
        """A sentence on what to run and how certain that is."""
        best, row, race = self.best, self.recommended, self.race
        if best is None:
            return self._without_runs()
        if row is None:
            by = "By the surrogate" if race is None else f"In {race.runs} runs of training"
            return f"{by} {self._failure(best)}."
        parts = [f"Run {self._named(row)}"]
        if row is not best:
            parts.append(f"it costs {self._times(row)} the best measured, {self._named(best)}")
        if self.better:
            tied = ", indistinguishable" * (race is not None and best.point.plan in race.near)
            parts.append(f"{self._named(self.better)} costs {self._times(self.better)} the best fixed plan{tied}")
        if row.point.open:
            parts.append(f"{' and '.join(row.point.open)} is at the end of the searched range (open)")
        certain = "by the surrogate, which is accurate where runs end near the minimiser: train to be sure"
        if race is not None and best.measured is not None:
            certain = f"{best.measured} on {best.measured.seeds} fresh seeds, {race.runs} runs in all"
            if best.failed and self.goal.to is not None:
                limit = f"{number(self.limit, FEW)} {self.goal.unit}"
                certain += f"; {best.failed} did not reach the target and count with the limit, {limit}"
        zero = REACHED * (self.goal.to is None and self.value(best) == 0)
        return f"{'; '.join(parts)} ({certain}).{zero}"

    @property
    def advice(self) -> str:
        """The recommendation, and how well theorems choose."""
        return " ".join(filter(None, [self.recommendation, self._theory]))

    def _without_runs(self) -> str:
        """Sentences on what bounds promise if no plan was run, and why none was."""
        bounds, best = [row for row in self.rows if row.kind == BOUND], self.recommended
        if not bounds:
            text = "No bound gives a plan here."
        elif best is not None:
            text = f"{best.name} has the smallest bound: {number(best.point.value, FEW)} at {self._named(best)}."
        elif all(row.state == State.VACUOUS for row in bounds):
            text = f"All {len(bounds)} bounds are vacuous, even at the plans that minimise them."
        else:
            text = "No bound is certainly informative, even at the plan that minimises it."
        why = dict(self.no_advice)
        if self.known:
            reason = why.get("measured") or why.get("quadratic surrogate", "no surrogate")
            return f"{text} No simulation was run: {reason}."
        return f"{text} No simulation was run. Pass --problem to evaluate these recommendations."

    def _failure(self, best: Recommendation) -> str:
        """Why even the best plan is useless; empty if it is useful."""
        value, start = self.value(best), self.goal.start
        if not math.isfinite(value) or (best.measured is not None and best.failed == best.measured.seeds):
            if self.goal.to is None:
                return "every plan diverges: give a smaller step_size, or optimise it"
            limit = f" within {number(self.limit, FEW)} {self.goal.unit}" if math.isfinite(self.limit) else ""
            return f"no plan reaches the target{limit}: allow more, or raise the target"
        if self.goal.to is not None or value < start:
            return ""
        ends = f"{number(start, FEW)}: the best gives {number(value, FEW)}"
        return f"no plan ends below the start, {ends}; optimise the step size"

    @property
    def _theory(self) -> str:
        """A sentence on which theorems choose well, or the regret of the best one; empty if nothing was run."""
        by = " by the surrogate" if self.race is None else ""
        theory = [row for row in self.rows if row.kind in (BOUND, FORMULA, REFUTED)]
        if self.recommended is None or not self.judged_by or not theory:
            return "No bound gives a plan here." if self.judged_by and not theory else ""
        order = sorted(theory, key=lambda row: (math.isnan(self.regret(row)), self.regret(row)))
        costs = {
            f"{row.name}{' (refuted)' * (row.kind == REFUTED)} costs {self._times(row)}": self.regret(row)
            for row in order
        }
        if good := [cost for cost, regret in costs.items() if regret <= GOOD]:
            return f"Chosen well{by}: {'; '.join(good)}."
        return f"No bound chooses well here: {next(iter(costs))}{by}."

    def _times(self, row: Recommendation) -> str:
        """The regret as text."""
        regret = self.regret(row)
        if not math.isfinite(regret):
            return "more than was tried"
        over_zero = self.best is not None and self.value(self.best) == 0 and regret > 1
        at_least = ">=" * bool(row.failed or over_zero)
        return at_least + (f"{regret:.0f}x" if 100 <= regret < 1e6 else f"{number(regret, 2)}x")

    def _named(self, row: Recommendation) -> str:
        cohort = f" cohort={row.point.cohort}" if "cohort" in self.over else ""
        plan = f"local_steps={row.point.local_steps} step_size={number(row.point.step_size, FEW)}{cohort}"
        return f"{row.name} from {plan}" if row.kind == SCHEDULE else plan

    def before(self) -> Iterator[str]:
        yield self.recommendation
        yield from filter(None, map(self.command_of, (self.recommended, self.better)))
        goal, parts = self.goal, [f"Goal: {self.goal}, over {', '.join(self.over)}"]
        clients = number(goal.scenario["clients"].value) if "clients" in goal.scenario else "?"
        parts += [f"{clients} clients"] if "cohort" in self.over else [f"{goal.cohort} of {clients} clients per round"]
        parts += [f"{number(goal.start, FEW)} before training"] if math.isfinite(goal.start) else []
        yield f"{'; '.join(parts)}."

    def after(self) -> Iterator[str]:
        yield from [LEGEND + LEGEND_OF_RUNS * bool(self.judged_by)] if self.rows else []
        yield from section("no advice", self.no_advice)
        yield from filter(None, [self._theory])
        if self.goal.to is None and self.goal.unit == "rounds" and "local_steps" in self.over:
            yield FREE_STEPS

    def shown(self) -> Sequence[Recommendation]:
        return self.rows

    def columns(self) -> Columns:
        def along(row: Recommendation, digits: int, of: Callable[[int, float], float]) -> str:
            """A number of the plan, or those of the first and the last round of a schedule."""
            ends = (number(of(*row.point.plan.of_round(i)), digits) for i in (0, row.point.rounds))
            return "..".join(dict.fromkeys(ends))

        def steps(row: Recommendation) -> str:
            ends = "..".join(dict.fromkeys(map(str, row.steps)))
            return "" if row.kind == SCHEDULE else f"{{{ends}}}" if row.kind in (SURROGATE, MEASURED) else f"[{ends}]"

        def bound(row: Recommendation) -> str:
            none = row.kind in (SURROGATE, SCHEDULE, MEASURED) or math.isnan(row.point.value)
            return "-" if none else number(row.point.value, FEW)

        def judged(row: Recommendation) -> str:
            if self.race is None:
                return number(row.surrogate, FEW)
            return "-" if row.measured is None else str(row.measured)

        def regret(row: Recommendation) -> str:
            times = self.regret(row)
            return "-" if math.isnan(times) else self._times(row).removesuffix("x")

        return {
            "adviser": lambda row: with_aliases(row.name, row.alias),
            "K": lambda row: along(row, 6, lambda k, size: k),
            "range": steps,
            **({"N": lambda row: str(row.point.cohort)} if "cohort" in self.over else {}),
            "step size": lambda row: along(row, FEW, lambda k, size: size),
            "K*step": lambda row: along(row, 2, lambda k, size: k * size),
            "rounds": lambda row: str(row.point.rounds or "-"),
            "bound": bound,
            **({self.judged_by: judged, "x best": regret} if self.judged_by else {}),
            "notes": lambda row: "; ".join(filter(None, self._notes(row))),
        }

    def _notes(self, row: Recommendation) -> Iterator[str]:
        yield row.state
        yield "refuted as printed" * (row.kind == REFUTED)
        yield "hardly trains" * row.no_training
        yield from () if row.worst is None else row.worst.notes
        if row.kind == MEASURED and row.measured is not None:
            same = [one.name for one in self.rows if one is not row and one.point.plan == row.point.plan]
            yield f"the best fixed plan in training, {row.measured.seeds} fresh seeds"
            yield f"also recommended by {', '.join(same)}" if same else "recommended by no adviser"
        yield "of the papers, from the start that is best on the surrogate" * (row.kind == SCHEDULE)
        if row.measured is not None and row.failed:
            what = "diverged" if self.goal.to is None else "did not reach it"
            yield f"{row.failed} of {row.measured.seeds} seeds {what}"
        if row.point.local_steps == 1 and "local_steps" in self.over and row.kind not in (FORMULA, SCHEDULE):
            yield "K at its minimum"
        yield from (f"{word} open" for word in row.point.open if not row.no_training)
        if row.kind == FORMULA:
            other = "step_size" if abs(row.unrounded - row.point.step_size) > 1e-12 else "local_steps"
            yield f"formula, {other} as given; unrounded {number(row.unrounded, FEW)}"

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds advise --json`` prints."""
        data: dict[str, Any] = plain(
            {
                "goal": str(self.goal),
                "over": self.over,
                "start": self.goal.start,
                "advice": self.advice,
                "command": self.command_of(self.recommended),
                "judged_by": self.judged_by,
                "seeds": 0 if self.race is None else self.race.seeds,
                "limit": self.limit,
                "no_advice": [{"adviser": name, "why": why} for name, why in self.no_advice],
                "rows": list(map(self._row, self.rows)),
            }
        )
        return data

    def _row(self, row: Recommendation) -> dict[str, Any]:
        point, measured = row.point, row.measured
        race = self.race if row.kind == MEASURED else None
        same = ("kind", "alias", "steps", "state", "no_training", "unrounded", "surrogate")
        return {
            "adviser": row.name,
            **{name: getattr(row, name) for name in same},
            **{name: getattr(point, name) for name in ("local_steps", "step_size", "cohort", "rounds", "open")},
            "product": point.local_steps * point.step_size,
            "schedule": point.schedule or None,
            "bound_value": point.value,
            "measured": measured and measured[:2],
            "failed": measured and measured.failed,
            "measured_seeds": measured and measured.seeds,
            "runs": race.runs if race else 0,
            "worst_case": row.worst and row.worst.as_json(),
            "regret": self.regret(row),
            "judged_by": self.judged_by,
        }

    def records(self) -> list[dict[str, Any]]:
        """One dictionary per row with a number or text per column; lists and a worst case are JSON text."""
        records = []
        for own in self.rows:
            row, measured = self._row(own), own.measured
            row |= {"measured": measured and measured.mean, "standard_error": measured and measured.error}
            records.append({key: json.dumps(x) if isinstance(x, (tuple, list, dict)) else x for key, x in row.items()})
        return records


def _quoted(word: str) -> str:
    """A word quoted for the shell, with double quotes if it contains single ones."""
    return f'"{word}"' if "'" in word and not {*'"$`\\!'} & {*word} else shlex.quote(word)
