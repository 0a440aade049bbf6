"""FedCOG, Corollary 5.7: the theorem at step size 1/sqrt(tau T), its rate, its unit, and the conditions it dropped."""

from __future__ import annotations

import sympy as sp

from bounds.fedcog.letters import gap, kappa_sq, L, p, sigma_sq, T, tau

from ..checkers.points import value
from ..claim import Book, Finding, judged

PRINTED = "fedcog.corollary_printed"
# Both of the theorem's conditions read load <= 1; the first is squared so that both fall like 1/T.


def too_few_rounds(book: Book) -> Finding:
    """Gradient descent on L/2 x^2, L = 9, four rounds of one step 1/sqrt(4): x -> -7/2 x, the first model is best."""
    curvature, start, rounds = sp.Integer(9), sp.Rational(2, 3), 4
    x, seen = start, []
    for _ in range(rounds):
        seen.append((curvature * x) ** 2)
        x -= curvature * x / sp.sqrt(rounds)
    at_run = {
        gap: curvature * start**2 / 2, L: curvature, sigma_sq: sp.S.Zero, kappa_sq: sp.S.Zero,
        tau: sp.S.One, T: sp.Integer(rounds), p: (sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(1, 6)),
    }  # fmt: skip
    bound = value(book[PRINTED].expr, at_run)
    said = f"smallest squared gradient {min(seen)} against the bound {float(bound):.6g}"
    witness = {q.name: str(v) for q, v in at_run.items()}
    return judged(min(seen) <= bound, said, witness)


def falls_for_ever(book: Book) -> Finding:
    """(6) at gap 1, T = 1 without noise or heterogeneity: 4/sqrt(tau), never smallest."""
    given = {gap: 1, T: 1, L: 1, sigma_sq: 0, kappa_sq: 0, p: (sp.S.One,)}
    at = {steps: float(value(book[PRINTED].expr, {**given, tau: sp.Integer(steps)})) for steps in (1, 4, 16, 64)}
    said = ", ".join(f"{number:g} at tau = {steps}" for steps, number in at.items())
    witness = {"kappa^2": "0", "sigma^2": "0", "gap": "1", "T": "1"}
    return judged(min(at.values()) < at[64], f"(6) is {said}", witness, [*at.values()] == [4, 2, 1, 0.5])


def equal_clients(book: Book) -> sp.Expr:
    """(6) for clients of equal weights."""
    return book[PRINTED].equal_clients().expr
