"""Khaled et al. 2019, "Better Communication Complexity for Local SGD": one loss for all clients, independent noise.

This is the first version of the paper; later versions have other theorems. The letters are those of ``local_gd``.
Theorem 2 and Corollary 2 are printed with a wrong power of L, and the corollary with a distance that is not squared;
both forms are included.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import assumed, Bound, Condition
from ..papers import heads
from ..units import LOSS, PARAMETER
from .common import AVERAGED, EQUAL_WEIGHTS, EVERY_VIRTUAL, EVERYONE, FEDAVG, LAST_VIRTUAL, TUNED_STEP

D2, D_f, H, L = q.initial_distance_sq, q.optimality_gap, q.local_steps, q.smoothness
M, T, V, a = q.clients, q.iterations, q.consensus_distance, q.inverse_step
gamma, mu, sigma2 = q.step_size, q.strong_convexity, q.gradient_variance

LOCAL_SGD_2019 = "Local SGD"
of = heads("classics", LOCAL_SGD_2019)
LETTERS = {
    M: "M", T: "T", H: "H", gamma: r"\gamma", D2: r"\|\hat x_0-x_*\|^2", V: "V_t", D_f: r"D_f(\hat x_t,x_*)",
    q.next_distance_sq: r"\|\hat x_{t+1}-x_*\|^2", q.distance_sq: r"\|\hat x_t-x_*\|^2",
}  # fmt: skip
_IDENTICAL = (
    *assumed("smooth", "bounded_variance", "identical_clients", "independent_noise"),
    *EVERYONE,
    Condition.assume("fixed_step_size"),
    EQUAL_WEIGHTS,
)
_CONVEX, _STRONG = (Condition.assume(x) for x in ("convex", "strongly_convex"))
HALF = Condition("the step size is at most 1/(2L)", gamma <= 1 / (2 * L))
QUARTER = Condition("the step size is at most 1/(4L)", gamma <= 1 / (4 * L))

lemma_1 = Bound(
    **of("local_sgd_lemma_1", V, "Lemma 1, eq. (5)", FEDAVG, EVERY_VIRTUAL),
    terms={"noise": H * gamma**2 * sigma2},
    conditions=(*_IDENTICAL, _CONVEX, HALF),
    letters=LETTERS,
)

recursion = Bound(
    **of("local_sgd_recursion", q.next_distance_sq, "Appendix, Lemma 2, eq. (21), with Lemma 3", FEDAVG, EVERY_VIRTUAL),
    terms={
        "contraction": (1 - gamma * mu) * q.distance_sq,
        "noise": gamma**2 * sigma2 / M,
        "gap": -gamma / 2 * D_f,
        "drift": 2 * gamma * L * V,
    },
    conditions=(*_IDENTICAL, _STRONG, HALF),
    letters=LETTERS,
    signed=("gap",),
    note="Credited there to Stich's analysis of local SGD, Lemmas 3.1 and 3.2, which was not consulted.",
)

theorem_1 = Bound(
    **of("local_sgd_theorem_1", q.distance_sq, "Theorem 1, eq. (6)", FEDAVG, LAST_VIRTUAL),
    terms={
        "start": (1 - gamma * mu) ** T * D2,
        "noise": gamma * sigma2 / (mu * M),
        "drift": 2 * L * gamma**2 * H * sigma2 / mu,
    },
    conditions=(*_IDENTICAL, _STRONG, QUARTER),
    letters=LETTERS,
)

corollary_1 = replace(
    theorem_1,
    **of("local_sgd_corollary_1", None, "Corollary 1, eq. (7)"),
    terms={
        "start": 4 * sp.log(a) ** 2 / T**2 * D2,
        "noise": 2 * sigma2 * sp.log(a) / (mu**2 * M * T),
        "drift": 8 * L * sigma2 * H * sp.log(a) ** 2 / (mu**3 * T**2),
    },
    conditions=(
        *_IDENTICAL,
        _STRONG,
        Condition("a is larger than 4 times the condition number", a > 4 * L / mu),
        Condition("the step size is 1/(mu a)", sides=(gamma, 1 / (mu * a))),
        Condition("there are 2 a log a iterations", sides=(T, 2 * a * sp.log(a))),
    ),
    where={T: 2 * a * sp.log(a)},
    note="Printed with a = 4 kappa + t for some t > 0; the iterations are 2 a log a, as if that were an integer.",
)

theorem_2_printed = Bound(
    **of("local_sgd_theorem_2_printed", q.average_gap, "Theorem 2, eq. (9)", FEDAVG, AVERAGED),
    terms={"start": 2 / (gamma * T) * D2, "noise": 2 * gamma * sigma2 / M, "drift": 4 * gamma**2 * L**2 * sigma2 * H},
    conditions=(*_IDENTICAL, _CONVEX, QUARTER),
    letters=LETTERS,
    off_by={"drift": q.CURVATURE},
    note="The last term has the square of L, where the proof has L: the two agree in units in which L is 1.",
)

theorem_2 = replace(
    theorem_2_printed,
    **of("local_sgd_theorem_2", None, "Theorem 2, eq. (9), repaired"),
    terms={**theorem_2_printed.terms, "drift": 4 * gamma**2 * L * sigma2 * H},
    off_by={},
    note="With the power of L in the proof.",
)

_TUNED = (
    *_IDENTICAL,
    _CONVEX,
    Condition("there are at least as many iterations as clients", T >= M),
    TUNED_STEP,
)

corollary_2_printed = replace(
    theorem_2_printed,
    **of("local_sgd_corollary_2_printed", None, "Corollary 2, eq. (10)"),
    terms={
        "start": 8 * sp.sqrt(D2) / sp.sqrt(M * T),
        "noise": sigma2 / (2 * L * sp.sqrt(M * T)),
        "drift": sigma2 * M * H / T,
    },
    conditions=_TUNED,
    off_by={"start": PARAMETER / LOSS, "drift": q.CURVATURE},
    note="The first term lacks L and a square, and the last one a division by L.",
)

corollary_2 = replace(
    theorem_2,
    **of("local_sgd_corollary_2", None, "Corollary 2, eq. (10), repaired"),
    terms={
        "start": 8 * L * D2 / sp.sqrt(M * T),
        "noise": sigma2 / (2 * L * sp.sqrt(M * T)),
        "drift": sigma2 * M * H / (4 * L * T),
    },
    conditions=_TUNED,
    note="The repaired Theorem 2 with this step size.",
)
