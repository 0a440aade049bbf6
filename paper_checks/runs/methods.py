"""The algorithm that a bound covers, and what its assumptions require of federations and plans."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
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

from .origins import AVERAGE, ORIGINS

KNOBS: Mapping[str, Mapping[str, str]] = {
    "fedals": {"adaptation": "alpha"},
    "fedinit": {"relaxation": "beta"},
}
"""By algorithm: the quantities that are its arguments, with the names of these arguments."""
WITHOUT_DATA = {"fedcog": "fedavg"}
"""Algorithms that reduce to another one on losses without samples: FedCOG without generated data is FedAvg."""
LOCAL = ("fedavg", "fedinit", *WITHOUT_DATA)
"""Algorithms whose server and clients keep models only."""


def takes(about: About | None, quantity: str) -> bool:
    """Whether a quantity is an argument of the algorithm that a bound covers."""
    return about is not None and quantity in KNOBS.get(about.algorithm, {})


def keeps_state(about: About | None) -> bool:
    """Whether server or clients may keep more than models, such as SCAFFOLD's control variates."""
    return about is not None and about.algorithm not in LOCAL


def differs(about: About | None, algorithm: Algorithm) -> bool:
    """Whether an algorithm is another one than a bound covers."""
    return about is not None and algorithm.name.partition("(")[0] != about.algorithm


def knob(about: About | None, quantity: str, value: Any) -> tuple[Any, str]:
    """The value of an argument and the variant of the algorithm; (0, "intended") if it does not take the quantity."""
    return (value, about.reading) if about is not None and takes(about, quantity) else (0 * value, "intended")


@lru_cache(maxsize=64)
def method(about: About | None, *, data: bool = True, **knobs: Any) -> Algorithm:
    """Build the algorithm that a bound covers, in the variant that it names; ``data``: losses are means over samples.

    The ``knobs`` are values of quantities; those that the algorithm does not take are ignored.

    Raises:
        EmpiricsError: if there is no such algorithm.
    """
    if about is None:
        raise EmpiricsError("the bound names no algorithm: give --algorithm")
    name = about.algorithm if data else WITHOUT_DATA.get(about.algorithm, about.algorithm)
    if name not in ALGORITHMS:
        raise EmpiricsError(f"the bound is about {name}, which is not an algorithm here: give --algorithm")
    parameters, argument_names = signature(ALGORITHMS[name]).parameters, KNOBS.get(name, {})
    arguments = {argument_names.get(quantity, quantity): value for quantity, value in knobs.items()}
    arguments = {argument: value for argument, value in arguments.items() if argument in parameters}
    if "reading" in parameters:
        with suppress(BoundsError):  # a variant of the theory only: the algorithm has one form
            return algorithm(spec_string(name, **arguments, reading=about.reading))
    return algorithm(spec_string(name, **arguments))


@lru_cache(maxsize=64)
def linear(about: About) -> bool:
    """Whether a round of the algorithm only adds and scales models and gradients."""
    try:
        Forms(method(about, data=False), Setting(rounds=2, cohort=1, local_steps=1), FLOATS).next(2)
    except EmpiricsError:
        return False
    return True


@dataclass(frozen=True)
class Demands:
    """What the assumptions of a bound require: one client, one participant or local step per round, exact gradients.

    ``identical``: all clients have the same loss; ``parallel``: the gradients of two clients differ by the same vector
    at every model; ``average``: the bound is on the average of a run's iterates.
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
        """The options of a plan that must be 1."""
        ones = {"clients": self.one_client, "cohort": self.one_participant, "local_steps": self.one_step}
        return {name: 1 for name, required in ones.items() if required}


@lru_cache(maxsize=256)
def demands(bound: Bound) -> Demands:
    """What the assumptions of a bound require beyond inequalities."""
    assumed = {c.assumption for c in bound.conditions}
    words = {q.name for q in bound.quantities}
    target = ORIGINS.get(bound.target.name)
    return Demands(
        ONE_CLIENT in assumed,
        ONE_PARTICIPANT in assumed,
        ONE_LOCAL_STEP in assumed,
        EXACT_GRADIENTS in assumed,
        IDENTICAL_CLIENTS in assumed,
        UNIFORM_DISSIMILARITY in assumed or "uniform_dissimilarity" in words,
        target is not None and target.how == AVERAGE,
    )
