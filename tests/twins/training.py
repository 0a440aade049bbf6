"""Federated training in plain loops over Python floats, re-read from the papers' pseudocode.

``Plain`` is the problem and the plan: L2-regularised logistic regression, the cohort of every round, the batches of
every client. Every method below is a function of it that returns the server's model after each round.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp

import numpy as np

from empirics.federation.shuffles import orders

Vector = list[float]
Batch = list[tuple[Vector, float]]
GradientAt = Callable[[Vector], Vector]


def plus(a: Vector, b: Vector, factor: float = 1.0) -> Vector:
    return [x + factor * y for x, y in zip(a, b, strict=True)]


def minus(a: Vector, b: Vector) -> Vector:
    return plus(a, b, -1.0)


def times(factor: float, a: Vector) -> Vector:
    return [factor * x for x in a]


def norm_sq(a: Vector) -> float:
    return sum(x * x for x in a)


def mean(vectors: list[Vector], weights: list[float] | None = None) -> Vector:
    weights = weights or [1 / len(vectors)] * len(vectors)
    total = times(0.0, vectors[0])
    for vector, weight in zip(vectors, weights, strict=True):
        total = plus(total, vector, weight)
    return total


def plain(w: Vector, g: Vector, at: GradientAt) -> Vector:
    return g


@dataclass
class Plain:
    """Client k holds ``data[k]``; the clients ``cohorts[r]`` take part in round r, weighing ``weights[k]``."""

    data: list[Batch]
    cohorts: list[list[int]]
    weights: list[float]
    start: Vector
    eta: float
    steps: int
    batch: int
    seed: int
    regularisation: float
    momentum: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0

    @property
    def clients(self) -> int:
        return len(self.data)

    def batches(self, k: int, round_: int, steps: int) -> list[Batch]:
        """Shuffled passes over the client's samples, cut into batches, the last of a pass short."""
        size = len(self.data[k])
        order = orders(self.seed, round_, np.array([k]), np.array([size]), steps)[0]
        cut = [p[i : i + self.batch] for p in order for i in range(0, size, self.batch)]
        return [[self.data[k][i] for i in one] for one in cut[:steps]]

    def gradient(self, w: Vector, batch: Batch) -> Vector:
        total = times(self.regularisation, w)
        for x, y in batch:
            margin = y * sum(a * b for a, b in zip(x, w, strict=True))
            total = plus(total, x, -y / (1 + exp(margin)) / len(batch))
        return total

    def loss(self, w: Vector, batch: Batch) -> float:
        losses = [np.log1p(exp(-y * sum(a * b for a, b in zip(x, w, strict=True)))) for x, y in batch]
        return sum(losses) / len(batch) + self.regularisation / 2 * norm_sq(w)

    def local(
        self, w: Vector, batches: list[Batch], eta: float, direction=plain, after: Vector | None = None
    ) -> Vector:
        """SGD from ``w`` along ``direction(w, gradient, gradient_at)``, one step per batch.

        ``after``: what every step moves along besides, past the momentum.
        """
        velocity = times(0.0, w)
        for batch in batches:

            def at(p: Vector, batch: Batch = batch) -> Vector:
                return self.gradient(p, batch)

            d = plus(direction(w, at(w), at), w, self.weight_decay)
            velocity = plus(times(self.momentum, velocity), d)
            d = plus(d, velocity, self.momentum) if self.nesterov else velocity
            w = plus(w, d if after is None else plus(d, after), -eta)
        return w

    def shares(self, round_: int) -> list[float]:
        weights = [self.weights[k] for k in self.cohorts[round_]]
        return [p / sum(weights) for p in weights]

    def train(self, k: int, round_: int, w: Vector, direction=plain, steps: int | None = None) -> Vector:
        return self.local(w, self.batches(k, round_, steps or self.steps), self.eta, direction)


def fedavg(run: Plain, direction_of=lambda start: plain, steps: int | None = None) -> list[Vector]:
    """FedAvg; ``direction_of(server model)`` makes FedProx and FedSAM of it, ``steps`` = 1 distributed SGD."""
    w, path = run.start, []
    for r, cohort in enumerate(run.cohorts):
        ends = [run.train(k, r, w, direction_of(w), steps) for k in cohort]
        w = mean(ends, run.shares(r))
        path.append(w)
    return path


def dsgd(run: Plain) -> list[Vector]:
    return fedavg(run, steps=1)


def fedprox(run: Plain, mu: float) -> list[Vector]:
    return fedavg(run, lambda start: lambda w, g, at: plus(g, minus(w, start), mu))


def fedsam(run: Plain, rho: float, epsilon: float) -> list[Vector]:
    def uphill(w: Vector, g: Vector, at: GradientAt) -> Vector:
        return at(plus(w, g, rho / (norm_sq(g) ** 0.5 + epsilon)))

    return fedavg(run, lambda start: uphill)


def moves(run: Plain, r: int, w: Vector) -> list[Vector]:
    """``Delta_k = w - end_k`` of the cohort."""
    return [minus(w, run.train(k, r, w)) for k in run.cohorts[r]]


