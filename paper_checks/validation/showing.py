"""How a comparison of a bound with runs looks: table, findings, CSV, JSON card, exit status."""

from __future__ import annotations

import csv
import json
import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bounds.core import Bound
from bounds.showing.tables import aligned, plain

from .core import ERROR_RATE, Verdict
from .judging import Line
from .report import plus_minus

HEAD = ("round", "measured", "bound", "ratio", "verdict")
COLUMNS = ("round", "measured", "standard_error", "bound", "low", "high", "outside", "verdict", "why")
PACKAGES = ("fedbounds", "numpy", "scipy", "sympy", "torch")


@dataclass(frozen=True)
class Found:
    """What a validation by runs or by a log found; ``about`` are the sentences above the table, ``after`` below."""

    bound: Bound
    seeds: int
    lines: Sequence[Line]
    about: Sequence[str]
    standing: Sequence[str]
    after: Sequence[str] = ()
    card: Mapping[str, Any] = field(default_factory=dict)

    @property
    def violated(self) -> bool:
        return any(line.verdict is Verdict.VIOLATED for line in self.lines)


def show(found: Found) -> None:
    """Print everything."""
    bound = found.bound
    statistic = f"; {bound.statistic}" if bound.statistic else ""
    print(f"{bound.name}: {bound.target.name} {bound.relation} bound{statistic}; {bound.source}")
    for line in (*found.about, *(f"  {words}" for words in found.standing)):
        print(line)
    for text in aligned([_cells(line) for line in found.lines], HEAD):
        print(text)
    for line in (*_summary(found), *found.after):
        print(line)


def _cells(line: Line) -> tuple[str, ...]:
    if line.outside:
        shown = f"OUTSIDE {line.bound:.4g}"
    elif line.low != line.high:
        shown = f"[{line.low:.4g}, {line.high:.4g}]"
    else:
        shown = f"{line.bound:.4g}"
    ratio = f"{line.ratio:.3g}" if math.isfinite(line.ratio) else "-"
    why = f" ({line.why})" if line.why else ""
    return line.place, plus_minus(line.measured), shown, ratio, f"{line.verdict}{why}"


def _summary(found: Found) -> Iterable[str]:
    said = [line.verdict for line in found.lines]
    counts = ", ".join(f"{said.count(word)} x {word}" for word in Verdict if word in said)
    yield (
        f"{counts} ({found.seeds} seeds; one-sided t tests, error rate {ERROR_RATE:.0%} over all lines together; "
        "ratio: bound / measured; they speak of these runs only)."
    )
    open_ = [words.partition(": ")[2] for words in found.standing if words.startswith("not decided")]
    if found.violated and open_:
        yield f"Violated, unless one of these does not hold here: {'; '.join(open_)}."


def write(found: Found, folder: Path, command: str) -> list[Path]:
    """``NAME.csv`` with full precision and ``NAME.json`` with what is needed to repeat the run."""
    folder.mkdir(parents=True, exist_ok=True)
    table, card = folder / f"{found.bound.name}.csv", folder / f"{found.bound.name}.json"
    with table.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for line in found.lines:
            measured = repr(float(line.measured.value)), repr(float(line.measured.error))
            numbers = (repr(x) for x in (line.bound, line.low, line.high))
            out.writerow((line.place, *measured, *numbers, int(line.outside), line.verdict, line.why))
    card.write_text(json.dumps(plain(_card(found, command)), indent=2, allow_nan=False) + "\n", encoding="utf-8")
    return [table, card]


def _card(found: Found, command: str) -> dict[str, Any]:
    bound = found.bound
    return {
        "bound": bound.name,
        "source": str(bound.source),
        "statistic": str(bound.statistic or ""),
        "command": command,
        "seeds": found.seeds,
        **found.card,
        "conditions": list(found.standing),
        "verdicts": [[line.place, str(line.verdict), line.why] for line in found.lines],
        "error_rate": ERROR_RATE,
        "findings": list(found.after),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }
