"""The orders (10), (12), (16), (28), (30), (31) against the explicit bounds, and what the text draws from them."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, D, eta, G2, K, L, lam, mu, N, sigma2, T

from ..checkers import All, ArgminIs, At, Formula, ImpliedBy, MonotoneIn, OrderIs, resolve, Same, term, Total
from ..claim import Claim, Defect, Kind, Repair

STEP_1, STEP_2 = (f"fedinit.step_size_theorem_{n}_order" for n in (1, 2))
LOG = sp.log(lam * mu * N * K * T)
SCALED = D + L * (sigma2 + K * G2)


def _matches(theorem: str, step_size: str, constants: dict[str, tuple[sp.Expr, Formula]]) -> All:
    """Every explicit term at the chosen step size is a constant times the order's term of the same name.

    Of a constant the factor is given, and the theorem's own constant beside it.
    """

    def scaled(name: str, factor: sp.Expr, constant: Formula) -> Formula:
        return lambda book: factor * resolve(constant, book) * term(f"{theorem}_order", name)(book)

    return All(
        {
            name: Same(At(term(theorem, name), {eta: step_size}), scaled(name, *constant))
            for name, constant in constants.items()
        }
    )


ORDER_1 = Claim(
    "fedinit.theorem_1.order",
    "With eta = sqrt(N/(KT)) Theorem 1 gives (10), (D + L(sigma_l^2 + K G^2))/sqrt(NKT), and (28) is the same order.",
    Kind.THEOREM.at("Theorem 1, eq. (10); Theorem 7, eq. (28)"),
    {
        "as printed": Same("fedinit.theorem_1_order", SCALED / sp.sqrt(N * K * T)),
        "terms": _matches(
            "fedinit.theorem_1",
            STEP_1,
            {
                "initial loss": (2 / lam, 1),
                "gradient noise": (1 / lam, "fedinit.kappa_2"),
                "dissimilarity": (3 / lam, "fedinit.kappa_1"),
            },
        ),
        "in the appendix": Same(At("fedinit.theorem_1_order_appendix", {G2: G2 / 3}), "fedinit.theorem_1_order"),
    },
    note="(28) prints 3KG^2 for KG^2, which an O(.) hides. Once T >= max(4 C^2 K L^2/N, N^3 K L^2), so that the step "
    "size is within both caps.",
)

REACHED = Claim(
    "fedinit.theorem_1.rounds_needed",
    "In long enough runs the step size sqrt(N/(KT)) behind (10) is within Theorem 1's caps.",
    Kind.PROOF.at("Theorem 1, above eq. (10)"),
    ImpliedBy(
        "fedinit.step_size_theorem_1_order",
        "fedinit.step_size_cap_theorem_1",
        where=(N <= C, T >= 4 * C**2 * K * L**2 / N, T >= N**3 * K * L**2),
        within={L: (0.01, 0.3), C: (1, 20), K: (1, 9), N: (1, 5), T: (1, 100000)},
    ),
    note="The text does not say how long. From max(4 C^2 K L^2/N, N^3 K L^2) rounds on: at the experiments' C = 100, "
    "N = 10 and K = 50 from 200,000 L^2.",
)

DOMINANT = Claim(
    "fedinit.theorem_1.dominant_term",
    "The part of G is the largest in (10): K times that of D.",
    Kind.REMARK.at("Discussion of Theorem 1"),
    ImpliedBy(term("fedinit.theorem_1_order", "initial loss"), term("fedinit.theorem_1_order", "dissimilarity")),
    note="Not where D > L K G^2, as for clients that are nearly alike, nor K times that of sigma_l where sigma_l^2 > "
    "G^2. Read as growth with K alone it is so.",
    defect=Defect.READING,
)

SPEEDUP = Claim(
    "fedinit.theorem_1.speedup",
    "N times as many participants allow for N times fewer rounds: (10) depends on the product NT only.",
    Kind.REMARK.at("Discussion of Theorem 1"),
    Same(At("fedinit.theorem_1_order", {N: 2 * N, T: T / 2}), "fedinit.theorem_1_order"),
)

BEST_K = Claim(
    "fedinit.local_steps_order",
    "Without the initial loss (10) is smallest at K = sigma_l^2/G^2, and falls with G.",
    Kind.REMARK.at("Discussion of Theorem 1"),
    {
        "minimiser (K written as a square)": ArgminIs(
            At("fedinit.theorem_1_order", {D: 0, K: K**2}),
            K,
            lambda book: sp.sqrt(resolve("fedinit.local_steps_order", book)),
            where=(sigma2 > 0, G2 > 0),
        ),
        "falls with G": MonotoneIn("fedinit.local_steps_order", G2, up=False, where=(sigma2 > 0, G2 > 0)),
    },
    note="With the initial loss the best K is (D + L sigma_l^2)/(L G^2).",
)

ORDER_2 = Claim(
    "fedinit.theorem_2.order",
    "With eta = log(lambda mu NKT)/(lambda mu KT) Theorem 2 gives (12), (D + L(sigma_l^2 + K G^2))/(NKT), up to the "
    "logarithm.",
    Kind.THEOREM.at("Theorem 2, eq. (12); appendix eq. (30)"),
    {
        "as printed": Same("fedinit.theorem_2_order", SCALED / (N * K * T)),
        "terms": _matches(
            "fedinit.theorem_2",
            STEP_2,
            {
                "initial loss": (1 / (lam * mu), 1),
                "gradient noise": (LOG / (2 * lam**2 * mu**2), "fedinit.kappa_2"),
                "dissimilarity": (3 * LOG / (2 * lam**2 * mu**2), "fedinit.kappa_1"),
            },
        ),
    },
    damaged="the step size: OCR keeps a logarithm over KT; this one makes the exponential 1/(lambda mu NKT)",
)

KEPT = {
    "speed-up": Same(At("fedinit.theorem_2_order", {N: 2 * N, T: T / 2}), "fedinit.theorem_2_order"),
    "dissimilarity dominates": Same(
        Total(((G2 * K / sigma2, term("fedinit.theorem_2_order", "gradient noise")),)),
        term("fedinit.theorem_2_order", "dissimilarity"),
        where=(sigma2 > 0,),
    ),
}
CARRY_OVER = Claim(
    "fedinit.theorem_2.properties",
    "Theorem 2 keeps what is said of Theorem 1: linear speed-up in N, the dissimilarity dominates, and beyond "
    "K = sigma_l^2/G^2, without the initial loss, more local steps hurt.",
    Kind.REMARK.at("Discussion of Theorem 2"),
    All(
        {
            **KEPT,
            "best K": MonotoneIn(
                At("fedinit.theorem_2_order", {D: 0}), K, up=True, where=(sigma2 > 0, G2 > 0, sigma2 <= G2 * K)
            ),
        },
        wrong=("best K",),
    ),
    note="In (12) the dissimilarity's part L G^2/(NT) does not depend on K and the rest falls: more local steps never "
    "hurt, however large G is. That is what the discussions of Theorem 5 and of (18) say of it.",
    repair=Repair(
        "the first two; in K (12) falls",
        {
            **KEPT,
            "falls with K": MonotoneIn("fedinit.theorem_2_order", K, up=False, where=(D > 0,)),
            "dissimilarity free of K": Same(
                term("fedinit.theorem_2_order", "dissimilarity"), L * G2 / (N * T), where=(G2 > 0,)
            ),
        },
    ),
    defect=Defect.REFUTED,
)

W96 = 1 - 96 * beta**2
ORDER_4 = Claim(
    "fedinit.theorem_4.order",
    "With eta = sqrt(N/(KT)) Theorem 4 gives (16), N(sigma_l^2 + K G^2)/T + sqrt(NK) B^2 (D + L(sigma_l^2 + "
    "K G^2))/T^{3/2}.",
    Kind.THEOREM.at("Theorem 4, eq. (16); appendix eq. (31)"),
    {
        "as printed": Same(
            "fedinit.theorem_4_order", N * (sigma2 + K * G2) / T + sp.sqrt(N * K) * B2 * SCALED / T ** sp.Rational(3, 2)
        ),
        "terms": _matches(
            "fedinit.theorem_4",
            STEP_1,
            {
                "gradient noise": (69 / W96, 1),
                "dissimilarity": (267 / W96, 1),
                "global gradient: initial loss": (534 / (W96 * lam), 1),
                "global gradient: gradient noise": (267 / (W96 * lam), "fedinit.kappa_2"),
                "global gradient: dissimilarity": (801 / (W96 * lam), "fedinit.kappa_1"),
            },
        ),
    },
    damaged="the exponent 3/2; eta^2 K^2/sqrt(NKT) allows no other",
)

INCREASING_N = Claim(
    "fedinit.theorem_4.participants",
    "By (16), at its step size, more participants inhibit consistency: its dominant part is linear in N.",
    Kind.REMARK.at("Discussion of Theorem 4"),
    {
        "linear": OrderIs("fedinit.theorem_4_order", N, N),
        "at a given step size": MonotoneIn("fedinit.theorem_4", N, up=False, where=(N <= C, beta >= 0, W96 > 0)),
    },
    note="N enters (16) through the step size sqrt(N/(KT)) alone. At a given step size Theorem 4 falls with N.",
)

OPPOSITE = Claim(
    "fedinit.theorems_4_5.local_steps",
    "Theorems 4 and 5 give opposite advice on K, as their discussions say.",
    Kind.REMARK.at("Discussions of Theorems 4 and 5"),
    {
        "Theorem 4 grows": MonotoneIn("fedinit.theorem_4_order", K, up=True, where=(G2 > 0,)),
        "with G": OrderIs("fedinit.theorem_4_order", G2, N * K / T * G2, where=(G2 > 0,)),
        "Theorem 5 falls": MonotoneIn("fedinit.theorem_5_order", K, up=False),
    },
    note="The opposite advice comes from the step sizes alone, sqrt(N/(KT)) against log(..)/(lambda mu KT).",
)
