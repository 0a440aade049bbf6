"""Section 4.3.3, Appendices A.2.5 and A.2.6: the recursion, Theorems 4 and 5 and what their proofs leave out."""

from __future__ import annotations

from math import log

import sympy as sp

from bounds.fedinit.letters import (
    B2,
    beta,
    C,
    D,
    Delta,
    Delta_next,
    eta,
    G2,
    g2,
    K,
    L,
    lam,
    mean_g2,
    mu,
    N,
    path2,
    sigma2,
    T,
)
from bounds.vocabulary import final_divergence, initial_divergence, loss_decrease, optimality_gap

from ..checkers import At, ImpliedBy, OrderIs, requires, resolve, Same, SlopeIs, term, Total
from ..checkers.trends import Curve
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .optimization import LEFT, OF_1

THETA = 96 * beta**2
DECAY = sp.exp(-lam * mu * eta * K)
AT_CAP = {L: sp.sqrt(N / C) / (eta * K)}
STEP_2 = {eta: sp.log(lam * mu * N * K * T) / (lam * mu * K * T)}
MEETS_LOG = (lam * mu * N * K * T > 3,)
SHARE = (C - N) / (N * (C - 1))
"""Weight of the sampling variance in Lemma 3; C^2 times that of the mean is 1 - SHARE."""

SPLIT_PATH = Total(((2 * C**2 * K * L**2, "fedinit.lemma_2"), (1, 2 * C**2 * K**2 * g2)))
"""The summed gradients as drift (Lemma 2) and the global gradient."""

RECURSION = Claim(
    "fedinit.theorem_4.recursion",
    "The recursion of Theorem 4 follows from Lemma 4 by splitting the summed gradients: 96, 267, 69, 267.",
    Kind.PROOF.at("Appendix A.2.5, recursion"),
    Same(
        "fedinit.theorem_4_recursion",
        At(At("fedinit.lemma_4_recursion", {path2: SPLIT_PATH}), AT_CAP),
        difference=-6 * C * eta**2 * K**2 * g2 / N,
    ),
    note="The split leaves 6 C eta^2 K^2/N times the squared global gradient, which 267 B^2 does not show.",
    damaged="267 is read from 26T; the sum 195 + 72 allows no other number",
    repair=Repair(
        "with Lemma 3's sampling weights kept, the coefficient of the gradient is at most 267 B^2 after all",
        ImpliedBy(
            (3 * (39 * SHARE + 26) + 72 * (1 - SHARE)) * B2 + 6 * (1 - SHARE), 267 * B2, where=(C > 1, N <= C, B2 >= 1)
        ),
        bound="fedinit.theorem_4_recursion",
    ),
    defect=Defect.GAP,
)


def _mean(book: Book) -> sp.Expr:
    """The recursion solved for the divergence and averaged over T rounds."""
    rest = resolve("fedinit.theorem_4_recursion", book) - THETA * Delta
    return ((initial_divergence - final_divergence) / T + rest.subs(g2, mean_g2)) / (1 - THETA)


INSERTED = Claim(
    "fedinit.theorem_4",
    "Theorem 4's explicit form is the recursion solved for Delta^t and averaged, with Theorem 1 put in for the "
    "gradients: 534, 267 kappa_2, 801 kappa_1.",
    Kind.THEOREM.at("Appendix A.2.5, accumulation and last displays; Theorem 4"),
    {
        "averaged": Same("fedinit.theorem_4_before", _mean),
        "inserted": Same("fedinit.theorem_4", At("fedinit.theorem_4_before", {mean_g2: "fedinit.theorem_1"})),
    },
    note="Delta^0 is kept although Theorem 1 has dropped it as 0.",
)

NEVER_BINDS = Claim(
    "fedinit.theorem_4.third_cap",
    "The cap sqrt(N)/(sqrt(C) K L) that Theorem 4 adds is met whenever N/(2CKL) is: it restricts nothing.",
    Kind.ASSUMPTION.at("Theorem 4, step size"),
    {
        "it is larger": ImpliedBy(N / (2 * C * K * L), sp.sqrt(N / C) / (K * L), where=(N <= C,)),
        "same caps": Same("fedinit.step_size_cap_theorem_4", "fedinit.step_size_cap_theorem_1", where=(N <= C,)),
    },
    damaged="sqrt(N)/(sqrt(C) K L), the only reading for which the proof's 24 C eta^2 K^2 L^2/N is at most 24",
)


def _assembled(book: Book) -> sp.Expr:
    """The unrolled recursion: gradients by the descent inequality, loss gaps by Theorem 2, T equal powers for D."""
    noise = resolve("fedinit.theorem_4_recursion", book).subs({Delta: 0, g2: 0})
    still = At("fedinit.descent", {loss_decrease: 0, Delta: 0, Delta_next: 0})(book)
    gain = sp.expand(resolve("fedinit.theorem_4_recursion", book)).coeff(g2, 1)
    loss = 2 / (lam * eta * K)
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


def _cited(book: Book) -> Finding:
    """What the proof of Theorem 10 takes from 'Theorem 11' and 'Theorem 8', and what they bound."""
    bounded = {"11": book["fedinit.theorem_3"].target, "8": book["fedinit.theorem_2"].target}
    recursion = book["fedinit.theorem_4_recursion"].target
    wrong = {k: bounded[k].name for k, needed in (("11", optimality_gap), ("8", recursion)) if bounded[k] != needed}
    said = "; ".join(f"Theorem {k} bounds the {v}" for k, v in wrong.items()) or "both bound what is taken from them"
    return judged(not wrong, said, wrong, len(wrong) == 2)


CITED = Claim(
    "fedinit.theorem_5.references",
    "Theorem 8 has the recursion of the divergence and Theorem 11 the bound on the loss gap, for which the proof of "
    "Theorem 10 cites them.",
    Kind.PROOF.at("Appendix A.2.6"),
    _cited,
    note="A slip of the numbers: the recursion is Theorem 9's (A.2.5), the loss gap Theorem 8's; Theorem 11 is on "
    "stability.",
    defect=Defect.SLIP,
)
