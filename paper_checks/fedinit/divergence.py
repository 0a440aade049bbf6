"""Section 4.3.3, Appendices A.2.5 and A.2.6: the recursion, Theorems 4 and 5 and what their proofs leave out."""

from __future__ import annotations

import sympy as sp

from bounds.vocabulary import (
    final_divergence,
    initial_divergence,
    loss_decrease,
    mean_grad_norm_sq as mean_g2,
)

from ..checkers import All, At, ImpliedBy, OrderIs, Same, term, Total
from ..checkers.formulas import resolve
from ..claims import Book, Claim, Kind, Repair, Status
from .common import (
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
    mu,
    N,
    path2,
    place,
    requires,
    sigma2,
    T,
)  # fmt: skip
from .optimization import LEFT, OF_1

THETA = 96 * beta**2
DECAY = sp.exp(-lam * mu * eta * K)
AT_CAP = {L: sp.sqrt(N / C) / (eta * K)}
STEP_2 = {eta: sp.log(lam * mu * N * K * T) / (lam * mu * K * T)}
MEETS_LOG = (lam * mu * N * K * T > 3,)


def _recursion(book: Book) -> sp.Expr:
    """Lemma 4's recursion with the summed gradients split into drift (Lemma 2) and the global gradient."""
    whole = 2 * C**2 * K * L**2 * resolve("fedinit.lemma_2", book) + 2 * C**2 * K**2 * g2
    return resolve("fedinit.lemma_4_recursion", book).subs(path2, whole)


SHARE = (C - N) / (N * (C - 1))
"""Weight of the sampling variance in Lemma 3; C^2 times that of the mean is 1 - SHARE."""

RECURSION = Claim(
    "fedinit.theorem_4.recursion",
    "The recursion of Theorem 4 follows from Lemma 4 by splitting the summed gradients: 96, 267, 69, 267.",
    place("Appendix A.2.5, recursion"),
    Kind.PROOF,
    Same("fedinit.theorem_4_recursion", At(_recursion, AT_CAP), difference=-6 * C * eta**2 * K**2 * g2 / N),
    known=Status.FAILS,
    note="The split leaves 6 C eta^2 K^2/N times the squared global gradient, which 267 B^2 does not show.",
    damaged="267 is read from 26T; the sum 195 + 72 allows no other number",
    repair=Repair(
        "with Lemma 3's sampling weights kept, the coefficient of the gradient is at most 267 B^2 after all",
        ImpliedBy(
            (3 * (39 * SHARE + 26) + 72 * (1 - SHARE)) * B2 + 6 * (1 - SHARE), 267 * B2, where=(C > 1, N <= C, B2 >= 1)
        ),
        bound="fedinit.theorem_4_recursion",
    ),
)


def _mean(book: Book) -> sp.Expr:
    """The recursion solved for the divergence and averaged over T rounds."""
    rest = resolve("fedinit.theorem_4_recursion", book) - THETA * Delta
    return ((initial_divergence - final_divergence) / T + rest.subs(g2, mean_g2)) / (1 - THETA)


BEFORE = Claim(
    "fedinit.theorem_4.averaged",
    "The mean divergence before Theorem 1 is used is the recursion solved for Delta^t and averaged.",
    place("Appendix A.2.5, accumulation"),
    Kind.PROOF,
    Same("fedinit.theorem_4_before", _mean),
    known=Status.HOLDS,
)

INSERTED = Claim(
    "fedinit.theorem_4",
    "Theorem 4's explicit form is that mean with Theorem 1 put in for the gradients: 534, 267 kappa_2, 801 kappa_1.",
    place("Appendix A.2.5, last displays; Theorem 4"),
    Kind.THEOREM,
    Same("fedinit.theorem_4", At("fedinit.theorem_4_before", {mean_g2: "fedinit.theorem_1"})),
    known=Status.HOLDS,
    note="Delta^0 is kept although Theorem 1 has dropped it as 0.",
)

NEVER_BINDS = Claim(
    "fedinit.theorem_4.third_cap",
    "The cap sqrt(N)/(sqrt(C) K L) that Theorem 4 adds is met whenever N/(2CKL) is: it restricts nothing.",
    place("Theorem 4, step size"),
    Kind.ASSUMPTION,
    All(
        {
            "it is larger": ImpliedBy(N / (2 * C * K * L), sp.sqrt(N / C) / (K * L), where=(N <= C,)),
            "same caps": Same("fedinit.step_size_cap_theorem_4", "fedinit.step_size_cap_theorem_1", where=(N <= C,)),
        }
    ),
    known=Status.HOLDS,
    damaged="sqrt(N)/(sqrt(C) K L), the only reading for which the proof's 24 C eta^2 K^2 L^2/N is at most 24",
)


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
    "Theorem 5's explicit form: the recursion unrolled, gradients bounded by the descent inequality and Theorem 2.",
    place("Appendix A.2.6"),
    Kind.THEOREM,
    Same("fedinit.theorem_5", _assembled),
    known=Status.HOLDS,
    damaged="the summand of the last sum; T exp(-lambda mu eta K (T-1)) is what 96 beta^2 <= exp(-lambda mu eta K) gives",
    note="The decreases of the divergence, which the descent inequality adds, are left out in the proof's later "
    "displays: fedinit.theorem_2.weighted_decreases shows that they may be positive.",
)

