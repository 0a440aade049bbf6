"""What the statements ask for, against what is printed: relaxations, step sizes, lambda."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import beta, C, eta, G2, K, L, lam, mu, N, S, T, t_0

from ..checkers import requires, Same, Total
from ..claim import Claim, Kind
from .divergence import DECAY, THETA
from .lemmas import CAP_2, ROUND
from .optimization import LEFT, OF_1, RANGE

OF_4 = (*OF_1[:4], beta < sp.sqrt(6) / 24, lam < LEFT)
CAP_4 = eta <= sp.sqrt(N) / (sp.sqrt(C) * K * L)
CAP_PL = eta <= 1 / (lam * mu * K)
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
                **{f"fedinit.lemma_4{x}": (*ROUND, *RANGE) for x in ("_recursion", "")},
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
                **{
                    f"fedinit.theorem_4_{x}": (*ROUND, CAP_4, beta >= 0, beta < sp.sqrt(6) / 24)
                    for x in ("recursion", "before")
                },
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
                **{
                    f"fedinit.{x}": (K >= 2,)
                    for x in (
                        *(
                            f"theorem_{n}"
                            for n in ("1_order", "1_order_appendix", "2_order", "4_order", "5_order", "6")
                        ),
                        *(f"step_size_cap_{n}" for n in ("theorem_1", "theorem_2", "theorem_4", "theorem_5")),
                        *(f"step_size_cap_lemma_{n}" for n in (2, 3)),
                    )
                },
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
        "step size of (12)": Same(
            "fedinit.step_size_theorem_2_order", sp.log(lam * mu * N * K * T) / (lam * mu * K * T)
        ),
    },
    note="beta = 0 is not covered by Theorem 3 although it is in the theorem's range: the exponent 1/(beta c L) has no "
    "value there.",
    damaged="the root of Lemma 2's cap; whether beta < or <= its ends is printed, where the constants are infinite",
)
