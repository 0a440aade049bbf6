"""Results in a store, selected and told as a table: the work of the verb ``results``."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import unknown, UnknownNameError
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.latex_tables import booktabs
from bounds.showing.tables import aligned

from ..errors import EmpiricsError
from ..spec_strings import refuse_twice
from . import Store
from .command import folder
from .grids import read_grid
from .results import is_number, Row, select, shown, STALE, values


def selected(
    wanted: dict[str, str], sweep: str | None, store: Path | str | None, rounds: bool
) -> tuple[list[Row], list[str], list[str]]:
    """Rows of a store that have these columns, what is damaged, and remarks; ``rounds``: one row for every round."""
    held = Store(folder(store))
    if not held.folder.is_dir():
        raise EmpiricsError(f"there is no store at {held.folder}; fedbounds sweep FILE makes one")
    if not held.file.exists() and not any(held) and any(held.folder.iterdir()):
        raise EmpiricsError(
            f"{held.folder} is not a store: it has other files and no results; give another with --store"
        )
    among = None if sweep is None else _keys(held, sweep)
    damages: list[str] = []
    table = list(values(held, damages, among, rounds=rounds))
    if among is not None and not table and not damages:
        told = f"none of the {len(among)} runs of {sweep} has a result in {held.folder}"
        raise EmpiricsError(f"{told}: fedbounds sweep FILE runs them")
    table = select(table, wanted)
    return table, damages, _remarks(table, damages)


def tabulated(
    table: Sequence[Row], columns: Sequence[str], form: str, output: Path | None, wanted: Sequence[str] = ()
) -> Report:
    """The table with these columns (those that vary, without any), as CSV, as LaTeX (``.tex``) or aligned.

    It is written to ``output`` where there is one; ``wanted`` are the words that selected its rows.
    """
    names = _columns(table, columns)
    cut = [{name: row.get(name, "") for name in names} for row in table]
    rows = [[shown(item) for item in row.values()] for row in cut]
    if form == ".csv":
        out = io.StringIO()  # for other programs: every digit
        csv.writer(out).writerows([names, *(row.values() for row in cut)])
        text = out.getvalue()
    elif form == ".tex":
        if not rows:
            raise EmpiricsError(f"no result has {', '.join(wanted) or 'a number'}: the table would be empty")
        letters = "".join("r" if all(map(is_number, column)) else "l" for column in _by_column(cut, names))
        text = "\n".join(booktabs(names, rows, letters)) + "\n"
    else:
        return Report(aligned(rows, names) if rows else ["no results"], cut)
    if output is None:
        return Report(text.splitlines(), cut)
    return Report([], cut, wrote=[write_whole(output, text)])


def _keys(store: Store, sweep: str) -> Collection[str]:
    """The keys of the runs of a sweep: by its name, or by the file of its plan (``g.toml``, ``g.py:variable``)."""
    if sweep.endswith((".toml", ".py")) or ".py:" in sweep or Path(sweep).is_file():
        return {cell.key for cell in read_grid(sweep).cells()}
    known = store.sweeps()
    if sweep not in known:
        raise UnknownNameError(f"{unknown('sweep', sweep, known)}; or give the file of its plan")
    return set(known[sweep])


def _remarks(table: Sequence[Row], damages: Sequence[str]) -> list[str]:
    """What is stale and what is left out."""
    found = []
    if stale := len({row["key"] for row in table if row[STALE] == "yes"}):
        found.append(
            f"{stale} of these results are stale: the job or a file that they name has changed since "
            f"(column {STALE}; {STALE}=no leaves them out)"
        )
    if damages:
        several = f"{len(damages)} damaged results are left out, the first"
        found.append(f"{'1 damaged result is left out' if len(damages) == 1 else several}: {damages[0]}")
    return found


def filters(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise EmpiricsError(f"a filter is written quantity=value; got {name!r}")
    refuse_twice(name for name, _, _ in pairs)
    return {name: value for name, _, value in pairs}


def _columns(table: Sequence[Row], wanted: Sequence[str]) -> list[str]:
    """The columns asked for, or those that differ between rows, with what is always of interest."""
    known = list(dict.fromkeys(name for row in table for name in row))
    refuse_twice(wanted)
    for name in wanted:
        if known and name not in known:
            raise unknown("column", name, known)
    if wanted:
        return list(wanted)
    always = {"algorithm", "seed", "round", "quantity", "value", "status"}
    always |= {STALE} if any(row[STALE] == "yes" for row in table) else set()
    return [n for n in known if n in always or (n != "key" and len({str(row.get(n, "")) for row in table}) > 1)]


def _by_column(cut: Sequence[Row], columns: Sequence[str]) -> list[list[Any]]:
    """The values of every column that are there."""
    return [[row[name] for row in cut if row[name] != ""] for name in columns]
