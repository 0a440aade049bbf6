"""The one door for tables of users: a CSV file or a pandas DataFrame becomes columns of text, with the same rules.

A number is a plain decimal number that a float can hold. A label (a class, a site) is text or a number: ``1``, ``1.0``,
``01`` and ``+1`` are one label, and integers of any length stay exact. Markers of missing values, and text that
is written like a number in another notation, are refused with line, column and value.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

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
csv.field_size_limit(MOST_BYTES)  # a cell may be as long as a file: Arrow has no other limit


@dataclass(frozen=True)
class Cells:
    """Columns of text without blanks around it; ``row(i)`` says in a message which row it is, counted from 1."""

    who: str
    columns: Mapping[str, pa.StringArray]
    row: Callable[[int], str]

    def numbers(self, name: str, instead: str = "") -> np.ndarray:
        """A column of numbers; a column of ``True`` and ``False`` counts as 1 and 0.

        ``instead`` says what else could be done about a cell that is refused.

        Raises:
            EmpiricsError: where a cell is missing or not a plain number: which, in which line, and what to do.
        """
        cells = self.columns[name]
        if pc.all(pc.is_in(cells, pa.array(TRUTHS))).as_py():
            return np.asarray(pc.equal(cells, TRUTHS[1])).astype(float)
        found = self.plain(name)
        if len(wrong := np.flatnonzero(np.isnan(found))):
            self._refuse(name, "numbers", int(wrong[0]), len(wrong) - 1, instead)
        return found

    def labels(self, name: str) -> tuple[np.ndarray, list[str]]:
        """The label of every row as a number into the distinct labels, which come in the order of their first row.

        Raises:
            EmpiricsError: where a cell is missing, or written like a number that it is not.
        """
        coded = self.columns[name].dictionary_encode()
        codes = np.asarray(coded.indices)
        texts = coded.dictionary.to_pylist()
        known: dict[str, int] = {}
        place = np.empty(len(texts), dtype=np.int64)
        for code, text in enumerate(texts):
            if _no_label(text):
                self._refuse(name, "numbers or text", int(np.argmax(codes == code)), int((codes == code).sum()) - 1)
            place[code] = known.setdefault(label(text), len(known))
        return place[codes], list(known)

    def plain(self, name: str) -> np.ndarray:
        """A column as floats; NaN where a cell is not a plain decimal number in the range of floats."""
        cells = self.columns[name]
        plain = np.asarray(pc.match_substring_regex(cells, f"^(?:{DECIMAL.pattern})$", ignore_case=True))
        found = np.full(len(cells), np.nan)
        found[plain] = cells.filter(pa.array(plain)).to_numpy(zero_copy_only=False).astype(float)
        nonzero = np.asarray(pc.match_substring_regex(cells, "^[^eE]*[1-9]"))
        found[np.isinf(found) | ((found == 0) & nonzero)] = np.nan
        return found

    def refuse_mixture(self, name: str, how: str) -> NoReturn:
        """Refuse a column in which some cells are numbers and some are text; ``how`` says what to do."""
        is_number = np.isfinite(self.plain(name))
        rows = int(np.argmin(is_number)), int(np.argmax(is_number))
        found = ", ".join(f"{self.row(row)} has {shortened(self.cell(name, row))!r}" for row in rows)
        raise EmpiricsError(f"{self.who}: {name} must hold numbers or text, not both; {found}: {how}")

    def cell(self, name: str, row: int) -> str:
        return str(self.columns[name][row].as_py())

    def _refuse(self, name: str, kind: str, row: int, more: int, instead: str = "") -> NoReturn:
        """The error for a cell that is not of its kind, and what to do about it."""
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


def _missing(text: str) -> bool:
    return text.lower() in MISSING or DASHES.fullmatch(text) is not None


def _no_label(text: str) -> bool:
    """Whether a text marks a missing value, or is written like a number and is not a plain one."""
    if _missing(text):
        return True
    try:
        if decimal(text) is not None:
            return False
    except ValueError:  # no float is so large or so small
        return True
    return _like_a_number(text)


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
    """The columns below the header as text, read by Arrow."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise EmpiricsError(f"{who} must be a CSV file in UTF-8: {error}") from None
    head = next((cells for _, cells in _rows(text)), [])
    if len(head) == 1 and (other := re.search(r"[;\t| ]", head[0].strip())):
        raise EmpiricsError(f"{who}: the columns seem to be separated by {other[0]!r}; {NOTATION}")
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(data),
            read_options=arrow_csv.ReadOptions(use_threads=False, block_size=len(data) + 1),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(head, pa.string())),
        )
        if table.column_names != head:
            raise pa.ArrowInvalid("the first line is not the header")
    except pa.ArrowInvalid as error:
        ragged = next((f"line {line} has {len(cells)}" for line, cells in _rows(text) if len(cells) != len(head)), "")
        said = f"{who}: {ragged} cells, the names above are {len(head)}; {NOTATION}"
        raise EmpiricsError(said if ragged else f"{who} must be a CSV file: {error}") from None
    names = [name.strip() or f"Unnamed: {place}" for place, name in enumerate(head)]  # as pandas calls them
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise EmpiricsError(f"{who}: two columns are named {twice[0]!r}: rename one")
    must(len(table) > 0, who, "a line of names and one for every sample", f"{len(table)} samples")
    columns = {n: pc.utf8_trim_whitespace(c).combine_chunks() for n, c in zip(names, table.columns, strict=True)}
    return Cells(who, columns, row or (lambda place: f"line {next(islice(_rows(text), place + 1, None))[0]}"))


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Every row, the header first, with the line of the file in which it begins; blank lines are not rows."""
    rows, last = csv.reader(io.StringIO(text, newline="")), 0
    for row in rows:
        if row:
            yield last + 1, row
        last = rows.line_num
