"""What every validation finds: one table of comparisons with verdicts, how it is printed, and the files it leaves."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bounds.classes import said as sides_of
from bounds.core import Bound
from bounds.showing.files import write_whole
from bounds.showing.tables import aligned, plain
from bounds.showing.tabular import Tabular, write_csv
from empirics.measuring.estimates import Estimate

from ..runs.schedules import counted_from_one

ERROR_RATE = 0.05
ROUNDED = 1e-9
"""Relative difference that rounding may make between the sides of an equality."""
PACKAGES = ("fedbounds", "numpy", "scipy", "scikit-learn", "sympy", "torch")
TESTS = (
    f"one-sided t tests, error rate {ERROR_RATE:.0%} over all lines together; ratio: bound / measured; they speak of"
)


class Verdict(StrEnum):
    """What the measurement says about the inequality at one setting; never more than that."""

    HOLDS_HERE = "holds here"
    UNDECIDED = "undecided"
    VIOLATED = "violated"


def judge(excess: Estimate, seeds: int, rows: int, error_rate: float = ERROR_RATE) -> Verdict:
    """Verdict on ``measured <= bound`` from their difference ``measured - bound`` and its standard error over seeds.

    Two one-sided t tests, each at ``error_rate`` over all ``rows`` together (Bonferroni): violated if the difference is
    significantly positive, holds here if significantly negative, undecided otherwise. So with probability at least
    1 - ``error_rate`` no row of a true inequality is called violated, and likewise for the other word. The verdict can
    be wrong where means over this many seeds are far from normal, and it says nothing about other settings.
    """
    margin = _quantile(error_rate / rows, seeds - 1) * float(excess.error)
    if excess.value > margin:
        return Verdict.VIOLATED
    return Verdict.HOLDS_HERE if excess.value < -margin else Verdict.UNDECIDED


@lru_cache(maxsize=64)
def _quantile(above: float, freedom: int) -> float:
    """The value that Student's t exceeds with the probability ``above``: one for all rows of a table."""
    from scipy import stats

    return float(stats.t.isf(above, freedom))


def standing(
    bound: Bound, problem: Any, algorithm: Any, setting: Any, values: Mapping[str, Any] | None = None
) -> tuple[str, ...]:
    """One line per condition of the bound: met, NOT met or not decided by a predicate on this run.

    Conditions in words are decided by ``values``, quantities by name, as far as these say so.
    """
    scenario: Any = {name: SimpleNamespace(value=value) for name, value in (values or {}).items()}
    said = {True: "met", False: "NOT met", None: "not decided here"}
    lines = []
    for condition in bound.conditions:
        if condition.assumption is not None:
            lines.append(f"{said[condition.assumption.holds(problem, algorithm, setting)]}: {condition.words}")
        elif condition.relation is not None:
            lines.append(f"checked at every row: {condition.words}")
        elif counted_from_one(condition) and (sizes := getattr(setting, "iteration_step_sizes", None)):
            scales = [size * tau for tau, size in enumerate(sizes, 1)]
            lines.append(f"{said[math.isclose(min(scales), max(scales), rel_tol=ROUNDED)]}: {condition.words}")
        else:
            sides = sides_of(condition.words, scenario)
            holds = None if sides is None else math.isclose(*sides, rel_tol=ROUNDED, abs_tol=ROUNDED * abs(sides[0]))
            lines.append(f"{said[holds]}: {condition.words}")
    return tuple(lines)


# ---- the table ----


