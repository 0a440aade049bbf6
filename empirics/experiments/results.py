"""The results in a store as a tidy table, one row per run and quantity: selected and told by the verb ``results``."""

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
from bounds.showing.latex_tables import booktabs
from bounds.showing.numbers import decimal
from bounds.showing.tables import aligned

from ..errors import EmpiricsError
from ..spec_strings import refuse_twice
from . import Kept, Store
from .canonical import canonical, text
from .command import folder
from .grids import read_grid
from .registry import jobs
from .sources import own_files

Row = dict[str, Any]
TIDY = {"quantity", "layer", "client", "step", "round", "value"}
"""The columns of a training run's table."""
STALE = "stale"
"""The column that says whether a job, or a file that a result names, has changed since."""
NUMERAL = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")


def values(
    store: Store, damages: list[str], among: Collection[str] | None = None, *, rounds: bool = False
) -> Iterator[Row]:
    """The value of every federation-wide quantity of every run at its last measured round, with the run's arguments.

    A result of another shape, from a user's own job, gives its facts, or without any its table at the last round.
    A failure gives one row with the error. Runs are in the order of their arguments.

    Args:
        store: the store.
        damages: takes the reasons why results are left out.
        among: only results with these keys.
        rounds: at every measured round.
    """
    found = list(store.everything(among))
    damages += [damage for kept, damage in found if kept is None]
    there = [kept for kept, _ in found if kept is not None]
    told = {name for kept in there for name in kept.card["arguments"]}
    runs = [(kept, _arguments(kept, told)) for kept in there]
    names = sorted(told)
    for kept, arguments in sorted(runs, key=lambda run: [ordered(run[1].get(name)) for name in names]):
        about = {**arguments, "key": kept.card["key"], "status": kept.status, STALE: _stale(kept)}
        if kept.status == "failed":
            yield {**about, "quantity": "error", "value": kept.card["error"]}
            continue
        columns = kept.columns()
        rows = list(_measured(columns))
        if not rounds:  # the last one of each quantity
            rows = list({row["quantity"]: row for row in rows}.values())
        facts = [{"quantity": name, "value": value} for name, value in kept.card["facts"].items()]
        for row in rows or facts or _table(columns):
            yield {**about, **row}


def _stale(kept: Kept) -> str:
    """Whether the same arguments have another key today; results whose files are not here count as fresh."""
    homes = own_files([kept.card["arguments"], kept.card["job"]]).values()
    try:
        known = all(map(Path.is_file, homes))
        return "yes" if known and kept.cell.key != kept.card["key"] else "no"
    except BoundsError:  # a job that this version does not know
        return "yes"


def _arguments(kept: Kept, told: Collection[str]) -> Row:
    """The run's arguments, and the defaults of those in ``told`` that it does not have."""
    given = kept.card["arguments"]
    known = jobs().get(kept.card["job"])
    usual = {} if known is None else {k: v for k, v in known.defaults.items() if k in told and v is not None}
    if "local_epochs" in given:  # a round has one of them
        usual.pop("local_steps", None)
    every = {**given, **{k: canonical(v) for k, v in usual.items() if k not in given}}
    return {k: v if isinstance(v, (str, int, float)) else text(v) for k, v in every.items()}


def ordered(item: Any) -> tuple[Any, ...]:
    """The key that sorts values: nothing first, then numbers, then texts with the numbers in them as numbers."""
    if item is None:
        return (0,)
    if is_number(item):
        return 1, item
    parts = NUMERAL.split(str(item))
    return 2, [float(part) if place % 2 else part for place, part in enumerate(parts)]


def _measured(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """Every federation-wide value of a training run, in the order of its table; no rows for another table."""
    if TIDY - set(columns):
        return
    names = ("quantity", "layer", "client", "step", "round", "value")
    for quantity, layer, client, step, at, value in zip(*(columns[name] for name in names), strict=True):
        if client is None and step is None:
            yield {"round": at, "quantity": f"{quantity}[{layer}]" if layer else quantity, "value": value}


def _table(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """A row per number of another table, whose rows may have a quantity and a value."""
    if set(columns) >= TIDY:
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


def select(rows: Iterable[Row], wanted: Mapping[str, str]) -> list[Row]:
    """The rows in which every wanted column has this value; a column or a value that no row has is refused."""
    table = list(rows)
    known = list(dict.fromkeys(name for row in table for name in row))
    for name, value in wanted.items():
        if table and name not in known:
            raise unknown("column", name, known)
        if table and not any(_same(row.get(name), value) for row in table):
            raise unknown(f"value of {name}", value, {shown(row[name]) for row in table if name in row})
    return [row for row in table if all(_same(row.get(name), value) for name, value in wanted.items())]


def _same(found: Any, wanted: str) -> bool:
    if not is_number(found):
        return str(found) == str(canonical(wanted))
    try:
        return decimal(wanted) in (float(found), float(shown(found)))
    except ValueError:  # no float is so large or small
        return False


def shown(item: Any) -> str:
    """A value as the table prints it; a filter takes a number as it is and as it is printed."""
    return f"{item:.6g}" if isinstance(item, float) else str(item)


def is_number(item: Any) -> bool:
    """Whether a value is a number, which true and false are not."""
    return isinstance(item, (int, float)) and not isinstance(item, bool)


# ---- the verb ----


def selected(
    wanted: dict[str, str], sweep: str | None, store: Path | str | None, rounds: bool
) -> tuple[list[Row], list[str], list[str]]:
    """Rows of a store that have these columns, what is damaged, and remarks; ``rounds``: one row for every round."""
    held = Store(folder(store))
    if not held.folder.is_dir():
        raise EmpiricsError(f"there is no store at {held.folder}; fedbounds sweep FILE makes one")
    if not held.file.exists() and any(held.folder.iterdir()):
        raise EmpiricsError(
            f"{held.folder} is not a store: it has other files and no results; give another with --store"
        )
    among = None if sweep is None else _keys(held, sweep)
    damages: list[str] = []
    table = list(values(held, damages, among, rounds=rounds))
    if among is not None and not table and not damages:
        told = f"none of the {len(among)} runs of {sweep} has a result in {held.folder}"
        raise EmpiricsError(f"{told}: fedbounds sweep FILE runs them")
    table, remarks = select(table, wanted), list[str]()
    if stale := len({row["key"] for row in table if row[STALE] == "yes"}):
        remarks.append(
            f"{stale} of these results are stale: the job or a file that they name has changed since "
            f"(column {STALE}; {STALE}=no leaves them out)"
        )
    if damages:
        remarks.append(f"damaged results are left out, {len(damages)} in all, the first: {damages[0]}")
    return table, damages, remarks


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
        there = {name: [row[name] for row in cut if row[name] != ""] for name in names}
        letters = "".join("r" if all(map(is_number, column)) else "l" for column in there.values())
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


def filters(words: Sequence[str]) -> dict[str, str]:
    """The columns that results must have, of words ``column=value``."""
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
