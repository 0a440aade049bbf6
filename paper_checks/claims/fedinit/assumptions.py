"""Assumptions 1 to 5 and the conditions of all statements: can they be met, and does the catalogue have them?"""

from __future__ import annotations

from fractions import Fraction

from ..claim import Book, Finding, finding


def on_a_ball(book: Book) -> Finding:
    """f = 3 w^2/2 on |w| <= 4 is smooth, Lipschitz and PL: slope at most 12, mu = 3, loss at most L_G^2/(2 mu)."""
    ball = [Fraction(4 * i, 7) for i in range(-7, 8)]
    met = all(
        abs(3 * w) <= 12 and 2 * 3 * (3 * w**2 / 2) <= (3 * w) ** 2 and 3 * w**2 / 2 <= Fraction(12**2, 2 * 3)
        for w in ball
    )
    return finding(met, "smooth, Lipschitz and PL at 15 points of the ball, with L = mu = 3, L_G = 12")
