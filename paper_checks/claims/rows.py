"""Claims whose check is data: rows of a paper's ``claims.toml``, in a table for each module that takes them.

A row has the ``name``, ``words`` and ``place`` of a claim, further fields of it, and one of four checks:

- ``order``: rows ``smaller < larger`` of reported numbers, judged by ``Ordered``. ``wrong`` are those audited as being
  in reverse, ``significant`` asks for more than noise; the deviations are of ``runs`` runs, if the file says so.
  ``order.NAME`` is one of several orders, ``wrong.NAME`` what is wrong with it; it may have numbers of its own.
- ``prints``: rows ``LABEL: PRINTED = EXPRESSION``, judged by ``Prints``: what is printed beside what it should be by
  other reported numbers, which stand in [brackets]; ``slack`` is what noise allows, by label. ``wrong`` are labels.
- ``reason``: why no machine decides the sentence.
- ``search``: the bound that a search over instances is not to break, judged by ``Dominates``.

``{images}`` in an order or a print stands for every entry of that list among the ``sets`` of the file. ``repair`` has
its own words and check.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import sympy as sp

from ..reported import Reported
from .checkers import Dominates, Open, Ordered, Prints, rational
from .checkers.tables import Cell, mean
from .claim import Checks, Claim, ClaimError, Defect, Kind, Repair, Status

CELL = re.compile(r"\[([^]]+)\]")


Cells = Mapping[str, Cell]


def rows(
    paper: str, table: str, cells: Cells | None = None, parts: Mapping[str, Cells] | None = None
) -> tuple[Claim, ...]:
    """The claims in one table of a paper's file.

    ``cells`` are the reported numbers that orders and prints name; ``parts`` those of one of several orders.
    """
    with (Path(__file__).parent / paper / "claims.toml").open("rb") as file:
        found = tomllib.load(file)
    return tuple(_claim(paper, row, found, cells or {}, parts or {}) for row in found[table])


def _claim(
    paper: str, row: Mapping[str, Any], file: Mapping[str, Any], cells: Cells, parts: Mapping[str, Cells]
) -> Claim:
    more = dict(row)
    name, words, place, kind = (more.pop(key) for key in ("name", "words", "place", "kind"))
    passage = Kind(kind).at(place, more.pop("version", ""))
    check = _check(f"claim {paper}.{name}", more, file, cells, parts)
    if isinstance(check, Open):
        more["known"] = Status.OPEN
    for key, kind_of in (("known", Status), ("defect", Defect)):
        if key in more:
            more[key] = kind_of(more[key])
    if "repair" in more:
        fixed = dict(more["repair"])
        mended = _check(f"the repair of {paper}.{name}", fixed, file, cells, parts)
        more["repair"] = Repair(checks=mended, **fixed)
    return Claim(f"{paper}.{name}", words, passage, check, **more)


def _check(what: str, row: dict[str, Any], file: Mapping[str, Any], cells: Cells, parts: Mapping[str, Cells]) -> Checks:
    """The check of a row, whose fields are taken out of it."""
    sets = file.get("sets", {})
    if "order" in row:
        orders, wrong, significant = row.pop("order"), row.pop("wrong", ()), row.pop("significant", False)
        several = isinstance(orders, dict)
        found = {
            part: Ordered(
                parts.get(part, cells),
                _pairs(pairs, sets),
                _pairs(wrong.get(part, ()) if isinstance(wrong, dict) else wrong, sets),
                file.get("runs"),
                significant,
            )
            for part, pairs in (orders.items() if several else [("", orders)])
        }
        return found if several else found[""]
    if "prints" in row:
        texts = [line.partition(": ") for line in _expanded(row.pop("prints"), sets)]
        sides = {label: [_number(side, cells) for side in text.split(" = ")] for label, _, text in texts}
        printed = {label: left for label, (left, _) in sides.items()}
        wanted = {label: rational(sp.sympify(right, rational=True)) for label, (_, right) in sides.items()}
        return Prints(printed, wanted, row.pop("slack", 0), tuple(row.pop("wrong", ())))
    if "reason" in row:
        return Open(row.pop("reason"))
    if "search" in row:
        return Dominates(row.pop("search"))
    raise ClaimError(f"{what}: a row needs one of order, prints, reason, search")


def _number(side: str, cells: Cells) -> str:
    """One side of a print with the reported numbers in the place of their names."""

    def value(found: re.Match[str]) -> str:
        cell = cells[found[1]]
        if found[0] == side:
            return cell.value if isinstance(cell, Reported) else str(cell)
        return f"({mean(cell).value})"

    return CELL.sub(value, side)


def _pairs(patterns: Iterable[str], sets: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Rows ``smaller < larger``; a chain, ``small < middle < large``, stands for one row per ``<``."""
    chains = (line.split(" < ") for line in _expanded(patterns, sets))
    return tuple(f"{small} < {large}" for keys in chains for small, large in pairwise(keys))


def _expanded(patterns: Iterable[str], sets: Mapping[str, list[str]]) -> list[str]:
    found = []
    for pattern in patterns:
        names = dict.fromkeys(re.findall(r"{(\w+)}", pattern))
        found += [
            pattern.format(**dict(zip(names, values, strict=True))) for values in product(*(sets[n] for n in names))
        ]
    return found
