"""One round of FedAvg on a problem so small that the expectations of the proofs are computed over all its data sets.

Two clients draw three samples each from pools of three points, with replacement, so that expectations over data sets
and their independent copies are finite sums. The loss ``mu/2 u^2 + (L - mu) log cosh u`` with ``u = theta - z`` is
convex but not quadratic; its second derivative lies between mu and L. Computed in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction as F
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from bounds.core import Bound

from ..claim import Book, fails, Finding, finding, Grade, holds

Array = np.ndarray[Any, np.dtype[np.float64]]

MU, SMOOTH = 0.6, 2.7
WEIGHTS = np.array([0.7, 0.3])
POOLS = (np.array([-1.3, 0.4, 2.9]), np.array([0.2, 1.7, 3.1]))
SAMPLES, START, STEP, STEPS = 3, -0.8, 0.23, 2
TOLERANCE = 1e-11

SETS: tuple[Array, ...] = tuple(np.array(list(product(pool, repeat=SAMPLES))) for pool in POOLS)
"""All data sets of each client, which are equally likely; shape (27, 3)."""


def loss(theta: Array, z: Array) -> Array:
    u = theta - z
    return MU / 2 * u**2 + (SMOOTH - MU) * np.log(np.cosh(u))


def slope(theta: Array, z: Array) -> Array:
    u = theta - z
    return MU * u + (SMOOTH - MU) * np.tanh(u)


def risk(theta: Array, points: Array) -> Array:
    """Return the mean loss over the last axis of ``points``; ``theta`` broadcasts against the other axes."""
    return loss(theta[..., None], points).mean(-1)


def risk_slope(theta: Array, points: Array) -> Array:
    return slope(theta[..., None], points).mean(-1)


def minimisers(sets: Array) -> Array:
    """Return the minimiser of every data set's risk, by Newton's method from the mean of the samples."""
    theta = sets.mean(-1)
    for _ in range(60):
        curvature = (MU + (SMOOTH - MU) / np.cosh(theta[:, None] - sets) ** 2).mean(-1)
        theta = theta - risk_slope(theta, sets) / curvature
    return np.asarray(theta)


def few_steps(sets: Array) -> Array:
    """Return the model after a few gradient steps on every data set's risk from a common start: an inexact solver."""
    theta = np.full(len(sets), START)
    for _ in range(STEPS):
        theta = theta - STEP * risk_slope(theta, sets)
    return theta


def fresh_samples(sets: Array) -> Array:
    """Return the model after one step on every sample in turn from a common start: local steps on fresh samples."""
    theta = np.full(len(sets), START)
    for sample in sets.T:
        theta = theta - STEP * slope(theta, sample)
    return theta


SOLVERS = {"exact": minimisers, "few steps": few_steps, "fresh samples": fresh_samples}


@cache
def clients(solver: str) -> tuple[Any, ...]:
    """Return, for each client, its ``weight`` and the expectations that occur in the proofs, for a solver by name.

    S are the client's data, S' is an independent copy, S^(k) has S' in place of S; A is the averaged model, A_k the
    local one.
    """
    return tuple(_client(k, [SOLVERS[solver](sets) for sets in SETS]) for k in range(len(SETS)))


def _client(k: int, locals_: list[Array]) -> SimpleNamespace:
    """Compute one client's expectations. Arrays have axes for its data S_k, the other client's data, the copy S'_k."""
    w, other = WEIGHTS[k], (1 - WEIGHTS[k]) * locals_[1 - k]
    mine, best, sets = locals_[k], minimisers(SETS[k]), SETS[k]
    before = (w * mine[:, None, None] + other[None, :, None]) + np.zeros((1, 1, len(mine)))  # A(S)
    after = (w * mine[None, None, :] + other[None, :, None]) + np.zeros((len(mine), 1, 1))  # A(S^(k))
    copy, own = sets[None, None], sets[:, None, None]
    push = risk_slope(after, copy)
    mine_, copied = mine[:, None], mine[None, :]  # A_k(S), A_k(S')
    values = {
        "swap": risk(before, copy) - risk(after, copy),  # (10), the bracket
        "fresh": risk(before, copy),  # (11)
        "own": risk(before, own),  # (12)
        "swapped": risk(after, copy),  # (13)
        "inner": push * (before - after),  # (17)
        "inner_size": abs(push * (before - after)),  # (19)
        "norms": abs(push) * abs(before - after),  # (20)
        "moved_sq": (before - after) ** 2,  # (22), left
        "local_moved_sq": (mine_ - copied) ** 2,  # (22), right without its weight
        "slope_sq": push**2,  # (28), left
        "excess_on_copy": risk(mine_, sets[None]) - risk(copied, sets[None]),  # (23)
        "drift_on_copy": risk(after, copy) - risk(mine[None, None], copy),  # (36), left: non-iidness on S^(k)
        "above_best_on_copy": risk(after, copy) - risk(best[None, None], copy),  # (49)
        "to_best_sq": (mine_ - best[None, :]) ** 2,  # first square of (41): A_k(S) to the minimiser on S'
        "own_to_best_sq": (mine - best) ** 2,  # second square of (41): A_k(S') to the minimiser on S'
        "excess_over_best": risk(mine_, sets[None]) - risk(best[None, :], sets[None]),  # (42)
        "gap": risk(mine, np.broadcast_to(POOLS[k], (len(mine), 3))) - risk(mine, sets),
        "drift": risk(before, own) - risk(mine_[:, :, None], own),
        "suboptimality": risk(mine, sets) - risk(best, sets),
    }
    return SimpleNamespace(weight=float(w), **{name: float(np.mean(array)) for name, array in values.items()})


