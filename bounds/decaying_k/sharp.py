"""Decaying-K: smaller bounds than the paper's, proved here; G bounds the clients' stochastic gradients.

Write g_c for a client's stochastic gradient, with |g_c|^2 <= G^2 in expectation, v for the mean of all clients' models,
V for the mean square of their distances from the round's start. Noise is independent over clients and has mean 0 given
the past; the step size is constant within a round.

Drift. A client's k steps are k gradients, so that it is at most k eta G away, in the mean square, and V <= (k eta G)^2;
about their own mean the models are closer still. Drawn without replacement, N of C models have the expectation v and
about it at most (C-N)/(N(C-1)) times V at the round's end, (K eta G)^2.

Lemma 1. The cited work shows E|v' - x*|^2 <= (1 - eta mu)E|v - x*|^2 + eta^2 (sum sigma^2/C^2 + 6 L Gamma) + 2V for
eta <= 1/(4L). The drift then is 2 (K-1)^2 eta^2 G^2 and the draw K^2 eta^2 G^2/N; the factor 4 in both of the paper's
pays for step sizes that fall to a half within a round.

Theorem 1. Descent along v needs no convexity and no minimiser: with H the mean of the clients' true gradients,
v' = v - eta(H + noise), smoothness, |grad F(v) - H|^2 <= L^2 V and eta <= 1/L give

    E F(v') <= E F(v) - eta/2 E|grad F(v)|^2 + eta L^2 V/2 + L eta^2 sum sigma^2/(2 C^2)

and a draw adds L/2 times its variance to F, once a round and not in every iteration. Sum over the run and divide by
eta T/2; sum_{k<K} k^2 <= (K^3 - K)/3, and sum K^2/sum K is at most the root of sum K^3/sum K.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import sqrt

from ..classics.common import EQUAL_WEIGHTS
from ..core import assumed, Condition, Statistic
from ..operators import ClientSum
from ..places import VIRTUAL
from ..vocabulary import grad_norm_sq, steps_cubed_ratio
from .convergence import lemma_1
from .letters import C, eta, F_0, F_star, G2, K, L, N, sigma_c, T
from .runtime import decaying_k_bound, FEDAVG, of

_DRAW = (C - N) / (N * (C - 1))
"""The factor by which sampling clients reduces the mean square of their distances."""

lemma_1_sharp = replace(
    lemma_1,
    **of("lemma_1_sharp", None, "Appendix A.1, Lemma 1, eq. (16), sharpened"),
    terms={
        **lemma_1.terms,
        "drift": 2 * eta**2 * (K - 1) ** 2 * G2,
        "partial participation": eta**2 * _DRAW * K**2 * G2,
    },
    conditions=(*lemma_1.conditions, Condition("the step size is the same in all steps of a round")),
    note="Derived, for a step size that is constant within a round: 2 and 1 where 8 and 4 are printed.",
)

theorem_1_sharp = decaying_k_bound(
    **of("theorem_1_sharp", grad_norm_sq, "Theorem 1, eq. (6), sharpened", FEDAVG),
    terms={
        "optimisation": 2 * (F_0 - F_star) / (eta * T),
        "gradient variance": eta * L * ClientSum(sigma_c) / C**2,
        "partial participation": eta * L * _DRAW * G2 * sqrt(steps_cubed_ratio),
        "drift": eta**2 * L**2 * G2 * (steps_cubed_ratio - 1) / 3,
    },
    conditions=(
        *assumed("smooth", "bounded_variance", "bounded_gradient"),
        *assumed("fixed_step_size", "independent_noise", "sampled_without_replacement"),
        Condition("the step size is at most 1/L", eta <= 1 / L),
        Condition("there are at least two clients", C > 1),
        Condition("F^* is the smallest loss", F_star <= F_0),
        EQUAL_WEIGHTS,
        Condition("G bounds the stochastic gradients of the clients"),
    ),
    statistic=Statistic("mean", "iterations", VIRTUAL),
    note="Derived: no convexity, no condition number, no Gamma, step sizes up to 1/L, and on the mean over the "
    "iterations. The drift is squared in eta L K; only the sampling term is of first order, and grows like K.",
)
