"""The table of an advice: who recommends what, what that is worth, and one sentence that says what to run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from bounds.showing.tables import aligned, number, plain
from bounds.showing.tabular import Tabular

from .compare_rows import SPEAKS, VACUOUS
from .goals import Goal, Point

BOUND, REFUTED, FORMULA, TWIN, MEASURED = "bound", "refuted bound", "formula", "twin", "measured"
ADVISE_JSON = """\
--json prints one object: goal, over, start (the target before training), advice (the last sentence), silent (bound,
why) and rows. A row has adviser, kind (bound, refuted bound, formula, twin, measured), alias, local_steps, step_size,
product (local_steps times step_size), rounds, steps (the least and the largest local_steps over uncertain constants, or
not told apart from the best), says (in the unit that is minimised; null for a formula), state of a bound, open (words
at an end of what was searched), no_training, real (the number of a formula before rounding), twin, measured (mean and
standard error), regret (over the best) and judged_by (twin or measured). NaN is null, infinity is "inf"."""
WELL = 1.5
"""Regret up to which an adviser is said to choose well."""
FEW = 3
HEAD = ("adviser", "K", "set", "step size", "K*step", "rounds", "it says", "twin", "x best", "")


@dataclass(frozen=True)
class Adviser:
    """One recommendation. ``steps`` is the set of K: over uncertain constants, or not told apart from the best.

    ``twin`` is what is minimised at this plan by the twin, ``measured`` mean and standard error in training; ``travel``
    the range of K times step size over the set; ``real`` a formula's number before rounding; ``runs`` trained for it.
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
    measured: tuple[float, float] | None = None
    travel: tuple[float, float] = (math.nan, math.nan)
    runs: int = 0


