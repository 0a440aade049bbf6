"""Hardt, Recht and Singer 2016: the stability of SGD on one machine, and the risk of the averaged model.

Theorems are numbered as in the proceedings. Single samples are Lipschitz, smooth and convex, so that the smoothness is
theirs. The paper's beta is the smoothness, L the Lipschitz constant, n the samples and D the distance at the start.
"""

from __future__ import annotations

import sympy as sp

from .. import vocabulary as q
from ..core import assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import SERVER
from .common import AVERAGED, FEDAVG

D2, L, T, U = q.initial_distance_sq, q.lipschitz, q.iterations, q.loss_cap
alpha, beta, c, n = q.step_size, q.smoothness, q.step_size_scale, q.samples

HARDT = "Hardt et al. 2016"
of = heads("classics", HARDT)
LETTERS = {n: "n", T: "T", L: "L", beta: r"\beta", alpha: r"\alpha", c: "c", D2: "D^2"}
_ONE = assumed("one_client", "local_sgd", "lipschitz")
_EVERY_CONVEX = (*_ONE, Condition.assume("samples_smooth"), Condition("the loss of every sample is convex"))
_LAST = Statistic("last", "iterations", SERVER)

theorem_3_7 = Bound(
    **of("hardt_3_7", q.stability, "Theorem 3.7", FEDAVG, _LAST),
    terms={"steps": 2 * L**2 / n * q.summed_step_sizes},
    conditions=(*_EVERY_CONVEX, Condition("no step size is larger than 2/beta", alpha <= 2 / beta)),
    letters={**LETTERS, alpha: r"\max_t\alpha_t", q.summed_step_sizes: r"\sum_t\alpha_t"},
    note="The step size is the largest of the run.",
)

_SHARE = beta * c / (beta * c + 1)
T_0 = (2 * c * L**2 / U) ** (1 - _SHARE) * T**_SHARE
"""The number of iterations up to which both runs are assumed to be identical."""

theorem_3_8 = Bound(
    **of("hardt_3_8", q.stability, "Theorem 3.8", FEDAVG, _LAST),
    terms={"steps": U * (1 + 1 / (beta * c)) / (n - 1) * T_0},
    conditions=(
        *_ONE,
        *assumed("samples_smooth", "nonnegative_loss", "bounded_loss"),
        Condition("step t = 1, 2, .. is at most c/t, and none is larger than the one before"),
        Condition("there are at least two samples", n > 1),
    ),
    letters=LETTERS,
    note="Printed for losses in [0, 1], that is with U = 1. Divided by U, a loss has L/U and beta/U and the same "
    "steps c U.",
)

theorem_5_2 = Bound(
    **of("hardt_5_2", q.population_gap, "Theorem 5.2", FEDAVG, AVERAGED),
    terms={"start": D2 / (2 * T * alpha), "noise": L**2 * alpha / 2},
    conditions=(*_ONE, *assumed("convex", "fresh_samples", "fixed_step_size")),
    letters=LETTERS,
    note="Credited there to Nemirovski and Yudin. Every step uses a new sample.",
)

corollary_5_3 = Bound(
    **of("hardt_5_3", q.population_gap, "Corollary 5.3", FEDAVG, AVERAGED),
    terms={"one pass": sp.sqrt(D2) * L / sp.sqrt(n)},
    conditions=(
        *theorem_5_2.conditions,
        Condition("the step size is D/(L sqrt(n))", sides=(alpha, sp.sqrt(D2 / n) / L)),
        Condition("there are as many steps as samples", sides=(T, n)),
    ),
    letters=LETTERS,
)

_stated_step = sp.sqrt(D2 * n / (T * (n + 2 * T))) / L

proposition_5_4 = Bound(
    **of("hardt_5_4", q.excess_risk, "Proposition 5.4", FEDAVG, AVERAGED),
    terms={"several passes": sp.sqrt(D2) * L / sp.sqrt(n) * sp.sqrt((n + 2 * T) / T)},
    conditions=(
        *_EVERY_CONVEX,
        *assumed("independent_samples", "fixed_step_size"),
        Condition("the step size is D sqrt(n)/(L sqrt(T (n + 2 T)))", sides=(alpha, _stated_step)),
        Condition("that step size is at most 2/beta", _stated_step <= 2 / beta),
    ),
    letters=LETTERS,
    note="The last condition is that of Theorem 3.7, on which the proposition rests without repeating it.",
)
