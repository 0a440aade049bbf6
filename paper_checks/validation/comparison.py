"""The result of a validation: comparisons of measurements with a bound, and verdicts, as text, JSON and files."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bounds.bounded_quantity import sides_of
from bounds.core import Bound
from bounds.showing.files import write_whole
from bounds.showing.tables import plain, write_csv
from empirics.measuring.estimates import Estimate

from ..columns import Columns, ColumnTable
from ..runs.schedules import counted_from_one

ERROR_RATE = 0.05
"""The probability that a verdict of a table is wrong by chance, for all of its rows together."""
ROUNDED = 1e-9
"""Relative difference that rounding may make between the sides of an equality."""
CHECKED_AT_ROWS = "checked at every row"
PACKAGES = ("fedbounds", "numpy", "scipy", "scikit-learn", "sympy", "torch")
TESTS = (
    f"one-sided t tests, error rate {ERROR_RATE:.0%} over all lines together; ratio: bound / measured; they apply to"
)


class Verdict(StrEnum):
    """The verdict on an inequality in one setting."""

    HOLDS_HERE = "holds here"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


def condition_status(
    bound: Bound, problem: Any, algorithm: Any, setting: Any, values: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """One line per condition of the bound: met, NOT met, not decided here, or checked at every row.

    Assumptions are decided by the attributes of ``problem``, ``algorithm`` and ``setting``, conditions in words by the
    ``values`` of quantities, if these suffice.
    """
    scenario: Any = {name: SimpleNamespace(value=value) for name, value in (values or {}).items()}
    labels = {True: "met", False: "NOT met", None: "not decided here"}
    lines = []
    for condition in bound.conditions:
        holds: bool | None = None
        if condition.relation is not None:
            lines.append(f"{CHECKED_AT_ROWS}: {condition.words}")
            continue
        if condition.assumption is not None:
            holds = condition.assumption.holds(problem, algorithm, setting)
        elif counted_from_one(condition) and (sizes := getattr(setting, "iteration_step_sizes", None)):
            scales = [size * tau for tau, size in enumerate(sizes, 1)]
            holds = math.isclose(min(scales), max(scales), rel_tol=ROUNDED)
        elif (sides := sides_of(condition, scenario)) is not None:
            holds = math.isclose(*sides, rel_tol=ROUNDED, abs_tol=ROUNDED * abs(sides[0]))
        lines.append(f"{labels[holds]}: {condition.words}")
    return tuple(lines)


@dataclass(frozen=True)
class Line:
    """One measurement and the value of the bound there; ``place`` identifies the line, such as by the round.

    ``bound`` is the value of the formula, with the ends ``low`` and ``high`` if constants are uncertain and a standard
    ``error`` if they are estimates. ``outside``: a condition fails, so the bound does not apply here. ``why`` is the
    reason for an open verdict, ``parts`` are the bound's terms, ``extras`` further numbers for the CSV file.
    """

    place: tuple[Any, ...]
    measured: Estimate
    bound: float
    low: float
    high: float
    outside: bool
    verdict: Verdict
    why: str = ""
    error: float = 0.0
    parts: Mapping[str, Estimate] = field(default_factory=dict)
    extras: Mapping[str, Estimate] = field(default_factory=dict)

    @property
    def estimate(self) -> Estimate:
        """The bound's value with its standard error."""
        return Estimate(np.asarray(self.bound), np.asarray(self.error))

    @property
    def ratio(self) -> float:
        return self.bound / float(self.measured.value) if float(self.measured.value) else math.nan


class Row(NamedTuple):
    """A row of a tidy table: one number and what it belongs to."""

    problem: str
    partition: str
    clients: int
    quantity: str
    value: float
    standard_error: float


