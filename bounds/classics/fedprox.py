"""Li et al. 2020, "Federated Optimization in Heterogeneous Networks": the guaranteed decrease in a round of FedProx.

mu is the weight of the proximal term, not strong convexity; gamma is the inexactness of the local solutions, and B the
dissimilarity of the clients' gradients at the current model. K clients are drawn by their weights and averaged equally.
"""

from __future__ import annotations

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import SERVER

B2, K, L, L_minus = q.dissimilarity_factor, q.cohort, q.smoothness, q.weak_convexity
g2, gamma, mu, mu_bar = q.grad_norm_sq, q.inexactness, q.proximal_weight, q.proximal_convexity
rho = q.descent_factor

FEDPROX_2020 = "FedProx"
of = heads("classics", FEDPROX_2020)
FEDPROX = About("fedprox")
LETTERS = {K: "K", B2: "B^2", mu: r"\mu", gamma: r"\gamma"}
B = sp.sqrt(B2)
_LOST = {
    "inexact solutions": gamma * B / mu,
    "sampling": B * (1 + gamma) * sp.sqrt(2) / (mu_bar * sp.sqrt(K)),
    "unlike gradients": L * B * (1 + gamma) / (mu_bar * mu),
    "curvature": L * (1 + gamma) ** 2 * B2 / (2 * mu_bar**2),
    "curvature and sampling": L * B2 * (1 + gamma) ** 2 / (mu_bar**2 * K) * (2 * sp.sqrt(2 * K) + 2),
}
"""What is subtracted from the descent 1/mu, per squared gradient norm."""
_CONVEXITY = {mu_bar: mu - L_minus}
_SETTING = (
    *assumed("smooth", "dissimilarity", "sampled_with_replacement"),
    Condition("the mean squared client gradient is at most B^2 times the squared global one: no offset"),
    Condition("every client returns an inexact minimiser of its loss with the proximal term"),
    Condition("the proximal weight exceeds the weak convexity", mu > L_minus),
    Condition("gamma is at most 1", gamma <= 1),
)

descent = Bound(
    **of("fedprox_rho", rho, "Theorem 4, rho", FEDPROX),
    relation="=",
    terms={"descent": 1 / mu, **{name: -lost for name, lost in _LOST.items()}},
    conditions=_SETTING,
    where=_CONVEXITY,
    letters=LETTERS,
    signed=tuple(_LOST),
)

theorem_4 = Bound(
    **of("fedprox_theorem_4", q.loss_change, "Theorem 4", FEDPROX, Statistic("every", "rounds", SERVER)),
    terms={"descent": -g2 / mu, **{name: lost * g2 for name, lost in _LOST.items()}},
    conditions=(*_SETTING, Condition("the descent factor is positive", 1 / mu > sp.Add(*_LOST.values()))),
    where=_CONVEXITY,
    letters=LETTERS,
    signed=("descent",),
    note="The sum is minus rho times the squared gradient norm.",
)
