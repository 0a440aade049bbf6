"""Data sets of users: a table with one row a sample, from a CSV file with a header or a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Container, Sequence
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from bounds.errors import shortened, unknown
from bounds.showing.numbers import DECIMAL

from ..errors import EmpiricsError
from .cells import Cells, from_csv, from_pandas
from .dataset import Dataset, numbered, signs

FEW = 20
"""Integers are read as classes up to this number of distinct values."""
CLASSES, NUMBERS = "classes", "numbers"
YOURS = "your own"
"""The licence of such data, which identifies them."""
FRAME = "frame"
"""What a DataFrame is called, which has no name."""


def table(file: str, target: str, group: str = "", leave_out: str = "", kind: str = "") -> Dataset:
    """A CSV file: ``target`` names the column to predict, ``group`` that of the users, sites or writers.

    Every other column is a feature and must hold numbers; ``leave_out`` names those to ignore, separated by blanks, or
    by commas where names hold blanks. The target's ``kind`` is ``"classes"`` or ``"numbers"``; where it is not given,
    text and at most 20 different integers are classes. Two classes are a binary target, the larger one (or later
    in the alphabet) its 1.

    Raises:
        EmpiricsError: where the file cannot be read, a column is not there, or a value is missing or not of its kind:
            which, in which line, and what to do.
    """
    path = Path(file)
    if path.exists() and not path.is_file():
        raise EmpiricsError(f"{file} must be a regular file: every run reads it again")
    return _dataset(from_csv(path), f"table({file!r}", target, group, leave_out, kind)


def from_frame(
    frame: Any, target: str, group: str = "", leave_out: str | Sequence[str] = (), kind: str = ""
) -> Dataset:
    """A pandas DataFrame as ``table`` reads the file that it would be saved as, its index left out."""
    if not isinstance(frame, import_module("pandas").DataFrame):
        raise EmpiricsError(f"a frame must be a pandas DataFrame; got {type(frame).__name__}")
    if frame.empty:
        raise EmpiricsError(f"{FRAME} must hold a row and a column or more; got shape {frame.shape}")
    left = leave_out if isinstance(leave_out, str) else ",".join(leave_out) + "," * bool(leave_out)
    # columns of a DataFrame may be called by numbers
    return _dataset(from_pandas(FRAME, frame), f"{FRAME}({len(frame)} rows", str(target), str(group), left, kind)


def _dataset(cells: Cells, name: str, target: str, group: str, leave_out: str, kind: str) -> Dataset:
    """The set whose name begins with ``name``."""
    if kind not in ("", CLASSES, NUMBERS):
        raise unknown("kind of a table's target", kind, (CLASSES, NUMBERS))
    ignored = _names(leave_out, cells.columns)
    for column in (target, *([group] if group else []), *ignored):
        if column not in cells.columns:
            raise unknown(f"column of {cells.who}", column, cells.columns)
    features = [column for column in cells.columns if column not in (target, group, *ignored)]
    if not features:
        named = ", ".join(cells.columns)
        raise EmpiricsError(f"{cells.who} has no column that is a feature: {named} are all named otherwise")
    for column in features:
        if column.startswith("Unnamed: "):  # so pandas calls what an index was saved as
            raise EmpiricsError(f"{cells.who}: {column!r} is a column without a name, such as an index: leave it out")
    typed = "" if cells.who == FRAME else " (--leave-out {0}, or --group {0} if its values are clients)"
    hints = [f", or leave_out={c!r}{typed.format(c)}" for c in features]
    inputs = np.stack([cells.numbers(c, hint) for c, hint in zip(features, hints, strict=True)], axis=1)
    targets, classes, shape = _targets(cells, target, kind)
    groups: np.ndarray | None = None
    names: tuple[str, ...] = ()
    if group:
        codes, labels = cells.labels(group)
        number, _, names = numbered(labels)
        groups = number[codes]
    return Dataset(
        f"{name}, target={target!r}, group={group!r}, leave_out={leave_out!r}, kind={kind!r})", inputs, targets,
        len(classes), shape, groups=groups, group_names=names, group_word=group or "group", class_names=classes,
        source=cells.who, licence=YOURS,
    )  # fmt: skip


def _targets(cells: Cells, name: str, kind: str) -> tuple[np.ndarray, tuple[str, ...], str]:
    """The targets, the names of their classes in the order of their numbers (none: no classes), and the set's kind."""
    plain = cells.plain(name)  # with a NaN where a cell is not a number
    distinct = np.unique(plain)
    if kind == NUMBERS or (not kind and np.isfinite(distinct).all() and (len(distinct) > FEW or (distinct % 1).any())):
        return cells.numbers(name), (), "regression"
    codes, labels = cells.labels(name)
    numeric = [DECIMAL.fullmatch(each) is not None for each in labels]
    if not kind and any(numeric) and not all(numeric):
        rows = int(np.isnan(plain).argmax()), int(np.isfinite(plain).argmax())
        found = ", ".join(f"{cells.row(row)} has {shortened(cells.cell(name, row))!r}" for row in rows)
        what = f"mend it, or say that these are {CLASSES}"
        raise EmpiricsError(f"{cells.who}: {name} must hold numbers or text, not both; {found}: {what}")
    if not kind and not any(numeric) and len(labels) > len(codes) / 2:
        seen = f"{len(labels)} different texts in {len(codes)} rows, such as {shortened(labels[0])!r}"
        what = f"write plain numbers such as 0.5, or say that these are {CLASSES}"
        raise EmpiricsError(f"{cells.who}: {name} has {seen}: {what}")
    if len(labels) < 2:
        raise EmpiricsError(f"{cells.who}: {name} must hold two classes or more; all lines have {labels[0]!r}")
    ordered = sorted(labels, key=Decimal) if all(numeric) else sorted(labels)
    place = {each: number for number, each in enumerate(ordered)}
    numbers = np.array([place[each] for each in labels], dtype=np.int64)[codes]
    targets, shape = (signs(numbers, name), "binary") if len(labels) == 2 else (numbers, "classification")
    return targets, tuple(ordered), shape


def _names(leave_out: str, head: Container[str]) -> list[str]:
    """The columns that a text names: one, or several between commas or blanks."""
    if leave_out in head:
        return [leave_out]
    return [name.strip() for name in leave_out.split(",") if name.strip()] if "," in leave_out else leave_out.split()
