"""Tables of reported numbers beside ours: their entries, their rank agreement, the printed table and its CSV rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paper_checks.reported import Reported

from .artefact import Content
from .comparing import Finding, Pair
from .run_description import RunInfo
from .runs import standard_error

Sheet = list[list[str]]
DRAWS = 400
"""Resampled tables behind the interval of a rank correlation."""


@dataclass(frozen=True)
class Entry:
    """One place of a table: the number that the paper prints (NaN: none), and ours.

    ``ours`` has one value per seed, NaN for a missing seed so that seeds stay paired; it is empty if nothing was run.
    ``info`` describes the runs behind it.
    """

    row: str
    column: str
    reported: float
    reported_std: float
    ours: tuple[float, ...]
    note: str = ""
    info: RunInfo | None = None

    @property
    def present(self) -> tuple[float, ...]:
        """Our values without missing seeds."""
        return tuple(value for value in self.ours if not math.isnan(value))

    @property
    def mean(self) -> float:
        """Mean over seeds; NaN without any."""
        return float(np.mean(self.present)) if self.present else math.nan

    @property
    def error(self) -> float:
        """Standard error of the mean over seeds."""
        return standard_error(self.present)


def printed_number(text: str) -> float:
    """Return a printed number, or NaN if the paper prints none or a word."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def entry(
    printed: Reported | None,
    row: str,
    column: str,
    ours: Sequence[float],
    note: str = "",
    info: RunInfo | None = None,
    *,
    times: float = 1.0,
    over: float = 1.0,
) -> Entry:
    """Return one entry of a table: the printed number, as ``times * number / over``, beside ours.

    ``ours`` has one value per seed, NaN for a missing one; if all are missing the entry has no values of ours.
    """
    values = () if all(math.isnan(v) for v in ours) else tuple(ours)
    texts = (printed.value, printed.std) if printed else ("", "")
    reported, std = (times * printed_number(text) / over for text in texts)
    return Entry(row, column, reported, std, values, note, info)


def comparison(
    caption: str,
    entries: Sequence[Entry],
    findings: Sequence[Finding],
    corner: str = "reported / ours",
    *,
    digits: int = 2,
    ranked: Sequence[Entry] | None = None,
) -> Content:
    """Return a table of reported numbers beside ours; ranks are compared over the ``ranked`` entries (None: all)."""
    agreed = agreements(entries if ranked is None else ranked)
    return Content(caption, entry_rows(entries), sheet(entries, corner, digits), findings, agreed)


def text_table(caption: str, rows: Sequence[Mapping[str, Any]], head: Sequence[str] = ()) -> Content:
    """Return a table of texts: the rows below the header ``head`` (default: their keys)."""
    shown = [{name: str(v) for name, v in row.items() if name != "ran"} for row in rows]
    return Content(caption, rows, [list(head or shown[0]), *(list(row.values()) for row in shown)])


