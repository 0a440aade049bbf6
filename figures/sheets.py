"""Entries as a printed table and as tidy rows: reported and ours side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from paper_checks.reported import Reported

from .artefact import Shown
from .comparing import agreements, by_place, Entry, Judged
from .run_description import Ran

Sheet = list[list[str]]


def number(text: str) -> float:
    """A printed number; NaN where the paper prints none or words."""
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
    ran: Ran | None = None,
    *,
    times: float = 1.0,
    over: float = 1.0,
) -> Entry:
    """What a paper prints at one place (shown ``times`` as much ``over`` a unit) beside ours.

    A seed that is missing is NaN, and nothing is ours where all are.
    """
    values = () if all(math.isnan(v) for v in ours) else tuple(ours)
    texts = (printed.value, printed.std) if printed else ("", "")
    reported, std = (times * number(text) / over for text in texts)
    return Entry(row, column, reported, std, values, note, ran)


def comparison(
    caption: str,
    entries: Sequence[Entry],
    judged: Sequence[Judged],
    corner: str = "reported / ours",
    *,
    digits: int = 2,
    ranked: Sequence[Entry] | None = None,
) -> Shown:
    """A table of reported numbers beside ours; ``ranked`` are the entries whose ranks are compared (None: all)."""
    agreed = agreements(entries if ranked is None else ranked)
    return Shown(caption, tidy(entries), sheet(entries, corner, digits), judged, agreed)


def listing(caption: str, rows: Sequence[Mapping[str, Any]], head: Sequence[str] = ()) -> Shown:
    """A table of words: the rows as they are, below their names or ``head``."""
    shown = [{name: str(v) for name, v in row.items() if name != "ran"} for row in rows]
    return Shown(caption, rows, [list(head or shown[0]), *(list(row.values()) for row in shown)])


def tidy(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """One row per place, for the CSV."""
    return [
        {
            "row": e.row,
            "column": e.column,
            "reported": e.reported,
            "reported_std": e.reported_std,
            "ours": e.mean,
            "ours_error": e.error,
            "seeds": len(e.known),
            "note": e.note,
            "ran": e.ran,
        }
        for e in entries
    ]


def sheet(entries: Sequence[Entry], corner: str = "reported / ours", digits: int = 2) -> Sheet:
    """Rows by columns; each place says ``reported ± as printed / ours ± standard error``."""
    rows, columns = dict.fromkeys(e.row for e in entries), dict.fromkeys(e.column for e in entries)
    table = by_place(entries)
    return [[corner, *columns], *([row, *(place(table.get((row, c)), digits) for c in columns)] for row in rows)]


def place(entry: Entry | None, digits: int) -> str:
    """One entry as text; a dash where there is none."""
    if entry is None:
        return ""
    both = (entry.reported, entry.reported_std), (entry.mean, entry.error)
    return " / ".join(_number(value, spread, digits) for value, spread in both)


def _number(value: float, spread: float, digits: int) -> str:
    words = "–" if math.isnan(value) else f"{value:.{digits}f}"
    return words + (f" ± {spread:.{digits}f}" if math.isfinite(spread) else "")
