"""SGD on one machine: Bottou, Curtis and Nocedal 2018, Theorems 4.6 to 4.8, and Needell, Srebro and Ward 2014.

The first are of one client, whose iterations are steps of SGD; Needell et al. draw one loss in every step, which is one
participant with one local step. In Bottou et al. mu is an alignment without a unit, strong convexity is c. Their
iterations count from 1: k iterations lead to their w_(k+1), and the offset of a decreasing step is their gamma + 1.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import SERVER
from .common import FEDAVG

D2, Delta_0, K, L = q.initial_distance_sq, q.initial_gap, q.iterations, q.smoothness
M, M_G, M_V, a = q.gradient_variance, q.second_moment_factor, q.variance_growth, q.step_size
beta, c, mu, mu_G = q.step_size_scale, q.strong_convexity, q.alignment, q.gradient_norm_factor
offset, sigma2 = q.step_offset, q.optimum_dissimilarity

BOTTOU, NEEDELL = "Bottou et al. 2018", "Needell et al. 2014"
of_bottou, of_needell = heads("classics", BOTTOU), heads("classics", NEEDELL)
LETTERS = {
    mu: r"\mu", c: "c", a: r"\bar\alpha", M: "M", K: "k", Delta_0: r"\Delta_0", beta: r"\beta", offset: r"\gamma+1",
}  # fmt: skip
SECOND_MOMENT = {M_G: M_V + mu_G**2}
_ONE = assumed("one_client", "local_sgd", "smooth", "gradient_moments")
_MOMENTS = Condition("mean gradients are no longer than mu_G gradients", mu <= mu_G)
_STRONG = Condition.assume("globally_strongly_convex")
_FIXED = Condition.assume("fixed_step_size")
SHORT = Condition("the step size is at most mu/(L M_G)", a <= mu / (L * M_G))
_FLOOR = a * L * M / (2 * c * mu)
LAST, MEAN = (Statistic(kind, "iterations", SERVER) for kind in ("last", "mean"))

theorem_4_6 = Bound(
    **of_bottou("bottou_4_6", q.optimality_gap, "Theorem 4.6, eq. (4.14)", FEDAVG, LAST),
    terms={"noise": _FLOOR, "start": (1 - a * c * mu) ** K * (Delta_0 - _FLOOR)},
    conditions=(*_ONE, _STRONG, _FIXED, _MOMENTS, SHORT),
    where=SECOND_MOMENT,
    letters=LETTERS,
    signed=("start",),
    note="Unbiased gradients of bounded variance have mu = mu_G = 1 and M_V = 0.",
)

_NOISE, _START = beta**2 * L * M / (2 * (beta * c * mu - 1)), offset * Delta_0

theorem_4_7 = replace(
    theorem_4_6,
    **of_bottou("bottou_4_7", None, "Theorem 4.7, eqs. (4.21), (4.22)"),
    terms={"larger of noise and start": sp.Max(_NOISE, _START, evaluate=False) / (offset + K)},
    conditions=(
        *_ONE,
        _STRONG,
        Condition.assume("harmonic_step_size"),
        _MOMENTS,
        Condition("the scale is larger than 1/(c mu)", beta > 1 / (c * mu)),
        Condition("gamma is positive: the offset is larger than 1", offset > 1),
        Condition("the first step is at most mu/(L M_G)", beta / offset <= mu / (L * M_G)),
    ),
    signed=(),
)

theorem_4_8 = Bound(
    **of_bottou("bottou_4_8", q.grad_norm_sq, "Theorem 4.8, eq. (4.28b)", FEDAVG, MEAN),
    terms={"noise": a * L * M / mu, "start": 2 * Delta_0 / (K * mu * a)},
    conditions=(*_ONE, Condition.assume("lower_bounded"), _FIXED, _MOMENTS, SHORT),
    where=SECOND_MOMENT,
    letters={**LETTERS, K: "K"},
    note="The losses need not be convex. The sum over the iterations, (4.28a), is K times this.",
)

needell = Bound(
    **of_needell("needell_2_1", q.distance_sq, "Theorem 2.1, eq. (2.4)", FEDAVG, LAST),
    terms={
        "start": (1 - 2 * a * c * (1 - a * L)) ** K * D2,
        "noise": a * sigma2 / (c * (1 - a * L)),
    },
    conditions=(
        *assumed("smooth", "convex", "globally_strongly_convex", "exact_gradients", "local_sgd"),
        *assumed("sampled_with_replacement", "one_participant", "one_local_step", "fixed_step_size"),
        Condition("the step size is below 1/L", a < 1 / L),
    ),
    letters={a: r"\gamma", K: "k", c: r"\mu", sigma2: r"\sigma^2", L: r"\sup L", D2: r"\|x_0-x_\star\|^2"},
    note="Stated for losses f_i sampled in every step; here they are the clients', sampled by weight. L is that "
    "of every f_i, mu only that of their mean.",
)  # fmt: skip
