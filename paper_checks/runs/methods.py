"""The algorithm that a bound covers, and what else it demands of federations and plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import signature
from typing import Any

from bounds.assumptions import (
    EXACT_GRADIENTS,
    IDENTICAL_CLIENTS,
    ONE_CLIENT,
    ONE_LOCAL_STEP,
    ONE_PARTICIPANT,
    UNIFORM_DISSIMILARITY,
)
from bounds.core import About, Bound
from bounds.errors import BoundsError
from empirics.algorithms import algorithm, ALGORITHMS, spec_string
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.exact import FLOATS
from empirics.exact.coefficients import Forms
from empirics.training.setting import Setting

from .words import AVERAGE, WORDS

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
        return algorithm(spec_string(name, **told))
    try:
        return algorithm(spec_string(name, **told, reading=about.reading))
    except BoundsError:  # a reading of the theory only: the algorithm has one form
        return algorithm(spec_string(name, **told))


@lru_cache(maxsize=64)
def linear(about: About) -> bool:
    """Whether a round of the method only adds and scales models and gradients."""
    try:
        Forms(method(about, data=False), Setting(rounds=2, cohort=1, local_steps=1), FLOATS).next(2)
    except EmpiricsError:
        return False
    return True


# ---- what a bound demands ----


@dataclass(frozen=True)
class Demands:
    """Whether there is one client, one participant a round, one local step a round; whether gradients are exact.

    ``identical``: all clients have one loss; ``parallel``: their gradients differ by the same vector at every model;
    ``average``: the bound is on the average of a run's iterates.
    """

    one_client: bool
    one_participant: bool
    one_step: bool
    quiet: bool
    identical: bool
    parallel: bool
    average: bool

    @property
    def plan(self) -> dict[str, Any]:
        """The numbers of a plan that they fix, by the names of options."""
        asked = {"clients": self.one_client, "cohort": self.one_participant, "local_steps": self.one_step}
        return {name: 1 for name, one in asked.items() if one}


@lru_cache(maxsize=256)
def demands(bound: Bound) -> Demands:
    """What the assumptions of a bound require beyond inequalities."""
    assumed = {c.assumption for c in bound.conditions}
    words = {q.name for q in bound.quantities}
    target = WORDS.get(bound.target.name)
    return Demands(
        ONE_CLIENT in assumed,
        ONE_PARTICIPANT in assumed,
        ONE_LOCAL_STEP in assumed,
        EXACT_GRADIENTS in assumed,
        IDENTICAL_CLIENTS in assumed,
        UNIFORM_DISSIMILARITY in assumed or "uniform_dissimilarity" in words,
        target is not None and target.how == AVERAGE,
    )
