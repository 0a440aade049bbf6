"""Theorem 2 and Appendix A.2.4: the descent inequality unrolled, and what its third display drops."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import B2, beta, D, Delta, Delta_next, eta, K, L, lam, mu, N, T
from bounds.vocabulary import loss_decrease

from ..checkers import At, ImpliedBy, requires, Same
from ..claim import Book, Claim, Defect, fails, Finding, holds, Kind, Repair
from .optimization import HALF, OF_1, W


def _unrolled(book: Book) -> sp.Expr:
    """The geometric sum of the noise of all rounds is at most 1/(lambda mu eta K) times that of one."""
    noise = HALF * At("fedinit.descent", {loss_decrease: 0, Delta: 0, Delta_next: 0})(book)
    return sp.exp(-lam * mu * eta * K * T) * D + noise / (lam * mu * eta * K)


THEOREM_2 = Claim(
    "fedinit.theorem_2",
    "(11) is the descent inequality with PL, unrolled over T rounds, once the divergences are left out.",
    Kind.THEOREM.at("Theorem 2, eq. (11); proof A.2.4"),
    {
        "unrolled": Same("fedinit.theorem_2", _unrolled),
        "exponential": ImpliedBy(
            (1 - lam * mu * eta * K) ** T, sp.exp(-lam * mu * eta * K * T), where=(eta <= 1 / (lam * mu * K),)
        ),
    },
)


def _weighted_decreases(book: Book) -> Finding:
    """Divergence 0, 1, 0: the weighted sum of its decreases against Delta^0 - Delta^T."""
    a = sp.Rational(1, 2)  # 1 - lambda mu eta K
    path = [0, 1, 0]
    weighted = sum((a ** (1 - t) * (path[t] - path[t + 1]) for t in range(2)), sp.S.Zero)
    if weighted > path[0] - path[-1]:
        at = {"Delta": path, "1 - lambda mu eta K": a, "T": 2}
        return fails(f"the weighted sum is {weighted}, Delta^0 - Delta^T is 0", at, weighted == 1 - a)
    return holds("no more than Delta^0 - Delta^T")


OWN_WEIGHT = 1 - 72 * beta**2 - lam * mu * eta * K


def _potential(book: Book) -> sp.Expr:
    """(11) with 1 - 72 beta^2 - lambda mu eta K in place of 1 - 72 beta^2 in both constants."""
    printed = book["fedinit.theorem_2"].expr
    return printed.subs(1 / W, 1 / OWN_WEIGHT)


POTENTIAL_RATE = 10 * beta**2 * L / (N * OWN_WEIGHT)

OF_POTENTIAL = (
    *OF_1[:4],
    eta <= 1 / (lam * mu * K),
    72 * beta**2 + lam * mu * eta * K < 1,
    lam < 1 - 39 * eta * K * L * B2 / N - 3900 * beta**2 * eta * K * L * B2 / (OWN_WEIGHT * N)
    - 12 * eta**2 * K**2 * L**2 * B2,
)  # fmt: skip

WEIGHTED = Claim(
    "fedinit.theorem_2.weighted_decreases",
    "The decreases of the divergence, weighted by powers of 1 - lambda mu eta K, sum to at most Delta^0 - Delta^T.",
    Kind.PROOF.at("Appendix A.2.4, third display"),
    _weighted_decreases,
    note="Weights favour late rounds: a divergence that rises and falls again leaves a positive sum. Theorem 5's proof "
    "drops the same sum without a word.",
    repair=Repair(
        "loss gap plus a multiple of the divergence shrinks by 1 - lambda mu eta K when 1 - 72 beta^2 in the constants "
        "becomes 1 - 72 beta^2 - lambda mu eta K",
        {
            "the divergence is absorbed": Same(
                10 * beta**2 * L / N + 72 * beta**2 * POTENTIAL_RATE, (1 - lam * mu * eta * K) * POTENTIAL_RATE
            ),
            "the bound": Same("fedinit.theorem_2_potential", _potential),
            "its range": requires({"fedinit.theorem_2_potential": OF_POTENTIAL}),
            "weaker": ImpliedBy(
                "fedinit.theorem_2",
                "fedinit.theorem_2_potential",
                where=(72 * beta**2 + lam * mu * eta * K < 1,),
                within={beta: (0.0, 0.11)},
            ),
        },
        bound="fedinit.theorem_2_potential",
    ),
    defect=Defect.GAP,
)
