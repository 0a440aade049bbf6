"""Li et al. 2020: Theorems 1 to 3 compared with exact runs, in both readings of the first step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from ..checkers import short
from ..claim import Book, Finding, finding
from ..parabolas import Parabolas
from .runs import Case, MIXED


def _identical(clients: int, weights: tuple[Fraction, ...] = (), variance: Fraction = Fraction(0)) -> Parabolas:
    """Return clients that all have the loss (x - 1)^2."""
    return Parabolas((Fraction(1),) * clients, (Fraction(2),) * clients, weights=weights, variance=variance)


VARIANCE = Fraction(7, 5)
RUNS = (
    (MIXED, 2, Fraction(4), 3, 2),
    (MIXED, 2, MIXED.minimiser, 1, 3),
    (replace(MIXED, variance=VARIANCE), 2, Fraction(4), 9, 1),
    (_identical(2), 2, Fraction(4), 1, 3),
    (_identical(2, variance=VARIANCE), 2, Fraction(1), 1, 3),
    (_identical(12, variance=VARIANCE), 1, Fraction(1), 1, 1),
)
"""Clients, cohort, start, local steps, rounds. The first has all terms of the bounds; the others show single terms:
heterogeneity, noise of different clients, the start, noise of all and of one of identical clients."""
OFTEN = ((_identical(1), 50, Fraction(4), 1, 3), (_identical(1, variance=VARIANCE), 50, Fraction(1), 1, 3))
"""One client that is drawn 50 times per round."""
LARGER = tuple(Fraction(2 if k == 0 else 1, 101) for k in range(100))
THREE_QUARTERS, TENTHS = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
UNEQUAL_RUNS = (
    *((replace(problem, weights=TENTHS), *plan) for problem, *plan in RUNS[:3]),
    (_identical(2, THREE_QUARTERS), 2, Fraction(4), 1, 3),
    (_identical(2, THREE_QUARTERS, VARIANCE), 2, Fraction(1), 1, 3),
    (_identical(100, LARGER, VARIANCE), 1, Fraction(1), 1, 1),
)


def exact_runs(everyone: bool = False, again: bool = False, unequal: bool = False) -> Iterator[Case]:
    """Cases of exact runs whose step size 2/(mu (offset + t)) starts at t = 0 or 1, with the G of each run.

    ``everyone`` takes part, or clients are drawn ``again`` (with replacement). With ``unequal`` weights p_k they run
    SGD on the losses p_k N F_k, and the bound has the constants stated for these.
    """
    plans: Sequence[Any] = UNEQUAL_RUNS if unequal else (*RUNS, *OFTEN) if again else RUNS
    sampling = "with_replacement" if again else "without_replacement"
    from empirics.exact import expected, Group
    from empirics.training.setting import Setting

    for first, (problem, cohort, start, steps, rounds) in product((0, 1), plans):
        clients = problem.clients
        size, scales = clients if everyone else cohort, [clients * p for p in problem.shares]
        smoothness, convexity = max(scales) * problem.smoothness, min(scales) * problem.strong_convexity
        offset: Any = max(8 * smoothness / convexity, Fraction(steps)) + first
        identical = Counter(zip(scales, problem.curvatures, problem.minima, strict=True))
        groups = [Group(s * h, b, s**2 * problem.variance, count) for (s, h, b), count in identical.items()]
        setting = Setting(
            rounds, size, local_steps=steps, step_size=2 / (convexity * offset), step_offset=offset, sampling=sampling
        )
        run = expected("fedavg()", groups, start, setting)
        caps = run.rounds["client_grad_cap_sq"].max(axis=0)
        cap = max(of_scaled / s**2 for of_scaled, (s, _, _) in zip(caps, identical, strict=True))
        yield run.server["optimality_gap"][-1], {
            "clients": clients, "cohort": size, "client_weight": (Fraction(1, clients),) * clients,
            "client_gradient_variance": (max(scales) * problem.variance,) * clients, "smoothness": smoothness,
            "strong_convexity": convexity, "heterogeneity": problem.heterogeneity, "grad_cap_sq": max(scales) * cap,
            "local_steps": steps, "iterations": steps * rounds,
            "initial_distance_sq": (start - problem.minimiser) ** 2,
        }  # fmt: skip


def distance(book: Book) -> Finding:
    largest = max(MIXED.gradient(c, Fraction(4)) ** 2 for c in range(3))
    share = (4 - MIXED.minimiser) ** 2 / (4 * largest / MIXED.strong_convexity**2)
    return finding(share <= Fraction(1, 4), f"the squared distance is {short(share)} of the bound")
