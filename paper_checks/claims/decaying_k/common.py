"""What the claims on Decaying-K share: the paper's letters, its conditions, and bounds at exact numbers."""

from __future__ import annotations

import sympy as sp

from bounds.decaying_k.letters import D, eta, F_star, F_t0, G2, L, mu, U, x

KAPPA = L / mu
TAU = x / D + x / U
CAP = eta <= 1 / (4 * L)
REAL_ROOT = sp.Gt(KAPPA * F_t0, F_star)
STEEP = 2 * mu * (F_t0 - F_star) <= G2
"""What strong convexity asks of a bound on gradients."""
A1_TO_A3 = ("smooth", "strongly_convex", "bounded_variance")
SETTING = (*A1_TO_A3, "bounded_gradient", "fixed_step_size")
