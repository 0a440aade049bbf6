"""Data sets from users' tables with one row per sample: a CSV file with a header, or a pandas DataFrame."""

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
from .dataset import Dataset, numbered, signs
from .text_table import from_csv, from_pandas, TextTable

MOST_CLASSES = 20
"""Integers are read as classes up to this number of distinct values."""
CLASSES, NUMBERS = "classes", "numbers"
YOURS = "your own"
"""Licence of users' data, by which they are recognised."""
FRAME = "frame"
"""Name of a DataFrame in messages."""


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
        source=cells.who, licence=YOURS,
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
