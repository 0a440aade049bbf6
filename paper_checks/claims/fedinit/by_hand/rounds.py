"""Rounds of FedInit played in exact arithmetic on small federations, by loops written from Algorithm 1's lines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations

import sympy as sp

from ...claim import Book, fails, Finding, holds

Run = Callable[[Book], Finding]


def sampled_square(book: Book) -> Finding:
    """The sampling identity of Lemma 3 by enumeration of every cohort, for every N up to C = 5."""
    x = [Fraction(7, 3), Fraction(-2), Fraction(5, 4), Fraction(-1, 6), Fraction(3)]
    clients, total, squares = len(x), sum(x), sum(v * v for v in x)
    for drawn in range(1, clients + 1):
        cohorts = list(combinations(x, drawn))
        exact = sum((sum(some) ** 2 for some in cohorts), Fraction(0)) / len(cohorts)
        mixed = Fraction(drawn * (drawn - 1), clients * (clients - 1)) * total**2
        alone = Fraction(drawn * (clients - drawn), clients * (clients - 1)) * squares
        if exact != mixed + alone:
            return fails(f"{exact} against {mixed + alone}", {"x": x, "N": drawn})
    return holds(f"equal for every N <= C = {clients}, all cohorts enumerated")


def relaxed_starts_in_the_sum(clients: int, drawn: int) -> Run:
    """Whether the last local models of all clients average to the server model after a round."""

    def run(book: Book) -> Finding:
        local = [Fraction(2 * i * i + 1, 3) for i in range(clients)]
        for cohort in combinations(local, drawn):
            server = sum(cohort) / Fraction(drawn)
            left = sum(server - w for w in local)
            if left != 0:
                at = {"local models": local, "averaged": cohort, "sum": left}
                return fails(f"the sum is {left} when {drawn} of {clients} local models are averaged", at)
        return holds(f"0 for every cohort of {drawn} of {clients} clients")

    return run


def noise_and_path(curvature: sp.Expr) -> Run:
    """Two steps on f = a w^2 / 2 with unit noise: E(g_0 + g_1)^2 against 2 sigma^2 + E(grad_0 + grad_1)^2."""

    def run(book: Book) -> Finding:
        w, n0, n1, step = sp.symbols("w n0 n1 step", real=True)
        first = curvature * w
        second = curvature * (w - step * (first + n0))
        whole, path = (first + n0 + second + n1) ** 2, (first + second) ** 2
        excess = sp.expand(_mean(whole, n0, n1) - _mean(path, n0, n1) - 2)
        at = {"curvature": curvature, "steps": 2, "variance": 1, "excess": excess}
        if excess.coeff(step, 1) > 0:
            return fails(f"the split is short by {excess} (step size in units of 1/L)", at, excess == 2 * step)
        return holds(f"the split exceeds the exact square by {-excess}")

    return run


def _mean(polynomial: sp.Expr, *noises: sp.Symbol) -> sp.Expr:
    """Expectation over independent noises of mean 0 and variance 1, for polynomials of degree 2 in each."""
    for n in noises:
        poly = sp.Poly(sp.expand(polynomial), n)
        polynomial = poly.coeff_monomial(1) + poly.coeff_monomial(n**2)
    return polynomial
