"""Theorem 1: its two printed forms, counterexamples, and whether it is informative."""

from __future__ import annotations

from fractions import Fraction

from ..checkers import number, short
from ..claim import Book, Finding, finding

SIX = "decaying_k.theorem_1"


def at_the_optimum(book: Book) -> Finding:
    """The bound is nonnegative for two equal clients that start at their optimum, where the loss is -1."""
    bound = number(
        book, SIX, initial_loss=-1, optimal_loss=-1, smoothness=2, strong_convexity=1, heterogeneity=0, grad_cap_sq=0,
        client_weight=(Fraction(1, 2),) * 2, client_gradient_variance=(0, 0), cohort=2, steps_cubed_ratio=1,
        step_size=Fraction(1, 8), iterations=4,
    )  # fmt: skip
    witness = {"F": "x^2 + y^2/2 - 1 for both clients", "start": "0, 0", "L": "2", "mu": "1", "K": "1", "T": "4"}
    evidence = f"all gradients are 0 against a bound of {bound}"
    return finding(bound >= 0, evidence, {**witness, "step_size": "1/8"}, as_audited=bound == -8)


def with_its_g(book: Book) -> Finding:
    """The bound holds with the G of the text for x^2/2 -/+ x, one drawn: E x^2 stays the same, q = (1 - eta)^K."""
    steps, rounds, step_size = 20, 2500, Fraction(65, 10**6)
    q = (1 - step_size) ** steps
    start_sq = (1 - q) / (1 + q)
    after = q**2 * start_sq + (1 - q) ** 2
    smallest = start_sq * (1 - step_size) ** (2 * (steps - 1))
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=start_sq)
    bound = number(
        book, SIX, initial_loss=start_sq / 2 + Fraction(1, 2), optimal_loss=Fraction(1, 2), smoothness=1,
        strong_convexity=1, heterogeneity=Fraction(1, 2), grad_cap_sq=cap,
        client_weight=(Fraction(1, 2),) * 2, client_gradient_variance=(0, 0), cohort=1,
        steps_cubed_ratio=steps**2, step_size=step_size, iterations=steps * rounds,
    )  # fmt: skip
    evidence = f"the smallest E||grad F||^2 is {short(smallest)} against a bound of {short(bound)}"
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_1^2": "(1 - q)/(1 + q), q = (1 - eta)^20", "N": "1", "K": "20"}
    audited = after == start_sq and abs(float(smallest / bound) - 1.0846) < 0.0005
    return finding(smallest <= bound, evidence, {**witness, "eta": "6.5e-5", "R": "2500"}, as_audited=audited)
