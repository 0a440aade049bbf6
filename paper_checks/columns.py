"""Tables that declare their rows and columns once and are shown as text, LaTeX and HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

from bounds.showing.notebook import card
from bounds.showing.tables import aligned, booktabs, html_table, number, Tabular

FEW = 3
"""Significant digits of a number in a table."""
Columns = Mapping[str, Callable[[Any], str]]


class ColumnTable(Tabular):
    """Lines ``before`` a table, the table with the ``columns`` of the ``shown`` rows, and lines ``after`` it."""

    gap = 2
    """Spaces between two columns of text."""

    def columns(self) -> Columns:
        """By heading: the function that gives the text of a row in this column."""
        raise NotImplementedError

    def shown(self) -> Sequence[Any]:
        """The rows of the printed table."""
        raise NotImplementedError

    def before(self) -> Iterator[str]:
        yield from ()

    def after(self) -> Iterator[str]:
        yield from ()

    def cells(self) -> list[list[str]]:
        columns = self.columns()
        return [[cell(row) for cell in columns.values()] for row in self.shown()]

    def table(self) -> Iterator[str]:
        """The table as aligned lines."""
        if body := self.cells():
            yield from aligned(body, list(self.columns()), gap=self.gap)

    def lines(self) -> Iterator[str]:
        yield from self.before()
        yield from self.table()
        yield from self.after()

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def to_latex(self) -> str:
        """The table as a ``tabular`` for booktabs."""
        head = list(self.columns())
        return "\n".join(booktabs(head, self.cells(), "l" * len(head))) + "\n"

    def _repr_html_(self) -> str:
        first, last = ("<br>".join(map(escape, part)) for part in (self.before(), self.after()))
        rows = [dict(zip(self.columns(), cells, strict=True)) for cells in self.cells()]
        return card(f"<p>{first}</p>", *html_table(rows, len(rows)), f"<p>{last}</p>")


def digits3(value: float) -> str:
    """A number with three digits, with an exponent if it is large or small; a dash for NaN."""
    if math.isnan(value):
        return "-"
    short = number(value, FEW)
    return f"{value:.{FEW - 1}e}" if "e" in short else short


def section(title: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    """A title and one line per reason with the names that have it; nothing without pairs."""
    by_reason: dict[str, dict[str, None]] = {}
    for name, why in pairs:
        by_reason.setdefault(why, {})[name] = None
    if by_reason:
        yield title
        yield from (f"  {abridged(names)}{f': {why}' if why else ''}" for why, names in by_reason.items())


def abridged(names: Iterable[str]) -> str:
    """Names joined by commas, the paper only once: ``fedcog.theorem, corollary``."""
    parts = []
    for paper, group in groupby(names, key=lambda name: name.partition(".")[0]):
        first, *others = group
        parts.append(", ".join([first, *(name.removeprefix(f"{paper}.") for name in others)]))
    return ", ".join(parts)


def with_aliases(name: str, aliases: Iterable[str]) -> str:
    """A name with those of bounds that give the same: ``decaying_k.per_rounds = per_second``."""
    others = ", ".join(alias.partition(".")[2] or alias for alias in aliases)
    return f"{name} = {others}" if others else name
