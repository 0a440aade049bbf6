"""FedCOG: clients generate data that complement their own and distil the global model on them.

The generation loss (1)-(2), the target labels, the local objective (3) and its cost; then Theorem 5.6 and
Corollary 5.7. The steps of their proof are in ``proof``.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition, ONE, Statistic
from ..operators import ClassMax, ClassSum, ClientSum
from ..places import SERVER
from ..units import LOSS, PARAMETER
from . import letters as z, proof
from .proof import fedcog_bound, of

A, b, b_hat, beta_sq, C, c, d, eta, F_k, g = z.A, z.b, z.b_hat, z.beta_sq, z.C, z.c, z.d, z.eta, z.F_k, z.g
gap, js, kappa_sq, L, L_c, L_dis, L_kd = z.gap, z.js, z.kappa_sq, z.L, z.L_c, z.L_dis, z.L_kd
lambda_dis, lambda_kd, N, n, N_gen, N_real, p = z.lambda_dis, z.lambda_kd, z.N, z.n, z.N_gen, z.N_real, z.p
S, sigma_sq, T, tau = z.S, z.sigma_sq, z.T, z.tau

METHOD = About("fedcog")

# ---- generation ----

generation = Bound(
    **of("generation_loss", q.generation_loss, "eq. (1)", METHOD),
    relation="=",
    terms={"task": L_c, "disagreement": lambda_dis * L_dis},
    conditions=(
        Condition("a disagreement loss is at most 1", L_dis <= 1),
        Condition("a disagreement loss is at least 1 - ln 2 (natural logarithm)", L_dis >= 1 - sp.log(2)),
    ),
    note="Means over the generated samples; only the inputs are optimised, both networks and the labels stay fixed.",
)

disagreement = Bound(
    **of("disagreement_loss", L_dis, "eq. (2)", METHOD),
    relation="=",
    terms={"one": sp.Integer(1), "divergence": -js},
    signed=("divergence",),
    off_by={"one": ONE / LOSS},
    conditions=(Condition("a Jensen-Shannon divergence is at most ln 2 (natural logarithm)", js <= sp.log(2)),),
    note="The base of the logarithm is not stated; it is natural here. The 1 is a pure number added to a divergence.",
)

disagreement_upper = Bound(
    **of("disagreement_upper", L_dis, "range of eq. (2), derived", METHOD),
    relation="<=",
    terms={"equal outputs": sp.Integer(1)},
    off_by={"equal outputs": ONE / LOSS},
    note="Reached where both networks give the same output, whatever the logarithm's base.",
)

disagreement_lower = Bound(
    **of("disagreement_lower", L_dis, "range of eq. (2), derived", METHOD),
    relation=">=",
    terms={"disjoint outputs": 1 - sp.log(2)},
    off_by={"disjoint outputs": ONE / LOSS},
    note="Approached where the outputs share no class; 0 if the divergence were taken with logarithms to base 2.",
)

# ---- target labels ----

NOT_BALANCED = Condition(
    "the client's classes are not all equally frequent: otherwise 0/0, which the paper leaves open",
    ClassSum(ClassMax(d) - d) > 0,
)
SOME_DATA = Condition("the client has at least one sample", ClassSum(d) > 0)
SIZES = {N_real: ClassSum(d), N_gen: ClassSum(ClassMax(d) - d)}

uniform_labels = Bound(
    **of("uniform_labels", N, "Section 4.1, uniform target labels", METHOD),
    relation="=",
    terms={"copies of every label": n * C},
)

complementary_distribution = Bound(
    **of("complementary_count", q.complementary_count, "A.1.1, complementary label distribution", METHOD),
    relation="=",
    terms={"lacking": ClassMax(d) - d},
)

complementary_allocation = Bound(
    **of("complementary_allocation", q.generated_class_count, "A.1.1, allocation of the generated samples", METHOD),
    relation="=",
    terms={"share of the lack": N * (ClassMax(d) - d) / ClassSum(ClassMax(d) - d)},
    conditions=(NOT_BALANCED,),
    note="Before rounding, which the paper leaves open; bounds.fedcog.labels rounds.",
)

balanced_total = Bound(
    **of("balanced_samples", q.balanced_samples, "A.2.2", METHOD),
    relation="=",
    terms={"own": N_real, "lacking": N_gen},
    where=SIZES,
    conditions=(SOME_DATA,),
    note="Equals the number of classes times the size of the largest class.",
)

real_weight = Bound(
    **of("task_weight", q.task_weight, "A.2.2, weight of the task loss", METHOD),
    relation="=",
    terms={"own share": N_real / (N_real + N_gen)},
    where=SIZES,
    conditions=(SOME_DATA,),
)

generated_weight = Bound(
    **of("distillation_weight", lambda_kd, "A.2.2, weight of the distillation loss", METHOD),
    relation="=",
    terms={"lacking share": N_gen / (N_real + N_gen)},
    where=SIZES,
    conditions=(SOME_DATA,),
    note="Counts the samples needed for balance, not those generated.",
)

# ---- local objective and cost ----

objective = Bound(
    **of("local_objective", q.local_objective, "eq. (3)", METHOD),
    relation="=",
    terms={"task": F_k, "distillation": lambda_kd * L_kd},
)

NETWORKS, DIRECTIONS = 2, 2
cost = fedcog_bound(
    **of("sample_passes", q.sample_passes, "Algorithm 1 and Sections 4.1 and 4.2, derived", METHOD),
    relation="=",
    terms={
        "generation": NETWORKS * DIRECTIONS * S * N,
        "distillation": DIRECTIONS * tau * b_hat,
        "local training": DIRECTIONS * tau * b,
    },
    note="Every generation step runs the whole set forward and backward through the frozen global and local networks; "
    "the teacher's outputs are reused from there. It counts work, not seconds. FedAvg has only the last term.",
)

# ---- the theorem and its corollary ----

MIN_OVER_ROUNDS = Statistic("min", "rounds", SERVER)
ASSUMED = (
    *assumed("smooth", "lower_bounded", "dissimilarity", "fixed_step_size", "fixed_local_steps"),
    *proof.SETTING,
    *proof.NOISE,
    Condition(proof.LEMMA_WORDS),
)

theorem = fedcog_bound(
    **of("theorem", g, "Theorem 5.6 = A.6, eq. (5) = (13)", proof.THEORY, MIN_OVER_ROUNDS),
    terms={
        "optimisation": 4 * gap / (tau * eta * T),
        "gradient noise": 4 * eta * L * sigma_sq * ClientSum(p**2),
        "drift by noise": 3 * (tau - 1) * eta**2 * sigma_sq * L**2,
        "drift by heterogeneity": 6 * tau * (tau - 1) * eta**2 * L**2 * kappa_sq,
    },
    conditions=(proof.DESCENDS, proof.SMALL_DRIFT, *ASSUMED),
)

_LEFT = 1 - A * (1 + beta_sq)
theorem_sharp = replace(
    theorem,
    **of("theorem_sharp", None, "Theorem 5.6, sharpened"),
    terms={
        "optimisation": 2 * (1 - A) * gap / (tau * eta * T) / _LEFT,
        "gradient noise": (1 - A) * eta * L * sigma_sq * ClientSum(p**2) / ((1 - tau * eta * L) * _LEFT),
        "drift by noise": (tau - 1) * eta**2 * sigma_sq * L**2 / _LEFT,
        "drift by heterogeneity": A * kappa_sq / _LEFT,
    },
    where=proof.DRIFT,
    conditions=(
        Condition("eta L < 1/tau", tau * eta * L < 1),
        Condition("A (beta^2 + 1) < 1", A * (1 + beta_sq) < 1),
        *ASSUMED,
    ),
    note="The paper's proof with ||a + b||^2 <= (1 + c) ||a||^2 + (1 + 1/c) ||b||^2 in (25), 1 + 1/c = 1/(tau eta L), "
    "so that the path gradients still cancel, and (55) kept for (57). Under the theorem's conditions never larger, "
    "and 2 to 4 times smaller for small steps; it holds for larger ones too.",
)


def _enough_rounds(scale: sp.Expr) -> tuple[Condition, ...]:
    """Return the theorem's step-size conditions at ``eta = scale / sqrt(tau T)``, solved for the number of rounds."""
    # Both have the form load <= 1, with eta in the first and eta^2 in the second: the first is squared to get 1/T.
    loads: tuple[sp.Expr, ...] = (proof.STEP_LOAD**2, proof.DRIFT_LOAD)
    first, second = (load.subs(eta, scale / sp.sqrt(tau * T)) * T <= T for load in loads)
    factor = "" if scale == 1 else " c^2"
    return (
        Condition(f"T >= 4 tau L^2{factor}", first),
        Condition(f"T >= 2 (tau-1) (2 beta^2 + 1) L^2{factor}", second),
    )


