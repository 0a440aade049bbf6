"""Corollary 5.7: the theorem at step size 1/sqrt(tau T), its rate, its unit, and the conditions that it omits."""

from __future__ import annotations

import sympy as sp

from bounds.fedcog.letters import gap, kappa_sq, L, p, sigma_sq, T, tau

from ..checkers.numbers import value
from ..claim import Book, Finding, finding

PRINTED = "fedcog.corollary_printed"


def too_few_rounds(book: Book) -> Finding:
    """The bound is at least the smallest squared gradient in four rounds of one step of 1/sqrt(4) on L/2 x^2, L = 9."""
    curvature, start, rounds = sp.Integer(9), sp.Rational(2, 3), 4
    x, squares = start, []
    for _ in range(rounds):
        squares.append((curvature * x) ** 2)
        x -= curvature * x / sp.sqrt(rounds)
    at_run = {
        gap: curvature * start**2 / 2, L: curvature, sigma_sq: sp.S.Zero, kappa_sq: sp.S.Zero,
        tau: sp.S.One, T: sp.Integer(rounds), p: (sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(1, 6)),
    }  # fmt: skip
    bound = value(book[PRINTED].expr, at_run)
    evidence = f"smallest squared gradient {min(squares)} against the bound {float(bound):.6g}"
    witness = {q.name: str(v) for q, v in at_run.items()}
    return finding(min(squares) <= bound, evidence, witness)


def falls_for_ever(book: Book) -> Finding:
    """(6) has a smallest value in tau: at gap 1 and T = 1 without noise or heterogeneity it is 4/sqrt(tau)."""
    fixed = {gap: 1, T: 1, L: 1, sigma_sq: 0, kappa_sq: 0, p: (sp.S.One,)}
    values = {steps: float(value(book[PRINTED].expr, {**fixed, tau: sp.Integer(steps)})) for steps in (1, 4, 16, 64)}
    evidence = ", ".join(f"{number:g} at tau = {steps}" for steps, number in values.items())
    witness = {"kappa^2": "0", "sigma^2": "0", "gap": "1", "T": "1"}
    audited = [*values.values()] == [4, 2, 1, 0.5]
    return finding(min(values.values()) < values[64], f"(6) is {evidence}", witness, as_audited=audited)
