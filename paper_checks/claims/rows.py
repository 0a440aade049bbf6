"""Claims whose check is data: rows of a paper's ``claims.toml``, in a table for each module that takes them.

A row has the ``name``, ``words`` and ``place`` of a claim, further fields of it, and one of three checks:

- ``order``: rows ``smaller < larger`` of reported numbers, judged by ``Ordered``; ``{images}`` stands for every entry
  of that list among the ``sets`` of the file. ``wrong`` are those audited as being in reverse, ``significant`` asks for
  more than noise; the deviations are of ``runs`` runs, if the file says so. ``order.NAME`` is one of several orders.
- ``reason``: why no machine decides the sentence.
- ``search``: the bound that a search over instances is not to break, judged by ``Dominates``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .checkers import Dominates, each, Open, Ordered
from .checkers.tables import Cell
from .claim import Checks, Claim, ClaimError, Defect, Kind, Status


def rows(paper: str, table: str, cells: Mapping[str, Cell] | None = None) -> tuple[Claim, ...]:
    """The claims in one table of a paper's file; ``cells`` are the reported numbers that orders speak of."""
    with (Path(__file__).parent / paper / "claims.toml").open("rb") as file:
        found = tomllib.load(file)
    return tuple(_claim(paper, row, found, cells or {}) for row in found[table])


def _claim(paper: str, row: dict[str, Any], file: Mapping[str, Any], cells: Mapping[str, Cell]) -> Claim:
    more = dict(row)
    name, words, place, kind = (more.pop(key) for key in ("name", "words", "place", "kind"))
    passage = Kind(kind).at(place, more.pop("version", ""))
    check: Checks
    if "order" in row:
        orders, wrong, significant = more.pop("order"), more.pop("wrong", ()), more.pop("significant", False)
        sets, runs = file.get("sets", {}), file.get("runs")
        found = {
            part: Ordered(cells, _expanded(pairs, sets), _expanded(wrong, sets), runs, significant)
            for part, pairs in (orders.items() if isinstance(orders, dict) else [("", orders)])
        }
        check = found if isinstance(orders, dict) else found[""]
    elif "reason" in row:
        check, more["known"] = Open(more.pop("reason")), Status.OPEN
    elif "search" in row:
        check = Dominates(more.pop("search"))
    else:
        raise ClaimError(f"claim {paper}.{name}: a row needs one of order, reason, search")
    for key, kind_of in (("known", Status), ("defect", Defect)):
        if key in more:
            more[key] = kind_of(more[key])
    return Claim(f"{paper}.{name}", words, passage, check, **more)


def _expanded(patterns: Iterable[str], sets: Mapping[str, list[str]]) -> tuple[str, ...]:
    found: list[str] = []
    for pattern in patterns:
        names = dict.fromkeys(re.findall(r"{(\w+)}", pattern))
        found += each(pattern, **{name: sets[name] for name in names})
    return tuple(found)
