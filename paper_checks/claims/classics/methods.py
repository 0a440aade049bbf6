"""FedProx, SCAFFOLD, FedNova and ProxSkip: the statements of their papers with exact constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import sympy as sp

from bounds import vocabulary as q

from ..checkers import number, short
from ..claim import Book, Finding, finding
from ..parabolas import Parabolas
from .runs import Case, consensus, gradients_at_optimum, mean, MIXED, ONE_MINIMUM

# ---- FedProx ----


def one_round() -> Iterator[Case]:
    """Cases of FedProx: 30 draws of different parabolas, and many of identical ones with inexact local solutions."""
    for start, weight in ((Fraction(40), Fraction(60)), (Fraction(-30), Fraction(90))):
        slopes = [MIXED.gradient(c, start) for c in range(3)]
        ends = [start - g / (h + weight) for g, h in zip(slopes, MIXED.curvatures, strict=True)]
        after = MIXED.loss(mean(ends)) + MIXED.curvature / 2 * consensus(ends) / 30  # their mean's variance
        squares = MIXED.global_gradient(start) ** 2
        yield after - MIXED.loss(start), {
            "grad_norm_sq": squares, "dissimilarity_factor": mean([g**2 for g in slopes]) / squares, "cohort": 30,
            "inexactness": 0, "proximal_weight": weight, "weak_convexity": 0, "smoothness": 3,
        }  # fmt: skip
    for inexactness in (Fraction(0), Fraction(1, 10)):  # the remaining share of the gradient 6 of (x - 1)^2 at 4
        moved = (1 - inexactness) * 6 / (2 + Fraction(60))
        yield (3 - moved) ** 2 - 9, {
            "grad_norm_sq": 36, "dissimilarity_factor": 1, "cohort": 10**10, "inexactness": inexactness,
            "proximal_weight": 60, "weak_convexity": 0, "smoothness": 2,
        }  # fmt: skip


def promised(book: Book, share: str) -> Finding:
    """rho at mu = 6 L B^2, with B a share of sqrt(K) and many participants, is at least 1/(24 L B^2)."""
    participants = sp.Integer(10**8)
    factor = sp.Rational(share) ** 2 * participants
    at = {q.inexactness: 0, q.weak_convexity: 0, q.cohort: participants, q.dissimilarity_factor: factor}
    at |= {q.smoothness: 1, q.proximal_weight: 6 * factor}
    times = (24 * factor * book["classics.fedprox_rho"].expr.subs(at)).evalf(30)
    witness = {"K": "1e8", "B": f"{share} sqrt(K)", "mu": "6 L B^2", "gamma": "0"}
    return finding(bool(times >= 1), f"rho is {short(times)} of 1/(24 L B^2)", witness)


# ---- SCAFFOLD ----

# A number that depends linearly on independent noises of mean 0 is an array: its mean, then the factor of each noise.


def certain(number: Fraction, sources: int) -> Any:
    """Return a number without noise, as the array."""
    return np.array([number] + [Fraction(0)] * sources, dtype=object)


def noise(source: int, sources: int) -> Any:
    """Return one of the noises, as the array."""
    return np.array([Fraction(int(i == source + 1)) for i in range(sources + 1)], dtype=object)


def squared(number: Any, variance: Fraction) -> Fraction:
    """Return the expected square of a number if every noise has this variance."""
    return number[0] ** 2 + variance * sum(number[1:] ** 2, Fraction(0))


ROUNDS, STEPS = 3, 2


def _distances(
    problem: Parabolas, step: Fraction, server_step: Any, size: int, start: Fraction, warm: bool
) -> list[Fraction]:
    """Return, by round, the expected squared distance of SCAFFOLD's server model to the minimiser, over all cohorts.

    Controls start at 0 or, if ``warm``, at the mean of STEPS noisy gradients.
    """
    from empirics.algorithms import algorithm
    from empirics.algorithms.local import Controls
    from empirics.algorithms.server import AddUpdate
    from empirics.algorithms.state import Remembered
    from empirics.exact import play
    from empirics.exact.numbers import vectors

    clients, sources = range(problem.clients), problem.clients * STEPS * ROUNDS
    slopes = [lambda x, c=c: problem.curvatures[c] * (x - certain(problem.minima[c], sources)) for c in clients]

    def drawn(r: int, c: int, k: int) -> Any:
        return noise((r * problem.clients + c) * STEPS + k, sources)

    class Warm(Controls):
        def begin(self, model: Any, clients_: int) -> Remembered:
            rows = [mean([slopes[c](model) + drawn(ROUNDS - 1, c, k) for k in range(STEPS)]) for c in clients]
            return Remembered({"control": vectors(np.stack(rows))}, {"control": vectors(mean(rows))})

    method = replace(algorithm("scaffold()"), combine=AddUpdate(server_step))
    method = replace(method, remember=(Warm(),)) if warm else method
    runs = [
        play(method, slopes, certain(start, sources), cohorts, local_steps=STEPS, step_size=step, noise=drawn)
        for cohorts in product(combinations(clients, size), repeat=ROUNDS - 1)
    ]
    minimiser = certain(problem.minimiser, sources)
    return [mean([squared(run[r].model - minimiser, problem.variance) for run in runs]) for r in range(ROUNDS)]


PARTS = (
    (MIXED, Fraction(4)), (MIXED, MIXED.minimiser), (ONE_MINIMUM, Fraction(4)),
    (replace(ONE_MINIMUM, variance=Fraction(7, 5)), ONE_MINIMUM.minimiser),
)  # fmt: skip
"""Clients and a start. The first has all terms of a bound; the others show the controls, the start or noise alone."""


def scaffold_runs(part: int, strongly: bool = False, warm: bool = False) -> Iterator[Case]:
    """Cases of three rounds of SCAFFOLD with two or three of three clients; ``strongly``: with that form's weights."""
    effective = Fraction(1, part)
    for (problem, start), cohort, server_step in product(PARTS, (2, 3), (Fraction(1), Fraction(3, 2))):
        step = effective / (STEPS * server_step)
        distances = _distances(problem, step, server_step, cohort, start, warm)
        weights = [(1 - effective / 2) ** -(r + 1) if strongly else 1 for r in range(ROUNDS)]
        average = sum((w * x for w, x in zip(weights, distances, strict=True)), Fraction(0)) / sum(weights)
        distance = (start - problem.minimiser) ** 2
        yield (problem.curvature**2 if warm else problem.curvature / 2) * average, {
            "clients": 3, "cohort": cohort, "local_steps": STEPS, "rounds": ROUNDS, "step_size": step,
            "server_step_size": server_step, "smoothness": 3, "strong_convexity": 1, "initial_distance_sq": distance,
            "initial_gap": problem.curvature / 2 * distance, "gradient_variance": problem.variance,
            "control_error": gradients_at_optimum(problem),
        }  # fmt: skip


