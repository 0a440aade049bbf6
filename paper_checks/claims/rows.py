"""Claims whose check is data: rows of a paper's ``claims.toml``, each in the table of its section.

A row, ``[SECTION.NAME]``, has the ``words`` of a claim, its place under the key of its kind (``theorem = "Lemma 1"``,
``proof`` of a step of one), further fields of it, and one of six checks:

- ``check``: a statement on formulas, or several by label, ``check.LABEL`` (see ``check_texts``). ``wrong`` are the
  labels of those that are audited as failing.
- ``order``: rows ``smaller < larger`` of reported numbers, judged by ``Ordered``. ``wrong`` are those audited as being
  in reverse, ``significant`` asks for more than noise; the deviations are of ``runs`` runs, if the file says so.
  ``order.NAME`` is one of several orders, ``wrong.NAME`` what is wrong with it.
- ``prints``: rows ``LABEL: PRINTED = EXPRESSION``, judged by ``Prints``: what is printed beside what it should be by
  other reported numbers, which stand in [brackets]; ``slack`` is what noise allows, by label. ``wrong`` are labels.
- ``reason``: why no machine decides the sentence.
- ``search``: the bound that a search over instances is not to break, judged by ``Dominates``.
- ``least``: by bound the audited smallest ratio to its exact worst case; each is a claim of ours, ``BOUND.worst_case``.

The section's module, of its name, has what texts may name; its ``NUMBERS`` are the reported numbers by section, by
table of a section (``[SECTION.TABLE.NAME]``) and by ``order.NAME``. ``define`` gives names to formulas, for ``all``
sections or for one; ``versions`` are those of the texts that a section is about. ``{images}`` in an order or a print
stands for every entry of that list among the ``sets`` of the file. ``repair`` has its own words and check. A module
of ``families`` makes claims itself, its ``CLAIMS``, which come before the section's rows.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import isfunction
from itertools import pairwise, product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import sympy as sp

from bounds.catalog import BOUNDS
from bounds.errors import message_of

from ..reported import Reported
from .check_texts import Texts
from .checkers import AboveWorstCase, Dominates, Open, Ordered, Prints, rational
from .checkers.tables import Cell, mean
from .claim import Checks, Claim, ClaimError, Defect, Kind, Repair, Status

CELL = re.compile(r"\[([^]]+)\]")
KINDS = {kind.partition(" ")[0]: kind for kind in Kind}
NO_SECTION = ("runs", "sets", "define", "versions", "families")
WORST_CASE = (
    "Over every federation of the class at the places of its table, not those a search visits: semidefinite "
    "programming, no noise, all clients taking part, L = 1, F* = 0, and 1 the loss, squared distance or squared "
    "gradient that the bound starts from. The bound could be smaller there by the ratio, and by at least the ratio "
    "where the worst case is an upper estimate."
)

Cells = Mapping[str, Cell]


class Row(NamedTuple):
    """Where a row stands, and its fields."""

    section: str
    table: str
    fields: Mapping[str, Any]


class Claims(Mapping[str, Claim]):
    """The claims of papers by name, in the order of the report; each is made when it is first asked for."""

    def __init__(self, *papers: str) -> None:
        self.papers = papers

    def __getitem__(self, name: str) -> Claim:
        paper = name.partition(".")[0]
        if paper not in self.papers:
            raise KeyError(name)
        return _claim(paper, name)

    def __contains__(self, name: object) -> bool:
        return any(name in _rows(paper) for paper in self.papers if str(name).startswith(f"{paper}."))

    def __iter__(self) -> Iterator[str]:
        return (name for paper in self.papers for name in _rows(paper))

    def __len__(self) -> int:
        return sum(len(_rows(paper)) for paper in self.papers)


def sections(paper: str) -> dict[str, list[str]]:
    """The names of a paper's claims by section, in the order of the file."""
    found: dict[str, list[str]] = {}
    for name, row in _rows(paper).items():
        found.setdefault(row.section, []).append(name)
    return found


def module(paper: str, section: str) -> ModuleType:
    """What a section has in Python; its docstring says what the section is about."""
    return import_module(f"{__package__}.{paper}.{section}")


