"""Data sets of real features: those inside scikit-learn, those of the LIBSVM page, and natural federations.

In the natural federations, clients are schools, mine fields, patients or hospitals.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..numbers import must
from .dataset import Dataset, Part, signs, with_test
from .store import damaged, FILES, matlab, read, reading

Reader = Callable[[], Dataset]

# ---- inside scikit-learn: no files or network needed ----

LICENCE = "as distributed with scikit-learn (BSD); the data are from the UCI repository unless said otherwise"


def digits() -> Dataset:
    """Handwritten digits of 8x8 pixels (1,797 points, 10 classes), embedded in scikit-learn; grey levels in [0, 1]."""
    spec = find_spec("sklearn")  # importing it takes longer than a small run
    folder = (spec.submodule_search_locations if spec else None) or [""]
    table: np.ndarray = np.loadtxt(Path(folder[0], "datasets", "data", "digits.csv.gz"), delimiter=",")
    inputs, targets = table[:, :-1] / 16.0, table[:, -1].astype(np.int64)
    return Dataset("digits", inputs, targets, 10, source="scikit-learn", licence=LICENCE)


def _embedded(name: str, classes: int, kind: str = "classification") -> Dataset:
    from sklearn import datasets

    inputs, targets = getattr(datasets, f"load_{name}")(return_X_y=True)
    targets = signs(targets, name) if kind == "binary" else targets
    return Dataset(name, inputs, targets, classes, kind, source="scikit-learn", licence=LICENCE)


# ---- two classes in the sparse text format of the LIBSVM page ----


def _libsvm(name: str, features: int) -> Dataset:
    """Return a set with dense features in float64 and targets -1 and 1 (the smaller label is -1)."""
    from sklearn.datasets import load_svmlight_file

    files, parts = FILES[name], list[Part]()
    for path in map(files.one, files.names):
        data = read(path)
        with reading(path):
            inputs, labels = load_svmlight_file(io.BytesIO(data), n_features=features)
        if not len(labels):
            raise damaged(path, "no samples")
        parts.append((inputs.toarray(), signs(labels, name), None))
    return with_test(files, parts, 2, kind="binary")


# ---- natural federations ----

HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")


def parkinson(target: str = "total") -> Dataset:
    """5,875 voice recordings of 42 patients: 19 features, and the ``"total"`` or ``"motor"`` score of the disease."""
    columns = {"motor": 4, "total": 5}
    must(target in columns, "target", "'total' or 'motor'", target)
    files = FILES["parkinson"]
    table = _table(files.one(files.names[0]), 22)
    patients, groups = np.unique(table[:, 0], return_inverse=True)
    train = np.delete(table, [0, 4, 5], axis=1), table[:, columns[target]], groups
    return with_test(files, [train], 0, kind="regression", group_names=_numbers(len(patients)), group_word="patient")


def heart_disease() -> Dataset:
    """920 patients of four hospitals, 13 features; disease (1) or none (-1).

    Missing features ("?", empty, or -9) are replaced by the mean of the others over all hospitals.
    """
    files = FILES["heart_disease"]
    tables = [_table(files.one(name), 14) for name in files.names]
    joined = np.concatenate(tables)
    inputs, targets = joined[:, :13], np.where(joined[:, 13] > 0, 1.0, -1.0)
    inputs = np.where(inputs == -9, np.nan, inputs)
    inputs = np.where(np.isnan(inputs), np.nanmean(inputs, axis=0), inputs)
    groups = np.repeat(np.arange(len(tables)), [len(t) for t in tables])
    options = {"kind": "binary", "group_names": HOSPITALS, "group_word": "hospital"}
    return with_test(files, [(inputs, targets, groups)], 2, **options)


def _tasks(name: str, features: int, inputs_name: str, targets_name: str, **options: Any) -> Dataset:
    """Return one set with the tasks of a MATLAB file, each a matrix of inputs and a list of targets, as groups."""
    files = FILES[name]
    path = files.one(files.names[0])
    inputs, targets = (
        [np.asarray(entry, dtype=np.float64) for entry in array.ravel()]
        for array in matlab(path, inputs_name, targets_name)
    )
    shapes = [x.shape == (y.size, features) for x, y in zip(inputs, targets, strict=False)]
    if not inputs or len(inputs) != len(targets) or not all(shapes):
        raise damaged(path, f"not one matrix of {features} features and one list of targets for every task")
    groups = np.repeat(np.arange(len(inputs)), [len(x) for x in inputs])
    labels, binary = np.concatenate([y.ravel() for y in targets]), options["kind"] == "binary"
    train = np.concatenate(inputs), signs(labels, name) if binary else labels, groups
    return with_test(files, [train], 2 if binary else 0, group_names=_numbers(len(inputs)), **options)


def _numbers(count: int) -> tuple[str, ...]:
    """Return the names "1", "2", ... for groups without names."""
    return tuple(str(i + 1) for i in range(count))


def _table(path: Path, columns: int) -> np.ndarray:
    """Read numbers separated by commas or tabs, with or without a header; "?" and empty cells become NaN."""
    with reading(path):
        lines = read(path).decode().splitlines()
        rows = list(csv.reader(lines, delimiter="\t" if "\t" in lines[0] else ","))
        if any(character.isalpha() for character in rows[0][0]):
            rows = rows[1:]
        table = np.array([[float(v) if v.strip() not in ("", "?") else np.nan for v in row] for row in rows if row])
    if table.ndim != 2 or table.shape[1] != columns:
        raise damaged(path, f"not rows of {columns} columns")
    return table


# ---- sets that differ in a few numbers ----


def _reader(about: str, read: Callable[..., Dataset], name: str, *arguments: Any, **options: Any) -> Reader:
    """A function without arguments that reads the set ``name``, with ``about`` as its documentation."""

    def reader() -> Dataset:
        return read(name, *arguments, **options)

    reader.__name__, reader.__doc__ = name, about
    return reader


READERS = (
    _reader("Four lengths of 150 flowers of 3 species (Fisher 1936).", _embedded, "iris", 3),
    _reader("13 chemical measurements of 178 wines from 3 growers; features of very different scale.", _embedded,
            "wine", 3),
    _reader("30 measurements of 569 tumours, malignant (-1) or benign (1); features of very different scale.",
            _embedded, "breast_cancer", 2, "binary"),
    _reader("Progression of the disease after a year from 10 scaled measurements of 442 patients (Efron et al. 2004).",
            _embedded, "diabetes", 0, "regression"),
    _reader("Whether an adult earns over 50,000: 32,561 + 16,281.", _libsvm, "a9a", 123),
    _reader("Whether a web page belongs to a category: 49,749.", _libsvm, "w8a", 300),
    _reader("Whether a mushroom is poisonous: 8,124.", _libsvm, "mushrooms", 112),
    _reader("Whether a web site is a fraud: 11,055.", _libsvm, "phishing", 68),
    _reader("Credit risk: 1,000.", _libsvm, "german", 24),
    _reader("Exam scores (1 .. 70) of 15,362 pupils of 139 schools from 28 features, the last of them constant.",
            _tasks, "school", 28, "X", "Y", group_word="school", kind="regression"),
    _reader("14,820 radar images of 29 fields as 9 features; a landmine (1, some 6 %) or clutter (-1).",
            _tasks, "landmine", 9, "feature", "label", group_word="field", kind="binary"),
)  # fmt: skip