@dataclass(frozen=True, eq=False)
class Advised(Tabular):
    """The recommendations for a goal, the best first as far as anything judges them."""

    goal: Goal
    over: tuple[str, ...]
    rows: tuple[Adviser, ...]
    silent: tuple[tuple[str, str], ...]
    seeds: int = 0

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
            return math.nan if row.measured is None else row.measured[0]
        return row.twin

    def regret(self, row: Adviser) -> float:
        """The worth of a row's plan over the best one."""
        known = [self.worth(r) for r in self.rows if not math.isnan(self.worth(r))]
        return self.worth(row) / min(known) if known else math.nan

    @property
    def best(self) -> Adviser | None:
        """The row that what judges recommends itself."""
        return next((row for row in self.rows if row.kind == self.judged_by), None)

    @property
    def useful(self) -> bool:
        """Whether anybody recommends a plan that trains, and reaches the target if there is one."""
        if self.best is not None:
            return math.isfinite(self.worth(self.best))
        return any(not row.still for row in self.rows)

    @property
    def advice(self) -> str:
        """What to run, and how sure; one sentence or a few, from the rows."""
        if not self.judged_by:
            return f"{self._unjudged()} Nothing here has been run: give the problem, and its quadratic twin judges."
        return " ".join(filter(None, (self._of_theory(), self._idle(), self._follow())))

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
        return f"{least.name} promises most: {_plan(least.point)} for {number(least.point.value, FEW)}."

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
            return f"{names} choose{'s' * (len(well) == 1)} well here{by}: {_plan(well[0].point)}."
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
        best, twin = self.best, next((row for row in self.rows if row.kind == TWIN), None)
        assert best is not None
        if not math.isfinite(self.worth(best)):
            return (
                f"By the {self.judged_by} no plan that was looked at reaches the target: allow more, or ask for less."
            )
        held = [word for word in ("local_steps", "step_size") if word not in self.over]
        at = f" with {held[0]} held" if held else ""
        told = f"Follow the twin: {_plan(best.point)}" if best.kind == TWIN else f"Run {_plan(best.point)}"
        if best.kind == MEASURED and twin is not None and self.regret(twin) <= WELL:
            told = f"Follow the twin ({_times(self.regret(twin))}): {_plan(twin.point)}"
        low, high = best.steps
        if low < high:
            told += f", or any K from {low} to {high} with K*step_size of {_span(best.travel)}"
            told += ", which cannot be told apart" if best.kind == MEASURED else ", within a tenth of it"
        if best.point.open:
            told += f"; {' and '.join(best.point.open)} is at the end of what was searched: open"
        if best.kind == MEASURED:
            mean, error = best.measured or (math.nan, math.nan)
            which = "" if told.startswith("Run") else f"the best measured, {_plan(best.point)}, gave "
            sure = f"{which}{number(mean, 2)} ± {number(error, 1)} on {self.seeds} fresh seeds, {best.runs} runs in all"
        else:
            sure = "the twin proves nothing, and is trusted where runs end near the minimiser: train to be sure"
        return f"{told}{at} ({sure})."

    # ---- as text ----

    def lines(self) -> Iterator[str]:
        """The table in lines of text."""
        scenario = self.goal.scenario
        who = [f"{number(scenario[w].value)} {w}" for w in ("clients", "cohort") if w in scenario]
        free = " and ".join(self.over)
        start = f"; {number(self.goal.start, FEW)} before training" if math.isfinite(self.goal.start) else ""
        yield f"{self.goal.words}, over {free}{start}{''.join(f'; {one}' for one in who)}"
        if self.rows:
            yield from aligned([self._cells(row) for row in self.rows], self._head, gap=2)
        if self.silent:
            yield "no advice"
            by_why: dict[str, list[str]] = {}
            for name, why in self.silent:
                by_why.setdefault(why, []).append(name)
            yield from (f"  {line}" for line in aligned(([", ".join(n), w] for w, n in by_why.items()), gap=2))
        yield self.advice

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    @property
    def _head(self) -> Sequence[str]:
        return tuple("measured" if h == "twin" and self.judged_by == MEASURED else h for h in HEAD)

    def _cells(self, row: Adviser) -> list[str]:
        point, low, high = row.point, *row.steps
        judged = "-"
        if self.judged_by == MEASURED and row.measured is not None:
            judged = f"{number(row.measured[0], FEW)} ± {number(row.measured[1], 1)}"
        elif self.judged_by == TWIN:
            judged = number(row.twin, FEW)
        ends = f"{low}" if low == high else f"{low}..{high}"
        ends = f"{{{ends}}}" if row.kind in (TWIN, MEASURED) else f"[{ends}]"
        regret = self.regret(row)
        return [
            row.name + (f" = {', '.join(name.partition('.')[2] for name in row.alias)}" if row.alias else ""),
            str(point.local_steps),
            ends,
            number(point.step_size, FEW),
            number(point.local_steps * point.step_size, 2),
            str(point.rounds),
            "-" if math.isnan(point.value) else number(point.value, FEW),
            judged,
            "-" if math.isnan(regret) else _times(regret).removesuffix("x"),
            "; ".join(self._notes(row)),
        ]

    def _notes(self, row: Adviser) -> list[str]:
        point, notes = row.point, [row.state] if row.state else []
        notes += ["refuted as printed"] if row.kind == REFUTED else []
        notes += ["no training"] if row.still else []
        notes += (
            ["K at its least"] if point.local_steps == 1 and "local_steps" in self.over and row.kind != FORMULA else []
        )
        notes += [f"{word} open" for word in point.open if not row.still]
        if row.kind == FORMULA:
            other = "step_size" if abs(row.real - point.step_size) > 1e-12 else "local_steps"
            notes.append(f"formula, {other} as stated; real {number(row.real, FEW)}")
        return notes

    # ---- for programs ----

    def as_json(self) -> dict[str, Any]:
        """The object that ``fedbounds advise --json`` prints."""
        found: dict[str, Any] = plain(
            {
                "goal": self.goal.words,
                "over": list(self.over),
                "start": self.goal.start,
                "advice": self.advice,
                "silent": [{"bound": name, "why": why} for name, why in self.silent],
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
            "rounds": point.rounds,
            "steps": list(row.steps),
            "says": point.value,
            "state": row.state,
            "open": list(point.open),
            "no_training": row.still,
            "real": row.real,
            "twin": row.twin,
            "measured": None if row.measured is None else list(row.measured),
            "regret": self.regret(row),
            "judged_by": self.judged_by,
        }

    def records(self) -> list[dict[str, Any]]:
        """The objects of the rows, with lists as text and pairs as two columns."""
        return [_flat(self._row(row)) for row in self.rows]

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        rows = [line("th", self._head), *(line("td", self._cells(row)) for row in self.rows)]
        table = "".join(rows)
        return f"<p>{escape(self.goal.words)}</p><table>{table}</table><p>{escape(self.advice)}</p>"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row with one number or word to a column."""
    least, most = row.pop("steps")
    mean, error = row.pop("measured") or (None, None)
    words = {name: "; ".join(value) if isinstance(value, list) else value for name, value in row.items()}
    return {**words, "least_steps": least, "most_steps": most, "measured": mean, "standard_error": error}


def _plan(point: Point) -> str:
    return f"local_steps={point.local_steps} step_size={number(point.step_size, FEW)}"


def _span(ends: tuple[float, float]) -> str:
    low, high = (number(end, 2) for end in ends)
    return low if low == high else f"{low} to {high}"


def _times(regret: float) -> str:
    return (
        f"{number(regret, 2) if regret < 100 else f'{regret:.0f}'}x"
        if math.isfinite(regret)
        else "more than was looked at"
    )
