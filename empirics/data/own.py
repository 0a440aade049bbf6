"""Tables of one's own, one row a sample: a CSV file with a header, or a pandas DataFrame."""

from __future__ import annotations

import csv
from collections.abc import Callable, Container, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bounds.errors import unknown

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, signs

FEW = 20
"""Whole numbers are classes up to so many different ones."""
CLASSES, NUMBERS = "classes", "numbers"
FRAME = "frame"
"""What a DataFrame is called, which has no name."""


def table(file: str, target: str, group: str = "", leave_out: str = "", kind: str = "") -> Dataset:
    """A CSV file: ``target`` names the column to predict, ``group`` that of the users, sites or writers.

    Every other column is a feature and must hold numbers; ``leave_out`` names those to ignore, separated by blanks, or
    by commas where names hold blanks. The target's ``kind`` is ``"classes"`` or ``"numbers"``; where it is not said,
    text and at most 20 different whole numbers are classes. Two classes are a binary target, the larger one (or later
    in the alphabet) its 1.

    Raises:
        EmpiricsError: where a file cannot be read, a column is not there, or a value is missing or is text: which, in
            which line, and what to do.
    """
    head, lines = _read(Path(file))
    cells = {name: [line[i] for line in lines] for i, name in enumerate(head)}
    columns = _Columns(file, cells, lambda place: f"line {place + 2}")
    name = f"table({file!r}, target={target!r}, group={group!r}, leave_out={leave_out!r}, kind={kind!r})"
    return columns.dataset(name, target, group, leave_out, kind)


def from_frame(
    frame: Any, target: str, group: str = "", leave_out: str | Sequence[str] = (), kind: str = ""
) -> Dataset:
    """A pandas DataFrame as ``table`` reads a file: the same columns, the same rules, the same refusals.

    Features of truths count as 0 and 1; text, categories of text and dates are refused by the column's name.
    """
    pandas = import_module("pandas")
    if not isinstance(frame, pandas.DataFrame):
        raise EmpiricsError(f"a frame must be a pandas DataFrame; got {type(frame).__name__}")
    head = [str(name) for name in frame.columns]
    _refuse_twice(FRAME, head)
    if frame.empty:
        raise EmpiricsError(f"{FRAME} must hold a row and a column or more; got shape {frame.shape}")
    cells = {name: _of_series(frame.iloc[:, place]) for place, name in enumerate(head)}
    columns = _Columns(FRAME, cells, lambda place: f"row {frame.index[place]!r}")
    left = leave_out if isinstance(leave_out, str) else ",".join(leave_out) + "," * bool(leave_out)
    name = f"{FRAME}({len(frame)} rows, target={target!r}, group={group!r}, leave_out={left!r}, kind={kind!r})"
    return columns.dataset(name, target, group, left, kind)


def _of_series(series: Any) -> Sequence[str] | np.ndarray:
    """A column of numbers or truths as floats, one of anything else as text; what is missing is NaN or empty."""
    types = import_module("pandas.api.types")
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        return np.array(series.to_numpy(dtype=float, na_value=np.nan))
    return ["" if gone else str(value).strip() for value, gone in zip(series, series.isna(), strict=True)]


