"""``fedbounds validate all``: every bound that can be measured, or those of a pattern, each as ``validate NAME``."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from fnmatch import filter as filter_names
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.tables import aligned, plain
from bounds.showing.tabular import Tabular
from bounds.showing.usage import UsageError
from empirics.measuring.estimates import Estimate
from empirics.progress import progress

from ..forking import spread
from ..runs.can import can
from . import validate, VALIDATIONS
from .comparison import Comparison, ERROR_RATE, Line, plus_minus, Verdict
from .options import DRAWS, Options, RUNS, USUAL

NOT_MEASURED = "not measured"
BASIS = "Every bound as validate NAME has it, in the line that is nearest to the bound; ratio: bound / measured"


class Row(NamedTuple):
    """A bound and what was found: the line that says most, the verdict, why it is open; ``doubt`` of a violation."""

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


@dataclass(frozen=True)
class Survey(Tabular):
    """A row per bound, fewer than were ``asked`` for where it was interrupted; ``cannot`` counts bounds without one."""

    rows: tuple[Row, ...]
    asked: int
    cannot: int

    @property
    def violations(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.verdict == Verdict.VIOLATED)

    def records(self) -> list[dict[str, Any]]:
        return [row._asdict() for row in self.rows]

    def as_json(self) -> Any:
        counts = {"asked": self.asked, "cannot": self.cannot, "violated": len(self.violations)}
        return plain({"bounds": self.records(), **counts})

    def __str__(self) -> str:
        head = ("bound", "evidence", "measured", "", "bound's value", "ratio", "seconds", "verdict")
        said = [row.verdict for row in self.rows]
        counts = [f"{said.count(word)} x {word}" for word in (*Verdict, NOT_MEASURED) if word in said]
        lines = aligned([_cells(row) for row in self.rows], head)
        took = f"{', '.join(counts) or 'nothing measured'}; {sum(row.seconds for row in self.rows):.0f} s of CPU"
        lines.append(f"{took}. {BASIS}, error rate {ERROR_RATE:.0%} for each bound by itself.")
        lines += [f"{row.bound}: {row.doubt}" for row in self.rows if row.doubt]
        missing: dict[str, list[str]] = {}
        for row in self.rows:
            if row.verdict == NOT_MEASURED:
                missing.setdefault(row.why, []).append(row.bound)
        lines += [f"{NOT_MEASURED}: {', '.join(names)}: {why}" for why, names in missing.items()]
        lines += [f"{self.cannot} further bounds cannot be measured."] if self.cannot else []
        return "\n".join([*lines, *([self.interrupted] if self.interrupted else [])])

    @property
    def interrupted(self) -> str:
        """What is said where not all were measured."""
        done = len(self.rows)
        return f"interrupted: {done} of {self.asked} bounds were measured" if done < self.asked else ""


def _cells(row: Row) -> tuple[str, ...]:
    took = f"{row.seconds:.1f}"
    if row.verdict == NOT_MEASURED:
        return row.bound, row.evidence, "-", "", "-", "-", took, row.verdict
    read = plus_minus(Estimate(np.asarray(row.measured), np.asarray(row.standard_error)))
    ratio = f"{row.ratio:.3g}" if math.isfinite(row.ratio) else "-"
    why = f" ({row.why})" if row.why else ""
    return row.bound, row.evidence, read, row.relation, f"{row.value:.4g}", ratio, took, f"{row.verdict}{why}"


# ---- one bound ----


def measured(name: str, problem: str = "") -> Row:
    """What ``validate`` finds of a bound with its usual plan; with a ``problem`` by training there, where it can be."""
    bound, trained = BOUNDS[name], not can(BOUNDS[name], RUNS) and (problem or name not in VALIDATIONS)
    evidence, began = RUNS if trained else VALIDATIONS[name], time.process_time()
    told: Any = {RUNS: {"problem": problem or USUAL}, DRAWS: {"workers": 1}}.get(evidence, {})
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
    """The line nearest to the bound, or farthest beyond, of those with the verdict over all; and why that is open.

    One line that violates the bound decides, and for the bound to hold all lines have to.
    """
    every = [line.verdict for line in found.lines]
    verdict = next(word for word in (Verdict.VIOLATED, Verdict.UNDECIDED, Verdict.HOLDS_HERE) if word in every)
    lines = [line for line in found.lines if line.verdict is verdict]
    reasons = [line.why or ("outside the conditions" if line.outside else "") for line in lines]
    some = f"{len(lines)} of {len(every)} lines" if len(lines) < len(every) else ""
    why = ", ".join(words for words in (some, max(reasons)) if words)
    return max(lines, key=lambda line: _beyond(found.bound.relation, line)), str(verdict), why


def _beyond(relation: str, line: Line) -> float:
    """How far a measurement is beyond its bound, from -1 to 1: the difference over the sum of their sizes."""
    value = float(line.measured.value)
    size = abs(value) + abs(line.bound)
    beyond = (value - line.bound) / size if 0 < size < math.inf else -1.0
    return {">=": -beyond, "=": abs(beyond)}.get(relation, beyond)


# ---- many ----


def survey(pattern: str, problem: str = "", workers: int = 2) -> Survey:
    """A row for every bound of these names that can be measured; Ctrl-C ends with those that are finished."""
    named = filter_names(BOUNDS, "*" if pattern == "all" else pattern)
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
