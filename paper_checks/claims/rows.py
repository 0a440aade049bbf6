"""Claims whose check is data: rows of a paper's ``claims.toml``, in a table for each module that takes them.

A row has the ``name``, ``words`` and ``place`` of a claim, further fields of it, and one of five checks:

- ``check``: a statement on formulas, or several by label, ``check.LABEL`` (see ``check_texts``). ``wrong`` are the
  labels of those that are audited as failing.
- ``order``: rows ``smaller < larger`` of reported numbers, judged by ``Ordered``. ``wrong`` are those audited as being
  in reverse, ``significant`` asks for more than noise; the deviations are of ``runs`` runs, if the file says so.
  ``order.NAME`` is one of several orders, ``wrong.NAME`` what is wrong with it; it may have numbers of its own.
- ``prints``: rows ``LABEL: PRINTED = EXPRESSION``, judged by ``Prints``: what is printed beside what it should be by
  other reported numbers, which stand in [brackets]; ``slack`` is what noise allows, by label. ``wrong`` are labels.
- ``reason``: why no machine decides the sentence.
- ``search``: the bound that a search over instances is not to break, judged by ``Dominates``.

``define`` gives names to formulas that texts use, for ``all`` tables or for one; ``versions`` are those of the texts
that a table's rows are about. ``{images}`` in an order or a print stands for every entry of that list among the
``sets`` of the file. ``repair`` has its own words and check.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from inspect import isfunction
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType
from typing import Any

import sympy as sp

from bounds.errors import said

from ..reported import Reported
from .check_texts import Texts
from .checkers import Dominates, Open, Ordered, Prints, rational
from .checkers.tables import Cell, mean
from .claim import Checks, Claim, ClaimError, Defect, Kind, Repair, Status

CELL = re.compile(r"\[([^]]+)\]")


Cells = Mapping[str, Cell]


def rows(
    paper: str,
    table: str,
    cells: Cells | None = None,
    parts: Mapping[str, Cells] | None = None,
    names: Mapping[str, Any] | None = None,
) -> tuple[Claim, ...]:
    """The claims in one table of a paper's file.

    ``cells`` are the reported numbers that orders and prints name; ``parts`` those of one of several orders; ``names``
    are checks and formulas in Python that texts name.
    """
    found = _file(paper)
    if table not in found:
        raise ClaimError(f"{paper}/claims.toml has no table [[{table}]]")
    define = found.get("define", {})
    texts = Texts(paper, {**define.get("all", {}), **define.get(table, {})}, names or {})
    version = found.get("versions", {}).get(table, "")
    taken = ({"version": version, **row} for row in found[table])
    made = []
    for row in taken:
        try:
            made.append(_claim(paper, row, found, texts, cells or {}, parts or {}))
        except (ClaimError, KeyError, ValueError, TypeError, NameError, AttributeError, SyntaxError) as error:
            words = str(error) if isinstance(error, ClaimError) else said(error)
            raise ClaimError(f"{paper}/claims.toml, {row.get('name', 'a row without a name')}: {words}") from error
    return tuple(made)


def section(
    module: str, *more: ModuleType, cells: Cells | None = None, parts: Mapping[str, Cells] | None = None
) -> tuple[Claim, ...]:
    """The claims in the table of a module's name, whose texts may name what the module defines, and ``more`` do."""
    paper, table = module.split(".")[-2:]
    named = ((each, item) for each in (*more, sys.modules[module]) for item in vars(each).items())
    own = {name: x for each, (name, x) in named if not isfunction(x) or x.__module__ == each.__name__}
    return rows(paper, table, cells, parts, own)


@cache
def _file(paper: str) -> dict[str, Any]:
    with (Path(__file__).parent / paper / "claims.toml").open("rb") as file:
        return tomllib.load(file)


def _claim(
    paper: str, row: Mapping[str, Any], file: Mapping[str, Any], texts: Texts, cells: Cells, parts: Mapping[str, Cells]
) -> Claim:
    more = dict(row)
    name, words, place, kind = (more.pop(key) for key in ("name", "words", "place", "kind"))
    passage = Kind(kind).at(place, more.pop("version"))
    if "about" in more:
        more["about"] = tuple(more["about"])
    more |= {key: _line(more[key]) for key in ("note", "damaged") if key in more}
    check = _check(f"claim {paper}.{name}", more, file, texts, cells, parts)
    if isinstance(check, Open):
        more["known"] = Status.OPEN
    for key, kind_of in (("known", Status), ("defect", Defect)):
        if key in more:
            more[key] = kind_of(more[key])
    if "repair" in more:
        fixed = dict(more["repair"])
        fixed["words"] = _line(fixed["words"])
        mended = _check(f"the repair of {paper}.{name}", fixed, file, texts, cells, parts)
        more["repair"] = Repair(checks=mended, **fixed)
    return Claim(f"{paper}.{name}", _line(words), passage, check, **more)


def _line(text: str) -> str:
    """A text that is wrapped in the file, on one line."""
    return " ".join(text.split())


def _check(
    what: str, row: dict[str, Any], file: Mapping[str, Any], texts: Texts, cells: Cells, parts: Mapping[str, Cells]
) -> Checks:
    """The check of a row, whose fields are taken out of it."""
    sets = file.get("sets", {})
    if "check" in row:
        return texts.checked(row.pop("check"), row.pop("wrong", ()))
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
        lines = [line.partition(": ") for line in _expanded(row.pop("prints"), sets)]
        sides = {label: [_number(side, cells) for side in text.split(" = ")] for label, _, text in lines}
        printed = {label: left for label, (left, _) in sides.items()}
        wanted = {label: rational(sp.sympify(right, rational=True)) for label, (_, right) in sides.items()}
        return Prints(printed, wanted, row.pop("slack", 0), tuple(row.pop("wrong", ())))
    if "reason" in row:
        return Open(_line(row.pop("reason")))
    if "search" in row:
        return Dominates(row.pop("search"))
    raise ClaimError(f"{what}: a row needs one of check, order, prints, reason, search")


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
