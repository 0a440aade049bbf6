"""The algorithm that a bound covers, built from its name, its reading and the quantities that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from inspect import signature
from typing import Any

from bounds.core import About
from bounds.errors import BoundsError
from empirics.algorithms import algorithm, ALGORITHMS, written
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.exact import FLOATS
from empirics.exact.coefficients import Forms
from empirics.training.setting import Setting

KNOBS: Mapping[str, Mapping[str, str]] = {
    "fedals": {"adaptation": "alpha"},
    "fedinit": {"relaxation": "beta"},
}
"""By algorithm: the quantities that are arguments of it, and their names there."""
WITHOUT_DATA = {"fedcog": "fedavg"}
"""Algorithms that are another one on losses without samples: FedCOG without generated data is FedAvg."""


LOCAL = ("fedavg", "fedinit", *WITHOUT_DATA)
"""Methods of which models are all that is kept."""


def takes(about: About | None, word: str) -> bool:
    """Whether the quantity is an argument of the algorithm that a statement covers."""
    return about is not None and word in KNOBS.get(about.algorithm, {})


def controlled(about: About | None) -> bool:
    """Whether server or clients may keep more than models, as SCAFFOLD's control variates."""
    return about is not None and about.algorithm not in LOCAL


def other(about: About | None, made: Algorithm) -> bool:
    """Whether an algorithm differs from the one that a statement covers."""
    return about is not None and made.name.partition("(")[0] != about.algorithm


def knob(about: About | None, word: str, value: Any) -> tuple[Any, str]:
    """The value and the reading for an algorithm that takes the quantity; for others zero, as intended."""
    return (value, about.reading) if about is not None and takes(about, word) else (0 * value, "intended")


@lru_cache(maxsize=64)
def method(about: About | None, *, data: bool = True, **knobs: Any) -> Algorithm:
    """The algorithm that a statement covers, in its reading where there is one; it ignores quantities that it lacks.

    ``data``: whether losses are means over samples.

    Raises:
        EmpiricsError: where there is no such algorithm.
    """
    if about is None:
        raise EmpiricsError("the bound names no algorithm: give --algorithm")
    name = about.algorithm if data else WITHOUT_DATA.get(about.algorithm, about.algorithm)
    if name not in ALGORITHMS:
        raise EmpiricsError(f"the bound is about {name}, which is not an algorithm here: give --algorithm")
    taken, called = signature(ALGORITHMS[name]).parameters, KNOBS.get(name, {})
    told = {called.get(word, word): value for word, value in knobs.items()}
    told = {argument: value for argument, value in told.items() if argument in taken}
    if "reading" not in taken:
        return algorithm(written(name, **told))
    try:
        return algorithm(written(name, **told, reading=about.reading))
    except BoundsError:  # a reading of the theory only: the algorithm has one form
        return algorithm(written(name, **told))


@lru_cache(maxsize=64)
def linear(about: About) -> bool:
    """Whether a round of the method only adds and scales models and gradients."""
    try:
        Forms(method(about, data=False), Setting(rounds=2, cohort=1, local_steps=1), FLOATS).next(2)
    except EmpiricsError:
        return False
    return True
