"""``Tabular``: HTML, CSV, JSON and data frames for every table of results, and tables for LaTeX."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any

from .files import whole
from .notebook import card
from .tables import plain, to_json


class Tabular:
    """Base class of tables; subclasses implement ``records()``."""

    def records(self) -> list[dict[str, Any]]:
        """Return the rows as dicts of a number, text or None by column; all rows have the same columns."""
        raise NotImplementedError

    def as_json(self) -> Any:
        """Return what ``to_json`` writes: NaN is null, infinity is ``"inf"``."""
        return plain(self.records())

    def to_json(self) -> str:
        """Return the table as JSON text."""
        return to_json(self.as_json())

    def to_pandas(self) -> Any:
        """Return a data frame of the records; needs pandas."""
        return import_module("pandas").DataFrame(self.records())

    def to_csv(self, path: Path | str) -> Path:
        """Write the records as a CSV file with full precision; None is an empty cell."""
        return write_csv(self.records(), Path(path))

    def _repr_html_(self) -> str:
        return card(*html_table(self.records()))


def write_csv(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Write rows of the same columns as a CSV file."""
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(rows[0] if rows else ())
        out.writerows([_cell(cell) for cell in row.values()] for row in rows)
    return path


def _cell(value: Any) -> Any:
    """Return a value for a CSV file, floats with full precision."""
    return "" if value is None else repr(value) if isinstance(value, float) else value


def html_table(rows: Iterable[Mapping[str, Any]], most: int = 30) -> Iterator[str]:
    """Yield the first ``most`` rows as HTML, and the number of rows if there are more."""
    every = list(rows)
    yield "<table>"
    for number, row in enumerate(every[:most]):
        if not number:
            yield f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in row)}</tr>"
        yield f"<tr>{''.join(f'<td>{escape(_shown(value))}</td>' for value in row.values())}</tr>"
    yield "</table>"
    if len(every) > most:
        yield f"<p>{most} of {len(every)} rows</p>"


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


# ---- LaTeX ----

NUMBER = re.compile(r"(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?")


def booktabs(head: Sequence[str], body: Sequence[Sequence[str]], columns: str) -> list[str]:
    """Return the lines of a ``tabular`` of plain text; ``columns`` are the letters of their alignment."""
    from .printing import escaped  # imports SymPy

    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        f"  {' & '.join(map(escaped, head))} \\\\",
        r"  \midrule",
        *(f"  {' & '.join(_latex_number(cell) or escaped(cell) for cell in row)} \\\\" for row in body),
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def _latex_number(words: str) -> str:
    """Return a number with a proper minus and power of ten; empty for other text, which needs neither."""
    number = NUMBER.fullmatch(words)
    if number is None or not (number[1] or number[3]):
        return ""
    power = rf" \times 10^{{{int(number[3])}}}" if number[3] else ""
    return f"${number[1]}{number[2]}{power}$"
