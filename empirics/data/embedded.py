"""The small sets inside scikit-learn: there without files or network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset, signs

LICENCE = "as distributed with scikit-learn (BSD); the data are from the UCI repository unless said otherwise"


def digits() -> Dataset:
    """Handwritten digits of 8x8 pixels (1,797 points, 10 classes), embedded in scikit-learn; grey levels in [0, 1]."""
    table = _table("digits.csv.gz")
    return _classes("digits", table[:, :-1] / 16.0, table[:, -1])


def iris() -> Dataset:
    """Four lengths of 150 flowers of 3 species (Fisher 1936)."""
    bunch = _load("iris")
    return _classes("iris", bunch.data, bunch.target)


def wine() -> Dataset:
    """13 chemical measurements of 178 wines from 3 growers; features of very different scale."""
    bunch = _load("wine")
    return _classes("wine", bunch.data, bunch.target)


def breast_cancer() -> Dataset:
    """30 measurements of 569 tumours, malignant (-1) or benign (1); features of very different scale."""
    bunch = _load("breast_cancer")
    targets = signs(bunch.target, "breast_cancer")
    return Dataset("breast_cancer", bunch.data, targets, 2, "binary", source="scikit-learn", licence=LICENCE)


def diabetes() -> Dataset:
    """Progression of the disease after a year from 10 scaled measurements of 442 patients (Efron et al. 2004)."""
    bunch = _load("diabetes")
    targets = bunch.target.astype(np.float64)
    return Dataset("diabetes", bunch.data, targets, 0, "regression", source="scikit-learn", licence=LICENCE)


def _load(name: str) -> Any:
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")()


def _table(file: str) -> np.ndarray:
    """A table of numbers inside scikit-learn, which itself takes longer to load than a small run."""
    found = find_spec("sklearn")
    folder = (found.submodule_search_locations if found else None) or [""]
    table: np.ndarray = np.loadtxt(Path(folder[0], "datasets", "data", file), delimiter=",")
    return table


def _classes(name: str, inputs: np.ndarray, targets: np.ndarray) -> Dataset:
    return Dataset(
        name, inputs, targets.astype(np.int64), int(targets.max()) + 1, source="scikit-learn", licence=LICENCE
    )
