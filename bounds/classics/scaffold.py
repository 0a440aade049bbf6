"""Karimireddy et al. 2020, SCAFFOLD, finite rounds: from its Lemmas 15 and 19, by a restatement of its appendix.

All clients train. S of N, drawn without replacement, are averaged and update their controls by the mean of their
gradients (option II). The effective step h is the local step times the local steps times the server's step.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition, Statistic
from ..papers import heads, Source
from ..places import SERVER
from ..weights import Weights
from .common import EQUAL_WEIGHTS

C_0, D2, K, N = q.control_error, q.initial_distance_sq, q.local_steps, q.clients
S, T, beta, eta_g = q.cohort, q.rounds, q.smoothness, q.server_step_size
eta_l, h, mu, sigma2 = q.step_size, q.effective_step, q.strong_convexity, q.gradient_variance

SCAFFOLD_2020 = "SCAFFOLD"
of = heads("classics", SCAFFOLD_2020)
SCAFFOLD = About("scaffold")
LETTERS = {N: "N", S: "S", K: "K", T: "T", D2: r"\|x^0-x^\star\|^2", beta: r"\beta", eta_l: r"\eta_l"}
STEP = {h: K * eta_l * eta_g}
_SETTING = (
    *assumed("smooth", "bounded_variance", "independent_noise"),
    *assumed("sampled_without_replacement", "fixed_step_size", "fixed_local_steps"),
    EQUAL_WEIGHTS,
)  # fmt: skip
_SHORT = Condition("the effective step is at most 1/(81 beta)", h <= 1 / (81 * beta))
_NOISE = 12 * h * sigma2 / (K * S) * (1 + S / eta_g**2)
MEAN = Statistic("mean", "rounds", SERVER)
WARM_START = Condition("every first control is the mean of K fresh stochastic gradients at the start")

convex = Bound(
    **of("scaffold_convex", q.optimality_gap, "Appendix E.1, Lemma 15, averaged, mu = 0", SCAFFOLD, MEAN),
    terms={"start": D2 / (h * T), "controls": 9 * N * h * C_0 / (S * T), "noise": _NOISE},
    conditions=(*_SETTING, Condition.assume("convex"), _SHORT),
    where=STEP,
    letters=LETTERS,
    note="Mean over the server models before the rounds 1 to T.",
)

_SUMMED = 2 * ((1 - mu * h / 2) ** (-T) - 1) / (mu * h)
"""The sum of the weights q^-(r+1) over the rounds r = 0 .. T-1, with q = 1 - mu h/2."""

strongly_convex = replace(
    convex,
    name="classics.scaffold_strongly_convex",
    terms={"start": D2 / (h * _SUMMED), "controls": 9 * N * h * C_0 / (S * _SUMMED), "noise": _NOISE},
    conditions=(
        *_SETTING,
        Condition.assume("strongly_convex"),
        _SHORT,
        Condition("mu times the effective step is at most S/(15 N)", mu * h <= S / (15 * N)),
    ),
    source=Source("classics", "Appendix E.1, Lemma 15, averaged", SCAFFOLD_2020),
    statistic=replace(MEAN, weights=Weights(growth=1 / (1 - mu * K * eta_l * eta_g / 2))),
    note="Later rounds have larger weights: the model before round r + 1 has (1 - mu h/2)^-(r+1).",
)

nonconvex = Bound(
    **of("scaffold_nonconvex", q.mean_grad_norm_sq, "Appendix E.2, Lemma 19, averaged", SCAFFOLD, MEAN),
    terms={"start": 14 * q.initial_gap / (h * T), "noise": 70 * beta * h * sigma2 / (K * S) * (1 + S / eta_g**2)},
    conditions=(
        *_SETTING,
        Condition.assume("lower_bounded"),
        Condition(
            "the effective step is at most (S/N)^(2/3)/(24 beta)", h <= (S / N) ** sp.Rational(2, 3) / (24 * beta)
        ),
        WARM_START,
    ),
    where=STEP,
    letters=LETTERS,
)
