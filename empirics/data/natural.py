"""Federations as they are found: pupils of schools, mines of fields, voices of patients, hearts of hospitals."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ..errors import EmpiricsError
from .dataset import Dataset, signs, with_test
from .store import damaged, Download, Files, matlab, read

UCI = "none stated (UCI; its page says CC BY 4.0)"
SCHOOL = Files(
    "school",
    "natural",
    ("school.mat",),
    "github.com/jiayuzhou/MALSAR",
    (
        Download(
            ("https://raw.githubusercontent.com/jiayuzhou/MALSAR/master/data/school.mat",),
            "57fb3238fdd03a9aa17276e2ce18d9bbb5d128c3261e794fe6233b58b6909068",
        ),
    ),
)
LANDMINE = Files("landmine", "natural", ("LandmineData.mat",), "people.ee.duke.edu/~lcarin/LandmineData.zip")
PARKINSON = Files(
    "parkinson",
    "natural",
    ("parkinsons_updrs.data",),
    "archive.ics.uci.edu/dataset/189/parkinsons+telemonitoring",
    licence=UCI,
)
HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
HEART = Files(
    "heart_disease",
    "natural/heart-disease",
    tuple(f"processed.{name}.data" for name in HOSPITALS),
    "archive.ics.uci.edu/dataset/45/heart+disease",
    licence=UCI,
)


def school() -> Dataset:
    """Exam scores (1 .. 70) of 15,362 pupils of 139 schools from 28 features, the last of them constant."""
    path = SCHOOL.one("school.mat")
    inputs, scores = (_cells(array) for array in matlab(path, "X", "Y"))
    pool, groups = _joined(path, inputs, scores, 28)
    return _federation(SCHOOL, pool, np.concatenate([s.ravel() for s in scores]), groups, len(inputs), "school")


def landmine() -> Dataset:
    """14,820 radar images of 29 fields as 9 features; a landmine (1, some 6 %) or clutter (-1)."""
    path = LANDMINE.one("LandmineData.mat")
    inputs, labels = (_cells(array) for array in matlab(path, "feature", "label"))
    pool, groups = _joined(path, inputs, labels, 9)
    targets = signs(np.concatenate([label.ravel() for label in labels]), "landmine")
    return _federation(LANDMINE, pool, targets, groups, len(inputs), "field", "binary")


def parkinson(target: str = "total") -> Dataset:
    """5,875 voice recordings of 42 patients: 19 features, and the ``"total"`` or ``"motor"`` score of the disease."""
    columns = {"motor": 4, "total": 5}
    if target not in columns:
        raise EmpiricsError(f"target must be 'total' or 'motor'; got {target!r}")
    path = PARKINSON.one("parkinsons_updrs.data")
    table = _table(path, 22)
    known, groups = np.unique(table[:, 0], return_inverse=True)
    inputs = np.concatenate([table[:, 1:4], table[:, 6:]], axis=1)
    return _federation(PARKINSON, inputs, table[:, columns[target]], groups, len(known), "patient")


def heart_disease() -> Dataset:
    """920 patients of four hospitals, 13 features; disease (1) or none (-1).

    Features that were not taken ("?", empty, or -9) get the mean of those that were, over all hospitals.
    """
    tables = [_table(HEART.one(name), 14) for name in HEART.names]
    joined = np.concatenate(tables)
    inputs, targets = joined[:, :13], np.where(joined[:, 13] > 0, 1.0, -1.0)
    inputs = np.where(inputs == -9, np.nan, inputs)
    inputs = np.where(np.isnan(inputs), np.nanmean(inputs, axis=0), inputs)
    groups = np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    return _federation(HEART, inputs, targets, groups, HOSPITALS, "hospital", "binary")


def _cells(array: np.ndarray) -> list[np.ndarray]:
    """The entries of a MATLAB cell array, in order, as floats."""
    return [np.asarray(entry, dtype=np.float64) for entry in array.ravel()]


def _joined(path: Path, inputs: list[np.ndarray], targets: list[np.ndarray], features: int) -> tuple[np.ndarray, ...]:
    """The tasks of a MATLAB file as one pool with the number of each sample's task."""
    shapes = [x.shape == (y.size, features) for x, y in zip(inputs, targets, strict=False)]
    if not inputs or len(inputs) != len(targets) or not all(shapes):
        raise damaged(path, f"not one matrix of {features} features and one list of targets for every task")
    return np.concatenate(inputs), np.repeat(np.arange(len(inputs)), [len(x) for x in inputs])


def _table(path: Path, columns: int) -> np.ndarray:
    """Numbers separated by commas or tabs, with or without a header; "?" and nothing are NaN."""
    try:
        lines = read(path).decode().splitlines()
        rows = list(csv.reader(lines, delimiter="\t" if "\t" in lines[0] else ","))
        if any(character.isalpha() for character in rows[0][0]):
            rows = rows[1:]
        table = np.array([[float(v) if v.strip() not in ("", "?") else np.nan for v in row] for row in rows if row])
    except (ValueError, IndexError) as error:
        raise damaged(path, error) from None
    if table.ndim != 2 or table.shape[1] != columns:
        raise damaged(path, f"not rows of {columns} columns")
    return table


def _federation(
    files: Files,
    inputs: np.ndarray,
    targets: np.ndarray,
    groups: np.ndarray,
    names: tuple[str, ...] | int,
    word: str,
    kind: str = "regression",
) -> Dataset:
    names = names if isinstance(names, tuple) else tuple(str(i + 1) for i in range(names))
    classes = 2 if kind == "binary" else 0
    return with_test(files, (inputs, targets, groups), None, classes, kind=kind, group_names=names, group_word=word)
