"""Khaled et al. 2019, local gradient descent: the lemmas, the theorem, and a conclusion from it."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product

from ..checkers import number, short
from ..claim import Book, Finding, finding
from .runs import bent, Case, consensus, gradients_at_optimum, mean, MIXED, ONE_MINIMUM, paths

THEOREM = "classics.local_gd_theorem_1"


def every_step(*parts: int) -> Iterator[Case]:
    """Cases of the distance after every step of 1/parts: two rounds of parabolas, and a loss of two curvatures."""
    steps = [Fraction(1, part) for part in parts]
    for step, start in product(steps, (Fraction(4), MIXED.minimiser)):
        for before, after in pairwise(paths(MIXED, start, 2, 5, step)):
            x = mean(before)
            yield (mean(after) - MIXED.minimiser) ** 2, {
                "distance_sq": (x - MIXED.minimiser) ** 2, "consensus_distance": consensus(before),
                "optimality_gap": MIXED.loss(x) - MIXED.optimal_loss, "smoothness": 3, "step_size": step,
            }  # fmt: skip
    apart = (Fraction(-1), Fraction(1))  # two clients on either side of the minimum of a bent loss
    moved = mean([x - steps[0] * bent(Fraction(3))(x) for x in apart])
    yield moved**2, {
        "distance_sq": 0, "consensus_distance": consensus(apart), "optimality_gap": 0, "smoothness": 3,
        "step_size": steps[0],
    }  # fmt: skip


def epoch() -> Iterator[Case]:
    for problem, steps, start in (
        (MIXED, 4, Fraction(4)), (MIXED, 9, MIXED.minimiser), (MIXED, 2, Fraction(-5, 3)),
        (ONE_MINIMUM, 4, Fraction(4)),
    ):  # fmt: skip
        step = Fraction(1, 12 * steps)
        path = paths(problem, start, 1, steps, step)[:steps]
        yield sum(map(consensus, path), Fraction(0)), {
            "summed_gap": sum((problem.loss(mean(models)) - problem.optimal_loss for models in path), Fraction(0)),
            "local_steps": steps, "smoothness": 3, "step_size": step,
            "optimum_dissimilarity": gradients_at_optimum(problem),
        }  # fmt: skip


def whole_run(late: int) -> Iterator[Case]:
    """Cases of the gap at the mean of the averages; ``late``: further steps of the first round (printed index)."""
    for problem, steps, rounds, start in (
        (MIXED, 4, 6, Fraction(4)), (MIXED, 7, 3, MIXED.minimiser), (MIXED, 1, 20, Fraction(-2)),
        (ONE_MINIMUM, 2, 2, Fraction(4)),
    ):  # fmt: skip
        step = Fraction(1, 12 * steps)
        first = paths(problem, start, 1, steps + late, step)
        path = [*first[:-1], *paths(problem, mean(first[-1]), rounds - 1, steps, step)[:-1]]
        middle = mean([mean(models) for models in path])
        yield problem.loss(middle) - problem.optimal_loss, {
            "initial_distance_sq": (start - problem.minimiser) ** 2, "smoothness": 3, "step_size": step,
            "local_steps": steps, "iterations": len(path), "optimum_dissimilarity": gradients_at_optimum(problem),
        }  # fmt: skip


def gradient_descent(book: Book) -> Finding:
    """With one local step the gap from the minimiser stays zero, while (5) has a positive floor."""
    step = Fraction(1, 12)
    path = paths(MIXED, MIXED.minimiser, 30, 1, step)
    gap = MIXED.loss(mean([mean(models) for models in path])) - MIXED.optimal_loss
    floor = number(
        book, THEOREM, initial_distance_sq=0, smoothness=3, step_size=step, local_steps=1, iterations=30,
        optimum_dissimilarity=gradients_at_optimum(MIXED),
    )  # fmt: skip
    return finding(gap == 0 < floor, f"from the minimiser the gap stays {short(gap)}, the bound says {short(floor)}")
