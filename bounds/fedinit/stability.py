"""FedInit, generalisation: Lemmas 1 and 5 to 7, the separation of two runs, Theorem 3, the split of the excess risk.

Two runs are compared whose data differ in one sample of one client. ``theorem_3`` combines Lemma 5 and the bound on the
separation at the chosen t_0; ``theorem_3_printed`` is eq. (14).
"""

from __future__ import annotations

from sympy import Expr, sqrt

from .. import vocabulary as q
from ..core import assumed, Condition
from ..quantities import Quantity
from ..units import LOSS, PARAMETER
from . import common
from .common import fedinit_bound, of
from .letters import beta, c, Delta, eta, K, L, L_G, mu_0, S, sigma_l, T, t_0, tau, U

NOISY_SMOOTH = (common.BOTH_SMOOTH, *assumed("bounded_variance", "nonnegative_loss"))
ONE_SAMPLE = Condition("the two runs' data differ in one sample of one client, all else is shared")
DECAYING_STEP = Condition("the step size is a scale over the number of the local iteration, counted over all rounds")
VIRTUAL_STEP = Condition("the move to the next initial point counts as a step that adds its length to the separation")
TWO_SAMPLES = Condition("every client holds at least 2 samples", S >= 2)
T_0_IN_RANGE = Condition("t_0 is at most the number of samples of a client", t_0 <= S)
CAPS_WORDS = Condition("the step sizes also meet the caps of Theorems 1 and 2")
EXPONENT = Condition("beta c L is at most 1, so that the drift's factor covers 1 + beta", beta * c * L <= 1)
T_0_AT_LEAST_ONE = Condition("t_0 is at least 1", t_0 >= 1)

# ---- lemmas ----

lemma_1 = fedinit_bound(
    **of("lemma_1", q.generalization_gap, "Lemma 1, eq. (13)", common.ALGORITHM_1, common.LAST_SERVER),
    terms={"stability": q.stability},
    conditions=(Condition.assume("independent_samples"), ONE_SAMPLE),
)

lemma_5 = fedinit_bound(
    **of("lemma_5", q.stability, "Lemma 5, eq. (33)", common.PROOF, common.LAST_SERVER),
    terms={"sample met early": U * t_0 / S, "separation": L_G * q.separation},
    conditions=(
        *NOISY_SMOOTH,
        common.LIPSCHITZ_LOSS,
        Condition.assume("bounded_loss"),
        common.SAMPLING,
        common.ALL_TRAIN,
        ONE_SAMPLE,
        T_0_IN_RANGE,
    ),
    note="The separation is that of the last local models, given that the runs are identical up to t_0.",
)

lemma_6 = fedinit_bound(
    **of("lemma_6", q.next_separation, "Lemma 6, eq. (34)", common.ALGORITHM_1, common.EVERY_STEP),
    terms={"separation": q.separation, "expansion": eta * L * q.separation, "gradient noise": 2 * eta * sigma_l},
    conditions=(*NOISY_SMOOTH, ONE_SAMPLE, Condition("both runs draw the same sample in this step")),
)

lemma_7 = fedinit_bound(
    **of("lemma_7", q.next_separation, "Lemma 7, eq. (35)", common.ALGORITHM_1, common.EVERY_STEP),
    terms={"separation": q.separation, "gradient noise": 2 * eta * sigma_l, "other sample": 2 * eta * L_G},
    conditions=(
        *NOISY_SMOOTH,
        common.LIPSCHITZ_LOSS,
        ONE_SAMPLE,
        Condition("the runs draw different samples in this step"),
    ),
)

# ---- the separation, step by step and round by round ----

SAME, OTHER = 1 - 1 / S, 1 / S  # the probabilities of the two cases in a step

stability_step = fedinit_bound(
    **of("stability_step", q.next_separation, "Appendix A.3.2, one local step", common.ALGORITHM_1, common.EVERY_STEP),
    terms={
        **{name: term for name, term in lemma_6.terms.items() if name in lemma_7.terms},  # in both cases
        "expansion": SAME * lemma_6.terms["expansion"],
        "other sample": OTHER * lemma_7.terms["other sample"],
    },
    conditions=(*NOISY_SMOOTH, common.LIPSCHITZ_LOSS, Condition.assume("equal_sizes"), ONE_SAMPLE),
    note="Lemmas 6 and 7 with the probabilities 1 - 1/S and 1/S, for every client.",
)

stability_round = fedinit_bound(
    **of("stability_round", q.start_shift, "Appendix A.3.2, between two rounds", common.PROOF, common.EVERY_LOCAL),
    terms={"relaxed start": (1 + beta) * sqrt(Delta)},
    conditions=(common.START, common.ALL_TRAIN),
)