def weights(book: Book) -> Finding:
    """The first term of the strongly convex form agrees with the summed weights of seven rounds."""
    step, rounds, convexity = Fraction(1, 900), 7, Fraction(1, 2)
    total = sum(((1 - convexity * step / 2) ** -(r + 1) for r in range(rounds)), Fraction(0))
    at: dict[str, Any] = {
        "initial_distance_sq": 3, "control_error": 0, "gradient_variance": 0, "clients": 9, "cohort": 4,
        "local_steps": 1, "step_size": step, "server_step_size": 1, "rounds": rounds, "smoothness": 1,
        "strong_convexity": convexity,
    }  # fmt: skip
    stated = number(book, "classics.scaffold_strongly_convex", **at)
    return finding(stated == 3 / (step * total), f"{short(stated)} both ways")


# ---- FedNova ----


def weighed_otherwise() -> Iterator[Case]:
    """Cases of (10): gradients of three clients in the plane under two sets of weights, some vanishing, some equal."""
    own = (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5))
    for others in ((Fraction(1, 3),) * 3, (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10)), own):
        points: list[Sequence[tuple[Any, Any]]] = [((3, -1), (0, 2), (-4, 1)), ((1, 1), (-5, 0), (2, -3))]
        points += [tuple((a / b - 1, 0) for a, b in zip(own, others, strict=True)), ((2, 1),) * 3]
        for gradients in points:
            norm = _squared(others, gradients)
            spread = sum((w * (x * x + y * y) for w, (x, y) in zip(others, gradients, strict=True)), Fraction(0))
            chi = sum(((a - b) ** 2 / b for a, b in zip(own, others, strict=True)), Fraction(0))
            yield _squared(own, gradients), {
                "surrogate_grad_norm_sq": norm, "dissimilarity_factor": 1, "dissimilarity_offset": spread - norm,
                "chi_square": chi,
            }  # fmt: skip