@dataclass(frozen=True, repr=False)
class Comparison(ColumnTable):
    """The result of a validation.

    ``about`` are the sentences above the table, ``findings`` those below it; ``basis`` is what the verdicts rest on.
    ``conditions`` is the status of every condition. ``places`` are the headings of the columns that identify a line,
    ``read`` that of the measured column. ``card`` has what is needed to repeat the run; if it is empty no JSON card is
    written. ``digits`` are those of numbers without an error, and of ratios.
    """

    bound: Bound
    rows: tuple[Line, ...]
    basis: str
    about: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[str, ...] = ("round",)
    read: str = "measured"
    digits: tuple[int, int] = (4, 3)
    gap = 3

    @property
    def violations(self) -> tuple[Line, ...]:
        return tuple(line for line in self.rows if line.verdict is Verdict.VIOLATED)

    @property
    def doubt(self) -> str:
        """A sentence with the undecided conditions on which a violation depends; empty without any."""
        open_ = [words.partition(": ")[2] for words in self.conditions if words.startswith("not decided")]
        if not self.violations or not open_:
            return ""
        return f"Violated, unless one of these conditions does not hold here: {'; '.join(open_)}."

    def before(self) -> Iterator[str]:
        bound = self.bound
        statistic = f"; {bound.statistic}" if bound.statistic else ""
        yield f"{bound.name}: {bound.target.name} {bound.relation} bound{statistic}; {bound.source}"
        yield from (*self.about, *(f"  {words}" for words in self.conditions))

    def shown(self) -> Sequence[Line]:
        return self.rows

    def columns(self) -> Columns:
        digits, fewer = self.digits

        def bound(line: Line) -> str:
            if line.outside:
                return f"OUTSIDE {line.bound:.{digits}g}"
            if line.low != line.high:
                return f"[{line.low:.{digits}g}, {line.high:.{digits}g}]"
            return plus_minus(line.bound, line.error, digits)

        def at_place(i: int, line: Line) -> str:
            return str(line.place[i])

        def part(name: str, line: Line) -> str:
            return f"{float(line.parts[name].value):.3g}"

        parts = tuple(self.rows[0].parts) if self.rows else ()
        return {
            **{place: partial(at_place, i) for i, place in enumerate(self.places)},
            self.read: lambda line: plus_minus(line.measured.value, line.measured.error, digits),
            "bound": bound,
            **{name: partial(part, name) for name in parts},
            "ratio": lambda line: f"{line.ratio:.{fewer}g}" if math.isfinite(line.ratio) else "-",
            "verdict": lambda line: f"{line.verdict}{f' ({line.why})' if line.why else ''}",
        }

    def after(self) -> Iterator[str]:
        verdicts = [line.verdict for line in self.rows]
        counts = (f"{verdicts.count(verdict)} x {verdict}" for verdict in Verdict if verdict in verdicts)
        yield f"{', '.join(counts)}{self.basis}"
        yield from (*filter(None, [self.doubt]), *self.findings)

    def numbers(self) -> Iterator[Row]:
        """One row per number, for lines with the places problem, partition and clients."""
        for line in self.rows:
            named = {self.bound.target.name: line.measured, "bound": line.estimate, **line.parts, **line.extras}
            for quantity, estimate in named.items():
                yield Row._make((*line.place, quantity, float(estimate.value), float(estimate.error)))

    def records(self) -> list[dict[str, Any]]:
        """The lines of the table as dictionaries: place, measurement and error, bound and its ends, verdict."""
        return [
            {
                **dict(zip(self.places, line.place, strict=True)),
                self.read: float(line.measured.value),
                "standard_error": float(line.measured.error),
                **{end: float(getattr(line, end)) for end in ("bound", "low", "high")},
                "outside": int(line.outside),
                "verdict": str(line.verdict),
                "why": line.why,
            }
            for line in self.rows
        ]

    def about_run(self, command: str = "") -> dict[str, Any]:
        """What is needed to repeat the run: the JSON card of ``-o``."""
        bound = self.bound
        return {
            "bound": bound.name,
            "source": str(bound.source),
            "statistic": str(bound.statistic or ""),
            "command": command,
            **self.card,
            "conditions": list(self.conditions),
            "verdicts": [[*line.place, str(line.verdict), line.why] for line in self.rows],
            "error_rate": ERROR_RATE,
            "findings": list(self.findings),
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        }

    def as_json(self, command: str = "") -> dict[str, Any]:
        """What ``fedbounds validate --json`` prints: the card, and every line in full precision."""
        lines = [
            {
                **record,
                "outside": bool(line.outside),
                "bound_error": line.error,
                "ratio": line.ratio,
                "parts": {name: float(part.value) for name, part in line.parts.items()},
            }
            for record, line in zip(replace(self, read="measured").records(), self.rows, strict=True)
        ]
        about = self.about_run(command)
        del about["verdicts"]
        counts = {"relation": self.bound.relation, "lines": lines, "violated": len(self.violations)}
        data: dict[str, Any] = plain({**about, **counts})
        return data

    def write(self, folder: Path, command: str) -> list[Path]:
        """Write ``NAME.csv`` with full precision and, if there is a card, ``NAME.json``; return their paths."""
        folder.mkdir(parents=True, exist_ok=True)
        table, card = (folder / f"{self.bound.name}.{ending}" for ending in ("csv", "json"))
        tidy = any(line.parts for line in self.rows)
        write_csv([row._asdict() for row in self.numbers()] if tidy else self.records(), table)
        if not self.card:
            return [table]
        return [table, write_whole(card, json.dumps(plain(self.about_run(command)), indent=2, allow_nan=False) + "\n")]

    def __repr__(self) -> str:
        return f"<Comparison of {self.bound.name}: {len(self.rows)} lines>"


def plus_minus(value: Any, error: Any, digits: int = 4) -> str:
    """Value and standard error, ``0.003465±0.000007``: two digits of the error if they are below 36, else one."""
    value, error = float(value), float(error)
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{value:.{digits}g}"
    size = math.floor(math.log10(error))
    places = max(0, (1 if error / 10.0**size < 3.55 else 0) - size)
    return f"{value:.{places}f}±{error:.{places}f}"
