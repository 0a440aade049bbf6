"""Federated training in plain loops, one client and one sample after another, re-read from the papers' pseudocode.

``Plain`` is the problem and the plan: L2-regularised logistic regression, the cohort of every round, the batches of
every client. Every method below is a function of it that returns the server's model after each round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log1p

import numpy as np

from empirics.federation.shuffles import orders

Vector = np.ndarray
Batch = list[tuple[Vector, float]]
GradientAt = Callable[[Vector], Vector]


def mean(vectors: list[Vector], weights: Sequence[float]) -> Vector:
    return sum(p * v for p, v in zip(weights, vectors, strict=True))


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
        pulls = [-y / (1 + exp(y * (x @ w))) * x for x, y in batch]
        return self.regularisation * w + sum(pulls) / len(batch)

    def loss(self, w: Vector, batch: Batch) -> float:
        return sum(log1p(exp(-y * (x @ w))) for x, y in batch) / len(batch) + self.regularisation / 2 * (w @ w)

    def local(
        self, w: Vector, batches: list[Batch], eta: float, direction=plain, after: Vector | float = 0.0
    ) -> Vector:
        """SGD from ``w`` along ``direction(w, gradient, gradient_at)``, one step per batch.

        ``after``: what every step moves along besides, past the momentum.
        """
        velocity = 0 * w
        for batch in batches:

            def at(p: Vector, batch: Batch = batch) -> Vector:
                return self.gradient(p, batch)

            d = direction(w, at(w), at) + self.weight_decay * w
            velocity = self.momentum * velocity + d
            w = w - eta * ((d + self.momentum * velocity if self.nesterov else velocity) + after)
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
        w = mean([run.train(k, r, w, direction_of(w), steps) for k in cohort], run.shares(r))
        path.append(w)
    return path


def fedsam(run: Plain, rho: float, epsilon: float) -> list[Vector]:
    return fedavg(run, lambda start: lambda w, g, at: at(w + rho * g / (np.linalg.norm(g) + epsilon)))


def moves(run: Plain, r: int, w: Vector) -> list[Vector]:
    """``Delta_k = w - end_k`` of the cohort."""
    return [w - run.train(k, r, w) for k in run.cohorts[r]]


def fedavgm(run: Plain, m: float, divide: bool = False) -> list[Vector]:
    w, v, path = run.start, 0.0, []
    for r in range(len(run.cohorts)):
        v = m * v + mean(moves(run, r, w), run.shares(r))
        w = w - (v / (1 + m) if divide and r > 0 else v)
        path.append(w)
    return path


def fedadam(run: Plain, eta_g: float, beta1: float, beta2: float, epsilon: float) -> list[Vector]:
    w, m, v, path = run.start, 0.0, 0.0, []
    for r in range(len(run.cohorts)):
        step = -mean(moves(run, r, w), run.shares(r))
        m, v = beta1 * m + (1 - beta1) * step, beta2 * v + (1 - beta2) * step**2
        w = w + eta_g * m / (v**0.5 + epsilon)
        path.append(w)
    return path


def fedexp(run: Plain, epsilon: float) -> list[Vector]:
    w, path = run.start, []
    for r in range(len(run.cohorts)):
        deltas, shares = moves(run, r, w), run.shares(r)
        average = mean(deltas, shares)
        spread = sum(p * (d @ d) for p, d in zip(shares, deltas, strict=True))
        w = w - max(1.0, spread / (2 * (average @ average + epsilon))) * average
        path.append(w)
    return path


def scaffold(run: Plain, relax: float = 0.0, uniform: bool = False, past: bool = False) -> list[Vector]:
    """SCAFFOLD with option II, its control the clients' mean by weight or ``uniform``; ``relax``: a relaxed start.

    ``past``: it corrects past the momentum.
    """
    zero = 0 * run.start
    w, c, own, last, path = run.start, zero, [zero] * run.clients, [run.start] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        change = 0.0
        for k in cohort:
            start, correction = w + relax * (w - last[k]), c - own[k]
            if past:
                last[k] = run.local(start, run.batches(k, r, run.steps), run.eta, after=correction)
            else:
                last[k] = run.train(k, r, start, lambda _, g, at, correction=correction: g + correction)
            new = own[k] - c + (start - last[k]) / (run.steps * run.eta)
            change, own[k] = change + (1 / run.clients if uniform else run.weights[k]) * (new - own[k]), new
        w, c = mean([last[k] for k in cohort], run.shares(r)), c + change
        path.append(w)
    return path


def scheduled(run: Plain, plan_of: Callable[[int, list[float]], tuple[int, float]]) -> list[Vector]:
    """FedAvg with ``plan_of(round from 1, losses so far)`` as steps and step size, losses on first batches."""
    w, path, losses = run.start, [], []
    for r, cohort in enumerate(run.cohorts):
        (steps, eta), shares = plan_of(r + 1, losses), run.shares(r)
        reported = [run.loss(w, run.batches(k, r, 1)[0]) for k in cohort]
        losses = [*losses, mean(reported, shares)]
        w = mean([run.local(w, run.batches(k, r, steps), eta) for k in cohort], shares)
        path.append(w)
    return path
