"""Theorem 5 and Appendix A.2.6: the unrolled recursion, its hidden condition, its order (17)."""

from __future__ import annotations

from math import log

import sympy as sp

from bounds.fedinit.letters import beta, D, Delta, Delta_next, eta, G2, g2, K, lam, mu, N, sigma2, T
from bounds.vocabulary import loss_decrease

from ..checkers import At, ImpliedBy, OrderIs, requires, Same, SlopeIs, term, Total
from ..checkers.formulas import resolve
from ..checkers.trends import Curve
from ..claim import Book, Claim, Defect, Kind, Repair
from .divergence import DECAY, THETA
from .optimization import LEFT, OF_1

STEP_2 = {eta: sp.log(lam * mu * N * K * T) / (lam * mu * K * T)}
MEETS_LOG = (lam * mu * N * K * T > 3,)


def _gain(book: Book) -> sp.Expr:
    """What a squared gradient adds to the next divergence."""
    return sp.expand(resolve("fedinit.theorem_4_recursion", book)).coeff(g2, 1)


def _assembled(book: Book) -> sp.Expr:
    """The unrolled recursion: gradients by the descent inequality, loss gaps by Theorem 2, T equal powers for D."""
    noise = resolve("fedinit.theorem_4_recursion", book).subs({Delta: 0, g2: 0})
    still = At("fedinit.descent", {loss_decrease: 0, Delta: 0, Delta_next: 0})(book)
    gain, loss = _gain(book), 2 / (lam * eta * K)
    lasting = resolve("fedinit.theorem_2", book).subs(D, 0)
    start = gain * loss * D * T * DECAY ** (T - 1)
    return (noise + gain * (still + loss * lasting)) / (1 - THETA) + start


THEOREM_5 = Claim(
    "fedinit.theorem_5",
    "Theorem 5's explicit form: the recursion unrolled, gradients bounded by the descent inequality and Theorem "
    "2, the decreases of the divergence left out.",
    Kind.THEOREM.at("Appendix A.2.6"),
    Same("fedinit.theorem_5", _assembled),
    damaged="the summand of the last sum; T exp(-lambda mu eta K (T-1)) is what 96 beta^2 <= exp(-lambda mu eta K) "
    "gives",
    note="The proof's later displays leave them out; they may be positive (fedinit.theorem_2.weighted_decreases).",
)

HIDDEN = Claim(
    "fedinit.theorem_5.hidden_condition",
    "The theorem's range of beta and eta implies the proof's 96 beta^2 <= exp(-lambda mu eta K).",
    Kind.PROOF.at("Appendix A.2.6, 'let'"),
    ImpliedBy(
        THETA, DECAY, where=(beta >= 0, beta < sp.sqrt(6) / 24, eta <= 1 / (lam * mu * K)), within={beta: (0.0, 0.102)}
    ),
    note="At eta = 1/(lambda mu K) it asks for beta <= 0.062; at beta = 0.1 for lambda mu eta K <= 0.041.",
    repair=Repair(
        "the largest relaxation for which it holds",
        {
            "reached": Same(At(THETA, {beta: "fedinit.relaxation_cap_theorem_5"}), DECAY),
            "positive": ImpliedBy(0, "fedinit.relaxation_cap_theorem_5"),
        },
        bound="fedinit.relaxation_cap_theorem_5",
    ),
    defect=Defect.GAP,
)

LOG_SQ = sp.log(lam * mu * N * K * T) ** 2
INITIAL = At(term("fedinit.theorem_5", "loss: initial loss"), STEP_2)

OF_GEOMETRIC = (*OF_1[:4], beta < sp.sqrt(6) / 24, lam < LEFT, eta <= 1 / (lam * mu * K), THETA / DECAY < 1)

