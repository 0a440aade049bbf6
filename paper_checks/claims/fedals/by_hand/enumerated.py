"""One round of FedAvg on a problem so small that all its data sets are gone through: every expectation of the proofs.

Two clients draw three samples each from pools of three points, with replacement, so expectations over data sets and
their independent copies are finite sums. The loss is convex but not quadratic: ``mu/2 u^2 + (L - mu) log cosh u`` with
``u = theta - z`` has second derivatives between mu and L. Double precision, minimisers to the last digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from bounds.core import Bound

Array = np.ndarray[Any, np.dtype[np.float64]]

MU, SMOOTH = 0.6, 2.7
WEIGHTS = np.array([0.7, 0.3])
POOLS = (np.array([-1.3, 0.4, 2.9]), np.array([0.2, 1.7, 3.1]))
SAMPLES, START, STEP, STEPS = 3, -0.8, 0.23, 2
TOLERANCE = 1e-11

SETS: tuple[Array, ...] = tuple(np.array(list(product(pool, repeat=SAMPLES))) for pool in POOLS)
"""All data sets of each client, equally likely: ``(27, 3)``."""


def loss(theta: Array, z: Array) -> Array:
    u = theta - z
    return MU / 2 * u**2 + (SMOOTH - MU) * np.log(np.cosh(u))


def slope(theta: Array, z: Array) -> Array:
    u = theta - z
    return MU * u + (SMOOTH - MU) * np.tanh(u)


def risk(theta: Array, points: Array) -> Array:
    """Mean loss over the last axis of ``points``; ``theta`` broadcasts against the other axes."""
    return loss(theta[..., None], points).mean(-1)


def risk_slope(theta: Array, points: Array) -> Array:
    return slope(theta[..., None], points).mean(-1)


def minimisers(sets: Array) -> Array:
    """The minimiser of every data set's risk, by Newton's method from its mean (the risk is strongly convex)."""
    theta = sets.mean(-1)
    for _ in range(60):
        curvature = (MU + (SMOOTH - MU) / np.cosh(theta[:, None] - sets) ** 2).mean(-1)
        theta = theta - risk_slope(theta, sets) / curvature
    return np.asarray(theta)


def few_steps(sets: Array) -> Array:
    """The model after a few gradient steps on every data set's risk, from a common start: an inexact solver."""
    theta = np.full(len(sets), START)
    for _ in range(STEPS):
        theta = theta - STEP * risk_slope(theta, sets)
    return theta


def fresh_samples(sets: Array) -> Array:
    """The model after one step on every sample in turn, from a common start: local steps on fresh samples."""
    theta = np.full(len(sets), START)
    for sample in sets.T:
        theta = theta - STEP * slope(theta, sample)
    return theta


SOLVERS = {"exact": minimisers, "few steps": few_steps, "fresh samples": fresh_samples}


@dataclass(frozen=True)
class Client:
    """Expectations for one client; S its data, S' a copy of them, A the averaged and A_k the local model."""

    swap: float
    """(10), the bracket: loss on S' of A(S) minus that of A(S^(k))."""
    fresh: float
    """(11): loss of A(S) on S'."""
    own: float
    """(12): loss of A(S) on S."""
    swapped: float
    """(13): loss of A(S^(k)) on S'."""
    inner: float
    """Inner product of (17)."""
    inner_size: float
    """Its absolute value, (19)."""
    norms: float
    """Product of the norms, (20)."""
    moved_sq: float
    """(22), left: squared distance of A(S) and A(S^(k))."""
    local_moved_sq: float
    """(22), right without its weight: squared distance of A_k(S) and A_k(S')."""
    slope_sq: float
    """(28), left: squared gradient on S' at A(S^(k))."""
    excess_on_copy: float
    """(23): risk on S' of A_k(S) above that of A_k(S')."""
    drift_on_copy: float
    """(36), left, and the definition of non-iidness on S^(k)."""
    above_best_on_copy: float
    """(49): risk on S' of A(S^(k)) above the smallest one."""
    to_best_sq: float
    """Squared distance of A_k(S) to the minimiser on S', first square of (41)."""
    own_to_best_sq: float
    """Squared distance of A_k(S') to the minimiser on S', second square of (41)."""
    excess_over_best: float
    """(42): risk on S' of A_k(S) above the smallest one."""
    gap: float
    drift: float
    suboptimality: float