def entry_rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return one CSV row per entry."""
    return [
        {"row": e.row, "column": e.column, "reported": e.reported, "reported_std": e.reported_std, "ours": e.mean,
         "ours_error": e.error, "seeds": len(e.present), "note": e.note, "ran": e.info}
        for e in entries
    ]  # fmt: skip


def sheet(entries: Sequence[Entry], corner: str = "reported / ours", digits: int = 2) -> Sheet:
    """Return the printed table; each place reads ``reported ± as printed / ours ± standard error``."""
    rows, columns = dict.fromkeys(e.row for e in entries), dict.fromkeys(e.column for e in entries)
    table = by_position(entries)
    return [[corner, *columns], *([row, *(entry_text(table.get((row, c)), digits) for c in columns)] for row in rows)]


def entry_text(entry: Entry | None, digits: int) -> str:
    """Return one entry as text, with a dash for a missing number; empty without an entry."""
    if entry is None:
        return ""
    both = (entry.reported, entry.reported_std), (entry.mean, entry.error)
    return " / ".join(_number(value, spread, digits) for value, spread in both)


def _number(value: float, spread: float, digits: int) -> str:
    text = "–" if math.isnan(value) else f"{value:.{digits}f}"
    return text + (f" ± {spread:.{digits}f}" if math.isfinite(spread) else "")


def by_position(entries: Iterable[Entry]) -> Mapping[tuple[str, str], Entry]:
    """Return the entries by (row, column)."""
    return {(e.row, e.column): e for e in entries}


def leads(entries: Sequence[Entry], row: str, others: Iterable[str] = (), columns: Iterable[str] = ()) -> list[Pair]:
    """Return the pairs of the claim that ``row`` is above all ``others`` in all ``columns`` (default: all that ran)."""
    table = by_position(entries)
    shown = list(columns) or list(dict.fromkeys(e.column for e in entries if e.ours))
    beside = list(others) or [r for r in dict.fromkeys(e.row for e in entries if e.ours) if r != row]
    return [
        Pair(f"{row} over {other}, {column}", table[row, column].ours, table[other, column].ours)
        for column in shown
        for other in beside
        if (row, column) in table and (other, column) in table
    ]


# ---- rank agreement ----


@dataclass(frozen=True)
class Agreement:
    """Kendall's tau between a reported column and ours, with its 90 % interval under the noise of both sides."""

    column: str
    tau: float
    low: float
    high: float
    items: int

    def __str__(self) -> str:
        return f"{self.tau:+.2f} [{self.low:+.2f}, {self.high:+.2f}] over {self.items}"


def agreements(entries: Sequence[Entry]) -> list[Agreement]:
    """Return the rank agreement of each column with three or more rows that have both numbers."""
    by_column: dict[str, list[Entry]] = {entry.column: [] for entry in entries}
    for entry in entries:
        if math.isfinite(entry.reported) and math.isfinite(entry.mean):
            by_column[entry.column].append(entry)
    return [agreement(column, rows) for column, rows in by_column.items() if len(rows) > 2]


def agreement(column: str, entries: Sequence[Entry]) -> Agreement:
    """Return Kendall's tau-b over rows, with an interval by resampling both sides with their noise."""
    reported = np.array([e.reported for e in entries])
    ours = np.array([e.mean for e in entries])
    noise = np.array([e.reported_std if math.isfinite(e.reported_std) else 0.0 for e in entries])
    spread, freedom = _pooled(entries)
    error = np.array([spread / math.sqrt(len(e.present)) for e in entries])
    draw = np.random.default_rng(20231)
    moved = kendall(
        reported + noise * draw.standard_normal((DRAWS, len(entries))),
        ours + error * draw.standard_normal((DRAWS, len(entries))),
    )
    low, high = np.quantile(moved, [0.05, 0.95]) if freedom else (-1.0, 1.0)
    return Agreement(column, float(kendall(reported[None], ours[None])[0]), float(low), float(high), len(entries))


def _pooled(entries: Sequence[Entry]) -> tuple[float, int]:
    """Return the standard deviation over seeds, pooled over entries, and its degrees of freedom.

    Runs of one seed share data and start, which shifts them together and changes no rank. If every entry has the same
    seeds, this common shift is subtracted first.
    """
    values = [np.array(e.present) for e in entries]
    rest = [v - v.mean() for v in values]
    freedom = sum(len(v) - 1 for v in values)
    if len({len(e.ours) for e in entries}) == 1 and all(e.present == e.ours for e in entries) and len(values) > 1:
        together = np.array(rest)
        rest = list(together - together.mean(0))
        freedom -= len(values[0]) - 1
    total = sum(float(np.sum(r**2)) for r in rest)
    return (math.sqrt(total / freedom), freedom) if freedom else (0.0, 0)


def kendall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Kendall's tau-b along the last axis; 0 if one side is constant."""
    i, j = np.triu_indices(x.shape[-1], 1)
    a, b = np.sign(x[..., i] - x[..., j]), np.sign(y[..., i] - y[..., j])
    untied = np.sqrt(np.count_nonzero(a, axis=-1) * np.count_nonzero(b, axis=-1))
    return np.asarray(np.sum(a * b, axis=-1) / np.maximum(untied, 1))
