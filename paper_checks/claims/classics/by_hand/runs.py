"""Local SGD on lines, in rational numbers: unlike parabolas without noise, and one loss with fair coins for noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from ...decaying_k.by_hand.scalar import Scalars

UNLIKE = Scalars.of((5, -2, 1), (2, 1, 3))
"""Three clients with different minima and curvatures 1 to 3, so that local steps move the average off its course."""


def paths(problem: Scalars, start: Fraction, rounds: int, steps: int, step_size: Fraction) -> list[list[Fraction]]:
    """All clients' models before every local step of every round, and after the last average; all take part."""
    models, seen = [start] * problem.clients, []
    for _ in range(rounds):
        for _ in range(steps):
            seen.append(models)
            models = [x - step_size * problem.gradient(c, x) for c, x in enumerate(models)]
        models = [mean(models)] * problem.clients
    return [*seen, models]


def mean(numbers: Sequence[Fraction]) -> Fraction:
    """Their plain mean."""
    return sum(numbers, Fraction(0)) / len(numbers)


def consensus(models: Sequence[Fraction]) -> Fraction:
    """The mean squared distance of the models to their mean."""
    centre = mean(models)
    return mean([(x - centre) ** 2 for x in models])


def optimum_dissimilarity(problem: Scalars) -> Fraction:
    """The mean squared gradient of the clients at the global minimiser."""
    return mean([problem.gradient(c, problem.minimiser) ** 2 for c in range(problem.clients)])


def coin_means(slope: Callable[[Fraction], Fraction], step_size: Fraction, steps: int) -> list[Fraction]:
    """The expected model before each of the steps of SGD from 0, a fair coin of 1 or -1 added to every gradient."""
    chances, means = {Fraction(0): Fraction(1)}, []
    for _ in range(steps):
        means.append(sum((x * chance for x, chance in chances.items()), Fraction(0)))
        after: dict[Fraction, Fraction] = {}
        for x, chance in chances.items():
            for coin in (1, -1):
                moved = x - step_size * (slope(x) + coin)
                after[moved] = after.get(moved, Fraction(0)) + chance / 2
        chances = after
    return means


def distance_after(shrink: Fraction, added: Fraction, start: Fraction, steps: int) -> Fraction:
    """Where ``x -> shrink x + added`` leads from ``start``: second moments of SGD on a parabola."""
    for _ in range(steps):
        start = shrink * start + added
    return start
