"""Replacements for Theorem 4.1, (72) and Theorem 4.3, with the noise of gradients instead of non-iidness.

They assume that the variance of a sample's gradient is bounded at every model, as Theorem 4.3 does and Theorem 4.1 does
not.
"""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import sympy as sp

from bounds.fedals.letters import eta, L, mu, sigma_k_sq, tau, w, Z
from bounds.operators import ClientMean

from ..claim import Book, Finding, finding
from .enumerated import Walk
from .participation import out_of_sample_gap, WEIGHTS


def _accumulated(power: int) -> sp.Expr:
    """Return the sum over a round's steps of a power of the largest weight of a step's gradient in the last model."""
    later = sp.Symbol("s", integer=True, nonnegative=True)
    return sp.summation((eta * (1 - eta * mu) ** later) ** power, (later, 0, tau - 1)).simplify()


def curvature(book: Book) -> sp.Expr:
    return ClientMean((L - mu) / 2 * w**2 * sigma_k_sq * tau / Z * _accumulated(2))


def sampling(book: Book) -> sp.Expr:
    return ClientMean(w * sigma_k_sq / Z * _accumulated(1))


def boundary(book: Book) -> Finding:
    """The bounds are at least the gap in the instance of fedals.theorem_4_1.boundary: gap 1, where (6) says 3/4."""
    values: dict[str, Any] = {"local_gap": [4.0, 0.0], "client_gradient_variance": [64.0, 0.0], "samples": 1}
    values |= {"client_weight": [0.5, 0.5], "smoothness": 1.0, "strong_convexity": 1.0}
    bounds = (book[f"fedals.one_round_{name}_sharp"] for name in ("noise", "constants"))
    numbers = [float(bound(**{q.name: values[q.name] for q in bound.quantities})) for bound in bounds]
    evidence = f"gap 1, bounds {', '.join(f'{v:g}' for v in numbers)}, where (6) is 0.75"
    return finding(min(numbers) >= 1, evidence)


def last_coins(book: Book) -> Finding:
    """The bound is at least the gap in instances of fedals.theorem_4_3.constants and .squared_distances."""
    closest = F(0)
    for clients, steps, pull in ((2, 7, F(1)), (32, 4, F(1)), (16, 16, F(1)), (5, 175, F(1, 20))):
        walk = Walk.of(clients, steps, pull)
        bound = book["fedals.rounds_noise_sharp"](
            client_weight=[1 / clients] * clients, client_gradient_variance=[1.0] * clients, smoothness=1.0,
            strong_convexity=1.0, samples_per_round=[steps] * clients, local_steps=steps, step_size=float(pull),
        )  # fmt: skip
        closest = max(closest, walk.gap / F(bound))
    return finding(closest <= 1 + F(1, 10**12), f"gap over bound at most {float(closest):.6g} on four of them")


def drawn(book: Book) -> Finding:
    """The bound equals the gap over all draws of three clients with different gaps; half squared distances."""
    gaps, bound = (F(3, 2), F(1, 4), F(5)), book["fedals.participation_case1_noise_sharp"]
    for cohort in (1, 2, 3):
        exact = out_of_sample_gap(cohort, gaps)
        stated = bound(
            client_weight=[float(p) for p in WEIGHTS], local_gap=[float(g) for g in gaps],
            client_gradient_variance=[7 * float(g) for g in gaps], samples=7, cohort=cohort, smoothness=1.0,
            strong_convexity=1.0,
        )  # fmt: skip
        if abs(float(exact) - float(stated)) > 1e-12:
            return finding(False, f"cohort {cohort}: {float(exact):.8g} over all draws, {float(stated):.8g} stated")
    return finding(True, "equal over all draws of 1, 2 and 3 of three clients")
