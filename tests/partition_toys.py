"""A pool of samples with classes and groups, for the tests of splits."""

from dataclasses import replace

import numpy as np

from empirics.data.dataset import Dataset

SAMPLES, CLASSES = 1237, 10


def pool(samples=SAMPLES, classes=CLASSES, groups=23):
    rng = np.random.default_rng(12)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, samples - classes)])
    return Dataset("pool", rng.normal(size=(samples, 2)), labels, classes, groups=rng.integers(0, groups, samples))


POOL = pool()
NESTED = replace(POOL, groups=POOL.labels // 3, group_word="coarse class")
"""Coarse classes 0-2, 3-5, 6-8 and 9."""
