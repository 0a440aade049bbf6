"""Assumptions 1 to 5 and the conditions of all statements: whether they can be met, and whether they are as printed."""

from __future__ import annotations

from fractions import Fraction

from ..claim import Book, Finding, judged


def on_a_ball(book: Book) -> Finding:
    """f = 3 w^2/2 on |w| <= 4: slope at most 12, PL with mu = 3, and the cap L_G^2/(2 mu) reached at the edge only."""
    ball = [Fraction(4 * i, 7) for i in range(-7, 8)]
    met = all(
        abs(3 * w) <= 12 and 2 * 3 * (3 * w**2 / 2) <= (3 * w) ** 2 and 3 * w**2 / 2 <= Fraction(12**2, 2 * 3)
        for w in ball
    )
    return judged(met, "smooth, Lipschitz and PL at 15 points of the ball, with L = mu = 3, L_G = 12")
