"""Khaled et al. 2019, "First Analysis of Local GD on Heterogeneous Data": exact gradients, any convex smooth clients.

Heterogeneity enters only by the clients' gradients at the minimiser. The paper's M counts clients, T iterations, and
H is the largest number of local steps between two averages.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import VIRTUAL
from .common import AVERAGED, ENDS_WITH_A_ROUND, EQUAL_WEIGHTS, EVERY_VIRTUAL, EVERYONE, FEDAVG, TUNED_STEP

D2, D_f, H, L = q.initial_distance_sq, q.optimality_gap, q.local_steps, q.smoothness
M, T, V, gamma = q.clients, q.iterations, q.consensus_distance, q.step_size
sigma_f = q.optimum_dissimilarity

LOCAL_GD = "Local GD"
of = heads("classics", LOCAL_GD)
LETTERS = {
    M: "M", T: "T", H: "H", gamma: r"\gamma", sigma_f: r"\sigma_f^2", D2: r"\|x_0-x_*\|^2", V: "V_t",
    D_f: r"D_f(\hat x_t,x_*)", q.distance_sq: r"\|r_t\|^2", q.next_distance_sq: r"\|r_{t+1}\|^2",
}  # fmt: skip
SETTING = (
    *assumed("convex", "smooth", "exact_gradients"),
    *EVERYONE,
    Condition.assume("fixed_step_size"),
    EQUAL_WEIGHTS,
)
SHORT_EPOCHS = Condition("the step size is at most 1/(4LH)", gamma <= 1 / (4 * L * H))

lemma_1 = Bound(
    **of("local_gd_lemma_1", q.next_distance_sq, "Lemma 1, eq. (4)", FEDAVG, EVERY_VIRTUAL),
    terms={
        "distance": q.distance_sq,
        "drift": gamma * L * (1 + 2 * gamma * L) * V,
        "gap": -2 * gamma * (1 - 2 * gamma * L) * D_f,
    },
    conditions=SETTING,
    letters=LETTERS,
    signed=("gap",),
    note="The gap is that of the average of all clients' models, before the step.",
)

lemma_1_short_step = replace(
    lemma_1,
    **of("local_gd_lemma_1_short_step", None, "Lemma 1, second display"),
    terms={"distance": q.distance_sq, "drift": sp.Rational(3, 2) * gamma * L * V, "gap": -gamma * D_f},
    conditions=(*SETTING, Condition("the step size is at most 1/(4L)", gamma <= 1 / (4 * L))),
)

lemma_2 = Bound(
    **of("local_gd_lemma_2", q.summed_consensus, "Lemma 2, first display", FEDAVG),
    terms={"gap": 5 * L * gamma**2 * H**2 * q.summed_gap, "heterogeneity": 8 * gamma**2 * H**2 * H * sigma_f},
    conditions=(*SETTING, SHORT_EPOCHS),
    statistic=Statistic("every", "rounds", VIRTUAL),
    letters={**LETTERS, q.summed_consensus: r"\sum_tV_t", q.summed_gap: r"\sum_tD_f(\hat x_t,x_*)"},
    note="Both sums are over the H averages of one epoch before its steps, the first of them the server's model.",
)

theorem_1 = Bound(
    **of("local_gd_theorem_1", q.average_gap, "Theorem 1, eq. (5)", FEDAVG, AVERAGED),
    terms={"start": 2 * D2 / (gamma * T), "heterogeneity": 24 * gamma**2 * sigma_f * H**2 * L},
    conditions=(*SETTING, SHORT_EPOCHS, ENDS_WITH_A_ROUND),
    letters=LETTERS,
    note="At the plain mean of the averages before the steps 1 to T. The same proof bounds the mean of their gaps.",
)

corollary_1 = replace(
    theorem_1,
    **of("local_gd_corollary_1", None, "Corollary 1"),
    terms={"start": 8 * L * D2 / sp.sqrt(M * T), "heterogeneity": 3 * M * sigma_f * H**2 / (2 * L * T)},
    conditions=(
        *SETTING,
        ENDS_WITH_A_ROUND,
        Condition("the local steps are at most sqrt(T/M)", H**2 * M <= T),
        TUNED_STEP,
    ),
    note="Theorem 1 with this step size.",
)
