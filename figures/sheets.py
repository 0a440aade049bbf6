"""Turn entries into a printed table and into CSV rows, reported numbers beside ours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from paper_checks.reported import Reported

from .artefact import Content
from .comparing import agreements, by_position, Entry, Finding
from .run_description import RunInfo

Sheet = list[list[str]]


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
