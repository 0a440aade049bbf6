"""Theorem 5.6 where a second moment rests: parabolas x^2/2 whose noise, or whose drawing of clients, it does not see.

Every run starts at the square to which E x^2 returns after each round, so that the squared gradient is the same in all
rounds; the bound is the catalogue's at the run's own constants, L = beta^2 = 1. All in rationals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from bounds.vocabulary import (
    client_weight,
    dissimilarity_offset,
    gradient_variance,
    initial_gap,
    local_steps,
    rounds,
    smoothness,
    step_size,
)

from ...checkers.points import value
from ...claim import Book, Finding, judged, Status


@dataclass(frozen=True)
class Rounds:
    """Rounds of clients of equal weight, and the variance and the heterogeneity that they have."""

    clients: int
    steps: int
    size: Fraction
    rounds: int
    variance: int = 0
    offset: int = 0

    def bound(self, book: Book, rest: Fraction) -> Fraction:
        """Theorem 5.6 from a start whose squared gradient, twice its gap, is ``rest``."""
        at = {
            initial_gap: rest / 2, smoothness: 1, local_steps: self.steps, step_size: self.size, rounds: self.rounds,
            gradient_variance: self.variance, dissimilarity_offset: self.offset,
        }  # fmt: skip
        weights = {client_weight: (sp.Rational(1, self.clients),) * self.clients}
        found = value(book["fedcog.theorem"].expr, {**{q: sp.Rational(str(v)) for q, v in at.items()}, **weights})
        return Fraction(str(found))


def _against(rest: Fraction, after: Fraction, bound: Fraction, witness: str) -> Finding:
    """``rest`` against the bound; ``after`` is the second moment one round later, which must be the same."""
    said = f"the squared gradient is {float(rest):.4g} in every round, the bound {float(bound):.4g}"
    return judged(rest <= bound, said, {"instance": witness}, as_audited=after == rest)


def _one_coin(book: Book, run: Rounds) -> tuple[Fraction, Fraction, Fraction]:
    """One client x^2/2, one coin of +-1 for all steps of a round: E x^2 at rest, a round later, and the bound.

    A round takes x to q x - (1 - q) coin, q = (1 - eta)^tau, so that E x^2 rests at (1 - q)/(1 + q).
    """
    q = (1 - run.size) ** run.steps
    rest = (1 - q) / (1 + q)
    return rest, q**2 * rest + (1 - q) ** 2, run.bound(book, rest)


def coin_of_a_round(book: Book) -> Finding:
    """20 steps of 1/100 in 100 rounds; and 400 steps of 1/979, the largest admitted, in ever more."""
    small = _one_coin(book, Rounds(1, 20, Fraction(1, 100), 100, variance=1))
    found = _against(*small, "x^2/2, one coin of +-1 a round, tau = 20, eta = 1/100, T = 100")
    rest, _, bound = _one_coin(book, Rounds(1, 400, Fraction(1, 979), 10**6, variance=1))
    ratio = float(rest / bound)
    said = f"{found.evidence}; with 400 steps of 1/979 {ratio:.3g} times the bound"
    return judged(found.status is Status.HOLDS, said, found.witness, found.as_audited and 37 < ratio < 38)


def coin_of_all_clients(book: Book) -> Finding:
    """16 clients x^2/2 with one coin, one step of 1/4: x becomes 3/4 x - coin/4, and E x^2 rests at 1/7."""
    run, rest = Rounds(16, 1, Fraction(1, 4), 100, variance=1), Fraction(1, 7)
    after = (1 - run.size) ** 2 * rest + run.size**2
    instance = "16 clients x^2/2, one coin of +-1 for all, tau = 1, eta = 1/4, T = 100"
    return _against(rest, after, run.bound(book, rest), instance)


def one_of_two(book: Book) -> Finding:
    """Clients (x -+ 1)^2/2, one drawn a round, one step of 1/2: x becomes (x +- 1)/2, and E x^2 rests at 1/3."""
    run, rest = Rounds(2, 1, Fraction(1, 2), 5, offset=1), Fraction(1, 3)
    instance = "(x - 1)^2/2 and (x + 1)^2/2, one a round, tau = 1, eta = 1/2, T = 5"
    return _against(rest, (rest + 1) / 4, run.bound(book, rest), instance)
