"""Tables of one's own: a CSV file with a header, one row a sample."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bounds.errors import unknown

from ..errors import EmpiricsError
from .dataset import Dataset, numbered, signs

FEW = 20
"""Whole numbers are classes up to so many different ones."""
CLASSES, NUMBERS = "classes", "numbers"


def table(file: str, target: str, group: str = "", leave_out: str = "", kind: str = "") -> Dataset:
    """A CSV file: ``target`` names the column to predict, ``group`` that of the users, sites or writers.

    Every other column is a feature and must hold numbers; ``leave_out`` names those to ignore, separated by blanks. The
    target's ``kind`` is ``"classes"`` or ``"numbers"``; where it is not said, text and at most 20 different whole
    numbers are classes. Two classes are a binary target, the larger one (or later in the alphabet) its 1.

    Raises:
        EmpiricsError: where a file cannot be read, a column is not there, or a value is missing or is text: which, in
            which line, and what to do.
    """
    if kind not in ("", CLASSES, NUMBERS):
        raise unknown("kind of a table's target", kind, (CLASSES, NUMBERS))
    head, lines = _read(Path(file))
    ignored = leave_out.split()
    for name in (target, *([group] if group else []), *ignored):
        if name not in head:
            raise unknown(f"column of {file}", name, head)
    features = [name for name in head if name not in (target, group, *ignored)]
    if not features:
        raise EmpiricsError(f"{file} has no column that is a feature: {', '.join(head)} are all named otherwise")
    columns = {name: [line[i] for line in lines] for i, name in enumerate(head)}
    inputs = np.stack([_numbers(file, name, columns[name]) for name in features], axis=1)
    targets, classes, shape = _targets(file, target, columns[target], kind)
    name = f"table({file!r}, target={target!r}, group={group!r}, leave_out={leave_out!r}, kind={kind!r})"
    groups, _, names = numbered(_whole(file, group, columns[group])) if group else (None, None, ())
    return Dataset(
        name, inputs, targets, classes, shape, groups=groups, group_names=names, group_word=group or "group",
        source=file, licence="your own",
    )  # fmt: skip


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
    if twice := sorted({name for name in head if head.count(name) > 1}):
        raise EmpiricsError(f"{path}: two columns are named {twice[0]!r}: rename one")
    for number, line in enumerate(lines, 2):
        if len(line) != len(head):
            raise EmpiricsError(f"{path}: line {number} has {len(line)} cells, the names above are {len(head)}")
    return head, lines


def _whole(file: str, name: str, cells: Sequence[str]) -> list[str]:
    """The cells of a column that must have none that is missing."""
    empty = [number for number, cell in enumerate(cells, 2) if not cell]
    if empty:
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        said = f"{file}: {name} is missing in line {empty[0]}{more}"
        raise EmpiricsError(f"{said}: fill it in, delete the line, or leave_out={name!r}")
    return list(cells)


def _numbers(file: str, name: str, cells: Sequence[str]) -> np.ndarray:
    found = np.empty(len(cells))
    for place, cell in enumerate(_whole(file, name, cells)):
        try:
            found[place] = float(cell)
        except ValueError:
            said = f"{file}: {name} must hold numbers; line {place + 2} has {cell!r}"
            raise EmpiricsError(f"{said}: code it as numbers, or leave_out={name!r}") from None
        if not np.isfinite(found[place]):
            raise EmpiricsError(f"{file}: {name} must hold finite numbers; line {place + 2} has {cell!r}")
    return found


def _targets(file: str, name: str, cells: Sequence[str], kind: str) -> tuple[np.ndarray, int, str]:
    """The targets, how many classes they have (none: 0), and the kind of the data set."""
    known = set(_whole(file, name, cells))
    if kind == NUMBERS or (not kind and not _are_classes(known)):
        return _numbers(file, name, cells), 0, "regression"
    if len(known) < 2:
        raise EmpiricsError(f"{file}: {name} must hold two classes or more; all lines have {cells[0]!r}")
    ordered = sorted(known, key=float) if all(map(_is_number, known)) else sorted(known)
    place = {cell: number for number, cell in enumerate(ordered)}
    numbers = np.array([place[cell] for cell in cells], dtype=np.int64)
    return (signs(numbers, name), 2, "binary") if len(known) == 2 else (numbers, len(known), "classification")


def _are_classes(known: set[str]) -> bool:
    if not all(map(_is_number, known)):
        return True
    return len(known) <= FEW and all(float(cell).is_integer() for cell in known)


def _is_number(cell: str) -> bool:
    try:
        return np.isfinite(float(cell)).item()
    except ValueError:
        return False