def fedavgm(run: Plain, m: float, divide: bool = False) -> list[Vector]:
    w, v, path = run.start, times(0.0, run.start), []
    for r in range(len(run.cohorts)):
        v = plus(times(m, v), mean(moves(run, r, w), run.shares(r)))
        w = minus(w, times(1 / (1 + m), v) if divide and r > 0 else v)
        path.append(w)
    return path


def fedadam(run: Plain, eta_g: float, beta1: float, beta2: float, epsilon: float) -> list[Vector]:
    w, m, v, path = run.start, times(0.0, run.start), times(0.0, run.start), []
    for r in range(len(run.cohorts)):
        step = times(-1.0, mean(moves(run, r, w), run.shares(r)))
        for i, u in enumerate(step):
            m[i] = beta1 * m[i] + (1 - beta1) * u
            v[i] = beta2 * v[i] + (1 - beta2) * u * u
        w = [x + eta_g * a / (b**0.5 + epsilon) for x, a, b in zip(w, m, v, strict=True)]
        path.append(w)
    return path


def fedexp(run: Plain, epsilon: float) -> list[Vector]:
    w, path = run.start, []
    for r in range(len(run.cohorts)):
        deltas, shares = moves(run, r, w), run.shares(r)
        average = mean(deltas, shares)
        spread = sum(p * norm_sq(d) for p, d in zip(shares, deltas, strict=True))
        w = plus(w, average, -max(1.0, spread / (2 * (norm_sq(average) + epsilon))))
        path.append(w)
    return path


def scaffold(run: Plain, relax: float = 0.0, uniform: bool = False, past: bool = False) -> list[Vector]:
    """SCAFFOLD with option II, its control the clients' mean by weight or ``uniform``; ``relax``: a relaxed start.

    ``past``: it corrects past the momentum.
    """
    zero = times(0.0, run.start)
    w, c, own, last, path = run.start, zero, [zero] * run.clients, [run.start] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        ends, change = [], zero
        for k in cohort:
            start = plus(w, minus(w, last[k]), relax)
            if past:
                end = run.local(start, run.batches(k, r, run.steps), run.eta, after=minus(c, own[k]))
            else:
                end = run.train(k, r, start, lambda _, g, at, k=k, c=c: plus(minus(g, own[k]), c))
            new = plus(minus(own[k], c), minus(start, end), 1 / (run.steps * run.eta))
            share = 1 / run.clients if uniform else run.weights[k]
            change, own[k] = plus(change, minus(new, own[k]), share), new
            last[k] = end
            ends.append(end)
        w, c = mean(ends, run.shares(r)), plus(c, change)
        path.append(w)
    return path


def feddyn(run: Plain, lam: float) -> list[Vector]:
    """The local objective is ``f + lam <w, h - start> + lam/2 ||w||^2``; the server adds the weighted mean of all h."""
    w, h, path = run.start, [times(0.0, run.start)] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        ends = []
        for k in cohort:
            linear = minus(h[k], w)
            end = run.train(k, r, w, lambda p, g, at, b=linear: plus(plus(g, b, lam), p, lam))
            h[k] = plus(h[k], minus(end, w))
            ends.append(end)
        w = plus(mean(ends, run.shares(r)), mean(h, run.weights))
        path.append(w)
    return path


def fedcm(run: Plain, alpha: float) -> list[Vector]:
    w, direction, path = run.start, times(0.0, run.start), []
    for r, cohort in enumerate(run.cohorts):

        def mixed(_: Vector, g: Vector, at: GradientAt, d: Vector = direction) -> Vector:
            return plus(times(alpha, g), d, 1 - alpha)

        ends = [run.train(k, r, w, mixed) for k in cohort]
        average = mean(ends, run.shares(r))
        direction = times(1 / (run.steps * run.eta), minus(w, average))
        w = average
        path.append(w)
    return path


def fedinit(run: Plain, beta: float, reading: str) -> list[Vector]:
    """FedInit: ``alg1`` (models, stale states), ``code`` (updates, stale states), ``virtual`` (all train)."""
    w, last, path = run.start, [run.start] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        starts, ends = {}, {}
        for k in range(run.clients) if reading == "virtual" else cohort:
            starts[k] = plus(w, minus(w, last[k]), beta)
            ends[k] = run.train(k, r, starts[k])
        if reading == "code":
            w = plus(w, mean([minus(ends[k], starts[k]) for k in cohort], run.shares(r)))
        else:
            w = mean([ends[k] for k in cohort], run.shares(r))
        for k, end in ends.items():
            last[k] = end
        path.append(w)
    return path


def scheduled(run: Plain, plan_of: Callable[[int, list[float]], tuple[int, float]]) -> list[Vector]:
    """FedAvg with ``plan_of(round from 1, losses so far)`` as steps and step size, losses on first batches."""
    w, path, losses = run.start, [], []
    for r, cohort in enumerate(run.cohorts):
        (steps, eta), shares = plan_of(r + 1, losses), run.shares(r)
        reported = [run.loss(w, run.batches(k, r, 1)[0]) for k in cohort]
        ends = [run.local(w, run.batches(k, r, steps), eta) for k in cohort]
        losses = [*losses, sum(p * one for p, one in zip(shares, reported, strict=True))]
        w = mean(ends, shares)
        path.append(w)
    return path