GROWTH = (T * K / t_0) ** (c * L)
SEPARATION: dict[str, Expr] = {
    "stochastic gradients": 2 * (L_G + S * sigma_l) / ((S - 1) * L) * GROWTH,
    "client drift": (1 + beta) ** (1 / (beta * c * L)) * GROWTH * q.summed_divergence_root,
}
OF_STABILITY = (
    *NOISY_SMOOTH,
    common.LIPSCHITZ_LOSS,
    Condition.assume("equal_sizes"),
    common.SAMPLING,
    common.START,
    ONE_SAMPLE,
    DECAYING_STEP,
    VIRTUAL_STEP,
    TWO_SAMPLES,
    common.BETA_POSITIVE,
    common.BETA_BELOW_72,
)
REPAIRED_EXPONENT = "The exponent 1/(beta c L) is damaged, yet visible in three places (high confidence)"
REPAIRED_BASE = "the base TK/t_0 of the drift term is damaged (t_0, t*K or tK; medium confidence)."

stability_separation = fedinit_bound(
    **of("stability_separation", q.separation, "Appendix A.3.2, last display", common.PROOF, common.LAST_SERVER),
    terms=SEPARATION,
    conditions=(*OF_STABILITY, common.ALL_TRAIN, T_0_IN_RANGE),
    note=f"{REPAIRED_EXPONENT}; {REPAIRED_BASE} The sum over the rounds after the runs part is taken over all rounds. "
    "The exponent covers the factor 1 + beta of a round only while beta c L <= 1.",
)

OF_THEOREM_3 = (*OF_STABILITY, Condition.assume("bounded_loss"), common.PL, common.TWO_STEPS)

stability_before_t_0 = fedinit_bound(
    **of("stability_before_t_0", q.stability, "Theorem 3, proof, before t_0 is chosen (appendix: Theorem 11)"),
    terms={
        "sample met early": lemma_5.terms["sample met early"],
        **{name: lemma_5.terms["separation"].subs(q.separation, term) for name, term in SEPARATION.items()},
    },
    conditions=(*OF_THEOREM_3, common.ALL_TRAIN, T_0_IN_RANGE),
    about=common.PROOF,
    statistic=common.LAST_SERVER,
    note=f"Lemma 5 with the separation inserted. {REPAIRED_EXPONENT}; {REPAIRED_BASE}",
)

# ---- Theorem 3 ----

CENTRAL = 2 * (L_G**2 + S * L_G * sigma_l) / L
T_0: dict[Quantity, Expr] = {t_0: (CENTRAL / U * (T * K) ** (c * L)) ** (1 / (1 + c * L))}

t_0_choice = fedinit_bound(
    **of("t_0", t_0, "Theorem 3, proof (appendix: Theorem 11)", common.PROOF, common.LAST_SERVER),
    relation="=",
    terms={"choice": T_0[t_0]},
    conditions=(common.BOTH_SMOOTH, Condition.assume("bounded_loss"), common.LIPSCHITZ_LOSS, DECAYING_STEP),
    note="A real number; if it exceeds the number of samples, Lemma 5 does not cover it.",
)

theorem_3 = fedinit_bound(
    **of("theorem_3", q.stability, "Theorem 3, proof, with t_0 put in (appendix: Theorem 11)", common.PROOF),
    terms=stability_before_t_0.terms,
    where=T_0,
    conditions=(*OF_THEOREM_3, common.ALL_TRAIN, T_0_IN_RANGE, T_0_AT_LEAST_ONE, EXPONENT),
    statistic=common.LAST_SERVER,
    note=f"Derived. Compared with eq. (14), the first two terms are 2 - 1/S times the printed first one, and the drift "
    f"term keeps Lemma 5's factor L_G. {REPAIRED_EXPONENT}; {REPAIRED_BASE}",
)

SHARE = 1 / (1 + c * L)

theorem_3_printed = fedinit_bound(
    **of("theorem_3_printed", q.stability, "Theorem 3, eq. (14)", common.ALGORITHM_1, common.LAST_SERVER),
    terms={
        "stochastic gradients": ((U * T * K) ** (c * L) * CENTRAL) ** SHARE / (S - 1),
        "client drift": (1 + beta) ** (1 / (beta * c * L))
        * (U * T * K / CENTRAL) ** (c * L * SHARE)
        * q.summed_divergence_root,
    },
    off_by={"client drift": PARAMETER / LOSS},
    conditions=(*OF_THEOREM_3, CAPS_WORDS),
    note="All exponents are rebuilt from t_0; so is the place of 1/(beta c L) (high confidence) and the counter of the "
    "step size c/(tK+k) (medium confidence). The drift term has lost a Lipschitz constant: its unit is off.",
)

step_size_theorem_3 = fedinit_bound(
    **of("step_size_theorem_3", eta, "Theorem 3, step size, with c = mu_0/K", common.ALGORITHM_1, common.EVERY_STEP),
    relation="=",
    terms={"step size": mu_0 / (K * tau)},
    note="The counter may be t, tK or tK+k; the proof sums c/tau over tau = tK+k (medium confidence).",
)

excess_risk_split = fedinit_bound(
    **of("excess_risk_split", q.excess_risk, "Section 4.1, eq. (3)", common.ALGORITHM_1, common.LAST_SERVER),
    relation="=",
    terms={"generalisation": q.generalization_gap, "optimisation": q.optimality_gap},
    signed=("generalisation",),
)
