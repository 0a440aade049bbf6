"""The exact engine: returns the expected quantities of a run, by their names in the vocabulary, for any linear method.

Other ways to compute them (closed forms, listing all states of a small run) offer the protocol ``Moments`` too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.quadratics import QuadraticFederation, Quadratics
from ..training.rounds import average_weights, shares
from ..training.setting import Setting
from .coefficients import Forms
from .cohorts import cohorts
from .draws import Draw, draw, draw_of_cohorts
from .moments import Run
from .numbers import FLOATS
from .paths import Clients, layer_of

Array = np.ndarray[Any, Any]


class Moments(Protocol):
    """Expected quantities of a run of R rounds by name, as arrays of floats, fractions or 60-digit numbers.

    ``server[name]`` is evaluated at the server models ``(R + 1, ...)``, before the first round and after every round.
    ``rounds[name]`` has one entry per round ``(R, ...)``. ``iterations(name)`` is evaluated at the virtual average of
    all clients, before each of the T local steps of the run, and at the last server model ``(T + 1,)``. Quantities of
    clients have the clients on the last axis.
    """

    @property
    def server(self) -> Mapping[str, Array]: ...

    @property
    def rounds(self) -> Mapping[str, Array]: ...

    def iterations(self, name: str) -> Array: ...


class Readings(Moments, Protocol):
    """``Moments`` with the loss gap at the average iterate.

    ``average_gap`` is the loss gap at the mean of the virtual averages before every local step, for runs in which all
    clients take part; ``weights`` (numbers) weight them, equally by default.
    """

    def average_gap(self, weights: Weights | None = None) -> Any: ...


def exact_run(problem: Quadratics, method: Algorithm, setting: Setting) -> Run:
    """Return the expectations of a run over gradient noise and cohorts, exact up to rounding.

    Identical clients are followed as one group, so their number costs nothing. Raises ``NotAffineError`` if the method
    is not linear and ``EmpiricsError`` if the setting is not supported.

    >>> from empirics.algorithms import algorithm
    >>> from empirics.problems.quadratics import random_quadratics
    >>> problem = random_quadratics(3, clients=40, dim=2, noise=0.3)
    >>> setting = Setting(rounds=5, cohort=3, local_steps=3, step_size=0.1)
    >>> run = exact_run(problem, algorithm("fedinit(beta=0.06)"), setting)
    >>> run.server["grad_norm_sq"].shape, run.rounds["local_drift"].shape, run.iterations("grad_norm_sq").shape
    ((6,), (5,), (16,))
    """
    setting.check_cohort(problem.clients)
    client_shares = shares(setting, QuadraticFederation(problem))
    list_cohorts, p = _must_list_cohorts(setting, client_shares), problem
    first = group_of = np.arange(p.clients)
    if not list_cohorts:  # identical clients make a group
        rows = (p.curvatures.reshape(p.clients, -1), p.minima, p.noise.reshape(p.clients, -1), p.weights, client_shares)
        _, first, group_of = np.unique(np.column_stack(rows), axis=0, return_index=True, return_inverse=True)
        group_of = group_of.ravel()
    sizes = np.bincount(group_of).tolist()
    names = list(p.layers)
    weighted = setting.client_weight != "uniform" and bool(np.ptp(client_shares))
    forms = Forms(method, setting, FLOATS, names, names[0])
    shiftable = forms.next(p.clients, client_shares[0] if weighted else None).commutes_with_shifts(forms.initial)
    clients = Clients.of(
        FLOATS, sizes, p.weights[first], p.curvatures[first], p.minima[first], p.noise[first], p.start,
        layer_of(p.layers, p.dim),
        centred=shiftable and not setting.weight_decay and setting.average == "renormalised",
    )  # fmt: skip
    if list_cohorts:
        cohort = _draw_of_all_cohorts(problem, setting)
    else:
        cohort = draw(setting.sampling, setting.cohort, sizes, client_shares[first])
    run_shares = list(client_shares[first]) if weighted else None
    if forms.exchanges and not cohort.certain:
        raise EmpiricsError(
            f"{method} averages some layers less often than others: it is followed exactly where all clients take part "
            f"in every round, not {setting.cohort} of {problem.clients}; train such runs instead"
        )
    return Run(clients, method, setting, cohort, run_shares, group_of=group_of, layers=p.layers)


def _must_list_cohorts(setting: Setting, client_shares: Array) -> bool:
    """Whether a client's weight in the average depends on the other participants, so that cohorts must be listed."""
    if setting.sampling == "with_replacement":
        return False
    partial = setting.sampling == "bernoulli" or setting.cohort < len(client_shares)
    return partial and (bool(np.ptp(client_shares)) or setting.average == "unbiased")


def _draw_of_all_cohorts(problem: Quadratics, setting: Setting) -> Draw:
    federation = QuadraticFederation(problem)
    every = cohorts(setting.sampling, setting.cohort, shares(setting, federation))
    weights = [
        average_weights(setting, federation, np.array(c.clients), np.array(c.counts, dtype=float)) for c in every
    ]
    return draw_of_cohorts(every, weights)
