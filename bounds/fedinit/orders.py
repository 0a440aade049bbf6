"""FedInit, statements up to a constant: the orders of Theorems 1 to 6, the step sizes behind them, the best K.

Each O(.) is split into terms of one unit; ``off_by`` is the unit of the constant the O(.) hides in that term. Where an
order adds quantities of different units inside a root or a logarithm, it is ``MIXED``.
"""

from __future__ import annotations

from sympy import Expr, log, sqrt

from .. import vocabulary as q
from ..core import assumed, Condition, MIXED, ONE
from ..units import LOSS, PARAMETER
from . import common
from .common import fedinit_bound, of
from .letters import B2, c, D, eta, G2, K, L, lam, mu, N, S, sigma2, sigma_l, T
from .stability import DECAYING_STEP, NOISY_SMOOTH, ONE_SAMPLE

BETA_WORDS = Condition("the relaxation is in the theorem's range; its weight is hidden in the constants")
STEP_WORDS = Condition("the step size is of the order that the theorem prescribes, and below its caps")
LOG_POSITIVE = Condition("the logarithm in the step size is positive", lam * mu * N * K * T > 1)
OFFSET_POSITIVE = Condition("the dissimilarity offset is positive", G2 > 0)

WHERE_CONVERGED = (*common.SETTING, Condition.assume("lower_bounded"), common.TOGETHER, common.TWO_STEPS, BETA_WORDS)


def loss_and_noise(scale: Expr, dissimilarity_factor: int = 1) -> dict[str, Expr]:
    """Return D + L(sigma_l^2 + K G^2) over ``scale``, by term; Theorem 7 prints 3 K G^2."""
    return {
        "initial loss": D / scale,
        "gradient noise": L * sigma2 / scale,
        "dissimilarity": dissimilarity_factor * L * K * G2 / scale,
    }


# ---- step sizes and the number of local steps ----

step_size_theorem_1 = fedinit_bound(
    **of("step_size_theorem_1_order", eta, "Theorem 1, above eq. (10)", common.ALGORITHM_1, common.EVERY_ROUND),
    relation="<~",
    terms={"step size": sqrt(N / (K * T))},
    off_by={"step size": LOSS / PARAMETER**2},
)

step_size_theorem_2 = fedinit_bound(
    **of("step_size_theorem_2_order", eta, "Theorem 2, above eq. (12)", common.ALGORITHM_1, common.EVERY_ROUND),
    relation="<~",
    terms={"step size": log(lam * mu * N * K * T) / (lam * mu * K * T)},
    off_by={"step size": MIXED},
    conditions=(LOG_POSITIVE,),
    note="Rebuilt (high confidence): the choice for which the exponential is 1/(lambda mu NKT). The logarithm is taken "
    "of a number that has a unit.",
)

local_steps_order = fedinit_bound(
    **of("local_steps_order", K, "Discussion of Theorem 1, under eq. (10)", common.ALGORITHM_1, common.EVERY_ROUND),
    relation="<~",
    terms={"local steps": sigma2 / G2},
    conditions=(OFFSET_POSITIVE, STEP_WORDS, Condition("the initial loss is ignored")),
    note="The best number of local steps up to a constant; with the initial loss it is (D + L sigma_l^2)/(L G^2).",
)

# ---- Theorems 1 and 2 ----

OFF_1 = {"initial loss": ONE / q.CURVATURE, "gradient noise": q.CURVATURE, "dissimilarity": q.CURVATURE}

theorem_1_orders = tuple(
    fedinit_bound(
        **of(f"theorem_1_order{version}", q.mean_grad_norm_sq, place, common.ALGORITHM_1, common.MEAN_SERVER),
        relation="<~",
        terms=loss_and_noise(sqrt(N * K * T), factor),
        off_by=OFF_1,
        conditions=(*WHERE_CONVERGED, STEP_WORDS),
    )
    for version, factor, place in (("", 1, "Theorem 1, eq. (10)"), ("_appendix", 3, "Theorem 7, eq. (28)"))
)

OFF_2 = {"gradient noise": q.CURVATURE**2, "dissimilarity": q.CURVATURE**2}

theorem_2_order = fedinit_bound(
    **of("theorem_2_order", q.optimality_gap, "Theorem 2, eq. (12) (appendix: eq. (30))", common.ALGORITHM_1),
    relation="<~",
    terms=loss_and_noise(N * K * T),
    off_by=OFF_2,
    conditions=(*WHERE_CONVERGED, common.PL, STEP_WORDS),
    statistic=common.LAST_SERVER,
    note="A logarithm of NKT is hidden besides the constants.",
)

