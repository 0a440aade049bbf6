"""Decaying-K, Lemma 2 and Theorem 1 repaired: what their proofs give if every step is corrected.

Three things change. The distance to the minimiser is replaced by the loss above its smallest value, so that nothing
changes if a constant is added to the losses; G bounds the stochastic gradients of the clients, as in the cited work of
Li et al. whose lemma is used; and that lemma's conditions are required: clients of equal weight, drawn uniformly
without replacement, noise that is independent over them, and step sizes up to 1/(4L). That the number of local steps
never increases is not needed.
"""

from __future__ import annotations

from dataclasses import replace

from ..assumptions import STEPS_NEVER_INCREASE
from ..classics.common import EQUAL_WEIGHTS
from ..core import assumed, Condition
from ..operators import ClientSum
from ..vocabulary import squared_step_sizes
from .convergence import lemma_2, theorem_1
from .letters import C, eta, F_0, F_star, kappa, L, sigma_c, T
from .runtime import of

_LOSS_ABOVE_BEST = 2 * kappa**2 * (F_0 - F_star)
_VARIANCE = ClientSum(sigma_c) / C**2
_SAMPLING = (
    *assumed("independent_noise", "sampled_without_replacement"),
    EQUAL_WEIGHTS,
    Condition("G bounds the stochastic gradients of the clients"),
)
_NOTE = (
    "2 kappa^2 (F_0 - F^*) replaces 2 kappa (kappa F_0 - F^*), which is at least as large where F^* >= 0 and is not "
    "proved where F^* < 0. G is not L ||x_1 - x^*||."
)

lemma_2_repaired = replace(
    lemma_2,
    **of("lemma_2_repaired", None, "Appendix A.1, Lemma 2, eq. (17), repaired"),
    terms={
        **lemma_2.terms,
        "optimisation": _LOSS_ABOVE_BEST,
        "gradient variance": kappa * L * _VARIANCE * squared_step_sizes,
    },
    conditions=(*lemma_2.conditions, *_SAMPLING, Condition("no step size exceeds 1/(4L)", eta <= 1 / (4 * L))),
    signed=(),
    note=_NOTE,
)

theorem_1_repaired = replace(
    theorem_1,
    **of("theorem_1_repaired", None, "Theorem 1, eq. (6), repaired"),
    terms={
        **theorem_1.terms,
        "optimisation": _LOSS_ABOVE_BEST / (eta * T),
        "gradient variance": eta * kappa * L * _VARIANCE,
    },
    conditions=(*(c for c in theorem_1.conditions if c.assumption is not STEPS_NEVER_INCREASE), *_SAMPLING),
    signed=(),
    note=_NOTE,
)
