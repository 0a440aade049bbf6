"""Data sets from users' tables with one row per sample: a CSV file with a header, or a pandas DataFrame.

Both are read as columns of text by the same rules. A number is a plain decimal number in the range of floats. A label
(class, site) is text or a number: ``1``, ``1.0``, ``01`` and ``+1`` are one label, and integers of any length stay
exact. Missing values and numbers in other notations raise an error that gives line, column and value.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from bounds.errors import shortened, unknown
from bounds.showing.files import content, MOST_BYTES
from bounds.showing.numbers import DECIMAL, decimal, is_zero

from ..errors import EmpiricsError
from ..numbers import must
from .dataset import Dataset, numbered, signs

MOST_CLASSES = 20
"""Integers are read as classes up to this number of distinct values."""
CLASSES, NUMBERS = "classes", "numbers"
FRAME = "frame"
"""Name of a DataFrame in messages."""
MISSING = frozenset(
    ("", "na", "n/a", "n.a.", "#na", "#n/a", "#n/a n/a", "<na>", "nat", "null", "(null)", "none", "nil", "missing", "?",
     ".", r"\n", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan", "1.#inf", "-1.#inf", "#div/0!", "#value!", "#ref!",
     "#name?", "#num!", "#null!")
)  # fmt: skip
"""Markers of missing values in pandas, databases and spreadsheets, in lower case; ``nan`` is read as a number."""
DASHES = re.compile("[-\u2013\u2014]+")
SEPARATORS = re.compile(r"[,;' \u00a0\u202f]")
"""Separators of thousands or decimals in other notations."""
NOTATION = "separate columns by commas, and write decimal numbers such as 0.5, not 0,5 or 1,000"
BOOLEANS = ("False", "True")
csv.field_size_limit(MOST_BYTES)  # a cell may be as long as a file


def table(file: str, target: str, group: str = "", leave_out: str = "", kind: str = "") -> Dataset:
    """A CSV file: ``target`` names the column to predict, ``group`` that of the users, sites or writers.

    Every other column is a feature and must hold numbers; ``leave_out`` names columns to ignore, separated by blanks,
    or by commas if names contain blanks. The target's ``kind`` is ``"classes"`` or ``"numbers"``; by default, text and
    up to 20 different integers are classes. Two classes make a binary target, with 1 for the larger one (or the later
    one in alphabetical order).

    Raises:
        EmpiricsError: if the file or a column cannot be read; the message gives column, line, value and a remedy.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        raise EmpiricsError(f"{file} must be a regular file: every run reads it again")
    return _dataset(from_csv(path), f"table({file!r}", target, group, leave_out, kind)


def from_frame(
    frame: Any, target: str, group: str = "", leave_out: str | Sequence[str] = (), kind: str = ""
) -> Dataset:
    """Return a pandas DataFrame as ``table`` would read the file that it would be saved as, without its index."""
    if not isinstance(frame, import_module("pandas").DataFrame):
        raise EmpiricsError(f"a frame must be a pandas DataFrame; got {type(frame).__name__}")
    if frame.empty:
        raise EmpiricsError(f"{FRAME} must hold at least one row and one column; got shape {frame.shape}")
    ignored = leave_out if isinstance(leave_out, str) else ",".join(leave_out) + "," * bool(leave_out)
    # str: columns of a DataFrame may have numbers as names
    return _dataset(from_pandas(FRAME, frame), f"{FRAME}({len(frame)} rows", str(target), str(group), ignored, kind)


