"""Tables of results: aligned text with numbers of six digits, strict JSON, HTML, CSV, data frames and LaTeX."""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import Any

from .files import whole

NUMBER = re.compile(r"(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?")


def number(value: float, digits: int = 6) -> str:
    """Format a number with ``digits`` significant digits, integers without a point."""
    return f"{value:.{digits}g}"


def aligned(rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3) -> list[str]:
    """Return lines with aligned columns; the last column is not padded."""
    return list(streamed(rows, head, gap, sys.maxsize))


def streamed(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3, together: int = 10_000
) -> Iterator[str]:
    """Yield aligned lines, ``together`` rows at a time, so that a long table starts early; it may widen later."""
    left = chain([head] if head else [], rows)
    widths: list[int] = []
    while table := list(islice(left, together)):
        longest = [max(cells(row[i]) for row in table) for i in range(len(table[0]))]
        widths = list(map(max, longest, widths or longest))
        for row in table:
            yield (" " * gap).join(cell + " " * (w - cells(cell)) for cell, w in zip(row, widths, strict=True)).rstrip()


def cells(text: str) -> int:
    """Return the width of a text in terminal columns; combining characters have none."""
    return len(text) if text.isascii() else sum(not unicodedata.combining(sign) for sign in text)


def to_json(item: Any) -> str:
    """Return indented JSON in which NaN is null; characters that cannot be encoded are escaped."""
    import json

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return json.dumps(plain(item), indent=2, allow_nan=False, ensure_ascii=not encoding.lower().startswith("utf"))


def plain(value: Any) -> Any:
    """Convert to lists and numbers for JSON: NaN is null, infinities are "inf" and "-inf"."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # a NumPy array or scalar; NumPy need not be imported
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value


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
        from .notebook import card  # notebooks alone need it

        return card(*html_table(self.records()))


def write_csv(rows: Sequence[Mapping[str, Any]], path: Path, end: str = "\r\n") -> Path:
    """Write rows of the same columns as a CSV file whose lines have this ``end``."""
    import csv

    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator=end)
        out.writerow(rows[0] if rows else ())
        out.writerows([_cell(cell) for cell in row.values()] for row in rows)
    return path


def _cell(value: Any) -> Any:
    """Return a value for a CSV file, floats with full precision."""
    return "" if value is None else repr(value) if isinstance(value, float) else value


def html_table(rows: Iterable[Mapping[str, Any]], most: int = 30) -> Iterator[str]:
    """Yield the first ``most`` rows as HTML, and the number of rows if there are more."""
    from html import escape

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
