"""What a store holds as tidy tables: one row per run and quantity."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, unknown
from bounds.showing.numbers import decimal

from ..errors import EmpiricsError
from . import Kept, Store, StoreError
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
"""Numbers that are named where none is the wanted one."""


def values(
    store: Store, damages: list[str], among: Container[str] | None = None, *, rounds: bool = False
) -> Iterator[Row]:
    """Per run and federation-wide quantity the value at the last measured round, with the run's arguments.

    ``among``: of the results with these keys; ``rounds``: at every measured round. Of a table of another shape, of a
    job of the user's own, the facts beside it are shown; where it has none the table itself, whole or at its last
    round. A failure gives one row with the error. Why results were left out is added to ``damages``. Runs are in the
    order of their arguments, numbers as numbers.
    """
    there = []
    for kept, damage in store.everything(among):
        if kept is None:
            damages.append(damage)
        else:
            there.append(kept)
    told = {name for kept in there for name in kept.card["arguments"]}
    runs = [(kept, _arguments(kept, told)) for kept in there]
    names = sorted(told)
    for kept, arguments in sorted(runs, key=lambda run: [ordered(run[1].get(name)) for name in names]):
        about = {**arguments, "key": kept.card["key"], "status": kept.status, STALE: _stale(kept)}
        if kept.status == "failed":
            yield {**about, "quantity": "error", "value": kept.card["error"]}
            continue
        try:
            columns = kept.columns()
            found = (
                list(_measured(columns) if rounds else _ends(columns)) or list(_facts(kept)) or list(_table(columns))
            )
        except StoreError as error:
            damages.append(str(error))
            continue
        for end in found:
            yield {**about, **end}


def _stale(kept: Kept) -> str:
    """Whether the same words would make another result today; files that are not here say nothing."""
    homes = own_files([kept.card["arguments"], kept.card["job"]]).values()
    try:
        known = all(map(Path.is_file, homes))
        return "yes" if known and kept.cell.key != kept.card["key"] else "no"
    except BoundsError:  # a job that this version does not know
        return "yes"


def _arguments(kept: Kept, told: Collection[str]) -> Row:
    """The run's arguments, and what those of ``told`` are that it left at their defaults: both are the same run."""
    given = kept.card["arguments"]
    known = jobs().get(kept.card["job"])
    usual = {} if known is None else {k: v for k, v in known.defaults.items() if k in told and v is not None}
    if "local_epochs" in given:  # a round has one of them
        usual.pop("local_steps", None)
    every = {**given, **{k: canonical(v) for k, v in usual.items() if k not in given}}
    return {k: v if isinstance(v, (str, int, float)) else text(v) for k, v in every.items()}


def ordered(item: Any) -> tuple[Any, ...]:
    """What values are sorted by: nothing first, then numbers as numbers, then texts, the numbers in them likewise."""
    if item is None:
        return (0,)
    if is_number(item):
        return 1, item
    parts = NUMERAL.split(str(item))
    return 2, [float(part) if place % 2 else part for place, part in enumerate(parts)]


def _ends(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """The last value of every quantity of a training run; nothing of another table."""
    yield from {row["quantity"]: row for row in _measured(columns)}.values()


def _measured(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """Every federation-wide value of a training run, in the order of its table; nothing of another table."""
    if TIDY - set(columns):
        return
    names = ("quantity", "layer", "client", "step", "round", "value")
    for quantity, layer, client, step, at, value in zip(*(columns[name] for name in names), strict=True):
        if client is None and step is None:
            yield {"round": at, "quantity": f"{quantity}[{layer}]" if layer else quantity, "value": value}


def _table(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row]:
    """A row per number of a table that is no training run's; one that names its quantities itself is left as it is."""
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


def _facts(kept: Kept) -> Iterator[Row]:
    for name, value in kept.card.get("facts", {}).items():
        yield {"quantity": name, "value": value}


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