def _dataset(cells: TextTable, name: str, target: str, group: str, leave_out: str, kind: str) -> Dataset:
    """Return the data set of a table; ``name`` is the beginning of its name."""
    if kind not in ("", CLASSES, NUMBERS):
        raise unknown("kind of a table's target", kind, (CLASSES, NUMBERS))
    ignored = _names(leave_out, cells.columns)
    for column in (target, *([group] if group else []), *ignored):
        if column not in cells.columns:
            raise unknown(f"column of {cells.who}", column, cells.columns)
    features = [column for column in cells.columns if column not in (target, group, *ignored)]
    if not features:
        others = ", ".join(cells.columns)
        raise EmpiricsError(f"{cells.who} has no feature columns: {others} are target, group or left out")
    for column in features:
        if column.startswith("Unnamed: "):  # pandas' name of a saved index
            raise EmpiricsError(f"{cells.who}: {column!r} is a column without a name, such as an index: leave it out")
    options = "" if cells.who == FRAME else " (--leave-out {0}, or --group {0} if its values are clients)"
    hints = [f", or leave_out={column!r}{options.format(column)}" for column in features]
    inputs = np.stack([cells.numbers(c, hint) for c, hint in zip(features, hints, strict=True)], axis=1)
    targets, classes, data_kind = _targets(cells, target, kind)
    groups: np.ndarray | None = None
    names: tuple[str, ...] = ()
    if group:
        codes, labels = cells.labels(group)
        number, _, names = numbered(labels)
        groups = number[codes]
    return Dataset(
        f"{name}, target={target!r}, group={group!r}, leave_out={leave_out!r}, kind={kind!r})", inputs, targets,
        len(classes), data_kind, groups=groups, group_names=names, group_word=group or "group", class_names=classes,
    )  # fmt: skip


def _targets(cells: TextTable, name: str, kind: str) -> tuple[np.ndarray, tuple[str, ...], str]:
    """Return the targets, the names of their classes by number (empty for regression), and the kind of the data set."""
    plain = cells.plain(name)  # NaN where a cell is not a number
    values = np.unique(plain)
    continuous = np.isfinite(values).all() and (len(values) > MOST_CLASSES or (values % 1).any())
    if kind == NUMBERS or (not kind and continuous):
        return cells.numbers(name), (), "regression"
    codes, labels = cells.labels(name)
    numeric = [DECIMAL.fullmatch(label) is not None for label in labels]
    if not kind and any(numeric) and not all(numeric):
        rows = int(np.isnan(plain).argmax()), int(np.isfinite(plain).argmax())
        both = ", ".join(f"{cells.row(row)} has {shortened(cells.columns[name][row])!r}" for row in rows)
        remedy = f"correct it, or set kind={CLASSES!r}"
        raise EmpiricsError(f"{cells.who}: {name} must hold numbers or text, not both; {both}: {remedy}")
    if not kind and not any(numeric) and len(labels) > len(codes) / 2:
        texts = f"{len(labels)} different texts in {len(codes)} rows, such as {shortened(labels[0])!r}"
        remedy = f"write plain numbers such as 0.5, or set kind={CLASSES!r}"
        raise EmpiricsError(f"{cells.who}: {name} has {texts}: {remedy}")
    if len(labels) < 2:
        raise EmpiricsError(f"{cells.who}: {name} must hold at least two classes; all lines have {labels[0]!r}")
    ordered = sorted(labels, key=Decimal) if all(numeric) else sorted(labels)
    number_of = {label: number for number, label in enumerate(ordered)}
    numbers = np.array([number_of[label] for label in labels], dtype=np.int64)[codes]
    if len(labels) == 2:
        return signs(numbers, name), tuple(ordered), "binary"
    return numbers, tuple(ordered), "classification"


def _names(leave_out: str, head: Container[str]) -> list[str]:
    """Return the columns that ``leave_out`` names: a single one, or several separated by commas or blanks."""
    if leave_out in head:
        return [leave_out]
    return [name.strip() for name in leave_out.split(",") if name.strip()] if "," in leave_out else leave_out.split()


# ---- tables of text ----