@dataclass(frozen=True)
class Line:
    """One comparison. ``bound`` is what the formula gives; ``outside``: where the theorem says nothing about it.

    ``low`` and ``high`` are its ends where constants are uncertain, ``error`` its standard error where they are
    estimates; ``why`` says what keeps a verdict open. ``parts`` are the bound's terms, ``extras`` further numbers.
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
        """The bound with its standard error."""
        return Estimate(np.asarray(self.bound), np.asarray(self.error))

    @property
    def ratio(self) -> float:
        return self.bound / float(self.measured.value) if float(self.measured.value) else math.nan


class Row(NamedTuple):
    """One number of a tidy table; ``clients`` is None for what belongs to no single number of clients."""

    problem: str
    partition: str
    clients: int | None
    quantity: str
    value: float
    standard_error: float | None


@dataclass(frozen=True)
class Comparison(Tabular):
    """What a validation found: ``about`` are the sentences above the table, ``after`` those below.

    ``places`` name what tells its lines apart, ``read`` what stands in them; ``basis`` says what verdicts rest on.
    ``numbers`` are further ones for a tidy table. ``card`` holds what is needed to repeat the run; without one no card
    is written. ``digits`` are those of numbers without an error, and of ratios.
    """

    bound: Bound
    lines: tuple[Line, ...]
    basis: str
    about: tuple[str, ...] = ()
    standing: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    card: Mapping[str, Any] = field(default_factory=dict)
    places: tuple[str, ...] = ("round",)
    read: str = "measured"
    numbers: tuple[Row, ...] = ()
    digits: tuple[int, int] = (4, 3)

    @property
    def violations(self) -> tuple[Line, ...]:
        return tuple(line for line in self.lines if line.verdict is Verdict.VIOLATED)

    @property
    def doubt(self) -> str:
        """What a violation depends on, in a sentence; empty where nothing is violated, or every condition decided."""
        open_ = [words.partition(": ")[2] for words in self.standing if words.startswith("not decided")]
        if not self.violations or not open_:
            return ""
        return f"Violated, unless one of these does not hold here: {'; '.join(open_)}."

    def rows(self) -> Iterator[Row]:
        """One row per number, for lines that are told apart by problem, partition and clients."""
        for line in self.lines:
            named = {self.bound.target.name: line.measured, "bound": line.estimate, **line.parts, **line.extras}
            for quantity, estimate in named.items():
                yield Row._make((*line.place, quantity, float(estimate.value), float(estimate.error)))
        yield from self.numbers

    def records(self) -> list[dict[str, Any]]:
        """The lines of the table: their places, the measurement and its error, the bound and its ends, the verdict."""
        return [dict(zip(_head(self), _numbers(line), strict=True)) for line in self.lines]

    def as_json(self) -> Any:
        """What is needed to repeat the run, and the lines of the table."""
        return plain({**_card(self, ""), "rows": self.records()})

    def __str__(self) -> str:
        return "\n".join(printed(self))

    def __repr__(self) -> str:
        return f"<Comparison of {self.bound.name}: {len(self.lines)} lines>"


# ---- printed ----


def plus_minus(estimate: Estimate, digits: int = 4) -> str:
    """Value and standard error, ``0.003465±0.000007``: two digits of the error if they are below 36, else one."""
    value, error = float(estimate.value), float(estimate.error)
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{value:.{digits}g}"
    size = math.floor(math.log10(error))
    places = max(0, (1 if error / 10.0**size < 3.55 else 0) - size)
    return f"{value:.{places}f}±{error:.{places}f}"


def printed(found: Comparison) -> Iterator[str]:
    """Everything, in lines."""
    bound = found.bound
    statistic = f"; {bound.statistic}" if bound.statistic else ""
    yield f"{bound.name}: {bound.target.name} {bound.relation} bound{statistic}; {bound.source}"
    yield from (*found.about, *(f"  {words}" for words in found.standing))
    parts = tuple(found.lines[0].parts) if found.lines else ()
    head = (*found.places, found.read, "bound", *parts, "ratio", "verdict")
    yield from aligned([_cells(found, line) for line in found.lines], head)
    yield from (*_summary(found), *found.after)


def _cells(found: Comparison, line: Line) -> tuple[str, ...]:
    digits, fewer = found.digits
    if line.outside:
        shown = f"OUTSIDE {line.bound:.{digits}g}"
    elif line.low != line.high:
        shown = f"[{line.low:.{digits}g}, {line.high:.{digits}g}]"
    else:
        shown = plus_minus(line.estimate, digits)
    parts = (f"{float(part.value):.3g}" for part in line.parts.values())
    ratio = f"{line.ratio:.{fewer}g}" if math.isfinite(line.ratio) else "-"
    why = f" ({line.why})" if line.why else ""
    places = map(str, line.place)
    return (*places, plus_minus(line.measured, digits), shown, *parts, ratio, f"{line.verdict}{why}")


def _summary(found: Comparison) -> Iterable[str]:
    said = [line.verdict for line in found.lines]
    counts = ", ".join(f"{said.count(word)} x {word}" for word in Verdict if word in said)
    yield f"{counts}{found.basis}"
    if found.doubt:
        yield found.doubt


# ---- written ----


def write(found: Comparison, folder: Path, command: str) -> list[Path]:
    """``NAME.csv`` with full precision and, where the run has one, ``NAME.json``: what is needed to repeat it."""
    folder.mkdir(parents=True, exist_ok=True)
    table, card = folder / f"{found.bound.name}.csv", folder / f"{found.bound.name}.json"
    write_csv([row._asdict() for row in found.rows()] if found.numbers else found.records(), table)
    if not found.card:
        return [table]
    return [table, write_whole(card, json.dumps(plain(_card(found, command)), indent=2, allow_nan=False) + "\n")]


def as_json(found: Comparison, command: str) -> dict[str, Any]:
    """What ``fedbounds validate --json`` prints: the card, and every line in full precision."""
    lines = [
        {
            **record,
            "outside": bool(line.outside),
            "bound_error": line.error,
            "ratio": line.ratio,
            "parts": {name: float(part.value) for name, part in line.parts.items()},
        }
        for record, line in zip(replace(found, read="measured").records(), found.lines, strict=True)
    ]
    told = {"relation": found.bound.relation, "lines": lines, "violated": len(found.violations)}
    return {**{k: v for k, v in _card(found, command).items() if k != "verdicts"}, **told}


def _head(found: Comparison) -> tuple[str, ...]:
    return *found.places, found.read, "standard_error", "bound", "low", "high", "outside", "verdict", "why"


def _numbers(line: Line) -> tuple[Any, ...]:
    numbers: tuple[Any, ...] = (line.measured.value, line.measured.error, line.bound, line.low, line.high)
    return *line.place, *map(float, numbers), int(line.outside), str(line.verdict), line.why


def _card(found: Comparison, command: str) -> dict[str, Any]:
    bound = found.bound
    return {
        "bound": bound.name,
        "source": str(bound.source),
        "statistic": str(bound.statistic or ""),
        "command": command,
        **found.card,
        "conditions": list(found.standing),
        "verdicts": [[*line.place, str(line.verdict), line.why] for line in found.lines],
        "error_rate": ERROR_RATE,
        "findings": list(found.after),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }
