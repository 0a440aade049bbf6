"""Lemmas 2 to 4: each derived from the one before as in its proof, and the two steps that fail."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import sympy as sp

from bounds.fedinit.letters import B2, beta, Delta, eta, G2, g2, K, sigma2

from ..checkers import resolve
from ..claim import Book, fails, Finding, finding, holds


def drift_without_cap(book: Book) -> Finding:
    """(24) bounds the drift of one client, f = 1/2 w^2, at a large step size; no noise, no relaxation."""
    steps, step = 5, 10
    drift = sum(((1 - step) ** k - 1) ** 2 for k in range(steps))
    at = {K: steps, eta: step, Delta: 0, sigma2: 0, G2: 0, B2: 1, g2: 1, beta: 0}
    bound = resolve("fedinit.lemma_2", book).subs(at)
    witness = {"f": "w^2/2", "C": 1, "K": steps, "eta": step, "w": 1}
    evidence = f"local drift {drift} against bound {bound}"
    return finding(drift <= bound, evidence, witness, as_audited=bound == 150000)


def sampled_square(book: Book) -> Finding:
    """The sampling identity of Lemma 3 holds for every N up to C = 5, by enumeration of all cohorts."""
    x = [Fraction(7, 3), Fraction(-2), Fraction(5, 4), Fraction(-1, 6), Fraction(3)]
    clients, total, squares = len(x), sum(x), sum(v * v for v in x)
    for drawn in range(1, clients + 1):
        cohorts = list(combinations(x, drawn))
        exact = sum((sum(cohort) ** 2 for cohort in cohorts), Fraction(0)) / len(cohorts)
        of_total = Fraction(drawn * (drawn - 1), clients * (clients - 1)) * total**2
        of_squares = Fraction(drawn * (clients - drawn), clients * (clients - 1)) * squares
        if exact != of_total + of_squares:
            return fails(f"{exact} against {of_total + of_squares}", {"x": x, "N": drawn})
    return holds(f"equal for every N <= C = {clients}, all cohorts enumerated")


def starts_in_the_sum(book: Book, clients: int, drawn: int) -> Finding:
    """The last local models of all clients average to the server model after a round."""
    local = [Fraction(2 * i * i + 1, 3) for i in range(clients)]
    for cohort in combinations(local, drawn):
        server = sum(cohort) / Fraction(drawn)
        left = sum(server - w for w in local)
        if left != 0:
            at = {"local models": local, "averaged": cohort, "sum": left}
            return fails(f"the sum is {left} when {drawn} of {clients} local models are averaged", at)
    return holds(f"0 for every cohort of {drawn} of {clients} clients")


def noise_and_path(book: Book, curvature: int) -> Finding:
    """E(g_0 + g_1)^2 is at most 2 sigma^2 + E(grad_0 + grad_1)^2 in two steps on f = a w^2 / 2 with unit noise."""
    w, n0, n1, step = sp.symbols("w n0 n1 step", real=True)
    first = curvature * w
    second = curvature * (w - step * (first + n0))
    split = sp.expand((first + n0 + second + n1) ** 2 - (first + second) ** 2)
    excess = split.subs({n0**2: 1, n1**2: 1}).subs({n0: 0, n1: 0}) - 2  # noises of mean 0 and variance 1
    at = {"curvature": curvature, "steps": 2, "variance": 1, "excess": excess}
    if excess.coeff(step, 1) > 0:
        return fails(f"the split is short by {excess} (step size in units of 1/L)", at, as_audited=excess == 2 * step)
    return holds(f"the split exceeds the exact square by {-excess}")
