"""Wang et al. 2021: Theorem 1, the lemmas behind it, and its tuned step size."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.field_guide import CAPS

from ..checkers import At, resolve, term
from ..claim import Book
from ..parabolas import Parabolas
from .runs import bent, bent_loss, Case, coin_means, consensus, mean, MIXED, paths, pushed_means

SHIFTED, ONE = Parabolas.of((6, -3, 0), (2, 2, 2)), Parabolas.of((1, 1, 1), (2, 2, 2))
"""Clients of one curvature: zeta is infinite for parabolas of different curvatures."""
VARIANCE = Fraction(5, 3)
PUSHED = 8
"""Number of local steps of 1/4 on the loss of curvature 1 below its minimum and 1/2 above it."""


def _disagreement(problem: Parabolas) -> Fraction:
    """Return zeta^2, the largest squared distance of a client's gradient from the global one."""
    gradients = [
        problem.gradient(c, Fraction(0)) - problem.global_gradient(Fraction(0)) for c in range(problem.clients)
    ]
    return max(g**2 for g in gradients)


def drifting() -> Iterator[Case]:
    """Cases of a client's mean squared distance to the average of three in every step, on parabolas of curvature 2."""
    rounds = ((2, Fraction(1, 8)), (7, Fraction(1, 8)), (7, Fraction(1, 100)), (30, Fraction(1, 9)))
    noisy = ((SHIFTED, VARIANCE), (SHIFTED, Fraction(0)), (ONE, VARIANCE))
    for (steps, step), (problem, variance) in product(rounds, noisy):
        spread = Fraction(0)
        for models in paths(problem, Fraction(4), 1, steps, step)[:steps]:
            yield max((x - mean(models)) ** 2 for x in models) + spread, {
                "local_steps": steps, "step_size": step, "uniform_dissimilarity": _disagreement(problem),
                "gradient_variance": variance, "smoothness": 2,
            }  # fmt: skip
            spread = (1 - 2 * step) ** 2 * spread + step**2 * variance * Fraction(2, 3)


def one_round() -> Iterator[Case]:
    """Cases of Lemma 1: rounds of different parabolas without noise, and a step from the minimum with noise."""
    problem = MIXED
    rounds = ((3, 12, Fraction(4)), (9, 20, Fraction(-7, 2)), (9, 12, problem.minimiser))
    for steps, part, start in rounds:
        step = Fraction(1, part)
        path = paths(problem, start, 1, steps, step)
        after = [mean(models) for models in path[1:]]
        yield mean([problem.loss(x) - problem.optimal_loss for x in after]), {
            "clients": 3, "gradient_variance": 0, "smoothness": 3, "step_size": step, "local_steps": steps,
            "distance_sq": (start - problem.minimiser) ** 2,
            "round_end_distance_sq": (after[-1] - problem.minimiser) ** 2,
            "summed_consensus": sum(map(consensus, path[:steps]), Fraction(0)),
        }  # fmt: skip
    step = Fraction(1, 8)
    moved = step**2 * VARIANCE / 3
    yield moved, {  # curvature 2: the gap is the squared distance
        "clients": 3, "gradient_variance": VARIANCE, "smoothness": 2, "step_size": step, "local_steps": 1,
        "distance_sq": 0, "round_end_distance_sq": moved, "summed_consensus": 0,
    }  # fmt: skip


def whole_run() -> Iterator[Case]:
    """Cases of Theorem 1: parabolas of one curvature with noise, and a loss of two curvatures with local drift."""
    runs = ((4, 5, 8, SHIFTED), (1, 9, 30, SHIFTED), (8, 2, 10, SHIFTED), (1, 300, 300, ONE))
    for steps, rounds, part, problem in runs:
        step, start = Fraction(1, part), Fraction(4 if problem is SHIFTED else 1)
        second, gaps = (start - problem.minimiser) ** 2, []
        for _ in range(steps * rounds):  # the average takes a step of gradient descent with a third of the noise
            second = (1 - 2 * step) ** 2 * second + step**2 * VARIANCE / 3
            gaps.append(second)  # curvature 2: the gap is the squared distance
        yield mean(gaps), {
            "clients": 3, "gradient_variance": VARIANCE, "smoothness": 2, "step_size": step, "local_steps": steps,
            "initial_distance_sq": (start - problem.minimiser) ** 2, "rounds": rounds,
            "uniform_dissimilarity": _disagreement(problem),
        }  # fmt: skip
    for clients, variance, means in ((10**6, 1, coin_means), (2, 0, pushed_means)):
        after = means(bent(Fraction(1)), Fraction(1, 4), PUSHED + 1)[1:]
        yield mean([bent_loss(Fraction(1), x) for x in after]), {  # a lower bound if there is noise, by Jensen
            "clients": clients, "gradient_variance": variance, "smoothness": 1, "step_size": Fraction(1, 4),
            "local_steps": PUSHED, "initial_distance_sq": 0, "rounds": 1, "uniform_dissimilarity": 1 - variance,
        }  # fmt: skip


THEOREM = "classics.field_guide_theorem_1"


def tuned_terms(book: Book) -> sp.Expr:
    """Return (15) with the first term summed over the four caps of the step size and each other term at its own cap."""
    total = sum((q.initial_distance_sq / (2 * c * q.local_steps * q.rounds) for c in CAPS), sp.S.Zero)
    for name, cap in zip(("noise", "noise drift", "heterogeneity drift"), CAPS[1:], strict=True):
        total += resolve(At(term(THEOREM, name), {q.step_size: cap}), book)
    return sp.powsimp(sp.expand(total), force=True)
