"""FedCOG's theory, step by step: the assumption, the lemma, and the inequalities of the proof that have numbers.

Appendix A.6, (9) to (57). The theory is about clients that share one generated set (no disagreement loss, one seed);
Phi = F + Q is task loss plus distillation loss, with the round's starting model as the teacher.
"""

from __future__ import annotations

from functools import partial

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition
from ..operators import ClientMean, ClientSum
from ..papers import heads
from .letters import A, beta_sq, eta, F_next, g, g_k, gap, h_sq, K, kappa_sq, L, p, Q_next, sigma_sq, step_sq, T, tau

LETTERS = {
    K: "K", tau: r"\tau", T: "T", beta_sq: r"\beta^2", kappa_sq: r"\kappa^2",
    g: r"\mathbb{E}\|\nabla\Phi(\theta^{(t)};\mathcal{D}^{(t)})\|^2",
    gap: r"\Phi(\theta^{(0)};\mathcal{D}^{(0)})-\Phi_{inf}", step_sq: r"\mathbb{E}\|\theta^{(t+1)}-\theta^{(t)}\|^2",
}  # fmt: skip
fedcog_bound = partial(Bound, letters=LETTERS)
"""Creates a bound with the paper's letters."""
THEORY = About("fedcog", "proof")
of = heads("fedcog")

# ---- assumptions ----

LEMMA_WORDS = "the teacher of a round's distillation loss is the server model that opens the round (Lemma 5.5 needs it)"
SETTING = (*assumed("local_sgd", "shared_generated_data", "full_participation"),)
NOISE = (Condition.assume("bounded_variance"), Condition("the clients draw their mini-batches independently"))
DRIFT = {A: 2 * tau * (tau - 1) * eta**2 * L**2}
BOUNDED_DRIFT = Condition("drift does not feed itself: A < 1", A < 1)
STEP_LOAD = 2 * tau * eta * L
DRIFT_LOAD = 2 * tau * (tau - 1) * (2 * beta_sq + 1) * eta**2 * L**2
DESCENDS = Condition("eta L <= 1/(2 tau)", STEP_LOAD <= 1)
SMALL_DRIFT = Condition("eta L <= 1/sqrt(2 tau (tau-1) (2 beta^2 + 1)), no limit for tau = 1", DRIFT_LOAD <= 1)

# ---- the steps ----

lemma = Bound(
    **of("lemma_5_5", q.next_objective, "Lemma 5.5 = A.5, eq. (9) to (12)", THEORY),
    terms={"task": F_next, "distillation on this round's data": Q_next},
    signed=("task",),
    conditions=(
        Condition.assume("shared_generated_data"),
        Condition(LEMMA_WORDS),
        Condition("a distillation loss is a divergence: nonnegative, and 0 where student and teacher agree"),
    ),
)

dissimilarity = fedcog_bound(
    **of("dissimilarity", q.mean_client_grad_sq, "Assumption 5.4 = A.4", THEORY),
    terms={"global gradient": beta_sq * g, "heterogeneity": kappa_sq},
    conditions=(Condition.assume("dissimilarity"),),
)

smoothness_step_printed = fedcog_bound(
    **of("smoothness_step_printed", q.loss_change, "eq. (19)", THEORY),
    terms={"alignment": q.step_alignment, "curvature": -L / 2 * step_sq},
    signed=("alignment", "curvature"),
    conditions=(Condition.assume("smooth"),),
    note="Printed with a minus before the curvature term; (20) continues with a plus.",
)

smoothness_step = fedcog_bound(
    **of("smoothness_step", q.loss_change, "eq. (19) with the sign of (20)", THEORY),
    terms={"alignment": q.step_alignment, "curvature": L / 2 * step_sq},
    signed=("alignment",),
    conditions=(Condition.assume("smooth"),),
)

update = fedcog_bound(
    **of("mean_update", q.mean_update_sq, "eq. (29)", THEORY),
    terms={"gradient noise": 2 * sigma_sq / tau * ClientSum(p**2), "local paths": 2 * h_sq},
    conditions=(*SETTING, *NOISE),
)

descent = fedcog_bound(
    **of("descent", q.loss_change, "eq. (30)", THEORY),
    terms={
        "global gradient": -tau * eta / 2 * g,
        "local paths": -tau * eta / 2 * (1 - 2 * tau * eta * L) * h_sq,
        "gradient noise": L * tau * eta**2 * sigma_sq * ClientSum(p**2),
        "gradient drift": tau * eta / 2 * q.mean_gradient_drift,
    },
    signed=("global gradient", "local paths"),
    conditions=(Condition.assume("smooth"), *SETTING, *NOISE),
)

drift = fedcog_bound(
    **of("gradient_drift", q.gradient_drift, "eq. (49) to (51)", THEORY),
    terms={"gradient noise": (tau - 1) * eta**2 * sigma_sq * L**2 / (1 - A), "client gradient": A / (1 - A) * g_k},
    where=DRIFT,
    conditions=(BOUNDED_DRIFT, Condition.assume("smooth"), *SETTING, *NOISE),
)

mean_drift = fedcog_bound(
    **of("mean_gradient_drift", q.mean_gradient_drift, "eq. (52) to (53), derived from (51) and Assumption 5.4"),
    terms={
        "gradient noise": ClientMean(drift.terms["gradient noise"]),
        **{
            label: ClientMean(drift.terms["client gradient"]).subs(ClientMean(g_k), share)
            for label, share in dissimilarity.terms.items()
        },
    },
    where=DRIFT,
    conditions=(*drift.conditions, Condition.assume("dissimilarity")),
    about=THEORY,
)

descent_with_drift = fedcog_bound(
    **of("descent_with_drift", q.loss_change, "eq. (54) to (55), derived from (30) and (53)", THEORY),
    terms={
        "global gradient": descent.terms["global gradient"] + tau * eta / 2 * mean_drift.terms["global gradient"],
        "gradient noise": descent.terms["gradient noise"],
        "drift by noise": tau * eta / 2 * mean_drift.terms["gradient noise"],
        "drift by heterogeneity": tau * eta / 2 * mean_drift.terms["heterogeneity"],
    },
    where=DRIFT,
    signed=("global gradient",),
    conditions=(DESCENDS, *mean_drift.conditions),
)

one_round = fedcog_bound(
    **of("descent_one_round", q.loss_change, "eq. (56) to (57), conditions (62) and (63)", THEORY),
    terms={
        "global gradient": -tau * eta / 4 * g,
        "gradient noise": L * tau * eta**2 * sigma_sq * ClientSum(p**2),
        "drift by noise": sp.Rational(3, 4) * tau * (tau - 1) * sigma_sq * L**2 * eta**3,
        "drift by heterogeneity": sp.Rational(3, 4) * A * tau * eta * kappa_sq,
    },
    where=DRIFT,
    signed=("global gradient",),
    conditions=(
        DESCENDS,
        Condition("1/(1-A) <= 1 + 1/(2 beta^2), eq. (63)", 1 + 1 / (2 * beta_sq) >= 1 / (1 - A)),
        *mean_drift.conditions,
    ),
    note="Without A < 1, (63) would also hold for every A > 1, where (51) does not apply.",
)
