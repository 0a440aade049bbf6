"""``fedbounds validate all``: every bound that can be measured, or those that a pattern names, in one table.

Each row is what ``validate NAME`` finds with its usual plan: the line of its table that says most, and the verdict over
all of them.
"""

from __future__ import annotations

import math
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.tables import aligned, to_json
from bounds.showing.tabular import Tabular
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, UsageError, writable_file
from empirics.measuring.estimates import Estimate
from empirics.progress import progress

from ..audit.forking import spread
from ..runs.can import can
from . import available, EVERY, validate, VALIDATIONS
from .comparison import Comparison, ERROR_RATE, Line, plus_minus, Verdict
from .options import AS_JSON, DRAWS, Options, RUNS

USUAL = "softmax(digits, regularisation=0.5)"
"""What is trained where a bound needs a problem and none is named: its data come with scikit-learn."""
NOT_MEASURED = "not measured"
SURVEY_JSON = """\
--json prints one object: command, bounds (bound, evidence, relation, measured, standard_error, value, ratio, verdict,
why, seconds of CPU, doubt), asked (how many bounds there are), cannot (how many others have no measurement),
violated."""


class Row(NamedTuple):
    """A bound, the evidence, and what was found: the line that says most, the verdict, why it is open or missing.

    ``seconds`` are those of the CPU. ``doubt`` says what a violation depends on.
    """

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

    def __str__(self) -> str:
        head = ("bound", "evidence", "measured", "", "bound's value", "ratio", "seconds", "verdict")
        said = [row.verdict for row in self.rows]
        counts = [f"{said.count(word)} x {word}" for word in (*Verdict, NOT_MEASURED) if word in said]
        lines = aligned([_cells(row) for row in self.rows], head) if self.rows else []
        lines.append(
            f"{', '.join(counts) or 'nothing measured'}; {sum(row.seconds for row in self.rows):.0f} s of CPU. Every "
            "bound as fedbounds validate NAME has it, in the line that is nearest to the bound; ratio: bound / "
            f"measured; error rate {ERROR_RATE:.0%} for each bound by itself."
        )
        lines += [f"{row.bound}: {row.doubt}" for row in self.rows if row.doubt]
        missing = [row for row in self.rows if row.verdict == NOT_MEASURED]
        for why in dict.fromkeys(row.why for row in missing):
            lines.append(f"{NOT_MEASURED}: {', '.join(row.bound for row in missing if row.why == why)}: {why}")
        lines += [f"{self.cannot} further bounds cannot be measured."] if self.cannot else []
        lines += [f"interrupted: {self.done}"] if len(self.rows) < self.asked else []
        return "\n".join(lines)

    @property
    def done(self) -> str:
        return f"{len(self.rows)} of {self.asked} bounds were measured"


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
    """The line that says most of a table, the verdict over all its lines, and why that is open.

    One line that violates the bound decides, and for the bound to hold all lines have to. Of the lines with this
    verdict it is that with the least left to the bound, or the farthest beyond it.
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
    named = [name for name in BOUNDS if pattern == EVERY or fnmatchcase(name, pattern)]
    names = [name for name in named if name in available()]
    if not names:
        raise UsageError(f"{pattern} names no bound that can be measured; available: {', '.join(available())}")
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


def run(pattern: str, arguments: Sequence[str]) -> int:
    """The command line for many bounds; the exit status: 1 where one is violated."""
    what = "every bound of these names that can be measured, in one table"
    parser = bare_parser("validate", what, below=[SURVEY_JSON])
    parser.prog = f"fedbounds validate {shlex.quote(pattern)}"
    add = parser.add_argument
    trains = f"train what can be trained there (what has to be: {USUAL})"
    add("--problem", default="", metavar="MODEL(DATA)", help=trains)
    add("--workers", type=whole_number(1, MOST_WORKERS), default=2, metavar="N", help="processes (2)")
    add("-o", dest="output", type=Path, metavar="FILE", help="CSV with one row per bound")
    add(AS_JSON, action="store_true", help="print JSON, described below")
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:
        return 0
    if args.output is not None:
        writable_file("-o", args.output, ".csv")
    found = survey(pattern, args.problem, args.workers)
    if args.json:
        command = shlex.join(["fedbounds", "validate", pattern, *arguments])
        told = {"asked": found.asked, "cannot": found.cannot, "violated": len(found.violations)}
        print(to_json({"command": command, "bounds": found.records(), **told}))
    else:
        print_lines([str(found)])
    if len(found.rows) < found.asked:
        raise KeyboardInterrupt(f"interrupted: {found.done}" + ("; no file was written" if args.output else ""))
    if args.output is not None:
        wrote = f"wrote {found.to_csv(args.output)}"
        print(wrote, file=sys.stderr if args.json else sys.stdout)
    return int(bool(found.violations))