def _step_is(words: str, scale: sp.Expr) -> Condition:
    return Condition(f"the step size is {words}", sides=(eta, scale / sp.sqrt(tau * T)))


STEP_PRINTED = _step_is("1/sqrt(tau T)", sp.S.One)


def _at_step(scale: sp.Expr) -> dict[str, sp.Expr]:
    return {label: term.subs(eta, scale / sp.sqrt(tau * T)) for label, term in theorem.terms.items()}


# eta = 1/sqrt(tau T) equates a step size with a pure number: each power of eta in a term hides this unit.
HIDDEN = PARAMETER**2 / LOSS
OFF = {
    "optimisation": HIDDEN, "gradient noise": HIDDEN**-1, "drift by noise": HIDDEN**-2,
    "drift by heterogeneity": HIDDEN**-2,
}  # fmt: skip

corollary_scaled = fedcog_bound(
    **of("corollary_scaled", g, "Theorem 5.6 at eta = c/sqrt(tau T), derived", proof.THEORY, MIN_OVER_ROUNDS),
    terms=_at_step(c),
    conditions=(*_enough_rounds(c), _step_is("c/sqrt(tau T)", c), *ASSUMED),
    note="The corollary with the unit of its step size kept: c = 1 gives Corollary 5.7.",
)

corollary = fedcog_bound(
    **of("corollary", g, "Theorem 5.6 at eta = 1/sqrt(tau T), derived", proof.THEORY, MIN_OVER_ROUNDS),
    terms=_at_step(sp.S.One),
    conditions=(*_enough_rounds(sp.S.One), STEP_PRINTED, *ASSUMED),
    off_by=OFF,
    note="The theorem's conditions become conditions on the number of rounds, which the paper does not print.",
)

