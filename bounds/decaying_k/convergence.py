"""Decaying-K, convergence: the two forms of Theorem 1, its lemmas, and the bound per second of runtime (8).

(8) is derived: it is Theorem 1 with a fixed number of local steps and the iterations expressed by the runtime (7).
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..classics.common import EQUAL_WEIGHTS
from ..core import assumed, Condition, Statistic
from ..operators import ClientSum
from ..places import VIRTUAL
from ..quantities import Quantity
from .letters import beta, C, eta, F_0, F_star, F_t0, G2, Gamma, K, kappa, L, mu, N, p_c, R, sigma_c, T, tau, W
from .runtime import decaying_k_bound, FEDAVG, of, runtime_fixed, TAU

KAPPA = {kappa: L / mu}

A1_TO_A3 = assumed("smooth", "strongly_convex", "bounded_variance")
CAPPED_STEP_SIZE = Condition("the step size is at most 1/(4L)", eta <= 1 / (4 * L))
_GRADIENTS = Condition.assume("bounded_gradient")
_SETTING = (*A1_TO_A3, _GRADIENTS, Condition.assume("fixed_step_size"), CAPPED_STEP_SIZE)

gradient_cap = decaying_k_bound(
    **of("gradient_cap", G2, "Section 3.3, definition of G", FEDAVG),
    relation="=",
    terms={"gradient at the start": L**2 * q.initial_distance_sq},
    conditions=(Condition.assume("smooth"),),
    note="The argument is for full gradient descent; for the clients' stochastic gradients it is not shown.",
)

# ---- the lemmas ----

_VARIANCE = ClientSum(p_c**2 * sigma_c)
_ABOUT_NOISE = (
    "Only the variance of the noise is assumed; that of the average is the sum of p_c^2 sigma_c^2 only if the "
    "clients' noise is independent."
)

lemma_1_printed = decaying_k_bound(
    **of("lemma_1_printed", q.next_distance_sq, "Appendix A.1, Lemma 1, eq. (16)", FEDAVG),
    terms={
        "contraction": (1 - eta * mu) * q.distance_sq,
        "gradient variance": eta**2 * _VARIANCE,
        "heterogeneity": 6 * eta**2 * L * Gamma,
        "drift": 8 * eta**2 * (K - 1) ** 2 * G2,
        "partial participation": eta**2 * (C - N) / (N - 1) * 4 / N * K**2 * G2,
    },
    conditions=(*A1_TO_A3, _GRADIENTS, Condition("at least two clients take part: (16) divides by N - 1", N > 1)),
    statistic=Statistic("every", "iterations", VIRTUAL),
    signed=("contraction",),
    note="The factor (C - N)/(N - 1) exceeds 1 as soon as 2N - 1 < C, so the step from (16) to (17), which bounds it "
    "by 1, is wrong as printed; in the cited work it is (C - N)/(C - 1). No limit on the step size is stated here. "
    f"{_ABOUT_NOISE}",
)

lemma_1 = replace(
    lemma_1_printed,
    **of("lemma_1", None, "Appendix A.1, Lemma 1, eq. (16), repaired"),
    terms={
        **lemma_1_printed.terms,
        "gradient variance": eta**2 * ClientSum(sigma_c) / C**2,
        "partial participation": lemma_1_printed.terms["partial participation"] * (N - 1) / (C - 1),
    },
    conditions=(
        *A1_TO_A3,
        _GRADIENTS,
        CAPPED_STEP_SIZE,
        *assumed("independent_noise", "sampled_without_replacement"),
        Condition("there are at least two clients", C > 1),
        EQUAL_WEIGHTS,
    ),
    signed=(),
    note="As in the cited work of Li et al.: participation factor (C - N)/(C - 1), which is at most 1, equal weights, "
    "step size at most 1/(4L), uniform sampling without replacement.",
)

lemma_2 = decaying_k_bound(
    **of("lemma_2", q.weighted_grad_norm_sq, "Appendix A.1, Lemma 2, eq. (17)", FEDAVG),
    terms={
        "optimisation": 2 * kappa * (kappa * F_0 - F_star),
        "gradient variance": kappa * L * _VARIANCE * q.squared_step_sizes,
        "heterogeneity": 6 * kappa * L**2 * Gamma * q.squared_step_sizes,
        "drift": 8 * kappa * L * (K - 1) ** 2 * G2 * q.squared_step_sizes,
        "partial participation": 4 / N * kappa * L * K**2 * G2 * q.squared_step_sizes,
    },
    conditions=(*A1_TO_A3, _GRADIENTS, Condition("F^* is the smallest loss", F_star <= F_0)),
    statistic=Statistic("expectation", at=VIRTUAL),
    where=KAPPA,
    signed=("optimisation",),
    note="K is in front of the sum over the iterations, so it is taken as the largest number of local steps. The "
    "proof drops -2(1/mu - 1/L)F^*, which needs F^* >= 0; the limit 1/(4L) on the step sizes is not repeated. "
    f"{_ABOUT_NOISE}",
)

# ---- Theorem 1 ----

theorem_1 = decaying_k_bound(
    **of("theorem_1", q.grad_norm_sq, "Theorem 1, eq. (6)", FEDAVG, Statistic("min", "iterations", VIRTUAL)),
    terms={
        "optimisation": 2 * kappa * (kappa * F_0 - F_star) / (eta * T),
        "gradient variance": eta * kappa * L * _VARIANCE,
        "heterogeneity": eta * kappa * L * 6 * L * Gamma,
        "drift": eta * kappa * L * (8 + 4 / N) * G2 * q.steps_cubed_ratio,
    },
    conditions=(
        *_SETTING,
        Condition.assume("steps_never_increase"),
        Condition("F^* is the smallest loss", F_star <= F_0),
    ),
    where=KAPPA,
    signed=("optimisation",),
    note="The appendix prints a different last line (decaying_k.theorem_1_appendix). The proof needs F^* >= 0. "
    f"{_ABOUT_NOISE}",
)

_SUMMED_CLIENTS = Condition("the marked clients are as many as take part", sp.Eq(ClientSum(q.takes_part), N))

theorem_1_appendix = replace(
    theorem_1,
    **of("theorem_1_appendix", None, "Appendix A.2, last display", None, Statistic("mean", "iterations", VIRTUAL)),
    terms={
        "optimisation": 2 * kappa * (F_0 - F_star) / (eta * T),
        "gradient variance": eta * kappa * L * ClientSum(q.takes_part * p_c**2 * sigma_c),
        "heterogeneity": theorem_1.terms["heterogeneity"],
        "drift": eta * kappa * L * 16 * G2 * q.steps_cubed_ratio,
    },
    conditions=(*theorem_1.conditions, _SUMMED_CLIENTS),
    signed=(),
    note="Differs from (6) in three places: F_0 - F^* for kappa F_0 - F^*, which is smaller when F_0 > 0 and does not "
    "follow from the display before it; the variance summed over n = 1..N (the clients marked by takes_part) instead "
    "of all C; 16 for 8 + 4/N, which is larger. It bounds the mean over the iterations.",
)

# ---- Theorem 1 with a fixed number of local steps ----


def _fixed_steps(run: dict[Quantity, sp.Expr]) -> dict[str, sp.Expr]:
    """Return the terms of Theorem 1 restarted at t_0 with K_r = K and the iterations given by ``run``."""
    return {
        name: term.subs({q.steps_cubed_ratio: K**2, F_0: F_t0, **run}, simultaneous=True)
        for name, term in theorem_1.terms.items()
    }


FIXED_STEPS = (*_SETTING, Condition.assume("fixed_local_steps"), Condition("F^* is the smallest loss", F_star <= F_t0))
_SECONDS_PER_ITERATION = sp.Add(*runtime_fixed.terms.values()).diff(T)

per_second = replace(
    theorem_1,
    **of("per_second", None, "Section 3.4, eq. (8)"),
    terms=_fixed_steps({T: W / _SECONDS_PER_ITERATION}),
    conditions=(*FIXED_STEPS, Condition("the runtime holds at least one round", tau + beta * K <= W)),
    where={**KAPPA, **TAU},
    note="Derived: (6) with K_r = K, restarted at the iteration t_0, with the iterations from (7).",
)

per_rounds = replace(
    theorem_1,
    **of("per_rounds", None, "Theorem 1 with T = K R, derived"),
    terms=_fixed_steps({T: K * R}),
    conditions=FIXED_STEPS,
    note="Derived: (6) with K_r = K and the iterations of R rounds; the setting of Remarks 2.3 and 2.1.3, with no "
    "assumption on how long computation takes.",
)
