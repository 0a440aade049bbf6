"""Remarks 1.1 to 2.3 on Theorems 1 and 2 and Corollary 2.1."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import K, T, W
from bounds.vocabulary import steps_cubed_ratio

from ..checkers import At, short
from ..claim import Book, Finding, finding
from ..parabolas import Parabolas


def quadratics(book: Book, *curvatures: int) -> Finding:
    """The squared gradient after 12 iterations of 1/12 from -30 does not depend on K, for three quadratic clients."""
    problem, squared_gradients = Parabolas.of((0, 1, -2), curvatures), {}
    for steps in (1, 2, 3, 4, 6, 12):
        server = Fraction(-30)
        for _ in range(12 // steps):
            server = problem.average(server, steps, Fraction(1, 12))
        squared_gradients[steps] = problem.global_gradient(server) ** 2
    evidence = ", ".join(f"K = {k}: {short(value)}" for k, value in squared_gradients.items())
    witness = {"curvatures": ", ".join(map(str, curvatures)), "minima": "0, 1, -2", "x_0": "-30", "eta": "1/12"}
    distinct = set(squared_gradients.values())
    rises = sorted(distinct) == list(squared_gradients.values())
    harmless = len(distinct) == 1
    return finding(harmless, f"squared gradient after 12 iterations, {evidence}", witness, as_audited=harmless or rises)


def inverse_slope(book: Book) -> sp.Expr:
    """Return 1 over the slope of log K* in log W, where K* minimises the improved Theorem 1 with T from (7)."""
    iterations = W * T / book["decaying_k.runtime_fixed"].expr
    bound = At("decaying_k.theorem_1_sharp", {steps_cubed_ratio: K**2, T: iterations})(book)
    falling = sp.Add(*(t for t in bound.args if t.has(W)))
    runtime = sp.simplify(-(W * falling).diff(K) / (bound - falling).diff(K))  # the W for which K is best
    return K * runtime.diff(K) / runtime
