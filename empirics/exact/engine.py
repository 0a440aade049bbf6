"""The exact engine: a problem, a method and a setting go in, expectations by the vocabulary's names come out.

Whoever computes the same in another way (in closed form, by all states of a small run) offers ``Moments`` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.quadratics import QuadraticFederation, Quadratics
from ..training.rounds import _row_weights, shares
from ..training.setting import Setting
from .coefficients import Forms
from .cohorts import cohorts
from .draws import Draw, draw, listed
from .moments import Run
from .numbers import FLOATS
from .paths import Clients, layer_of

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
    clients take part; ``weights`` (numbers) say how much each counts, all equally without them.
    """

    def average_gap(self, weights: Weights | None = None) -> Any: ...


def exact_run(problem: Quadratics, method: Algorithm, setting: Setting) -> Run:
    """The expectation of a run over its noise and its cohorts, exact but for rounding; any linear method.

    Identical clients are followed together, however many there are. Raises ``NotAffineError`` for a method that is not
    linear and ``EmpiricsError`` for a setting that cannot be followed.

    >>> from empirics.algorithms import algorithm
    >>> from empirics.problems.quadratics import random_quadratics
    >>> problem = random_quadratics(3, clients=40, dim=2, noise=0.3)
    >>> setting = Setting(rounds=5, cohort=3, local_steps=3, step_size=0.1)
    >>> run = exact_run(problem, algorithm("fedinit(beta=0.06)"), setting)
    >>> run.server["grad_norm_sq"].shape, run.rounds["local_drift"].shape, run.iterations("grad_norm_sq").shape
    ((6,), (5,), (16,))
    """
    setting.check_cohort(problem.clients)
    each = shares(setting, QuadraticFederation(problem))
    alone, p = _draws_are_unlike(setting, each), problem
    first = of = np.arange(p.clients)
    if not alone:  # identical clients make a group
        told = (p.curvatures.reshape(p.clients, -1), p.minima, p.noise.reshape(p.clients, -1), p.weights, each)
        _, first, of = np.unique(np.column_stack(told), axis=0, return_index=True, return_inverse=True)
    sizes = np.bincount(of.ravel()).tolist()
    names = list(p.layers)
    unlike = setting.client_weight != "uniform" and bool(np.ptp(each))
    forms = Forms(method, setting, FLOATS, names, names[0])
    plain = forms.next(p.clients, each[0] if unlike else None).moves_along(forms.first)
    clients = Clients.of(
        FLOATS, sizes, p.weights[first], p.curvatures[first], p.minima[first], p.noise[first], p.start,
        layer_of(p.layers, p.dim), centred=plain and not setting.weight_decay and setting.average == "renormalised",
    )  # fmt: skip
    drawn = _listed(problem, setting) if alone else draw(setting.sampling, setting.cohort, sizes, each[first])
    if forms.exchanges and not drawn.certain:
        raise EmpiricsError(
            f"{method} averages some layers less often than others: it is followed exactly where all clients take part "
            f"in every round, not {setting.cohort} of {problem.clients}; train such runs instead"
        )
    return Run(clients, method, setting, drawn, list(each[first]) if unlike else None, of=of.ravel(), layers=p.layers)


def _draws_are_unlike(setting: Setting, each: Array) -> bool:
    """Whether weights in the average depend on who else was drawn, so that all cohorts must be listed."""
    if setting.sampling == "with_replacement":
        return False
    some = setting.sampling == "bernoulli" or setting.cohort < len(each)
    return some and (bool(np.ptp(each)) or setting.average == "unbiased")


def _listed(problem: Quadratics, setting: Setting) -> Draw:
    federation = QuadraticFederation(problem)
    every = cohorts(setting.sampling, setting.cohort, shares(setting, federation))
    weights = [_row_weights(setting, federation, np.array(c.clients), np.array(c.counts, dtype=float)) for c in every]
    return listed(every, weights)
