"""Assumptions 1 to 5 and the conditions of all statements: whether they can be met, and whether they are as printed."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import beta, C, D, eta, G2, K, L, L_G, lam, mu, N, S, s_, T, t_0

from ..checkers import ImpliedBy, requires, Same, Total
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .divergence import DECAY, STEP_2, THETA
from .lemmas import CAP_2, ROUND
from .optimization import LEFT, OF_1, RANGE


def _on_a_ball(book: Book) -> Finding:
    """f = 3 w^2/2 on |w| <= 4: slope at most 12, PL with mu = 3, and the cap L_G^2/(2 mu) reached at the edge only."""
    ball = [Fraction(4 * i, 7) for i in range(-7, 8)]
    met = all(
        abs(3 * w) <= 12 and 2 * 3 * (3 * w**2 / 2) <= (3 * w) ** 2 and 3 * w**2 / 2 <= Fraction(12**2, 2 * 3)
        for w in ball
    )
    return judged(met, "smooth, Lipschitz and PL at 15 points of the ball, with L = mu = 3, L_G = 12")


CAP_ON_LOSS = L_G**2 / (2 * mu)
TOGETHER = Claim(
    "fedinit.assumptions.together",
    "Assumptions 1, 4 and 5 (smooth, Lipschitz, Polyak-Lojasiewicz) can be met together, as Theorems 3 and 6 ask.",
    Kind.ASSUMPTION.at("Assumptions 1, 4, 5; Theorems 3 and 6"),
    ImpliedBy(D * sp.exp(2 * mu * s_), CAP_ON_LOSS, where=(D > 0, D <= CAP_ON_LOSS)),
    note="The theorems ask for them at once on the whole space. There only a constant loss meets them. PL and "
    "the Lipschitz constant cap the gap at L_G^2/(2 mu) everywhere; along gradient ascent, which smoothness lets run "
    "for ever, PL makes it grow at least like exp(2 mu s). A loss capped by U contradicts PL in the same way.",
    repair=Repair("on a ball of radius R, where a parabola meets all three with L_G = L R", _on_a_ball),
    defect=Defect.REFUTED,
    ours=True,
)


OF_4 = (*OF_1[:4], beta < sp.sqrt(6) / 24, lam < LEFT)
CAP_4 = eta <= sp.sqrt(N) / (sp.sqrt(C) * K * L)
CAP_PL = eta <= 1 / (lam * mu * K)
ORDERS_AND_CAPS = (
    "theorem_1_order", "theorem_1_order_appendix", "theorem_2_order", "theorem_4_order", "theorem_5_order", "theorem_6",
    "step_size_cap_theorem_1", "step_size_cap_theorem_2", "step_size_cap_theorem_4", "step_size_cap_theorem_5",
    "step_size_cap_lemma_2", "step_size_cap_lemma_3",
)  # fmt: skip
OF_STABILITY = (S >= 2, beta > 0, beta < sp.sqrt(2) / 12)

PRINTED = Claim(
    "fedinit.conditions",
    "Which of K >= 2, N/(2CKL), 1/(NKL), 1/(lambda mu K), sqrt(N)/(sqrt(C) K L), 1/(2 sqrt(2) K L), 1/(KL), the "
    "ranges of beta, lambda and t_0 each statement asks for.",
    Kind.ASSUMPTION.at("Lemmas 2 to 5; Theorems 1 to 6"),
    {
        "optimisation": requires(
            {
                "fedinit.lemma_2": (K >= 2, eta <= CAP_2),
                "fedinit.lemma_3": ROUND,
                **dict.fromkeys(("fedinit.lemma_4_recursion", "fedinit.lemma_4"), (*ROUND, *RANGE)),
                "fedinit.theorem_1": (*OF_1, lam < LEFT),
                "fedinit.descent": (*OF_1, lam < LEFT),
                "fedinit.theorem_2": (*OF_1, lam < LEFT, CAP_PL),
                "fedinit.kappa_1": RANGE,
                "fedinit.kappa_2": RANGE,
                "fedinit.contraction_cap": (K >= 2, *OF_1[2:]),
                "fedinit.step_size_cap_descent": RANGE,
            }
        ),
        "divergence": requires(
            {
                "fedinit.theorem_4": (*OF_4, CAP_4),
                "fedinit.theorem_5": (*OF_4, CAP_PL, THETA <= DECAY),
                **dict.fromkeys(
                    ("fedinit.theorem_4_recursion", "fedinit.theorem_4_before"),
                    (*ROUND, CAP_4, beta >= 0, beta < sp.sqrt(6) / 24),
                ),
                "fedinit.divergence_weight": (beta > 0, beta < sp.sqrt(6) / 24),
            }
        ),
        "stability": requires(
            {
                "fedinit.lemma_5": (t_0 <= S,),
                "fedinit.stability_separation": (*OF_STABILITY, t_0 <= S),
                "fedinit.stability_before_t_0": (*OF_STABILITY, K >= 2, t_0 <= S),
                "fedinit.theorem_3_printed": (*OF_STABILITY, K >= 2),
            }
        ),
        "orders and caps": requires(
            {
                "fedinit.step_size_theorem_2_order": (lam * mu * N * K * T > 1,),
                "fedinit.local_steps_order": (G2 > 0,),
                **{f"fedinit.{name}": (K >= 2,) for name in ORDERS_AND_CAPS},
            }
        ),
        "Theorem 1's cap": Same("fedinit.step_size_cap_theorem_1", sp.Min(N / (2 * C), 1 / N) / (K * L)),
        "Theorem 2's": Same(
            "fedinit.step_size_cap_theorem_2", sp.Min(N / (2 * C * L), 1 / (N * L), 1 / (lam * mu), evaluate=False) / K
        ),
        "Theorem 5's": Same("fedinit.step_size_cap_theorem_5", "fedinit.step_size_cap_theorem_2"),
        "Lemma 2's": Same("fedinit.step_size_cap_lemma_2", CAP_2),
        "Lemma 3's": Same("fedinit.step_size_cap_lemma_3", 1 / (K * L)),
        "Theorem 1's range": Same(Total(((sp.sqrt(72) * K, "fedinit.relaxation_cap_theorem_1"),)), K),
        "Theorem 4's": Same(Total(((sp.sqrt(96) * K, "fedinit.relaxation_cap_theorem_4"),)), K),
        "step size of (10)": Same("fedinit.step_size_theorem_1_order", sp.sqrt(N / (K * T))),
        "step size of (12)": Same("fedinit.step_size_theorem_2_order", STEP_2[eta]),
    },
    note="beta = 0 is not covered by Theorem 3 although it is in the theorem's range: the exponent 1/(beta c L) has no "
    "value there.",
    damaged="the root of Lemma 2's cap; whether beta < or <= its ends is printed, where the constants are infinite",
)
