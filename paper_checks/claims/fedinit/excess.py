"""Section 4.3.4: the split (3) of the excess risk, Theorem 6, and the choices of K and beta derived from it."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import beta
from bounds.vocabulary import generalization_gap, optimality_gap

from ..checkers import At, resolve, term
from ..claim import Book, Finding, finding, Grade
from .stability import minimiser, over_coins, risk


def split(book: Book) -> Finding:
    """(3) holds on coins for an output that stops two thirds of the way from 0 to the minimiser."""

    def output(coins: tuple[int, ...]) -> Fraction:
        return minimiser(coins) * Fraction(2, 3)

    excess = over_coins(lambda d: risk(output(d)) - risk(minimiser(d), d))
    gap = over_coins(lambda d: risk(output(d)) - risk(output(d), d))
    left = over_coins(lambda d: risk(output(d), d) - risk(minimiser(d), d))
    stated = At("fedinit.excess_risk_split", {generalization_gap: gap, optimality_gap: left})(book)
    evidence = f"{excess} = {gap} + {left}, all data sets enumerated"
    return finding(stated == excess, evidence, grade=Grade.SEARCHED)


def round_factors(book: Book) -> Finding:
    """A round's factor times the root of Theorem 5's weight is smaller at beta = 0.01 than at 0.001."""
    length = resolve("fedinit.stability_round", book)
    weight = resolve(term("fedinit.theorem_4_before", "gradient noise"), book)
    factor = length / length.subs(beta, 0) * sp.sqrt(sp.cancel(weight / weight.subs(beta, 0)))
    large, small = (float(factor.subs(beta, at)) for at in (sp.Rational(1, 100), sp.Rational(1, 1000)))
    return finding(large <= small, f"{large:.4f} at beta = 0.01, {small:.4f} at beta = 0.001")
