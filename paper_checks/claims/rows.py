"""Read claims from a paper's ``claims.toml``, where each claim is a row in the table of its section.

A row ``[SECTION.NAME]`` has the ``words`` of a claim, its place under a key that is its kind (``theorem = "Lemma 1"``,
or ``proof`` for a step of a proof), other fields of ``Claim``, and one of six checks:

- ``check``: a statement on formulas, or several by label, ``check.LABEL`` (see ``check_texts``). ``wrong`` lists the
  labels that are audited as failing.
- ``order``: rows ``smaller < larger`` of reported numbers, decided by ``Ordered``. ``wrong`` lists those audited as
  reversed; with ``significant`` each difference must exceed noise. Deviations are those of ``runs`` runs, if the file
  gives that number. ``order.NAME`` is one of several orders, ``wrong.NAME`` lists its wrong pairs.
- ``prints``: rows ``LABEL: PRINTED = EXPRESSION``, decided by ``Prints``: a printed number and what it should be
  according to other reported numbers, which stand in [brackets]. ``slack`` is the tolerance by label, for rounded
  inputs; ``wrong`` lists labels.
- ``meets``: a bound whose numeric conditions the published ``settings`` meet (by name, each the values by quantity),
  decided by ``Satisfies``; ``breaks`` lists the conditions that are audited as failing.
- ``reason``: why the machine cannot decide the sentence.
- ``least``: for each bound the audited smallest ratio to its exact worst case; each makes a claim of our own,
  ``BOUND.worst_case``.

A label may have an order, prints or settings too, ``check.LABEL.prints``. Texts may use the names of the Python module
that has the section's name. Reported numbers are named ``TABLE: ROW, COLUMN`` as in the paper's file in ``reported``;
the module's ``NUMBERS`` are further ones by section, by table of a section (``[SECTION.TABLE.NAME]``) and by
``order.NAME``. A ``repair`` has words and a check too.

Other top-level keys of the file: ``define`` names formulas, for ``all`` sections or for one; ``versions`` gives the
version of the paper by section; ``sets`` are lists: ``{images}`` in an order or a print stands for every entry of the
list ``images``; ``texts`` are parts of sentences: ``{same}`` in words or a note stands for the text ``same``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
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

from ..reported import by_place, Reported
from .check_texts import CheckParser
from .checkers import AboveWorstCase, All, Open, Ordered, Prints, rational, Satisfies
from .checkers.tables import Cell, mean
from .claim import Check, Claim, ClaimError, Defect, Kind, Repair, Status

CELL = re.compile(r"\[([^]]+)\]")
KINDS = {kind.partition(" ")[0]: kind for kind in Kind}
NO_SECTION = ("runs", "sets", "texts", "define", "versions")
"""Top-level keys of ``claims.toml`` that are not sections."""
WORST_CASE = (
    "The worst case over all federations of the class at the grid points of the bound's table, by semidefinite "
    "programming (a search would only visit some federations): no noise, full participation, L = 1, F* = 0, and the "
    "loss, squared distance or squared gradient that the bound starts from is 1. The bound could be smaller there by "
    "the ratio, or by at least the ratio if the worst case is an upper estimate."
)

Cells = Mapping[str, Cell]


class Row(NamedTuple):
    """The fields of a row, with its section and its table (the section, unless the section has tables)."""

    section: str
    table: str
    fields: Mapping[str, Any]


class Claims(Mapping[str, Claim]):
    """The claims of some papers by name, in the order of the report; each is made when it is first looked up."""

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
    """Return the names of a paper's claims by section, in the order of the file."""
    names: dict[str, list[str]] = {}
    for name, row in _rows(paper).items():
        names.setdefault(row.section, []).append(name)
    return names


def module(paper: str, section: str) -> ModuleType:
    """Return the Python module of a section; its docstring says what the section is about."""
    return import_module(f"{__package__}.{paper}.{section}")