corollary_printed = fedcog_bound(
    **of("corollary_printed", g, "Corollary 5.7 = A.7, eq. (6) = (14)", proof.THEORY, MIN_OVER_ROUNDS),
    terms={
        "optimisation": 4 * gap / sp.sqrt(tau * T),
        "gradient noise": 4 * L * sigma_sq * ClientSum(p**2) / sp.sqrt(tau * T),
        "drift by noise": 3 * (tau - 1) * sigma_sq * L**2 / (tau * T),
        "drift by heterogeneity": 6 * (tau - 1) * L**2 * kappa_sq / T,
    },
    conditions=(STEP_PRINTED, *ASSUMED),
    off_by=OFF,
    note="As printed: no condition on the number of rounds.",
)

corollary_appendix = fedcog_bound(
    **of("corollary_appendix", g, "proof of Corollary A.7, eq. (65)", proof.THEORY, MIN_OVER_ROUNDS),
    terms={
        "optimisation": 4 * gap / sp.sqrt(tau * T),
        "gradient noise": 4 * L**2 * sigma_sq * ClientSum(p**2) / sp.sqrt(tau * T),
        "drift by noise": 3 * (tau - 1) * sigma_sq * L**2 / (tau * T),
        "drift by heterogeneity": 6 * tau * (tau - 1) * L**2 * kappa_sq / (tau * T),
    },
    conditions=(STEP_PRINTED, *ASSUMED),
    off_by={**OFF, "gradient noise": q.CURVATURE**2},
    note="As printed: L^2 in the noise term where (6) has L.",
)

corollary_order = fedcog_bound(
    **of("corollary_order", g, "Corollary 5.7, eq. (7) = (15)", proof.THEORY, MIN_OVER_ROUNDS),
    relation="<~",
    terms={"1/sqrt(tau T)": 1 / sp.sqrt(tau * T), "1/T": 1 / T, "tau/T": tau / T},
    conditions=(STEP_PRINTED, *ASSUMED),
    off_by=dict.fromkeys(("1/sqrt(tau T)", "1/T", "tau/T"), ONE / q.GRADIENT**2),
)
