"""FedNova (Wang et al. 2020), Theorem 2, and ProxSkip (Mishchenko et al. 2022), Theorems 3.6 and 5.5.

FedNova's surrogate is the global loss with other weights of the clients. Its Theorem 1 has hidden constants, so
Theorem 2 contains the bounded quantity instead. ProxSkip is stated for Scaffnew, its federated form.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import LOCAL, SERVER
from .common import FEDAVG

L, Psi_0, Psi_T, T = q.smoothness, q.initial_lyapunov, q.lyapunov, q.iterations
beta2, gamma, kappa2, mu = q.dissimilarity_factor, q.step_size, q.dissimilarity_offset, q.strong_convexity
p, sigma2, surrogate, zeta = (
    q.communication_probability,
    q.gradient_variance,
    q.surrogate_grad_norm_sq,
    q.iteration_contraction,
)

FEDNOVA_2020, PROXSKIP_2022 = "FedNova", "ProxSkip"
of_nova, of_skip = heads("classics", FEDNOVA_2020), heads("classics", PROXSKIP_2022)
SCAFFNEW = About("scaffnew")

fednova = Bound(
    **of_nova("fednova_theorem_2", q.grad_norm_sq, "Theorem 2, eq. (10)", FEDAVG, Statistic("min", "rounds", SERVER)),
    terms={"surrogate": 2 * (q.chi_square * (beta2 - 1) + 1) * surrogate, "other weights": 2 * q.chi_square * kappa2},
    conditions=(
        *assumed("smooth", "bounded_variance", "dissimilarity", "full_participation"),
        Condition("the dissimilarity holds for the surrogate's weights too"),
    ),
    letters={beta2: r"\beta^2", kappa2: r"\kappa^2"},
    note="For FedAvg with different numbers of local steps, and similar methods. Printed with Theorem 1's bound on the "
    "surrogate's squared gradient, which hides constants, in its place.",
)

_SCAFFNEW = (
    *assumed("smooth", "strongly_convex", "full_participation", "fixed_step_size"),
    Condition("the step size is at most 1/L", gamma <= 1 / L),
)
_FALLING = (1 - zeta) ** T * Psi_0

proxskip = Bound(
    **of_skip("proxskip_3_6", Psi_T, "Theorem 3.6, eq. (15)", SCAFFNEW, Statistic("last", "iterations", LOCAL)),
    terms={"start": _FALLING},
    conditions=(*_SCAFFNEW, Condition("gradients are exact")),
    where={zeta: sp.Min(gamma * mu, p**2)},
    letters={T: "T", gamma: r"\gamma", p: "p"},
)

proxskip_noise = replace(
    proxskip,
    **of_skip("proxskip_5_5", None, "Theorem 5.5 with Lemma 5.4"),
    terms={"start": _FALLING, "noise": gamma**2 * sigma2 / zeta},
    conditions=(*_SCAFFNEW, Condition.assume("bounded_variance")),
    note="Expected smoothness A = L with the offset C = sigma^2, which bounded variance gives.",
)
