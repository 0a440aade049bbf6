"""The results in a store as a tidy table with one row per run and quantity, for the verb ``results``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, unknown, UnknownNameError
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.numbers import decimal
from bounds.showing.tables import aligned, booktabs

from ..errors import EmpiricsError
from ..spec_strings import refuse_twice
from . import Kept, Store
from .cells import canonical, text
from .command import open_store
from .grids import read_grid
from .registry import jobs
from .sources import own_files
from .store import TIDY

Row = dict[str, Any]
STALE = "stale"
"""The column for whether the job, or a file that the run names, has changed since the result was computed."""
NUMERAL = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def values(
    store: Store, damages: list[str], among: Collection[str] | None = None, *, rounds: bool = False
) -> Iterator[Row]:
    """Yield rows of all federation-wide quantities of every run at its last measured round, with the run's arguments.

    Results of other jobs have rows for their facts, or without facts for their table at the last round. A failure has
    one row with the error. Runs are in the order of their arguments.

    Args:
        store: the store.
        damages: a list to which messages on damaged results are appended.
        among: include only results with these keys.
        rounds: include every measured round.
    """
    results = list(store.everything(among))
    damages += [damage for kept, damage in results if kept is None]
    readable = [kept for kept, _ in results if kept is not None]
    names = sorted({name for kept in readable for name in kept.card["arguments"]})
    runs = [(kept, _arguments(kept, names)) for kept in readable]
    for kept, arguments in sorted(runs, key=lambda run: [ordered(run[1].get(name)) for name in names]):
        about = {**arguments, "key": kept.card["key"], "status": kept.status, STALE: _stale(kept)}
        if kept.status == "failed":
            yield {**about, "quantity": "error", "value": kept.card["error"]}
            continue
        rows = [
            {"round": at, "quantity": f"{quantity}[{layer}]" if layer else quantity, "value": value}
            for quantity, layer, at, value in kept.readings()
        ]
        if not rounds:  # the last one of each quantity
            rows = list({row["quantity"]: row for row in rows}.values())
        facts = [{"quantity": name, "value": value} for name, value in kept.card["facts"].items()]
        for row in rows or facts or _table(kept.columns()):
            yield {**about, **row}


def _stale(kept: Kept) -> str:
    """The column ``stale``: yes if the same arguments have another key now, no if the files are not available."""
    files = own_files([kept.card["arguments"], kept.card["job"]]).values()
    try:
        available = all(map(Path.is_file, files))
        return "yes" if available and kept.cell.key != kept.card["key"] else "no"
    except BoundsError:  # a job that this version does not have
        return "yes"


def _arguments(kept: Kept, names: Collection[str]) -> Row:
    """The run's arguments, and the job's defaults for other ``names``."""
    arguments = kept.card["arguments"]
    job = jobs().get(kept.card["job"])
    defaults = {} if job is None else {k: v for k, v in job.defaults.items() if k in names and v is not None}
    if "local_epochs" in arguments:  # in place of steps
        defaults.pop("local_steps", None)
    every = {**arguments, **{k: canonical(v) for k, v in defaults.items() if k not in arguments}}
    return {k: v if isinstance(v, (str, int, float)) else text(v) for k, v in every.items()}


def ordered(item: Any) -> tuple[Any, ...]:
    """The sort key of a value: None first, then numbers, then texts, in which numbers are compared as numbers."""
    if item is None:
        return (0,)
    if is_number(item):
        return 1, item
    parts = NUMERAL.split(str(item))
    return 2, [float(part) if index % 2 else part for index, part in enumerate(parts)]


def _table(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """Rows for the numbers of a table that is not a training run's; its rows may have a quantity and a value."""
    if set(columns) >= set(TIDY):
        return
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if "round" in columns:
        rows = [row for row in rows if row["round"] == rows[-1]["round"]]
    for number, row in enumerate(rows, 1):
        place = {"round": row.pop("round")} if "round" in columns else {"row": number} if len(rows) > 1 else {}
        if {"quantity", "value"} <= set(row):
            yield {**place, **row}
        else:
            yield from ({**place, "quantity": name, "value": value} for name, value in row.items())


def select(rows: Iterable[Row], conditions: Mapping[str, str]) -> list[Row]:
    """Return the rows with these values by column; raise for a column or value that no row has."""
    table = list(rows)
    columns = list(dict.fromkeys(name for row in table for name in row))
    for name, value in conditions.items():
        if table and name not in columns:
            raise unknown("column", name, columns)
        if table and not any(_matches(row.get(name), value) for row in table):
            raise unknown(f"value of {name}", value, {shown(row[name]) for row in table if name in row})
    return [row for row in table if all(_matches(row.get(name), value) for name, value in conditions.items())]


