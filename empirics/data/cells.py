"""The one door for tables of users: a CSV file or a pandas DataFrame becomes columns of text, with the same rules.

A number is a plain decimal number that a float can hold. A label (a class, a site) is text or a number: ``1``, ``1.0``,
``01`` and ``+1`` are one label, and integers of any length stay exact. Markers of missing values, and text that
is written like a number in another notation, are refused with line, column and value.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from bounds.errors import shortened
from bounds.showing.files import content, MOST_BYTES
from bounds.showing.numbers import DECIMAL, decimal, is_zero

from ..errors import EmpiricsError
from ..numbers import must

MISSING = frozenset(
    ("", "na", "n/a", "n.a.", "#na", "#n/a", "#n/a n/a", "<na>", "nat", "null", "(null)", "none", "nil", "missing", "?",
     ".", r"\n", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "1.#inf", "-1.#inf", "#div/0!", "#value!", "#ref!",
     "#name?", "#num!", "#null!")
)  # fmt: skip
"""What pandas, databases and spreadsheets write where a value is missing, in lower case; so do dashes alone. ``nan`` is
written like a number."""
DASHES = re.compile("[-\u2013\u2014]+")
APART = re.compile(r"[,;' \u00a0\u202f]")
"""What separates thousands or decimals where the decimal point does not."""
NOTATION = "separate columns by commas, and write decimal numbers such as 0.5, not 0,5 or 1,000"
TRUTHS = ("False", "True")
csv.field_size_limit(MOST_BYTES)  # a cell may be as long as a file


@dataclass(frozen=True)
class Cells:
    """Columns of text without blanks around it; ``row(i)`` says in a message which row it is, counted from 0."""

    who: str
    columns: Mapping[str, list[str]]
    row: Callable[[int], str]

    def numbers(self, name: str, instead: str = "") -> np.ndarray:
        """A column of numbers; a column of ``True`` and ``False`` counts as 1 and 0.

        ``instead`` says what else could be done about a cell that is refused.

        Raises:
            EmpiricsError: where a cell is missing or not a plain number: which, in which line, and what to do.
        """
        if set(self.columns[name]) <= set(TRUTHS):
            return np.array([cell == TRUTHS[1] for cell in self.columns[name]], dtype=float)
        found = self.plain(name)
        if (wrong := np.isnan(found)).any():
            self._refuse(name, "numbers", wrong, instead)
        return found

    def labels(self, name: str) -> tuple[np.ndarray, list[str]]:
        """The label of every row as a number into the distinct labels, which come in the order of their first row.

        Raises:
            EmpiricsError: where a cell is missing, or written like a number that it is not.
        """
        cells, known = self.columns[name], dict[str, int]()
        place = dict.fromkeys(cells, 0)
        for text in place:
            if _missing(text) or (_like_a_number(text) and np.isnan(_number(text))):
                self._refuse(name, "numbers or text", np.array([cell == text for cell in cells]))
            place[text] = known.setdefault(label(text), len(known))
        return np.array([place[text] for text in cells], dtype=np.int64), list(known)

    def plain(self, name: str) -> np.ndarray:
        """A column as floats; NaN where a cell is not a plain decimal number in the range of floats."""
        return np.array([_number(cell) for cell in self.columns[name]])

    def cell(self, name: str, row: int) -> str:
        return self.columns[name][row]

    def _refuse(self, name: str, kind: str, wrong: np.ndarray, instead: str = "") -> NoReturn:
        """The error for the first of the cells that are not of their kind, and what to do about it."""
        row, more = int(wrong.argmax()), int(wrong.sum()) - 1
        text = self.cell(name, row)
        others = f" ({more} further rows too)" if more else ""
        what = NOTATION if _like_a_number(text) else "code text as numbers"
        if _missing(text) or text.lower().strip("+-") == "nan":
            what = "fill in a missing value, or delete its row"
        said = f"{self.who}: {name} must hold {kind}; {self.row(row)} has {shortened(text)!r}{others}"
        raise EmpiricsError(f"{said}: {what}{instead}")


# ---- numbers and labels ----


def label(text: str) -> str:
    """A label in its one spelling: a number without sign, zeros and exponent that it does not need."""
    if not DECIMAL.fullmatch(text):
        return text
    if is_zero(text):
        return "0"  # whatever its exponent, which may be as long as memory lasts
    digits = format(Decimal(text), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _number(text: str) -> float:
    """The plain number that is written; NaN where there is none, or a float cannot hold it."""
    try:
        found = decimal(text)
    except ValueError:
        return np.nan
    return np.nan if found is None else found


def _missing(text: str) -> bool:
    return text.lower() in MISSING or DASHES.fullmatch(text) is not None


def _like_a_number(text: str) -> bool:
    """Whether a text is a number in some notation: Python reads ``nan``, ``1_0`` and digits of other scripts too."""
    try:
        float(APART.sub("", text))
    except ValueError:
        return False
    return True


# ---- files and frames ----


def from_csv(path: Path) -> Cells:
    """The columns of a CSV file with a header.

    Raises:
        EmpiricsError: where it is not a table of UTF-8 text, or another character than the comma separates columns.
    """
    return _read(str(path), content(path))


def from_pandas(who: str, frame: Any) -> Cells:
    """The columns of a DataFrame as the CSV file that it would be saved as, its index left out."""
    return _read(who, frame.to_csv(index=False).encode(), lambda row: f"row {frame.index[row]!r}")


def _read(who: str, data: bytes, row: Callable[[int], str] | None = None) -> Cells:
    """The columns below the header; blank lines are not rows."""
    lines, table, last = [], [], 0
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        for cells in reader:
            if cells:
                lines.append(last + 1)
                table.append(cells)
            last = reader.line_num
    except (UnicodeDecodeError, csv.Error) as error:
        raise EmpiricsError(f"{who} must be a CSV file in UTF-8: {error}") from None
    head = table[0] if table else []
    if len(head) == 1 and (other := re.search(r"[;\t| ]", head[0].strip())):
        raise EmpiricsError(f"{who}: the columns seem to be separated by {other[0]!r}; {NOTATION}")
    rule = "a CSV file with a line of names and one for every sample"
    must(len(table) > 1, who, rule, f"{max(0, len(table) - 1)} samples")
    for line, cells in zip(lines, table, strict=True):
        if len(cells) != len(head):
            said = f"line {line} has {len(cells)} cells, the names above are {len(head)}"
            raise EmpiricsError(f"{who}: {said}; {NOTATION}")
    names = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(head)]  # as pandas calls them
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise EmpiricsError(f"{who}: two columns are named {twice[0]!r}: rename one")
    columns = {name: [cell.strip() for cell in cells] for name, *cells in zip(names, *table[1:], strict=True)}
    return Cells(who, columns, row or (lambda place: f"line {lines[place + 1]}"))