@cache
def clients(solver: str) -> tuple[Client, ...]:
    """Every expectation, for the solver of this name."""
    locals_ = [SOLVERS[solver](sets) for sets in SETS]
    return tuple(_client(k, locals_) for k in range(len(SETS)))


def _client(k: int, locals_: list[Array]) -> Client:
    """Axes: data set S_k, the other client's data set, the copy S'_k."""
    w, other = WEIGHTS[k], (1 - WEIGHTS[k]) * locals_[1 - k]
    mine, best, sets = locals_[k], minimisers(SETS[k]), SETS[k]
    before = (w * mine[:, None, None] + other[None, :, None]) + np.zeros((1, 1, len(mine)))  # A(S)
    after = (w * mine[None, None, :] + other[None, :, None]) + np.zeros((len(mine), 1, 1))  # A(S^(k))
    copy, own = sets[None, None], sets[:, None, None]
    push = risk_slope(after, copy)
    mine_, copied = mine[:, None], mine[None, :]  # A_k(S), A_k(S')
    here = {
        "swap": risk(before, copy) - risk(after, copy),
        "fresh": risk(before, copy),
        "own": risk(before, own),
        "swapped": risk(after, copy),
        "inner": push * (before - after),
        "inner_size": abs(push * (before - after)),
        "norms": abs(push) * abs(before - after),
        "moved_sq": (before - after) ** 2,
        "local_moved_sq": (mine_ - copied) ** 2,
        "slope_sq": push**2,
        "excess_on_copy": risk(mine_, sets[None]) - risk(copied, sets[None]),
        "drift_on_copy": risk(after, copy) - risk(mine[None, None], copy),
        "above_best_on_copy": risk(after, copy) - risk(best[None, None], copy),
        "to_best_sq": (mine_ - best[None, :]) ** 2,
        "own_to_best_sq": (mine - best) ** 2,
        "excess_over_best": risk(mine_, sets[None]) - risk(best[None, :], sets[None]),
        "gap": risk(mine, np.broadcast_to(POOLS[k], (len(mine), 3))) - risk(mine, sets),
        "drift": risk(before, own) - risk(mine_[:, :, None], own),
        "suboptimality": risk(mine, sets) - risk(best, sets),
    }
    return Client(**{name: float(np.mean(values)) for name, values in here.items()})


@cache
def gap(solver: str) -> float:
    """(3) in expectation: population minus empirical risk of the averaged model, weighted over clients."""
    first, second = (SOLVERS[solver](sets) for sets in SETS)
    theta = WEIGHTS[0] * first[:, None] + WEIGHTS[1] * second[None, :]
    pools = [risk(theta, pool[None, None]) for pool in POOLS]
    trained = [risk(theta, SETS[0][:, None]), risk(theta, SETS[1][None, :])]
    return float(sum(w * np.mean(p - t) for w, p, t in zip(WEIGHTS, pools, trained, strict=True)))


def weighted(solver: str, name: str) -> float:
    """The mean over clients of an expectation, with their weights."""
    return float(sum(w * getattr(c, name) for w, c in zip(WEIGHTS, clients(solver), strict=True)))


def at(bound: Bound, solver: str) -> float:
    """The value of a catalogue bound at the expectations of this problem."""
    measured = {
        "client_weight": WEIGHTS,
        "smoothness": SMOOTH,
        "strong_convexity": MU,
        "local_gap": [c.gap for c in clients(solver)],
        "non_iidness": [c.drift for c in clients(solver)],
        "local_suboptimality": [max(c.suboptimality, 0.0) for c in clients(solver)],  # rounding below zero
        "swap_gap": [c.swap for c in clients(solver)],
        # The slope changes by at most L times as much as the sample.
        "client_gradient_variance": [SMOOTH**2 * float(np.var(pool)) for pool in POOLS],
        "samples": SAMPLES,
        "samples_per_round": [SAMPLES] * len(POOLS),
        "local_steps": SAMPLES,
        "step_size": STEP,
    }
    return float(bound(**{q.name: measured[q.name] for q in bound.quantities}))