# ---- Theorem 3 ----

theorem_3_order = fedinit_bound(
    **of("theorem_3_order", q.stability, "Discussion of Theorem 3, first part", common.ALGORITHM_1, common.LAST_SERVER),
    relation="<~",
    terms={"stochastic gradients": (T * K) ** (c * L / (1 + c * L)) / S},
    off_by={"stochastic gradients": ONE / LOSS},
    conditions=(
        *NOISY_SMOOTH,
        common.LIPSCHITZ_LOSS,
        ONE_SAMPLE,
        DECAYING_STEP,
        Condition("the divergence term is left out"),
    ),
)

# ---- Theorems 4 and 5 ----

theorem_4_order = fedinit_bound(
    **of("theorem_4_order", q.mean_divergence, "Theorem 4, eq. (16) (appendix: eq. (31))", common.PROOF),
    relation="<~",
    terms={
        "gradient noise": N * sigma2 / T,
        "dissimilarity": N * K * G2 / T,
        **{f"global gradient: {name}": sqrt(N * K) * B2 * term for name, term in loss_and_noise(T * sqrt(T)).items()},
    },
    off_by={
        "gradient noise": q.CURVATURE**2,
        "dissimilarity": q.CURVATURE**2,
        "global gradient: initial loss": q.CURVATURE,
        "global gradient: gradient noise": q.CURVATURE**3,
        "global gradient: dissimilarity": q.CURVATURE**3,
    },
    conditions=(*WHERE_CONVERGED, common.ALL_TRAIN, STEP_WORDS),
    statistic=common.MEAN_LOCAL,
    note="The weight 1/(1 - 96 beta^2) is left out.",
)

theorem_5_order = fedinit_bound(
    **of("theorem_5_order", q.final_divergence, "Theorem 5, eq. (17) (appendix: eq. (32))", common.PROOF),
    relation="<~",
    terms={
        "initial loss": D / T**2,
        "dissimilarity": G2 / T**2,
        "gradient noise": N * sigma2 / (N * K * T**2),
        "dissimilarity per participant": K * G2 / (N * K * T**2),
        "rest": 1 / (N * K * T**3),
    },
    off_by={
        "initial loss": q.CURVATURE,
        "dissimilarity": q.CURVATURE**2,
        "gradient noise": q.CURVATURE**2,
        "dissimilarity per participant": q.CURVATURE**2,
        "rest": ONE / PARAMETER**2,
    },
    conditions=(*WHERE_CONVERGED, common.PL, common.ALL_TRAIN, STEP_WORDS),
    statistic=common.LAST_LOCAL,
    note="The weight 1/(1 - 96 beta^2) is left out. In the explicit form, with its last sum as rebuilt "
    "(medium confidence), the initial loss falls like log(NKT)/(NKT), not 1/T^2.",
)

# ---- Theorem 6 ----

theorem_6 = fedinit_bound(
    **of("theorem_6", q.excess_risk, "Theorem 6, eq. (18)", common.ALGORITHM_1, common.LAST_SERVER),
    relation="<~",
    terms={
        **{f"optimisation: {name}": term for name, term in theorem_2_order.terms.items()},
        "stability": (sigma_l * (T * K) ** (c * L)) ** (1 / (1 + c * L)) / S,
        "divergence": sqrt(D + G2) * K ** (c * L / (1 + c * L)) / T ** (1 / (1 + c * L)),
    },
    off_by={**{f"optimisation: {name}": unit for name, unit in OFF_2.items()}, "stability": MIXED, "divergence": MIXED},
    conditions=(
        *WHERE_CONVERGED,
        common.PL,
        common.LIPSCHITZ_LOSS,
        common.BOTH_SMOOTH,
        *assumed("equal_sizes", "independent_samples", "bounded_loss", "nonnegative_loss"),
        STEP_WORDS,
        Condition("the step size is also at most a scale over the number of the iteration"),
    ),
    note="Logarithms are hidden besides the constants. The denominator under c is uncertain (t, T or TK; medium "
    "confidence); the divergence term is rebuilt as sqrt(Delta^T) (TK)^(cL/(1+cL)) (high confidence). The unit of the "
    "stability term depends on cL; the divergence term adds a loss and a squared gradient under the root.",
)
