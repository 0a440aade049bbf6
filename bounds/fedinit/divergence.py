"""FedInit, divergence: the recursion of Theorem 4, Theorem 4 before and after using Theorem 1, Theorem 5, the weight.

Every integer printed there (96, 69, 267, 534, 801) follows by substitution from Lemmas 2 and 4 and Theorems 1 and 2.
"""

from __future__ import annotations

from sympy import exp, Expr, sqrt

from .. import vocabulary as q
from . import common
from .common import fedinit_bound, of
from .letters import beta, C, c, D, eta, K, L, lam, mu, N, T
from .optimization import LASTING, LOCAL_DRIFT, NEXT_DIVERGENCE, theorem_1, theorem_2

AT_GRADIENT_SUM_CAP = sqrt(N / C) / (eta * K)  # the L for which eta = sqrt(N)/(sqrt(C) K L)

RECURSION: dict[str, Expr] = {
    # the summed gradients of Lemma 4 are at most 2 C^2 K L^2 V_1 plus a multiple of the global gradient
    name: NEXT_DIVERGENCE[name] + (3 * eta**2 / (C * N) * 2 * C**2 * K * L**2 * drift).subs(L, AT_GRADIENT_SUM_CAP)
    for name, drift in LOCAL_DRIFT.items()
}

theorem_4_recursion = fedinit_bound(
    **of("theorem_4_recursion", q.next_divergence, "Theorem 4, proof", common.PROOF, common.EVERY_LOCAL),
    terms=RECURSION,
    conditions=(
        *common.SETTING,
        common.ALL_TRAIN,
        common.TWO_STEPS,
        common.STEP_ROUND,
        common.STEP_GRADIENT_SUM,
        common.BETA_NOT_NEGATIVE,
        common.BETA_BELOW_96,
    ),
    note="96, 69, 267 are rebuilt (certain). The proof's route adds 6 C eta^2 K^2/N times the squared global gradient, "
    "which the printed coefficient 267 B^2 does not show; keeping the sampling weights of Lemma 3 gives it.",
)

UNROLLED = {name: term / common.WEIGHT_96 for name, term in RECURSION.items() if name != "relaxed start"}

theorem_4_before = fedinit_bound(
    **of("theorem_4_before", q.mean_divergence, "Theorem 4, proof, before Theorem 1 is inserted (appendix: Theorem 9)"),
    terms={
        "divergence decrease": (q.initial_divergence - q.final_divergence) / (common.WEIGHT_96 * T),
        **{name: term.subs(q.grad_norm_sq, q.mean_grad_norm_sq) for name, term in UNROLLED.items()},
    },
    signed=("divergence decrease",),
    conditions=theorem_4_recursion.conditions,
    about=common.PROOF,
    statistic=common.MEAN_LOCAL,
)

theorem_4 = fedinit_bound(
    **of("theorem_4", q.mean_divergence, "Theorem 4, proof, last explicit display (appendix: Theorem 9)", common.PROOF),
    terms={
        **{name: term for name, term in theorem_4_before.terms.items() if name != "global gradient"},
        **{
            f"global gradient: {name}": theorem_4_before.terms["global gradient"].subs(q.mean_grad_norm_sq, term)
            for name, term in theorem_1.terms.items()
        },
    },
    signed=("divergence decrease",),
    where=common.CONSTANTS,
    conditions=common.OF_THEOREM_4,
    statistic=common.MEAN_LOCAL,
    note="The cap sqrt(N)/(sqrt(C) K L) is rebuilt from damaged text (high confidence); N/(2CKL) is always smaller. "
    "Delta^0 is printed although Theorem 1, which is used here, drops it as 0.",
)

GAIN = UNROLLED["global gradient"] / q.grad_norm_sq
LOSS_GAIN = GAIN * 2 / (lam * eta * K)  # the descent inequality converts a loss into a squared gradient

theorem_5 = fedinit_bound(
    **of("theorem_5", q.final_divergence, "Theorem 5, proof, assembled (appendix: Theorem 10)", common.PROOF),
    terms={
        **{name: UNROLLED[name] for name in LASTING},
        **{f"global gradient: {name}": GAIN * term for name, term in LASTING.items()},
        **{f"loss: {name}": LOSS_GAIN * theorem_2.terms[name] for name in LASTING},
        # T equal powers of exp(-lambda mu eta K), where the other terms have the geometric sum 1/(1 - 96 beta^2)
        "loss: initial loss": LOSS_GAIN * common.WEIGHT_96 * D * T * exp(-lam * mu * eta * K * (T - 1)),
    },
    where=common.CONSTANTS,
    conditions=common.OF_THEOREM_5,
    statistic=common.LAST_LOCAL,
    note="The summand of the last sum is damaged; T exp(-lambda mu eta K (T-1)) is what "
    "96 beta^2 <= exp(-lambda mu eta K) gives (medium confidence). The decreases of the divergence that the descent "
    "inequality adds appear in one display of the proof and not in the next.",
)

weight = fedinit_bound(
    **of("divergence_weight", q.divergence_weight, "Section 4.3.4, selection of the relaxation", common.ALGORITHM_1),
    relation="=",
    terms={"weight": (1 + beta) ** (1 / (beta * c * L)) / sqrt(common.WEIGHT_96)},
    conditions=(common.BETA_POSITIVE, common.BETA_BELOW_96, common.BOTH_SMOOTH),
    statistic=common.EVERY_ROUND,
    note="The exponent 1/(beta c L) is damaged, yet visible in three places (high confidence). As beta falls to 0 the "
    "weight tends to exp(1/(cL)), not to 1.",
)