HIDDEN = Claim(
    "fedinit.theorem_5.hidden_condition",
    "The theorem's range of beta and eta implies the proof's 96 beta^2 <= exp(-lambda mu eta K).",
    place("Appendix A.2.6, 'let'"),
    Kind.PROOF,
    ImpliedBy(
        THETA,
        DECAY,
        where=(beta >= 0, beta < sp.sqrt(6) / 24, eta <= 1 / (lam * mu * K)),
        within={beta: (0.0, 0.102)},
    ),
    known=Status.FAILS,
    note="At eta = 1/(lambda mu K) it asks for beta <= 0.062; at beta = 0.1 for lambda mu eta K <= 0.041.",
    repair=Repair(
        "the largest relaxation for which it holds",
        Same(At(THETA, {beta: "fedinit.relaxation_cap_theorem_5"}), DECAY),
        bound="fedinit.relaxation_cap_theorem_5",
    ),
)

LOG_SQ = sp.log(lam * mu * N * K * T) ** 2
INITIAL = At(term("fedinit.theorem_5", "loss: initial loss"), STEP_2)

INITIAL_ORDER = Claim(
    "fedinit.theorem_5.initial_loss",
    "With the step size of Theorem 2 the initial loss enters Theorem 5's explicit form like D/T^2, up to logarithms.",
    place("Theorem 5, eq. (17)"),
    Kind.THEOREM,
    OrderIs(INITIAL, T, LOG_SQ / T**2, at_most=True, where=MEETS_LOG),
    known=Status.FAILS,
    note="T equal powers take a factor T: the term falls like log T/(NKT). With 96 beta^2 kept below exp(-lambda mu eta "
    "K) by a constant factor the powers sum to a constant and the printed order follows.",
    damaged="the last sum of the proof (see fedinit.theorem_5)",
    repair=Repair(
        "by the geometric sum, where 96 beta^2 exp(lambda mu eta K) < 1",
        OrderIs(
            At(term("fedinit.theorem_5_geometric", "loss: initial loss"), STEP_2),
            T,
            LOG_SQ / T**2,
            at_most=True,
            where=(*MEETS_LOG, beta >= 0, sp.Rational(9, 10) > THETA),
        ),
        bound="fedinit.theorem_5_geometric",
    ),
)

GEOMETRIC = Claim(
    "fedinit.theorem_5.equal_powers",
    "The last sum of the proof, of (96 beta^2)^(T-1-t) exp(-lambda mu eta K t) over t, is at most T "
    "exp(-lambda mu eta K (T-1)) when 96 beta^2 <= exp(-lambda mu eta K).",
    place("Appendix A.2.6, last sum"),
    Kind.PROOF,
    ImpliedBy(
        DECAY ** (T - 1) * (1 - (THETA / DECAY) ** T) / (1 - THETA / DECAY),
        T * DECAY ** (T - 1),
        where=(beta > 0, THETA < DECAY),
        within={beta: (0.01, 0.102), T: (1, 60)},
    ),
    known=Status.HOLDS,
)

REST = Claim(
    "fedinit.theorem_5.rest",
    "What (17) leaves aside of Theorem 5's explicit form is of order 1/(NKT^3), up to logarithms.",
    place("Theorem 5, eq. (17), last term"),
    Kind.THEOREM,
    OrderIs(
        At(term("fedinit.theorem_5", "global gradient: dissimilarity"), STEP_2),
        K,
        sp.log(lam * mu * N * K * T) ** 3 / (N * K * T**3),
        at_most=True,
        where=MEETS_LOG,
    ),
    known=Status.FAILS,
    note="The G^2 part of eta^3 K^3/N has no K left: G^2/(NT^3). It is smaller than (17)'s KG^2/(NKT^2), so that the "
    "whole order stands.",
    repair=Repair(
        "1/(NT^3)",
        OrderIs(
            At(term("fedinit.theorem_5", "global gradient: dissimilarity"), STEP_2),
            K,
            sp.log(lam * mu * N * K * T) ** 3 / (N * T**3),
            where=MEETS_LOG,
        ),
    ),
)

NO_LOGARITHM = Claim(
    "fedinit.theorem_5.no_logarithm",
    "(17) holds with O(.), without logarithms: the divergence is at most of order 1/T^2.",
    place("Theorem 5, eq. (17); discussion"),
    Kind.THEOREM,
    OrderIs(
        At(term("fedinit.theorem_5", "dissimilarity"), STEP_2), T, 1 / T**2, at_most=True, where=(*MEETS_LOG, THETA < 1)
    ),
    known=Status.FAILS,
    note="The step size carries log(lambda mu NKT), its square enters; (12) and (18) print the tilde that is missing.",
    repair=Repair(
        "with the squared logarithm",
        OrderIs(
            At(term("fedinit.theorem_5", "dissimilarity"), STEP_2), T, LOG_SQ / T**2, where=(*MEETS_LOG, THETA < 1)
        ),
    ),
)

