"""The table of an advice: who recommends what, what that is worth, and one sentence that says what to run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple, TYPE_CHECKING

from bounds.showing.latex_tables import booktabs
from bounds.showing.notebook import card
from bounds.showing.tables import aligned, number, plain
from bounds.showing.tabular import Tabular

from .compare_rows import SPEAKS, VACUOUS
from .compare_sections import together
from .goals import Goal, OVER, Point

if TYPE_CHECKING:
    from .worst_advice import Worst

BOUND, REFUTED, FORMULA, SCHEDULE = "bound", "refuted bound", "formula", "schedule"
WORST, TWIN, MEASURED = "worst case", "twin", "measured"
ADVISE_JSON = """\
--json prints one object: goal, over, start (the target before training), advice (the last sentence), judged_by
(measured, twin or ""), seeds (fresh ones), limit (what a run to a target might cost), silent (adviser, why) and rows. A
row has adviser, kind (bound, refuted bound, formula, schedule, worst case, twin, measured), alias, local_steps,
step_size, cohort, product (local_steps times step_size), rounds, schedule (local steps and step size of every round
where they change, else null), steps (the least and the largest local_steps over uncertain constants, or not told apart
from the best, or along a schedule), travel (the same of the product) and cohorts, says (in the unit that is minimised;
null for a formula), state of a bound, open (words at an end of what was searched), no_training, real (the number of a
formula before rounding), twin, measured (mean and standard error), failed (of its seeds: diverged, or stopped at the
limit, with which they count) and measured_seeds, runs, worst_case (of the exact worst case: value; lower and upper
ends of a proof, in unproved why there is none; given, the words of its federations; estimate, what their class
loses), also (schedules not told apart from the best), regret (over the best; at least that where runs failed) and
judged_by. NaN is null, infinity is "inf"."""
WELL = 1.5
"""Regret up to which an adviser is said to choose well."""
FEW = 3
HEAD = ("adviser", "K", "set", "N", "step size", "K*step", "rounds", "it says", "twin", "x best", "")


@dataclass(frozen=True)
class Adviser:
    """One recommendation. ``steps`` is the set of K: over uncertain constants, or not told apart from the best.

    ``twin`` is what is minimised at this plan by the twin, ``measured`` what training gave; ``travel`` the range of K
    times step size over the set and ``cohorts`` that of participants; ``real`` a formula's number before rounding;
    ``runs`` were trained for it, and the schedules in ``also`` are not told apart from it.
    """

    name: str
    kind: str
    point: Point
    steps: tuple[int, int]
    state: str
    still: bool
    alias: tuple[str, ...] = ()
    real: float = math.nan
    twin: float = math.nan
    measured: Trained | None = None
    travel: tuple[float, float] = (math.nan, math.nan)
    cohorts: tuple[int, int] | None = None
    runs: int = 0
    also: tuple[str, ...] = ()
    tied: bool = False
    """Of the best fixed plan in training: whether it is not told apart from the best of all."""
    worst: Worst | None = None
    """Of a worst case: over which federations it is, and what is proved of it."""


class Trained(NamedTuple):
    """What a plan gave: ``mean`` and its standard error, and on how many of ``seeds`` it failed.

    On the way to a target a run that fails was stopped at the limit and counts with it: the mean is then *at least*
    that. Within a budget a run fails that diverges.
    """

    mean: float
    error: float
    failed: int
    seeds: int


@dataclass(frozen=True, eq=False)
class Advised(Tabular):
    """The recommendations for a goal, the best first as far as anything judges them.

    ``seeds`` are the fresh ones, ``limit`` is what a run to a target might cost in training; ``known`` says whether the
    federation itself was given.
    """

    goal: Goal
    over: tuple[str, ...]
    rows: tuple[Adviser, ...]
    silent: tuple[tuple[str, str], ...]
    seeds: int = 0
    limit: float = math.inf
    known: bool = False

    # ---- what it says ----

    @property
    def judged_by(self) -> str:
        """What regrets are counted by: ``measured``, ``twin``, or nothing."""
        if any(row.measured is not None for row in self.rows):
            return MEASURED
        return TWIN if any(row.kind == TWIN for row in self.rows) else ""

    def worth(self, row: Adviser) -> float:
        """What is minimised at a row's plan, by what judges; NaN where it does not."""
        if self.judged_by == MEASURED:
            return math.nan if row.measured is None else row.measured.mean
        return row.twin

    def regret(self, row: Adviser) -> float:
        """The worth of a row's plan over the best one; at least that where runs of it failed."""
        known = [self.worth(r) for r in self.rows if not math.isnan(self.worth(r))]
        least = min(known, default=math.nan)
        worth = self.worth(row)
        return 1.0 if worth == least else worth / least if least else math.inf

    @property
    def best(self) -> Adviser | None:
        """The row to follow, by what judges: the best fixed plan there, or a schedule that is better."""
        own = [row for row in self.rows if row.kind in (self.judged_by, SCHEDULE)]
        return min(own, key=lambda row: (self.worth(row), row.kind == SCHEDULE)) if self.judged_by else None

    @property
    def _fixed(self) -> Adviser | None:
        """The row of the best fixed plan, by what judges."""
        return next((row for row in self.rows if row.kind == self.judged_by), None)

    @property
    def _runs(self) -> int:
        return sum(row.runs for row in self.rows)

    @property
    def useful(self) -> bool:
        """Whether anybody recommends a plan that trains, and reaches the target if there is one."""
        if self.best is not None:
            return math.isfinite(self.worth(self.best)) and not self._lost(self.best) and not self._worse(self.best)
        return any(not row.still for row in self.rows)

    def _worse(self, row: Adviser) -> bool:
        """Whether a plan surely ends no better than it starts."""
        return self.goal.to is None and self.worth(row) >= self.goal.start

    @staticmethod
    def _lost(row: Adviser) -> bool:
        """Whether no run of a plan came to its end."""
        return row.measured is not None and row.measured.failed == row.measured.seeds

    @property
    def advice(self) -> str:
        """What to run, and how sure; one sentence or a few, from the rows."""
        if not self.judged_by:
            return " ".join(filter(None, (self._unjudged(), self._of_worst(), self._nothing_judged())))
        return " ".join(filter(None, (self._of_theory(), self._of_worst(), self._idle(), self._follow())))

    def _of_worst(self) -> str:
        """What the exact worst case recommends, for how much, and what following it costs by what judges."""
        row = next((row for row in self.rows if row.worst is not None), None)
        if row is None or row.worst is None:
            return ""
        least = number(row.worst.value, FEW) + ("" if row.worst.unproved else f" (proved: {row.worst.interval})")
        said = (
            f"By the exact worst case, without noise and with all clients: {self._plan(row.point)}; after "
            f"{row.point.rounds} rounds of it {self.goal.target} is at most {least} in every federation "
            "with these constants"
        )
        by = "" if self.judged_by == MEASURED else " by the twin"
        return f"{said}; it costs {_times(self.regret(row))}{by}." if self.judged_by else f"{said}."

    def _nothing_judged(self) -> str:
        why = dict(self.silent)
        if not self.known:
            return "Nothing here has been run, so that nothing judges it: give the problem, and its twin judges."
        if "measured" in why:
            return f"Nothing judges it: {why['measured']}."
        reason = why.get("quadratic twin", "there is no twin")
        return f"Nothing here has been run, so that nothing judges it: {reason}. Measure, and training judges."

    def _theory(self) -> list[Adviser]:
        return [row for row in self.rows if row.kind in (BOUND, FORMULA, REFUTED)]

    def _unjudged(self) -> str:
        rows = [row for row in self._theory() if row.kind == BOUND]
        speaks = [row for row in rows if row.state == SPEAKS and not row.still]
        if not rows:
            return "No bound applies here."
        if not speaks:
            what = "it is" if len(rows) == 1 else f"all {len(rows)} are"
            states = sorted({"asks not to train" if row.state == SPEAKS else row.state for row in rows})
            if states == [VACUOUS]:
                return f"No bound says more than not training does: {what} vacuous at their own best plans."
            return f"No bound surely says more than the start shows; at their own best plans: {', '.join(states)}."
        least = min(speaks, key=lambda row: row.point.value)
        return f"{least.name} promises most: {self._plan(least.point)} for {number(least.point.value, FEW)}."

    def _of_theory(self) -> str:
        """Whether a theorem chooses well, by what judges."""
        by = "" if self.judged_by == MEASURED else " by the twin"
        bounds = [row for row in self._theory() if row.kind == BOUND]
        others = [row for row in self._theory() if row.kind != BOUND]
        if not self._theory():
            return "No bound applies here."
        well = [row for row in self._theory() if self.regret(row) <= WELL]
        if well:
            names = ", ".join(f"{row.name} ({number(self.regret(row), 2)}x)" for row in well)
            return f"{names} choose{'s' * (len(well) == 1)} well here{by}: {self._plan(well[0].point)}."
        said = "No bound chooses well here"
        if bounds:
            first = min(bounds, key=self.regret)
            vacuous = all(row.state == VACUOUS for row in bounds)
            how = ", all are vacuous" if vacuous and len(bounds) > 1 else ", it is vacuous" if vacuous else ""
            which = f"the best of {len(bounds)}, {first.name}," if len(bounds) > 1 else first.name
            said += f": {which} costs {_times(self.regret(first))}{by}{how}"
        if others:
            other = min(others, key=self.regret)
            said += f"; {other.name} costs {_times(self.regret(other))}"
        return f"{said}."

    def _idle(self) -> str:
        idle = [row.name for row in self.rows if row.still]
        return f"Do not train, say {', '.join(idle)}: that is no recommendation." if idle else ""

    def _follow(self) -> str:
        best = self.best
        assert best is not None
        if not math.isfinite(self.worth(best)) or self._lost(best):
            who = f"By the {self.judged_by}" if self.judged_by == TWIN else f"In {self._runs} runs of training"
            far = f" within {number(self.limit, FEW)} {self.goal.unit}" if math.isfinite(self.limit) else ""
            if self.goal.to is None:
                return f"{who} every plan that was looked at diverges: give a smaller step_size, or leave it free."
            return f"{who} no plan that was looked at reaches the target{far}: allow more, or ask for less."
        if self._worse(best):
            return (
                f"By the {self.judged_by} no plan that was looked at ends below the start, "
                f"{number(self.goal.start, FEW)}: the best gives {number(self.worth(best), FEW)}. Free the step size, "
                "or take a smaller one."
            )
        told = "; ".join([self._recommended(best), *self._openness(best)])
        held = [word for word in OVER if word not in self.over]
        at = f" with {held[0]} held" if held else ""
        return f"{told}{at} ({self._sure(best, told)})."

    def _recommended(self, best: Adviser) -> str:
        """What to run, and what is not told apart from it."""
        twin = next((row for row in self.rows if row.kind == TWIN), None)
        plan = self._plan(best.point)
        fixed = self._fixed
        assert fixed is not None
        trained = self.judged_by == MEASURED
        if trained and twin is not None and self.regret(twin) <= WELL and not self._failed(twin):
            told = f"Follow the twin ({_times(self.regret(twin))}): {self._plan(twin.point)}{self._others(fixed)}"
        elif best.kind == SCHEDULE:
            told = f"Run {best.name} from {plan}" if trained else f"Follow {best.name} on the twin, from {plan}"
            even = ", which cannot be told apart from it" if fixed.tied else ""
            told += f"; of fixed plans {self._set(fixed)} ({_times(self.regret(fixed))}{even})"
        else:
            told = f"Run {self._set(best)}" if trained else f"Follow the twin: {self._set(best)}"
        return told + (f"; {', '.join(fixed.also)} cannot be told apart from the best either" if fixed.also else "")

    def _set(self, row: Adviser) -> str:
        return self._plan(row.point) + self._others(row)

    def _others(self, row: Adviser) -> str:
        """The fixed plans that are not told apart from a row's, in words."""
        (low, high), cohorts = row.steps, row.cohorts or (0, 0)
        wide = "cohort" in self.over and cohorts[0] < cohorts[1]
        if not math.isfinite(row.travel[0]) or not (low < high or wide):
            return ""
        told = f", or any K from {low} to {high}" if low < high else f", or K = {low}"
        told += f" and N from {cohorts[0]} to {cohorts[1]}" if wide else ""
        apart = "which cannot be told apart" if row.kind == MEASURED else "within a tenth of it"
        return f"{told} with K*step_size of {_span(row.travel)}, {apart}"

    def _openness(self, best: Adviser) -> list[str]:
        return [f"{' and '.join(best.point.open)} is at the end of what was searched: open"] if best.point.open else []

    def _sure(self, best: Adviser, told: str) -> str:
        """How sure that is."""
        if self.judged_by != MEASURED:
            return "the twin proves nothing, and is trusted where runs end near the minimiser: train to be sure"
        assert best.measured is not None
        plan = f"{best.name} from " * (best.kind == SCHEDULE) + self._plan(best.point)
        which = "" if told.startswith("Run") else f"the best measured, {plan}, gave "
        said = f"{which}{_spread(best.measured)} on {best.measured.seeds} fresh seeds, {self._runs} runs in all"
        if best.measured.failed and self.goal.to is not None:
            said += f"; {best.measured.failed} of them did not reach the target within {number(self.limit, FEW)}"
            said += f" {self.goal.unit} and count with that: at least"
        return said

    def _failed(self, row: Adviser) -> bool:
        return row.measured is not None and row.measured.failed > 0

    def _plan(self, point: Point) -> str:
        cohort = f" cohort={point.cohort}" if "cohort" in self.over else ""
        return f"local_steps={point.local_steps} step_size={number(point.step_size, FEW)}{cohort}"

    # ---- as text ----

    def lines(self) -> Iterator[str]:
        """The table in lines of text."""
        yield headline(self.goal, self.over)
        if self.rows:
            yield from aligned(self._body, self._head, gap=2)
        if self.silent:
            yield "no advice"
            by_why: dict[str, list[str]] = {}
            for name, why in self.silent:
                by_why.setdefault(why, []).append(name)
            yield from (f"  {together(names)}: {why}" for why, names in by_why.items())
        yield self.advice

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    @property
    def _shown(self) -> list[int]:
        """The columns: that of the cohort where it is free."""
        return [i for i, head in enumerate(HEAD) if head != "N" or "cohort" in self.over]

    @property
    def _head(self) -> Sequence[str]:
        head = ["measured" if h == "twin" and self.judged_by == MEASURED else h for h in HEAD]
        return [head[i] for i in self._shown]

    @property
    def _body(self) -> list[list[str]]:
        return [[cells[i] for i in self._shown] for cells in map(self._cells, self.rows)]

    def _cells(self, row: Adviser) -> list[str]:
        point, low, high = row.point, *row.steps
        judged = "-"
        if self.judged_by == MEASURED and row.measured is not None:
            judged = _spread(row.measured)
        elif self.judged_by == TWIN:
            judged = number(row.twin, FEW)
        ends = f"{low}" if low == high else f"{low}..{high}"
        ends = f"{{{ends}}}" if row.kind in (TWIN, MEASURED) else f"[{ends}]" if row.kind != SCHEDULE else ""
        regret, (first, last) = self.regret(row), (point.plan.of_round(0), point.plan.of_round(point.rounds))
        times = "-" if math.isnan(regret) else _times(regret).removesuffix("x")
        return [
            row.name + (f" = {', '.join(name.partition('.')[2] for name in row.alias)}" if row.alias else ""),
            _along(str(first[0]), str(last[0])),
            ends,
            str(point.cohort),
            _along(number(first[1], FEW), number(last[1], FEW)),
            _along(number(first[0] * first[1], 2), number(last[0] * last[1], 2)),
            str(point.rounds) if point.rounds else "-",
            "-" if math.isnan(point.value) else number(point.value, FEW),
            judged,
            f">={times}" if self._failed(row) and math.isfinite(regret) else times,
            "; ".join(self._notes(row)),
        ]

    def _notes(self, row: Adviser) -> list[str]:
        point, notes = row.point, [row.state] if row.state else []
        notes += ["refuted as printed"] if row.kind == REFUTED else []
        notes += ["no training"] if row.still else []
        notes += row.worst.notes if row.worst is not None else []
        notes += self._trained(row)
        notes += ["of the papers, from the start that the twin chose"] if row.kind == SCHEDULE else []
        if self._failed(row) and row.measured is not None:
            what = "diverged" if self.goal.to is None else "did not reach it"
            notes.append(f"{row.measured.failed} of {row.measured.seeds} seeds {what}")
        notes += (
            ["K at its least"]
            if point.local_steps == 1 and "local_steps" in self.over and row.kind not in (FORMULA, SCHEDULE)
            else []
        )
        notes += [f"{word} open" for word in point.open if not row.still]
        if row.kind == FORMULA:
            other = "step_size" if abs(row.real - point.step_size) > 1e-12 else "local_steps"
            notes.append(f"formula, {other} as stated; real {number(row.real, FEW)}")
        return notes

    def _trained(self, row: Adviser) -> list[str]:
        """What the best fixed plan that was trained is, and who else names it."""
        if row.kind != MEASURED or row.measured is None:
            return []
        same = [one.name for one in self.rows if one is not row and one.point.plan == row.point.plan]
        whose = f"the plan of {', '.join(same)}" if same else "no adviser names it"
        return [f"the best fixed plan that was trained, {row.measured.seeds} fresh seeds", whose]

    # ---- for programs ----

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds advise --json`` prints."""
        found: dict[str, Any] = plain(
            {
                "goal": self.goal.words,
                "over": list(self.over),
                "start": self.goal.start,
                "advice": self.advice,
                "judged_by": self.judged_by,
                "seeds": self.seeds,
                "limit": self.limit,
                "silent": [{"adviser": name, "why": why} for name, why in self.silent],
                "rows": [self._row(row) for row in self.rows],
            }
        )
        return found

    def _row(self, row: Adviser) -> dict[str, Any]:
        point = row.point
        return {
            "adviser": row.name,
            "kind": row.kind,
            "alias": list(row.alias),
            "local_steps": point.local_steps,
            "step_size": point.step_size,
            "product": point.local_steps * point.step_size,
            "cohort": point.cohort,
            "rounds": point.rounds,
            "schedule": [list(plan) for plan in point.replayed] or None,
            "steps": list(row.steps),
            "travel": list(row.travel),
            "cohorts": list(row.cohorts or (point.cohort, point.cohort)),
            "says": point.value,
            "state": row.state,
            "open": list(point.open),
            "no_training": row.still,
            "real": row.real,
            "twin": row.twin,
            "measured": None if row.measured is None else [row.measured.mean, row.measured.error],
            "failed": None if row.measured is None else row.measured.failed,
            "measured_seeds": None if row.measured is None else row.measured.seeds,
            "runs": row.runs,
            "worst_case": None if row.worst is None else row.worst.as_json(),
            "also": list(row.also),
            "regret": self.regret(row),
            "judged_by": self.judged_by,
        }

    def records(self) -> list[dict[str, Any]]:
        """The objects of the rows, with lists as text and pairs as two columns."""
        return [_flat(self._row(row)) for row in self.rows]

    def to_latex(self) -> str:
        """The table for LaTeX, ruled by booktabs."""
        return "\n".join(booktabs(self._head, self._body, "l" * len(self._head)))

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = [line("th", self._head), *(line("td", cells) for cells in self._body)]
        table = "".join(rows)
        return card(f"<p>{escape(self.goal.words)}</p><table>{table}</table><p>{escape(self.advice)}</p>")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with one number or word to a column."""
    least, most = row.pop("steps")
    mean, error = row.pop("measured") or (None, None)
    worst = row.pop("worst_case") or {"lower": None, "upper": None}
    row |= {"worst_lower": worst["lower"], "worst_upper": worst["upper"]}
    words = {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
    return {**words, "least_steps": least, "most_steps": most, "measured": mean, "standard_error": error}


def headline(goal: Goal, over: Sequence[str]) -> str:
    """What is asked, in one line: the goal, what is free, what is known before training."""
    scenario = goal.scenario
    words = ("clients",) if "cohort" in over else ("clients", "cohort")
    who = [f"{number(scenario[word].value)} {word}" for word in words if word in scenario]
    start = f"; {number(goal.start, FEW)} before training" if math.isfinite(goal.start) else ""
    return f"{goal.words}, over {', '.join(over)}{start}{''.join(f'; {one}' for one in who)}"


def _along(first: str, last: str) -> str:
    return first if first == last else f"{first}..{last}"


def _spread(trained: Trained) -> str:
    """Mean and standard error as they are read."""
    error = "" if math.isnan(trained.error) else f" ± {number(trained.error, 1)}"
    return f"{number(trained.mean, FEW)}{error}"


def _span(ends: tuple[float, float]) -> str:
    low, high = (number(end, 2) for end in ends)
    return low if low == high else f"{low} to {high}"


def _times(regret: float) -> str:
    if not math.isfinite(regret):
        return "more than was looked at"
    return f"{regret:.0f}x" if 100 <= regret < 1e6 else f"{number(regret, 2)}x"