class _Columns(NamedTuple):
    """The columns of a table, as text or as numbers, whose they are, and how a row is called in a message."""

    who: str
    cells: Mapping[str, Sequence[str] | np.ndarray]
    row: Callable[[int], str]

    def dataset(self, name: str, target: str, group: str, leave_out: str, kind: str) -> Dataset:
        if kind not in ("", CLASSES, NUMBERS):
            raise unknown("kind of a table's target", kind, (CLASSES, NUMBERS))
        ignored = _names(leave_out, self.cells)
        for column in (target, *([group] if group else []), *ignored):
            if column not in self.cells:
                raise unknown(f"column of {self.who}", column, self.cells)
        features = [column for column in self.cells if column not in (target, group, *ignored)]
        if not features:
            named = ", ".join(self.cells)
            raise EmpiricsError(f"{self.who} has no column that is a feature: {named} are all named otherwise")
        inputs = np.stack([self.numbers(column) for column in features], axis=1)
        targets, classes, shape = self.targets(target, kind)
        groups, _, names = numbered(self.whole(group)) if group else (None, None, ())
        return Dataset(
            name, inputs, targets, classes, shape, groups=groups, group_names=names, group_word=group or "group",
            source=self.who, licence="your own",
        )  # fmt: skip

    def whole(self, name: str) -> list[str]:
        """The cells of a column that must have none that is missing, as text: whole numbers without a point."""
        cells = self.cells[name]
        if isinstance(cells, np.ndarray):
            self._refuse_endless(name, cells)
            cells = ["" if np.isnan(x) else str(int(x)) if float(x).is_integer() else repr(float(x)) for x in cells]
        self._refuse_missing(name, [place for place, cell in enumerate(cells) if not cell])
        return list(cells)

    def numbers(self, name: str) -> np.ndarray:
        """The column as finite numbers."""
        cells = self.cells[name]
        if isinstance(cells, np.ndarray):
            self._refuse_missing(name, np.flatnonzero(np.isnan(cells)))
            self._refuse_endless(name, cells)
            return cells
        found = np.empty(len(cells))
        for place, cell in enumerate(self.whole(name)):
            try:
                found[place] = float(cell)
            except ValueError:
                said = self._must(name, "numbers", place, cell)
                raise EmpiricsError(f"{said}: code it as numbers, or leave_out={name!r}") from None
            if not np.isfinite(found[place]):
                raise EmpiricsError(self._must(name, "finite numbers", place, cell))
        return found

    def targets(self, name: str, kind: str) -> tuple[np.ndarray, int, str]:
        """The targets, how many classes they have (none: 0), and the kind of the data set."""
        cells = self.whole(name)
        known = set(cells)
        if kind == NUMBERS or (not kind and not _are_classes(known)):
            return self.numbers(name), 0, "regression"
        if len(known) < 2:
            raise EmpiricsError(f"{self.who}: {name} must hold two classes or more; all lines have {cells[0]!r}")
        ordered = sorted(known, key=float) if all(map(_is_number, known)) else sorted(known)
        place = {cell: number for number, cell in enumerate(ordered)}
        numbers = np.array([place[cell] for cell in cells], dtype=np.int64)
        return (signs(numbers, name), 2, "binary") if len(known) == 2 else (numbers, len(known), "classification")

    def _must(self, name: str, be: str, place: int, got: object) -> str:
        return f"{self.who}: {name} must hold {be}; {self.row(place)} has {got!r}"

    def _refuse_endless(self, name: str, numbers: np.ndarray) -> None:
        if len(endless := np.flatnonzero(np.isinf(numbers))):
            raise EmpiricsError(self._must(name, "finite numbers", int(endless[0]), float(numbers[endless[0]])))

    def _refuse_missing(self, name: str, places: Sequence[int] | np.ndarray) -> None:
        if len(places):
            more = f" and {len(places) - 1} more" if len(places) > 1 else ""
            said = f"{self.who}: {name} is missing in {self.row(places[0])}{more}"
            raise EmpiricsError(f"{said}: fill it in, delete the line, or leave_out={name!r}")


def _names(leave_out: str, head: Container[str]) -> list[str]:
    """The columns that a text names: one, or several between commas or blanks."""
    if leave_out in head:
        return [leave_out]
    return [name.strip() for name in leave_out.split(",") if name.strip()] if "," in leave_out else leave_out.split()


def _read(path: Path) -> tuple[list[str], list[list[str]]]:
    """The header and the lines that are not empty, all of one length."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            head, *lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line] or [[]]
    except OSError as error:
        raise EmpiricsError(f"{path}: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise EmpiricsError(f"{path} is no CSV file in UTF-8: {error}") from None
    if not lines:
        raise EmpiricsError(f"{path} must have a line of names and one for every sample; got {int(bool(head))} in all")
    _refuse_twice(str(path), head)
    for number, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise EmpiricsError(f"{path}: line {number} has {len(line)} cells, the names above are {len(head)}")
    return head, lines


def _refuse_twice(who: str, head: Sequence[str]) -> None:
    if twice := sorted({name for name in head if head.count(name) > 1}):
        raise EmpiricsError(f"{who}: two columns are named {twice[0]!r}: rename one")


def _are_classes(known: set[str]) -> bool:
    if not all(map(_is_number, known)):
        return True
    return len(known) <= FEW and all(float(cell).is_integer() for cell in known)


def _is_number(cell: str) -> bool:
    try:
        return np.isfinite(float(cell)).item()
    except ValueError:
        return False