ORDER_5 = Claim(
    "fedinit.theorem_5.order",
    "(17): D/T^2 + G^2/T^2 + (N sigma_l^2 + K G^2)/(NKT^2) + 1/(NKT^3); apart from D the first terms are those of the "
    "explicit form.",
    place("Theorem 5, eq. (17); appendix eq. (32)"),
    Kind.EQUATION,
    All(
        {
            "as printed": Same(
                "fedinit.theorem_5_order",
                (D + G2) / T**2 + (N * sigma2 + K * G2) / (N * K * T**2) + 1 / (N * K * T**3),
            ),
            "noise": Same(
                At(term("fedinit.theorem_5", "gradient noise"), STEP_2),
                Total(
                    ((69 * LOG_SQ / (lam * mu) ** 2 / (1 - THETA), term("fedinit.theorem_5_order", "gradient noise")),)
                ),
            ),
            "dissimilarity": Same(
                At(term("fedinit.theorem_5", "dissimilarity"), STEP_2),
                Total(
                    ((267 * LOG_SQ / (lam * mu) ** 2 / (1 - THETA), term("fedinit.theorem_5_order", "dissimilarity")),)
                ),
            ),
        }
    ),
    known=Status.HOLDS,
)

CONDITIONS = Claim(
    "fedinit.theorems_4_5.conditions",
    "Theorems 4 and 5 ask for K >= 2, their step-size caps and 0 <= beta < sqrt(6)/24, which is inside Theorem 1's range.",
    place("Theorems 4 and 5"),
    Kind.ASSUMPTION,
    All(
        {
            "conditions": requires(
                {
                    "fedinit.theorem_4": (
                        *OF_1[:4],
                        beta < sp.sqrt(6) / 24,
                        lam < LEFT,
                        eta <= sp.sqrt(N) / (sp.sqrt(C) * K * L),
                    ),
                    "fedinit.theorem_5": (
                        *OF_1[:4],
                        beta < sp.sqrt(6) / 24,
                        lam < LEFT,
                        eta <= 1 / (lam * mu * K),
                        THETA <= DECAY,
                    ),
                    "fedinit.theorem_4_recursion": (
                        K >= 2,
                        eta <= 1 / (K * L),
                        eta <= sp.sqrt(N) / (sp.sqrt(C) * K * L),
                        beta >= 0,
                        beta < sp.sqrt(6) / 24,
                    ),
                    "fedinit.theorem_4_before": (
                        K >= 2,
                        eta <= 1 / (K * L),
                        eta <= sp.sqrt(N) / (sp.sqrt(C) * K * L),
                        beta >= 0,
                        beta < sp.sqrt(6) / 24,
                    ),
                }
            ),
            "96 beta^2 = 1 at its end": Same(
                Total(((K, lambda book: 96 * book["fedinit.relaxation_cap_theorem_4"].expr ** 2),)), K
            ),
            "72 beta^2 = 1 at Theorem 1's": Same(
                Total(((K, lambda book: 72 * book["fedinit.relaxation_cap_theorem_1"].expr ** 2),)), K
            ),
        }
    ),
    known=Status.HOLDS,
    damaged="< or <= at the ends of beta's ranges; 24 and 12 follow from 96 and 72",
)

CAPS = Claim(
    "fedinit.step_size_caps",
    "The step-size caps of Theorems 1, 2, 4, 5 and Lemmas 2 to 4 are N/(2CKL), 1/(NKL), 1/(lambda mu K), "
    "sqrt(N)/(sqrt(C) K L), 1/(2 sqrt(2) K L) and 1/(KL) in their combinations.",
    place("Theorems 1, 2, 4, 5; Lemmas 2 to 4"),
    Kind.ASSUMPTION,
    All(
        {
            "Theorem 1": Same("fedinit.step_size_cap_theorem_1", sp.Min(N / (2 * C), 1 / N) / (K * L)),
            "Theorem 2": Same(
                "fedinit.step_size_cap_theorem_2",
                sp.Min(N / (2 * C * L), 1 / (N * L), 1 / (lam * mu), evaluate=False) / K,
            ),
            "Theorem 5": Same("fedinit.step_size_cap_theorem_5", "fedinit.step_size_cap_theorem_2"),
            "Lemma 2": Same("fedinit.step_size_cap_lemma_2", sp.sqrt(2) / (4 * K * L)),
            "Lemma 3": Same("fedinit.step_size_cap_lemma_3", 1 / (K * L)),
            "K at least 2": requires(
                {
                    f"fedinit.step_size_cap_{x}": (K >= 2,)
                    for x in ("theorem_1", "theorem_2", "theorem_4", "theorem_5", "lemma_2", "lemma_3")
                }
            ),
        }
    ),
    known=Status.HOLDS,
)

CLAIMS: tuple[Claim, ...] = (
    RECURSION, BEFORE, INSERTED, NEVER_BINDS, THEOREM_5, HIDDEN, INITIAL_ORDER, GEOMETRIC, REST, NO_LOGARITHM, ORDER_5,
    CONDITIONS, CAPS,
)  # fmt: skip
