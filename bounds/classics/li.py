"""Li et al. 2020, "On the Convergence of FedAvg on Non-IID Data": strongly convex losses and decreasing step sizes.

The step size of iteration t is 2/(mu (gamma + t)) with gamma = max(8 L/mu, E). Whether the first local step has t = 0
or t = 1 is not stated; the claim classics.li_first_step checks both. The paper's N counts clients, K participants, E
local steps, and T all steps of a client.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import assumed, Bound, Condition, Statistic
from ..operators import ClientSum
from ..papers import heads, Source
from ..places import SERVER
from .common import ENDS_WITH_A_ROUND, EQUAL_WEIGHTS, FEDAVG

D2, E, G2, Gamma = q.initial_distance_sq, q.local_steps, q.grad_cap_sq, q.heterogeneity
K, L, N, T = q.cohort, q.smoothness, q.clients, q.iterations
gamma, kappa, mu, p_k = q.step_offset, q.condition_number, q.strong_convexity, q.client_weight
scale, sigma_k = q.step_size_scale, q.client_gradient_variance

LI = "Li et al. 2020"
of = heads("classics", LI)
LETTERS = {N: "N", K: "K", E: "E", T: "T", D2: r"\mathbb{E}\|w_1-w^*\|^2"}
SCHEDULE = {kappa: L / mu, gamma: sp.Max(8 * kappa, E), scale: 2 / mu}
"""The parts of the step size of iteration t, scale/(gamma + t)."""
_SETTING = (
    *assumed("smooth", "strongly_convex", "bounded_variance", "independent_noise", "bounded_gradient"),
    *assumed("local_sgd", "fixed_local_steps", "harmonic_step_size"),
)
"""The text does not state that noise is independent over clients, but its variance sum p_k^2 sigma_k^2 needs it."""
_FALLING = kappa / (gamma + T - 1)

theorem_1 = Bound(
    **of("li_theorem_1", q.optimality_gap, "Theorem 1, eqs. (4), (5)", FEDAVG, Statistic("last", "rounds", SERVER)),
    terms={
        "start": _FALLING * mu * gamma / 2 * D2,
        "gradient variance": _FALLING * scale * ClientSum(p_k**2 * sigma_k),
        "heterogeneity": _FALLING * scale * 6 * L * Gamma,
        "drift": _FALLING * scale * 8 * (E - 1) ** 2 * G2,
    },
    conditions=(*_SETTING, Condition.assume("full_participation"), ENDS_WITH_A_ROUND),
    where=SCHEDULE,
    letters=LETTERS,
    note="G bounds the expected squared norm of every client's stochastic gradients along the run.",
)


def _sampled(name: str, place: str, factor: sp.Expr, conditions: tuple[Condition, ...]) -> Bound:
    """Return Theorem 1 with the term C for averaging only K clients."""
    return replace(
        theorem_1,
        name=name,
        terms={**theorem_1.terms, "partial participation": _FALLING * scale * factor * 4 / K * E**2 * G2},
        conditions=(*_SETTING, *conditions, ENDS_WITH_A_ROUND),
        source=Source("classics", place, LI),
    )


theorem_2 = _sampled(
    "classics.li_theorem_2", "Theorem 2, eq. (6)", sp.S.One, (Condition.assume("sampled_with_replacement"),)
)
theorem_3 = _sampled(
    "classics.li_theorem_3",
    "Theorem 3",
    (N - K) / (N - 1),
    (
        Condition.assume("sampled_without_replacement"),
        EQUAL_WEIGHTS,
        Condition("there are at least two clients", N > 1),
    ),
)
