"""What an exact engine is: a problem, a method and a setting go in, readings in the vocabulary's words come out.

``ENGINES`` are those that run any method by its own hooks. Whoever computes the same in another way (in closed form, in
rational numbers, by counts of clients that are alike) offers an ``ExactEngine`` too, and passes the contract suite in
``tests/paper_checks/test_exact_engines.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.quadratics import Quadratics
from ..training.setting import Setting
from .groups import groups
from .moments import ExactRun, Trajectory
from .sampled import sampled, SampledRun

Array = np.ndarray[Any, Any]


class Moments(Protocol):
    """What a run of R rounds says, by words of the vocabulary; arrays of floats, of fractions, or of 60 digits.

    ``server[word]`` is read at the server models ``(R + 1, ...)``: before the first round and after every one.
    ``rounds[word]`` has one entry per round ``(R, ...)``. ``iterations(word)`` is read at the virtual average of all
    clients, before each of the T local steps of the run, and at the last server model ``(T + 1,)``. A word over clients
    has them on its last axis.
    """

    @property
    def server(self) -> Mapping[str, Array]: ...

    @property
    def rounds(self) -> Mapping[str, Array]: ...

    def iterations(self, name: str) -> Array: ...


class Readings(Moments, Protocol):
    """Moments, and what they say of all models of a run at once.

    ``average_gap`` is the loss gap at the mean of the virtual averages before every local step, of runs in which all
    clients take part; ``weights`` (numbers) say how much each counts, all alike without them.
    """

    def average_gap(self, weights: Weights | None = None) -> Any: ...


class ExactEngine(Protocol):
    """The expectation of a run over its noise and its cohorts, exact but for the rounding of its numbers.

    Words that an engine does not know are left out, never guessed. It raises ``EmpiricsError`` for a method or a
    setting that it cannot follow.

    >>> from empirics.algorithms import algorithm
    >>> from empirics.problems.quadratics import random_quadratics
    >>> problem = random_quadratics(3, clients=4, dim=2, noise=0.3)
    >>> setting = Setting(rounds=5, cohort=2, local_steps=3, step_size=0.1)
    >>> run = ENGINES["moments"](problem, algorithm("fedinit(beta=0.06)"), setting)
    >>> run.server["grad_norm_sq"].shape, run.rounds["local_drift"].shape, run.iterations("grad_norm_sq").shape
    ((6,), (5,), (16,))
    """

    def __call__(self, problem: Quadratics, method: Algorithm, setting: Setting) -> Readings: ...


def moments(problem: Quadratics, method: Algorithm, setting: Setting) -> Trajectory:
    """By mean and covariance of all that the method remembers: any affine method, every cohort listed."""
    return ExactRun(problem, method, setting).run()


def trained(problem: Quadratics, method: Algorithm, setting: Setting) -> SampledRun:
    """By training once: exact where nothing is random, which it makes sure of."""
    if problem.gradient_variance or setting.sampling != "without_replacement" or setting.cohort != problem.clients:
        raise EmpiricsError(
            "training once is exact without noise and with all clients; "
            f"got a gradient variance of {problem.gradient_variance:g}, {setting.cohort} of {problem.clients} clients "
            f"{setting.sampling.replace('_', ' ')}"
        )
    return sampled(problem, replace(method, everyone=True), setting, 0)


ENGINES: dict[str, ExactEngine] = {"moments": moments, "groups": groups, "trained": trained}