def _matches(item: Any, condition: str) -> bool:
    if not is_number(item):
        return str(item) == str(canonical(condition))
    try:
        return decimal(condition) in (float(item), float(shown(item)))
    except ValueError:  # outside the range of floats
        return False


def shown(item: Any) -> str:
    """A value as text in a table; filters accept a number exactly or as it is printed."""
    return f"{item:.6g}" if isinstance(item, float) else str(item)


def is_number(item: Any) -> bool:
    """Whether a value is an int or float, but not a bool."""
    return isinstance(item, (int, float)) and not isinstance(item, bool)


# ---- the verb ----


def selected(
    conditions: dict[str, str], sweep: str | None, store: Path | str | None, rounds: bool
) -> tuple[list[Row], list[str], list[str]]:
    """Return the rows of a store with these values by column, messages on damaged results, and remarks.

    ``sweep`` selects the runs of a sweep, ``rounds`` includes every measured round.
    """
    source = open_store(store)
    if not source.folder.is_dir():
        raise EmpiricsError(f"there is no store at {source.folder}; fedbounds sweep FILE makes one")
    if not source.file.exists() and any(source.folder.iterdir()):
        raise EmpiricsError(
            f"{source.folder} is not a store: it has other files and no results; choose another with --store"
        )
    among = None if sweep is None else _keys(source, sweep)
    damages: list[str] = []
    table = list(values(source, damages, among, rounds=rounds))
    if among is not None and not table and not damages:
        raise EmpiricsError(
            f"none of the {len(among)} runs of {sweep} has a result in {source.folder}: fedbounds sweep FILE runs them"
        )
    table, remarks = select(table, conditions), list[str]()
    if stale := len({row["key"] for row in table if row[STALE] == "yes"}):
        remarks.append(
            f"{stale} of these results are stale: the job or a file that they name has changed since "
            f"(column {STALE}; {STALE}=no leaves them out)"
        )
    if damages:
        remarks.append(f"{len(damages)} damaged results are left out; the first: {damages[0]}")
    return table, damages, remarks


def tabulated(
    table: Sequence[Row], columns: Sequence[str], form: str, output: Path | None, wanted: Sequence[str] = ()
) -> Report:
    """Report the table with these columns (default: those that vary), as CSV, as LaTeX (``.tex``) or aligned.

    It is written to ``output`` if that is given; ``wanted`` are the filters that selected its rows, for a message.
    """
    names = _columns(table, columns)
    records = [{name: row.get(name, "") for name in names} for row in table]
    rows = [[shown(item) for item in record.values()] for record in records]
    if form == ".csv":
        out = io.StringIO()
        csv.writer(out).writerows([names, *(record.values() for record in records)])  # numbers with all digits
        text = out.getvalue()
    elif form == ".tex":
        if not rows:
            raise EmpiricsError(f"no result has {', '.join(wanted) or 'a number'}: the table would be empty")
        items = {name: [record[name] for record in records if record[name] != ""] for name in names}
        letters = "".join("r" if all(map(is_number, column)) else "l" for column in items.values())
        text = "\n".join(booktabs(names, rows, letters)) + "\n"
    else:
        return Report(aligned(rows, names) if rows else ["no results"], records)
    if output is None:
        return Report(text.splitlines(), records)
    return Report([], records, wrote=[write_whole(output, text)])


def _keys(store: Store, sweep: str) -> Collection[str]:
    """The keys of the runs of a sweep, by its name or the file of its plan (``g.toml``, ``g.py:variable``)."""
    if sweep.endswith((".toml", ".py")) or ".py:" in sweep or Path(sweep).is_file():
        return {cell.key for cell in read_grid(sweep).cells()}
    sweeps = store.sweeps()
    if sweep not in sweeps:
        raise UnknownNameError(f"{unknown('sweep', sweep, sweeps)}; or give the file of its plan")
    return set(sweeps[sweep])


def _columns(table: Sequence[Row], wanted: Sequence[str]) -> list[str]:
    """The ``wanted`` columns, or by default those that differ between rows and some that are always included."""
    columns = list(dict.fromkeys(name for row in table for name in row))
    refuse_twice(wanted)
    for name in wanted:
        if columns and name not in columns:
            raise unknown("column", name, columns)
    if wanted:
        return list(wanted)
    always = {"algorithm", "seed", "round", "quantity", "value", "status"}
    always |= {STALE} if any(row[STALE] == "yes" for row in table) else set()
    return [n for n in columns if n in always or (n != "key" and len({str(row.get(n, "")) for row in table}) > 1)]
