"""Methods on lines with noisy gradients in rational numbers, by plain loops: every cohort, exact second moments.

A number that depends on independent noises of mean 0 is an array: what it is without noise, then its factors on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from ...decaying_k.by_hand.scalar import Scalars
from .runs import mean

Cohorts: TypeAlias = Sequence[Sequence[tuple[int, Fraction]]]
"""The cohorts of a round, each as likely: clients, each with its factor in the average."""


def certain(number: Fraction, sources: int) -> Any:
    """A number without noise."""
    return np.array([number] + [Fraction(0)] * sources, dtype=object)


def noise(source: int, sources: int) -> Any:
    """One of the noises."""
    return np.array([Fraction(int(i == source + 1)) for i in range(sources + 1)], dtype=object)


def squared(number: Any, variance: Fraction) -> Fraction:
    """Its expected square where every noise has this variance."""
    return number[0] ** 2 + variance * sum(number[1:] ** 2, Fraction(0))


@dataclass(frozen=True)
class LocalSteps:
    """Local SGD with a step size for every iteration; ``scales`` multiply the clients' losses."""

    problem: Scalars
    sizes: Sequence[Fraction]
    steps: int
    start: Fraction
    cohorts: Cohorts
    scales: Sequence[Fraction]

    def gap_and_cap(self) -> tuple[Fraction, Fraction]:
        """The expected gap of the last model; the largest expected squared gradient of a client's own (noisy) loss."""
        problem, clients = self.problem, self.problem.clients
        sources = clients * len(self.sizes)
        servers, squares = [certain(self.start, sources)], [Fraction(0)] * sources
        for begun in range(0, len(self.sizes), self.steps):
            ends = []
            for server in servers:
                models = [server] * clients
                for t in range(begun, begun + self.steps):
                    for c, x in enumerate(models):
                        slope = problem.curvatures[c] * (x - certain(problem.minima[c], sources))
                        slope = slope + noise(clients * t + c, sources)
                        squares[clients * t + c] += squared(slope, problem.variance) / len(servers)
                        models[c] = x - self.sizes[t] * self.scales[c] * slope
                ends += [sum(factor * models[c] for c, factor in cohort) for cohort in self.cohorts]
            servers = ends
        away = [squared(x - certain(problem.minimiser, sources), problem.variance) for x in servers]
        return problem.curvature / 2 * mean(away), max(squares)


@dataclass(frozen=True)
class ControlledSteps:
    """SCAFFOLD, option II: controls start at 0, or ``warm`` at the mean of as many noisy gradients as local steps."""

    problem: Scalars
    step_size: Fraction
    server_step_size: Fraction
    steps: int
    cohort: int
    start: Fraction
    warm: bool = False

    def before_rounds(self, rounds: int) -> list[list[Any]]:
        """By round the server models before it, over every cohort of every round before."""
        clients, steps, sources = self.problem.clients, self.steps, self.problem.clients * self.steps * rounds
        start, last = certain(self.start, sources), clients * steps * (rounds - 1)
        controls = [certain(Fraction(0), sources)] * clients
        if self.warm:
            controls = [
                mean([self._slope(c, start, last + c * steps + k, sources) for k in range(steps)])
                for c in range(clients)
            ]
        states, found = [(start, controls)], [[start]]
        for r in range(rounds - 1):
            after = []
            for server, kept in states:
                ends, renewed = [], []
                for c in range(clients):
                    x, slopes = server, []
                    for k in range(steps):
                        slopes.append(self._slope(c, x, (r * clients + c) * steps + k, sources))
                        x = x - self.step_size * (slopes[-1] - kept[c] + mean(kept))
                    ends.append(x)
                    renewed.append(mean(slopes))
                for chosen in combinations(range(clients), self.cohort):
                    moved = server + self.server_step_size * (mean([ends[c] for c in chosen]) - server)
                    after.append((moved, [renewed[c] if c in chosen else kept[c] for c in range(clients)]))
            states = after
            found.append([server for server, _ in states])
        return found

    def _slope(self, client: int, x: Any, source: int, sources: int) -> Any:
        slope = self.problem.curvatures[client] * (x - certain(self.problem.minima[client], sources))
        return slope + noise(source, sources)