INITIAL_ORDER = Claim(
    "fedinit.theorem_5.initial_loss",
    "The last sum of the proof, bounded by T equal powers, gives the D/T^2 of (17), up to logarithms.",
    Kind.PROOF.at("Appendix A.2.6, last step"),
    OrderIs(INITIAL, T, LOG_SQ / T**2, at_most=True, where=MEETS_LOG),
    note="T equal powers take a factor T: the term falls like log T/(NKT). (17) itself stands in this for a beta that "
    "stays below sqrt(6)/24: as the step size falls, 96 beta^2 is below exp(-lambda mu eta K) by a constant factor, "
    "the powers sum to a constant and the printed order follows.",
    damaged="the last sum of the proof (see fedinit.theorem_5)",
    repair=Repair(
        "by the geometric sum, where 96 beta^2 exp(lambda mu eta K) < 1",
        {
            "order": OrderIs(
                At(term("fedinit.theorem_5_geometric", "loss: initial loss"), STEP_2),
                T,
                LOG_SQ / T**2,
                at_most=True,
                where=(*MEETS_LOG, beta >= 0, sp.Rational(9, 10) > THETA),
            ),
            "endless sum": Same(
                term("fedinit.theorem_5_geometric", "loss: initial loss"),
                Total(((1 / (T * (1 - THETA / DECAY)), term("fedinit.theorem_5", "loss: initial loss")),)),
            ),
            "the rest": Same(At("fedinit.theorem_5_geometric", {D: 0}), At("fedinit.theorem_5", {D: 0})),
            "its range": requires({"fedinit.theorem_5_geometric": OF_GEOMETRIC}),
        },
        bound="fedinit.theorem_5_geometric",
    ),
    defect=Defect.GAP,
)


def _from_the_minimiser(book: Book) -> Curve:
    """E |w_{i,K}^T - w*|^2 per log T for w^2/2, C = N = 1, K = 2, sigma_l^2 = 1, lambda = 1/2, started at w* = 0."""
    found, rounds = [], tuple(10**power for power in range(4, 11))
    for count in rounds:
        step = float(STEP_2[eta].subs({lam: sp.Rational(1, 2), mu: 1, N: 1, K: 2, T: count}))
        keep = (1 - step) ** 2  # v' = (1 - eta)^2 v + eta^2 in each of 2T steps
        found.append(step**2 * (1 - keep ** (2 * count)) / (1 - keep) / log(count))
    return rounds, found


OPTIMUM = Claim(
    "fedinit.theorem_5.global_optimum",
    "The local models approach the global optimum w* at the rate 1/T^2 at least, up to logarithms.",
    Kind.REMARK.at("Discussion of Theorem 5"),
    SlopeIs(_from_the_minimiser, -2, found=-1),
    note="(17) bounds their distance to the server model, whose own distance to w* falls as in Theorem 2. For w^2/2, C "
    "= N = 1, K = 2, sigma_l^2 = 1, lambda = 1/2, started at w*, the expected squared distance at the step size of the "
    "theorem is about log T/(2T): 4.6e-4, 5.8e-5 and 6.9e-6 at T = 1e4, 1e5 and 1e6.",
    repair=Repair("there like log T/T, the order of (12)", SlopeIs(_from_the_minimiser, -1, 0.01)),
    defect=Defect.READING,
)


ORDER_5 = Claim(
    "fedinit.theorem_5.order",
    "(17): D/T^2 + G^2/T^2 + (N sigma_l^2 + K G^2)/(NKT^2) + 1/(NKT^3); apart from D the first terms are those of the "
    "explicit form, up to the square of a logarithm.",
    Kind.EQUATION.at("Theorem 5, eq. (17); appendix eq. (32)"),
    {
        "as printed": Same(
            "fedinit.theorem_5_order", (D + G2) / T**2 + (N * sigma2 + K * G2) / (N * K * T**2) + 1 / (N * K * T**3)
        ),
        "noise": Same(
            At(term("fedinit.theorem_5", "gradient noise"), STEP_2),
            Total(((69 * LOG_SQ / (lam * mu) ** 2 / (1 - THETA), term("fedinit.theorem_5_order", "gradient noise")),)),
        ),
        "dissimilarity": Same(
            At(term("fedinit.theorem_5", "dissimilarity"), STEP_2),
            Total(((267 * LOG_SQ / (lam * mu) ** 2 / (1 - THETA), term("fedinit.theorem_5_order", "dissimilarity")),)),
        ),
    },
)