@cache
def _file(paper: str) -> dict[str, Any]:
    with (Path(__file__).parent / paper / "claims.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def _rows(paper: str) -> dict[str, Row]:
    """Return the rows of a paper by the names of their claims, in the order of the file."""
    file, rows = _file(paper), dict[str, Row]()
    for section in (name for name in file if name not in NO_SECTION):
        for name, row in _in_section(paper, section, section, file[section]):
            if name in rows:
                raise ClaimError(f"two claims are called {name!r}")
            rows[name] = row
    return rows


def _in_section(paper: str, section: str, table: str, entries: Mapping[str, Any]) -> Iterator[tuple[str, Row]]:
    for name, fields in entries.items():
        if "least" in fields:
            for bound, ratio in fields["least"].items():
                of_bound = {"bound": f"{paper}.{bound}", "ratio": ratio, "note": fields.get("note", "")}
                yield f"{paper}.{bound}.worst_case", Row(section, table, of_bound)
        elif "words" in fields:
            yield f"{paper}.{name}", Row(section, table, fields)
        else:
            yield from _in_section(paper, section, name, fields)


@cache
def _parser(paper: str, section: str) -> CheckParser:
    define, home = _file(paper).get("define", {}), module(paper, section)
    # Without functions that the module imports: they are not checks, and their names may clash with the language's.
    own = {name: x for name, x in vars(home).items() if not isfunction(x) or x.__module__ == home.__name__}
    return CheckParser(paper, {**define.get("all", {}), **define.get(section, {})}, own)


@cache
def _claim(paper: str, name: str) -> Claim:
    row = _rows(paper)[name]
    try:
        return _claim_of_row(paper, name, row)
    except (ClaimError, KeyError, ValueError, TypeError, NameError, AttributeError, SyntaxError) as error:
        words = str(error) if isinstance(error, ClaimError) else message_of(error)
        raise ClaimError(f"{paper}/claims.toml, {name}: {words}") from error


def _claim_of_row(paper: str, name: str, row: Row) -> Claim:
    """Make the claim of a row."""
    fields = dict(row.fields)
    if "bound" in fields:
        return _worst_case(name, **fields)
    (kind,) = KINDS.keys() & fields.keys()
    version = fields.pop("version", _file(paper).get("versions", {}).get(row.section, ""))
    passage = KINDS[kind].at(fields.pop(kind), version)
    if "about" in fields:
        fields["about"] = tuple(fields["about"])
    fields |= {key: _line(fields[key], paper) for key in ("words", "note", "damaged") if key in fields}
    check = _check(f"claim {name}", fields, paper, row)
    if isinstance(check, Open):
        fields["audited"] = Status.OPEN
    for key, enum in (("audited", Status), ("defect", Defect)):
        if key in fields:
            fields[key] = enum(fields[key])
    if "repair" in fields:
        repair = dict(fields["repair"])
        repair["words"] = _line(repair["words"], paper)
        fields["repair"] = Repair(check=_check(f"the repair of {name}", repair, paper, row), **repair)
    return Claim(name, passage=passage, check=check, **fields)


def _worst_case(name: str, bound: str, ratio: float, note: str) -> Claim:
    """Make the claim of our own that a bound is above its worst cases."""
    source = BOUNDS[bound].source
    words = f"{source.place} is above the worst case over its class at every grid point of its table."
    passage = Kind.THEOREM.at(source.place, source.version)
    note = _line(f"{WORST_CASE} {note}", source.paper)
    return Claim(name, words, passage, AboveWorstCase(bound, ratio), note=note, ours=True)


def _line(text: str, paper: str) -> str:
    """Put the file's ``texts`` in place of their names in {braces}, and join the lines of a wrapped text."""
    for name, part in _file(paper).get("texts", {}).items():
        text = text.replace(f"{{{name}}}", part)
    return " ".join(text.split())


def _check(what: str, fields: dict[str, Any], paper: str, row: Row) -> Check:
    """Make the check of a row or of its repair, and remove the entries that it uses from ``fields``."""
    for entry, make in CHECKS.items():
        if entry in fields:
            return make(fields.pop(entry), fields, paper, row)
    raise ClaimError(f"{what}: a row needs one of {', '.join(CHECKS)}, least")


def _statement_check(check: Any, fields: dict[str, Any], paper: str, row: Row) -> Check:
    def with_tables(part: Any) -> Any:
        """Make the checks of printed numbers and settings that labels of the mapping state."""
        if not isinstance(part, Mapping):
            return part
        for entry, content, kind in (("order", "order", list), ("prints", "prints", list), ("meets", "settings", dict)):
            if isinstance(part.get(content), kind):  # a label may be called "order": its statement is a text
                rest = dict(part)
                made = CHECKS[entry](rest.pop(entry), rest, paper, row)
                if rest:
                    raise ClaimError(f"beside {entry} stands {', '.join(rest)}, which it does not take")
                return made
        return {label: with_tables(each) for label, each in part.items()}

    return _parser(paper, row.section).checks(with_tables(check), fields.pop("wrong", ()))


def _order_check(orders: Any, fields: dict[str, Any], paper: str, row: Row) -> Check:
    sets, runs, numbers = _file(paper).get("sets", {}), _file(paper).get("runs"), _numbers(paper, row)
    wrong, significant = fields.pop("wrong", ()), fields.pop("significant", False)

    def order(pairs: Iterable[str], wrong_pairs: Iterable[str], table: str) -> Ordered:
        cells = {**by_place(paper), **numbers.get(table, {})}
        return Ordered(cells, _pairs(pairs, sets), _pairs(wrong_pairs, sets), runs, significant)

    if not isinstance(orders, dict):
        return order(orders, wrong, row.table)
    wrong_of = wrong if isinstance(wrong, dict) else dict.fromkeys(orders, wrong)
    parts = orders.items()
    return All({p: order(pairs, wrong_of.get(p, ()), p if p in numbers else row.table) for p, pairs in parts})


def _print_check(lines: Iterable[str], fields: dict[str, Any], paper: str, row: Row) -> Check:
    cells = {**by_place(paper), **_numbers(paper, row).get(row.table, {})}
    printed, expected = {}, {}
    for line in _expanded(lines, _file(paper).get("sets", {})):
        label, _, text = " ".join(line.split()).partition(": ")
        printed[label], right = (_number(side, cells) for side in text.split(" = "))
        expected[label] = rational(sp.sympify(right, rational=True))
    return Prints(printed, expected, fields.pop("slack", 0), tuple(fields.pop("wrong", ())))


CHECKS: dict[str, Callable[[Any, dict[str, Any], str, Row], Check]] = {
    "check": _statement_check,
    "reason": lambda reason, fields, paper, _: Open(_line(reason, paper)),
    "order": _order_check,
    "prints": _print_check,
    "meets": lambda bound, fields, *_: Satisfies(bound, fields.pop("settings"), tuple(fields.pop("breaks", ()))),
}
"""For each entry that states the check of a row the function that makes the check."""


def _numbers(paper: str, row: Row) -> Mapping[str, Cells]:
    """Return the reported numbers of the row's section, by table."""
    numbers: Mapping[str, Cells] = getattr(module(paper, row.section), "NUMBERS", {})
    return numbers


def _number(side: str, cells: Cells) -> str:
    """Replace the names in brackets on one side of a print by the reported numbers."""

    def value(match: re.Match[str]) -> str:
        cell = cells[match[1]]
        if match[0] == side:
            return cell.value if isinstance(cell, Reported) else str(cell)
        return f"({mean(cell).value})"

    return CELL.sub(value, side)


def _pairs(patterns: Iterable[str], sets: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return rows ``smaller < larger``; a chain ``small < middle < large`` stands for one row per ``<``."""
    chains = (line.split(" < ") for line in _expanded(patterns, sets))
    return tuple(f"{small} < {large}" for keys in chains for small, large in pairwise(keys))


def _expanded(patterns: Iterable[str], sets: Mapping[str, list[str]]) -> list[str]:
    """Repeat each pattern for every combination of entries of the sets that it names in {braces}."""
    texts = []
    for pattern in patterns:
        names = dict.fromkeys(re.findall(r"{(\w+)}", pattern))
        for values in product(*(sets[name] for name in names)):
            texts.append(pattern.format(**dict(zip(names, values, strict=True))))
    return texts