@dataclass(frozen=True)
class TextTable:
    """Columns of stripped text by name; ``who`` names the table and ``row(i)`` its row i (from 0) in messages."""

    who: str
    columns: Mapping[str, list[str]]
    row: Callable[[int], str]

    def numbers(self, name: str, instead: str = "") -> np.ndarray:
        """Return a column as numbers; a column of ``True`` and ``False`` becomes 1 and 0.

        Raises:
            EmpiricsError: if a cell is missing or not a plain number; the message gives its line and a remedy, to which
                ``instead`` is appended.
        """
        if set(self.columns[name]) <= set(BOOLEANS):
            return np.array([cell == BOOLEANS[1] for cell in self.columns[name]], dtype=float)
        numbers = self.plain(name)
        if (wrong := np.isnan(numbers)).any():
            self._refuse(name, "numbers", wrong, instead)
        return numbers

    def labels(self, name: str) -> tuple[np.ndarray, list[str]]:
        """Return for every row the index of its label, and the distinct labels in the order of their first row.

        Raises:
            EmpiricsError: if a cell is missing, or looks like a number but is not a plain one.
        """
        cells, distinct = self.columns[name], dict[str, int]()
        index = dict.fromkeys(cells, 0)
        for text in index:
            if _missing(text) or (_like_a_number(text) and np.isnan(_number(text))):
                self._refuse(name, "numbers or text", np.array([cell == text for cell in cells]))
            index[text] = distinct.setdefault(label(text), len(distinct))
        return np.array([index[text] for text in cells], dtype=np.int64), list(distinct)

    def plain(self, name: str) -> np.ndarray:
        """Return a column as floats, with NaN for cells that are not plain decimal numbers in the range of floats."""
        return np.array([_number(cell) for cell in self.columns[name]])

    def _refuse(self, name: str, kind: str, wrong: np.ndarray, instead: str = "") -> NoReturn:
        """Raise the error for the first wrong cell of a column, with a remedy."""
        row, more = int(wrong.argmax()), int(wrong.sum()) - 1
        text = self.columns[name][row]
        others = f" ({more} further rows too)" if more else ""
        remedy = NOTATION if _like_a_number(text) else "code text as numbers"
        if _missing(text) or text.lower().strip("+-") == "nan":
            remedy = "fill in a missing value, or delete its row"
        problem = f"{self.who}: {name} must hold {kind}; {self.row(row)} has {shortened(text)!r}{others}"
        raise EmpiricsError(f"{problem}: {remedy}{instead}")


# ---- numbers and labels ----


def label(text: str) -> str:
    """Return the canonical spelling of a label: a number without redundant sign, zeros and exponent."""
    if not DECIMAL.fullmatch(text):
        return text
    if is_zero(text):
        return "0"  # its exponent could be too long to expand
    digits = format(Decimal(text), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _number(text: str) -> float:
    """Return the plain number that ``text`` spells; NaN if there is none or it is out of the range of floats."""
    try:
        number = decimal(text)
    except ValueError:
        return np.nan
    return np.nan if number is None else number


def _missing(text: str) -> bool:
    return text.lower() in MISSING or DASHES.fullmatch(text) is not None


def _like_a_number(text: str) -> bool:
    """Whether a text is a number in some notation, including ``nan``, ``1_0`` and digits of other scripts."""
    try:
        float(SEPARATORS.sub("", text))
    except ValueError:
        return False
    return True


# ---- files and frames ----


def from_csv(path: Path) -> TextTable:
    """Read a CSV file with a header.

    Raises:
        EmpiricsError: if it is not a table of UTF-8 text, or its columns are separated by another character.
    """
    return _read(str(path), content(path))


def from_pandas(who: str, frame: Any) -> TextTable:
    """Read a DataFrame as if from the CSV file that it would be saved as, without its index."""
    return _read(who, frame.to_csv(index=False).encode(), lambda row: f"row {frame.index[row]!r}")


def _read(who: str, data: bytes, row: Callable[[int], str] | None = None) -> TextTable:
    """Read the columns of CSV text; blank lines are skipped."""
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
    rule = "a CSV file with a line of names and one line per sample"
    must(len(table) > 1, who, rule, f"{max(0, len(table) - 1)} samples")
    for line, cells in zip(lines, table, strict=True):
        if len(cells) != len(head):
            raise EmpiricsError(
                f"{who}: line {line} has {len(cells)} cells, but there are {len(head)} names; {NOTATION}"
            )
    names = [name.strip() or f"Unnamed: {number}" for number, name in enumerate(head)]  # pandas' names
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise EmpiricsError(f"{who}: two columns are named {duplicates[0]!r}: rename one")
    columns = {name: [cell.strip() for cell in cells] for name, *cells in zip(names, *table[1:], strict=True)}
    return TextTable(who, columns, row or (lambda number: f"line {lines[number + 1]}"))
