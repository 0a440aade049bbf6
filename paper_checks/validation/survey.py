"""``fedbounds validate all`` (or a pattern such as ``"fedinit.*"``): ``validate NAME`` for many bounds in one table."""

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
from ..forking import forked_map
from ..runs.obstacles import obstacle
from ..runs.origins import RUNS
from . import validate, VALIDATIONS
from .comparison import Comparison, ERROR_RATE, Line, plus_minus, Verdict
from .options import DEFAULT_PROBLEM, DRAWS, Options

NOT_MEASURED = "not measured"
BASIS = "Every bound as in validate NAME; the line shown is the one nearest to the bound; ratio: bound / measured"


class Row(NamedTuple):
    """A bound, the line that decides, the verdict and why it is open; ``doubt``: conditions that a violation needs."""

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
    """A row per bound; ``asked`` counts the bounds to measure, ``cannot`` those that cannot be measured."""

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

    def shown(self) -> Sequence[Row]:
        return self.rows

    def columns(self) -> Columns:
        def if_measured(row: Row, text: str, otherwise: str = "-") -> str:
            return otherwise if row.verdict == NOT_MEASURED else text

        return {
            "bound": lambda row: row.bound,
            "evidence": lambda row: row.evidence,
            "measured": lambda row: if_measured(row, plus_minus(row.measured, row.standard_error)),
            "": lambda row: if_measured(row, row.relation, ""),
            "bound's value": lambda row: if_measured(row, f"{row.value:.4g}"),
            "ratio": lambda row: f"{row.ratio:.3g}" if math.isfinite(row.ratio) else "-",
            "seconds": lambda row: f"{row.seconds:.1f}",
            "verdict": lambda row: row.verdict + if_measured(row, f" ({row.why})" if row.why else "", ""),
        }

    def after(self) -> Iterator[str]:
        verdicts = [row.verdict for row in self.rows]
        counts = [f"{verdicts.count(one)} x {one}" for one in (*Verdict, NOT_MEASURED) if one in verdicts]
        summary = f"{', '.join(counts) or 'nothing measured'}; {sum(row.seconds for row in self.rows):.0f} s of CPU"
        yield f"{summary}. {BASIS}, error rate {ERROR_RATE:.0%} for each bound by itself."
        yield from (f"{row.bound}: {row.doubt}" for row in self.rows if row.doubt)
        yield from section(NOT_MEASURED, ((row.bound, row.why) for row in self.rows if row.verdict == NOT_MEASURED))
        if self.cannot:
            yield f"{self.cannot} further bounds cannot be measured."
        if self.interrupted:
            yield self.interrupted

    @property
    def interrupted(self) -> str:
        """A sentence if not all bounds were measured; else empty."""
        done = len(self.rows)
        return f"interrupted: {done} of {self.asked} bounds were measured" if done < self.asked else ""


def measured(name: str, problem: str = "") -> Row:
    """Validate a bound with the default plan; if a ``problem`` is given, by training on it where that is possible."""
    bound, began = BOUNDS[name], time.process_time()
    trained = not obstacle(bound, RUNS) and (problem or name not in VALIDATIONS)
    evidence = RUNS if trained else VALIDATIONS[name]
    options: Any = {RUNS: {"problem": problem or DEFAULT_PROBLEM}, DRAWS: {"workers": 1}}.get(evidence, {})
    numbers, doubt = (math.nan,) * 4, ""
    try:
        comparison = validate(bound, evidence, Options.of(evidence, **options))
    except BoundsError as error:
        verdict, why = NOT_MEASURED, str(error)
    else:
        line, verdict, why = deciding_line(comparison)
        numbers = float(line.measured.value), float(line.measured.error), line.bound, line.ratio
        doubt = comparison.doubt
    return Row(name, evidence, bound.relation, *numbers, verdict, why, time.process_time() - began, doubt)


def deciding_line(comparison: Comparison) -> tuple[Line, str, str]:
    """The line nearest to the bound or farthest beyond it, the verdict on all lines together, and why it is open.

    A bound is violated if it is violated at one line, and holds only if it holds at all lines.
    """
    every = [line.verdict for line in comparison.rows]
    verdict = next(one for one in (Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.HOLDS_HERE) if one in every)
    lines = [line for line in comparison.rows if line.verdict is verdict]
    reasons = [line.why or "outside the conditions" * line.outside for line in lines]
    some = f"{len(lines)} of {len(every)} lines" if len(lines) < len(every) else ""

    def beyond(line: Line) -> float:
        """How far a measurement is beyond its bound, from -1 to 1: the difference over the sum of their sizes."""
        value = float(line.measured.value)
        size = abs(value) + abs(line.bound)
        excess = (value - line.bound) / size if 0 < size < math.inf else -1.0
        return {">=": -excess, "=": abs(excess)}.get(comparison.bound.relation, excess)

    return max(lines, key=beyond), str(verdict), ", ".join(filter(None, (some, max(reasons))))


def survey(pattern: str, problem: str = "", workers: int = 2) -> Survey:
    """Validate every bound that matches the pattern and can be measured; Ctrl-C keeps the finished rows."""
    matching = filter_names(BOUNDS, "*" if pattern == "all" else pattern)
    if workers < 1:
        raise UsageError(f"workers must be an integer >= 1; got {workers}")
    names = [name for name in matching if name in VALIDATIONS or not obstacle(BOUNDS[name], RUNS)]
    if not names:
        raise UsageError(f"{pattern} matches no bound that can be measured; fedbounds validate lists them")
    rows: dict[int, Row] = {}
    with progress("measuring") as bar:
        bar.start(len(names))
        try:
            for place, row in forked_map(partial(measured, problem=problem), names, workers):
                rows[place] = row
                bar.doing(row.bound)
                bar.step()
        except KeyboardInterrupt:
            pass
    return Survey(tuple(rows[place] for place in sorted(rows)), len(names), len(matching) - len(names))
