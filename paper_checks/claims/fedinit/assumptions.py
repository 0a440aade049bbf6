"""Assumptions 1 to 5: whether they can be met together, and whether they are what the proofs use."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import D, L_G, mu, s_

from ..checkers import ImpliedBy
from ..claim import Book, Claim, Defect, fails, Finding, holds, Kind, Repair


def _on_a_ball(book: Book) -> Finding:
    """f = 3 w^2/2 on |w| <= 4: slope at most 12, PL with mu = 3, and the cap L_G^2/(2 mu) reached at the edge only."""
    curvature, radius = Fraction(3), Fraction(4)
    slope = curvature * radius
    for w in (radius * Fraction(i, 7) for i in range(-7, 8)):
        gap, gradient = curvature * w * w / 2, curvature * w
        if abs(gradient) > slope or 2 * curvature * gap > gradient**2 or gap > slope**2 / (2 * curvature):
            return fails("an assumption fails on the ball", {"w": w})
    return holds("smooth, Lipschitz and PL at 15 points of the ball, with L = mu = 3, L_G = 12")


CAP_ON_LOSS = L_G**2 / (2 * mu)
TOGETHER = Claim(
    "fedinit.assumptions.together",
    "Assumptions 1, 4 and 5 (smooth, Lipschitz, Polyak-Lojasiewicz) can be met together, as Theorems 3 and 6 ask.",
    Kind.ASSUMPTION.at("Assumptions 1, 4, 5; Theorems 3 and 6"),
    ImpliedBy(D * sp.exp(2 * mu * s_), CAP_ON_LOSS, where=(D > 0, D <= CAP_ON_LOSS)),
    note="The theorems ask for them at once on the whole space. There only a constant loss meets them. PL and "
    "the Lipschitz constant cap the gap at L_G^2/(2 mu) everywhere; along gradient ascent, which smoothness lets run "
    "for ever, PL makes it grow at least like exp(2 mu s). A loss capped by U contradicts PL in the same way.",
    repair=Repair(
        "on a ball of radius R, where a parabola meets all three with L_G = L R",
        _on_a_ball,
    ),
    defect=Defect.REFUTED,
    ours=True,
)
