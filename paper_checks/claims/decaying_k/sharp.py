"""Improved bounds: smaller ones than Lemma 1 and Theorem 1, and exact worst cases."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.letters import C, eta, F_0, F_star, G2, K, K_0, L, N, ratio, sigma_c, T
from bounds.operators import ClientSum

from ..checkers import At, Dominates, ImpliedBy, requires, Same, term
from ..claim import Claim, Kind
from ..worst_cases import above
from .common import CAP
from .lemmas import LEMMA_TRUE
from .theorem import APPENDIX, REPAIRED

LEMMA_SHARP, SHARP = "decaying_k.lemma_1_sharp", "decaying_k.theorem_1_sharp"
DRAW = (C - N) / (N * (C - 1))
"""The variance of a mean of N of C without replacement, over the mean square of the C about any point."""
FEWER = (N <= C, C > 1)


def _walked(steps: sp.Expr) -> sp.Expr:
    """The mean square of a client's distance from the round's start after some steps, at most."""
    return (steps * eta) ** 2 * G2


LEMMA_1 = Claim(
    "decaying_k.lemma_1.sharp",
    "Where the step size stays as it is within a round, Lemma 1 as repaired holds with 2 for 8 and 1 for 4.",
    Kind.THEOREM.at("Lemma 1, eq. (16), sharpened"),
    {
        "drift": Same(term(LEMMA_SHARP, "drift"), 2 * _walked(K - 1)),
        "draw": Same(term(LEMMA_SHARP, "partial participation"), DRAW * _walked(K)),
        "the rest": Same(At(LEMMA_SHARP, {G2: 0}), At(LEMMA_TRUE, {G2: 0})),
        "smaller": ImpliedBy(LEMMA_SHARP, LEMMA_TRUE, where=FEWER),
        "its range": requires({LEMMA_SHARP: (eta <= 1 / (4 * L), C > 1)}),
        "exact runs": Dominates(LEMMA_SHARP),
    },
    note="The factor 4 of both comes from the cited work, whose step sizes may fall to a half within a round.",
    ours=True,
)

THEOREM_1 = Claim(
    "decaying_k.theorem_1.sharp",
    "Theorem 1 holds without convexity, kappa and Gamma, on the mean over the iterations and for step sizes up to 1/L: "
    "the drift enters by (eta L K)^2, the draw by eta L K. Where (6) as repaired applies, this is smaller.",
    Kind.THEOREM.at("Theorem 1, eq. (6), sharpened"),
    {
        "descent": Same(
            At(SHARP, {ratio: K**2}),
            2 / (eta * T) * (F_0 - F_star)
            + eta * L * ClientSum(sigma_c) / C**2
            + 2 / (eta * K) * (L / 2) * DRAW * _walked(K)
            + L**2 * _walked(sp.S.One) * (K**2 - 1) / 3,
        ),
        "steps of a round": ImpliedBy(
            (K - 1) * (2 * K - 1) / 6, (K**2 - 1) / 3, where=(K >= 1,), squares=((K - 1) / 2,)
        ),
        "unequal rounds": ImpliedBy(
            (K**2 + K_0**2) ** 2, (K + K_0) * (K**3 + K_0**3), squares=(K * K_0 * (K - K_0) ** 2,)
        ),
        "smaller": ImpliedBy(SHARP, REPAIRED, where=(*FEWER, CAP, F_star <= F_0)),
        "smaller than the appendix": ImpliedBy(
            SHARP, APPENDIX, where=(*FEWER, CAP, F_star <= F_0, ClientSum(sigma_c) <= C * G2)
        ),
        "its range": requires({SHARP: (eta <= 1 / L, C > 1, F_star <= F_0)}),
        "exact runs": Dominates(SHARP),
    },
    note="Hence (6) and the last display of Appendix A.2 are true of clients of equal weight where G bounds their "
    "stochastic gradients and F^* >= 0, whatever is wrong with their proofs. With all clients in every round nothing "
    "is left at the first power of K, and a best K balances 1/K against (eta K)^2, not eta K^2; with a draw it has a "
    "first power too, which is the larger one only while eta L K is small (decaying_k.remark_2_1). Gradient "
    "descent with one step of 1/L a round on "
    "a loss of curvature L attains it.",
    ours=True,
)


# ---- exact worst cases; the smallest ratios as audited ----

LEAST = {
    "decaying_k.lemma_1": 1.0107,
    "decaying_k.lemma_2_repaired": 221.82,
    "decaying_k.theorem_1": 463.97,
    "decaying_k.theorem_1_appendix": 86.231,
    "decaying_k.lemma_1_sharp": 1.0107,
    "decaying_k.theorem_1_sharp": 1.1,
}
CLAIMS = above(
    LEAST,
    "G^2 = 4 bounds every squared gradient of a client along the run; it is not the L^2 ||x_1 - x^*||^2 of the text, "
    "with which Theorem 1 fails (decaying_k.theorem_1_with_its_g) and Lemma 1 too. As F* = 0, Theorem 1 as repaired is "
    "the same as printed.",
)