@cache
def _file(paper: str) -> dict[str, Any]:
    with (Path(__file__).parent / paper / "claims.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _rows(paper: str) -> dict[str, Row]:
    file, found = _file(paper), dict[str, Row]()
    for section in (name for name in file if name not in NO_SECTION):
        if section in file.get("families", ()):
            found |= {claim.name: Row(section, section, {"claim": claim}) for claim in module(paper, section).CLAIMS}
        for row in _in_section(paper, section, section, file[section]):
            if next(iter(row)) in found:
                raise ClaimError(f"two claims are called {next(iter(row))!r}")
            found |= row
    return found


def _in_section(paper: str, section: str, table: str, entries: Mapping[str, Any]) -> Iterator[dict[str, Row]]:
    for name, fields in entries.items():
        if "least" in fields:
            for bound, ratio in fields["least"].items():
                of_bound = {"bound": f"{paper}.{bound}", "ratio": ratio, "note": fields.get("note", "")}
                yield {f"{paper}.{bound}.worst_case": Row(section, table, of_bound)}
        elif "words" in fields:
            yield {f"{paper}.{name}": Row(section, table, fields)}
        else:
            yield from _in_section(paper, section, name, fields)


@cache
def _texts(paper: str, section: str) -> Texts:
    define, home = _file(paper).get("define", {}), module(paper, section)
    own = {name: x for name, x in vars(home).items() if not isfunction(x) or x.__module__ == home.__name__}
    return Texts(paper, {**define.get("all", {}), **define.get(section, {})}, own)


@cache
def _claim(paper: str, name: str) -> Claim:
    row = _rows(paper)[name]
    try:
        return _made(paper, name, row)
    except (ClaimError, KeyError, ValueError, TypeError, NameError, AttributeError, SyntaxError) as error:
        words = str(error) if isinstance(error, ClaimError) else message_of(error)
        raise ClaimError(f"{paper}/claims.toml, {name}: {words}") from error


def _made(paper: str, name: str, row: Row) -> Claim:
    more = dict(row.fields)
    if "claim" in more:
        claim: Claim = more["claim"]
        return claim
    if "bound" in more:
        source, note = BOUNDS[more["bound"]].source, _line(f"{WORST_CASE} {more['note']}")
        words = f"{source.place} is above the worst case over its class at every place of its table."
        passage, judge = Kind.THEOREM.at(source.place, source.version), AboveWorstCase(more["bound"], more["ratio"])
        return Claim(name, words, passage, judge, note=note, ours=True)
    (kind,) = KINDS.keys() & more.keys()
    version = more.pop("version", _file(paper).get("versions", {}).get(row.section, ""))
    passage = KINDS[kind].at(more.pop(kind), version)
    if "about" in more:
        more["about"] = tuple(more["about"])
    more |= {key: _line(more[key]) for key in ("words", "note", "damaged") if key in more}
    check = _check(f"claim {name}", more, paper, row)
    if isinstance(check, Open):
        more["known"] = Status.OPEN
    for key, kind_of in (("known", Status), ("defect", Defect)):
        if key in more:
            more[key] = kind_of(more[key])
    if "repair" in more:
        fixed = dict(more["repair"])
        fixed["words"] = _line(fixed["words"])
        more["repair"] = Repair(checks=_check(f"the repair of {name}", fixed, paper, row), **fixed)
    return Claim(name, passage=passage, checks=check, **more)


def _line(text: str) -> str:
    """A text that is wrapped in the file, on one line."""
    return " ".join(text.split())


def _check(what: str, row: dict[str, Any], paper: str, stands: Row) -> Checks:
    """The check of a row, whose fields are taken out of it."""
    if "check" in row:
        return _texts(paper, stands.section).checked(row.pop("check"), row.pop("wrong", ()))
    if "reason" in row:
        return Open(_line(row.pop("reason")))
    if "search" in row:
        return Dominates(row.pop("search"))
    sets = _file(paper).get("sets", {})
    numbers: Mapping[str, Cells] = getattr(module(paper, stands.section), "NUMBERS", {})
    cells = numbers.get(stands.table, {})
    if "order" in row:
        orders, wrong, significant = row.pop("order"), row.pop("wrong", ()), row.pop("significant", False)
        several = isinstance(orders, dict)
        found = {
            part: Ordered(
                numbers.get(part, cells),
                _pairs(pairs, sets),
                _pairs(wrong.get(part, ()) if isinstance(wrong, dict) else wrong, sets),
                _file(paper).get("runs"),
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
    raise ClaimError(f"{what}: a row needs one of check, order, prints, reason, search, least")


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