@cache
def gap(solver: str) -> float:
    """Return the expectation of (3): population minus empirical risk of the averaged model, weighted over clients."""
    first, second = (SOLVERS[solver](sets) for sets in SETS)
    theta = WEIGHTS[0] * first[:, None] + WEIGHTS[1] * second[None, :]
    pools = [risk(theta, pool[None, None]) for pool in POOLS]
    trained = [risk(theta, SETS[0][:, None]), risk(theta, SETS[1][None, :])]
    return float(sum(w * np.mean(p - t) for w, p, t in zip(WEIGHTS, pools, trained, strict=True)))


def at(bound: Bound, solver: str) -> float:
    """Evaluate a catalogue bound at the expectations of this problem."""
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


def on_data(book: Book, step: str, only: str = "") -> Finding:
    """Check a step of a proof, ``LEFT <= RIGHT`` or ``LEFT == RIGHT``, for all clients and solvers (or ``only`` one).

    The texts use the names of the expectations of ``clients``, and MU and SMOOTH.
    """
    left, relation, right = step.partition(" == ") if " == " in step else step.partition(" <= ")
    closest = 0.0
    for solver in (only,) if only else SOLVERS:
        for k, client in enumerate(clients(solver)):
            a, b = (eval(side, {"MU": MU, "SMOOTH": SMOOTH}, vars(client)) for side in (left, right))
            close = abs(a - b) <= TOLERANCE * max(abs(a), abs(b))
            if not (close or (relation == " <= " and a <= b)):
                return fails(f"client {k + 1}, {solver}: {a:.8g} against {b:.8g}")
            closest = max(closest, a / b if b else 1.0)
    return holds("equal" if relation == " == " else f"left at most {closest:.4f} of right", Grade.SEARCHED)


def above_gap(book: Book, *names: str, only: str = "") -> Finding:
    """The gap of this problem is at most each of these bounds, for all solvers or ``only`` one."""
    solvers = (only,) if only else SOLVERS
    pairs = {f"{name}, {s}": (gap(s), at(book[name], s)) for name in names for s in solvers}
    evidence = "; ".join(f"{what}: gap {a:.5g}, bound {b:.5g}" for what, (a, b) in pairs.items())
    return finding(all(a <= b for a, b in pairs.values()), evidence, grade=Grade.SEARCHED)


# ---- identical clients that step towards fresh samples, in fractions ----


def weights(pulls: Sequence[F]) -> list[F]:
    """Return the weight of every sample in the model after one step towards each sample, in this order."""
    shares: list[F] = []
    for pull in pulls:
        shares = [(1 - pull) * x for x in shares] + [pull]
    return shares


@dataclass(frozen=True)
class Walk:
    """One round of identical clients from the common mean, with half squared distances as loss, so that L = mu = 1.

    In each step a client draws a sample of variance 1 (such as a fair coin of 1 and -1) and moves the share ``pull`` of
    the way to it. Its model is a weighted sum of its samples, and all expectations are sums over the weights.
    """

    clients: int
    pulls: tuple[F, ...]

    @classmethod
    def of(cls, clients: int, steps: int, pull: F) -> Walk:
        return cls(clients, (pull,) * steps)

    @property
    def steps(self) -> int:
        return len(self.pulls)

    @property
    def local_gap(self) -> F:
        """The covariance of a client's model with the mean of its samples."""
        return sum(weights(self.pulls), F(0)) / self.steps

    @property
    def gap(self) -> F:
        return self.local_gap / self.clients

    @property
    def non_iidness(self) -> F:
        """Half the difference of squared distances to the mean of a client's samples: averaged minus local model."""
        variance = sum((x**2 for x in weights(self.pulls)), F(0))
        return (1 - F(1, self.clients)) * (2 * self.local_gap - variance) / 2

    @property
    def suboptimality(self) -> F:
        """Half the squared distance of a client's model to the mean of its samples."""
        return sum(((x - F(1, self.steps)) ** 2 for x in weights(self.pulls)), F(0)) / 2
