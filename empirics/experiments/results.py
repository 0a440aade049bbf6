"""The results in a store as a tidy table: one row per run and quantity."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, unknown
from bounds.showing.numbers import decimal

from ..errors import EmpiricsError
from . import Kept, Store
from .canonical import canonical, text
from .registry import jobs
from .sources import own_files

Row = dict[str, Any]
TIDY = {"quantity", "layer", "client", "step", "round", "value"}
"""The columns of a training run's table."""
STALE = "stale"
"""The column that says whether a job, or a file that a result names, has changed since."""
NUMERAL = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
NEAREST = 3
"""Nearest numbers that a refusal names."""


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
            raise _nowhere(name, value, [row[name] for row in table if name in row])
    return [row for row in table if all(_same(row.get(name), value) for name, value in wanted.items())]


def _same(found: Any, wanted: str) -> bool:
    if is_number(found):
        return _read(wanted) in (float(found), float(shown(found)))
    return str(found) == str(canonical(wanted))


def shown(item: Any) -> str:
    """A value as the table prints it; a filter takes a number as it is and as it is printed."""
    return f"{item:.6g}" if isinstance(item, float) else str(item)


def is_number(item: Any) -> bool:
    """Whether a value is a number, which true and false are not."""
    return isinstance(item, (int, float)) and not isinstance(item, bool)


def _read(wanted: str) -> float | None:
    try:
        return decimal(wanted)
    except ValueError:  # no float is so large or small
        return None


def _nowhere(name: str, wanted: str, there: Sequence[Any]) -> EmpiricsError:
    """The error for a value that a column has nowhere, with the nearest ones that it has."""
    if not all(map(is_number, there)):
        return EmpiricsError(str(unknown(f"value of {name}", wanted, {str(item) for item in there})))
    number = _read(wanted)
    if number is None:
        return EmpiricsError(f"{name} must be a number here; got {wanted!r}")
    nearest = sorted(sorted(set(there), key=lambda item: abs(item - number))[:NEAREST])
    said = ", ".join(dict.fromkeys(map(shown, nearest)))
    return EmpiricsError(
        f"no result has {name}={wanted}; {'the nearest are' if ',' in said else 'there is only'} {said}"
    )