def _squared(weights: Sequence[Fraction], gradients: Sequence[tuple[Any, Any]]) -> Fraction:
    """Return the squared norm of the weighted sum of the gradients."""
    sums = (sum((w * g[i] for w, g in zip(weights, gradients, strict=True)), Fraction(0)) for i in (0, 1))
    return sum((s**2 for s in sums), Fraction(0))


# ---- ProxSkip ----


def coins() -> Iterator[Case]:
    """Cases of ProxSkip's expected potential after four iterations, over all coins, for (x - 3)^2 and (x + 1)^2/2.

    The runs start from 4 with controls 0 and without noise, or from the optimal models and controls with noise.
    """
    curves, minima, sources, variance = (Fraction(2), Fraction(1)), (Fraction(3), Fraction(-1)), 8, Fraction(7, 5)
    best = sum((h * b for h, b in zip(curves, minima, strict=True)), Fraction(0)) / sum(curves)
    best_controls = [h * (best - b) for h, b in zip(curves, minima, strict=True)]

    def case(step: Fraction, chance: Fraction, noisy: bool) -> Case:
        def potential(models: list[Any], controls: list[Any]) -> Fraction:
            spread = variance if noisy else Fraction(0)
            pairs = zip(controls, best_controls, strict=True)
            of_controls = mean([squared(c - certain(g, sources), spread) for c, g in pairs])
            of_models = mean([squared(x - certain(best, sources), spread) for x in models])
            return of_models + (step / chance) ** 2 * of_controls

        models = [certain(best if noisy else Fraction(4), sources)] * 2
        states = [(Fraction(1), models, [certain(g if noisy else Fraction(0), sources) for g in best_controls])]
        first = potential(*states[0][1:])
        for t in range(sources // 2):
            next_states = []
            for weight, models, controls in states:
                moved = [
                    x - step * (h * (x - certain(b, sources)) + noise(2 * t + i, sources) - c)
                    for i, (x, h, b, c) in enumerate(zip(models, curves, minima, controls, strict=True))
                ]
                common = mean(moved)
                renewed = [c + chance / step * (common - x) for c, x in zip(controls, moved, strict=True)]
                next_states += [(weight * chance, [common] * 2, renewed), (weight * (1 - chance), moved, controls)]
            states = next_states
        return sum((weight * potential(models, controls) for weight, models, controls in states), Fraction(0)), {
            "initial_lyapunov": first, "iterations": sources // 2, "step_size": step, "strong_convexity": 1,
            "communication_probability": chance, "smoothness": 2, "gradient_variance": variance if noisy else 0,
        }  # fmt: skip

    for step, chance in ((Fraction(1, 2), Fraction(2, 5)), (Fraction(1, 5), Fraction(3, 4))):
        for noisy in (False, True):
            yield case(step, chance, noisy)
