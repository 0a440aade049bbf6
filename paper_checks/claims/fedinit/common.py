"""The paper's letters."""

import sympy as sp

from bounds.vocabulary import (
    clients as C,
    cohort as N,
    contraction as lam,
    dissimilarity_factor as B2,
    dissimilarity_offset as G2,
    divergence as Delta,
    grad_norm_sq as g2,
    gradient_variance as sigma2,
    initial_gap as D,
    lipschitz as L_G,
    local_steps as K,
    loss_cap as U,
    next_divergence as Delta_next,
    pl_constant as mu,
    relaxation as beta,
    rounds as T,
    samples as S,
    smoothness as L,
    step_size as eta,
    step_size_scale as c,
    summed_divergence_root as root_sum,
    summed_grad_norm_sq as path2,
    untouched_steps as t_0,
)

__all__ = [
    "B2", "G2", "L_G", "C", "D", "Delta", "Delta_next", "K", "L", "N", "S", "T", "U", "beta", "c", "eta", "g2", "lam",
    "mu", "path2", "root_sum", "sigma2", "sigma_l", "t_0",
]  # fmt: skip

sigma_l = sp.sqrt(sigma2)
