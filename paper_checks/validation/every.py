"""``fedbounds validate all``: every bound that can be measured, or those of a pattern, as ``validate NAME`` does."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import filter as filter_names
from functools import partial
from typing import Any, NamedTuple

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.tables import plain
from bounds.showing.usage import UsageError
from empirics.progress import progress

from ..columns import Columns, ColumnTable, section
from ..forking import spread
from ..runs.can import can
from . import validate, VALIDATIONS
from .comparison import Comparison, ERROR_RATE, Line, plus_minus, Verdict
from .options import DRAWS, Options, RUNS, USUAL_PROBLEM

NOT_MEASURED = "not measured"
BASIS = "Every bound as in validate NAME, at the line that is nearest to the bound; ratio: bound / measured"


class Row(NamedTuple):
    """A bound, its deciding line, the verdict, and why it is open; ``doubt`` of a violation."""

    bound: str
    evidence: str
    relation: str
    measured: float
    standard_error: float
    value: float
    ratio: float
    verdict: str
    why: str
    seconds: float
    doubt: str = ""


@dataclass(frozen=True, repr=False)
class Survey(ColumnTable):
    """A row per bound, fewer than were ``asked`` for where it was interrupted; ``cannot`` counts bounds without one."""

    rows: tuple[Row, ...]
    asked: int
    cannot: int
    gap = 3

    @property
    def violations(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == Verdict.VIOLATED)

    def records(self) -> list[dict[str, Any]]:
        return [row._asdict() for row in self.rows]

    def as_json(self) -> Any:
        counts = {"asked": self.asked, "cannot": self.cannot, "violated": len(self.violations)}
        return plain({"bounds": self.records(), **counts})

    def before(self) -> Iterator[str]:
        yield from ()

    def shown(self) -> Sequence[Row]:
        return self.rows

    def columns(self) -> Columns:
        def of(row: Row, shown: str, none: str = "-") -> str:
            return none if row.verdict == NOT_MEASURED else shown

        return {
            "bound": lambda row: row.bound,
            "evidence": lambda row: row.evidence,
            "measured": lambda row: of(row, plus_minus(row.measured, row.standard_error)),
            "": lambda row: of(row, row.relation, ""),
            "bound's value": lambda row: of(row, f"{row.value:.4g}"),
            "ratio": lambda row: f"{row.ratio:.3g}" if math.isfinite(row.ratio) else "-",
            "seconds": lambda row: f"{row.seconds:.1f}",
            "verdict": lambda row: row.verdict + of(row, f" ({row.why})" * (row.why != ""), ""),
        }

    def after(self) -> Iterator[str]:
        said = [row.verdict for row in self.rows]
        counts = [f"{said.count(word)} x {word}" for word in (*Verdict, NOT_MEASURED) if word in said]
        took = f"{', '.join(counts) or 'nothing measured'}; {sum(row.seconds for row in self.rows):.0f} s of CPU"
        yield f"{took}. {BASIS}, error rate {ERROR_RATE:.0%} for each bound by itself."
        yield from (f"{row.bound}: {row.doubt}" for row in self.rows if row.doubt)
        yield from section(NOT_MEASURED, ((row.bound, row.why) for row in self.rows if row.verdict == NOT_MEASURED))
        yield from [f"{self.cannot} further bounds cannot be measured."] if self.cannot else []
        yield from filter(None, [self.interrupted])

    @property
    def interrupted(self) -> str:
        """A sentence where not all were measured."""
        done = len(self.rows)
        return f"interrupted: {done} of {self.asked} bounds were measured" * (done < self.asked)


# ---- one bound ----


def measured(name: str, problem: str = "") -> Row:
    """The result of ``validate`` with the default plan; with a ``problem`` by training on it, where possible."""
    bound, trained = BOUNDS[name], not can(BOUNDS[name], RUNS) and (problem or name not in VALIDATIONS)
    evidence, began = RUNS if trained else VALIDATIONS[name], time.process_time()
    told: Any = {RUNS: {"problem": problem or USUAL_PROBLEM}, DRAWS: {"workers": 1}}.get(evidence, {})
    numbers, doubt = (math.nan,) * 4, ""
    try:
        found = validate(bound, evidence, Options.of(evidence, **told))
    except BoundsError as error:
        verdict, why = NOT_MEASURED, str(error)
    else:
        line, verdict, why = summed_up(found)
        numbers = float(line.measured.value), float(line.measured.error), line.bound, line.ratio
        doubt = found.doubt
    return Row(name, evidence, bound.relation, *numbers, verdict, why, time.process_time() - began, doubt)


def summed_up(found: Comparison) -> tuple[Line, str, str]:
    """The line nearest to the bound, or farthest beyond it, of those with the overall verdict; and why that is open.

    One line that violates the bound decides; it holds only if it holds in all lines.
    """
    every = [line.verdict for line in found.rows]
    verdict = next(word for word in (Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.HOLDS_HERE) if word in every)
    lines = [line for line in found.rows if line.verdict is verdict]
    reasons = [line.why or "outside the conditions" * line.outside for line in lines]
    some = f"{len(lines)} of {len(every)} lines" if len(lines) < len(every) else ""

    def beyond(line: Line) -> float:
        """How far a measurement is beyond its bound, from -1 to 1: the difference over the sum of their sizes."""
        value = float(line.measured.value)
        size = abs(value) + abs(line.bound)
        excess = (value - line.bound) / size if 0 < size < math.inf else -1.0
        return {">=": -excess, "=": abs(excess)}.get(found.bound.relation, excess)

    return max(lines, key=beyond), str(verdict), ", ".join(filter(None, (some, max(reasons))))


# ---- many ----


def survey(pattern: str, problem: str = "", workers: int = 2) -> Survey:
    """A row for every bound of these names that can be measured; Ctrl-C ends with those that are finished."""
    named = filter_names(BOUNDS, "*" if pattern == "all" else pattern)
    if workers < 1:
        raise UsageError(f"workers must be a whole number from 1; got {workers}")
    names = [name for name in named if name in VALIDATIONS or not can(BOUNDS[name], RUNS)]
    if not names:
        raise UsageError(f"{pattern} names no bound that can be measured; fedbounds validate lists them")
    found: dict[int, Row] = {}
    with progress("measuring") as bar:
        bar.start(len(names))
        try:
            for place, row in spread(partial(measured, problem=problem), names, workers):
                found[place] = row
                bar.doing(row.bound)
                bar.step()
        except KeyboardInterrupt:
            pass
    return Survey(tuple(found[place] for place in sorted(found)), len(names), len(named) - len(names))
