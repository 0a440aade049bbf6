"""FedInit, repaired statements: valid versions where a printed step or condition is wrong.

Each is derived from the printed one by one change, which its note names.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import exp, Expr, sqrt

from ..core import Condition
from ..quantities import Quantity
from ..vocabulary import next_separation, separation
from . import common
from .common import fedinit_bound, of
from .divergence import theorem_5
from .letters import beta, C, eta, K, kappa_1, kappa_2, lam, mu, S, T
from .optimization import theorem_2
from .stability import stability_step

# ---- a step size for which lambda exists ----

_LINEAR = -common.CONTRACTION_CAP["drift of the average"] / eta - common.CONTRACTION_CAP["divergence"] / eta
_SQUARE = -common.CONTRACTION_CAP["drift of the local models"] / eta**2

step_size_cap_contraction = fedinit_bound(
    **of("step_size_cap_contraction", eta, "Theorem 1, lambda, repaired", common.ALGORITHM_1, common.EVERY_ROUND),
    terms={"cap": 2 * (1 - lam) / (_LINEAR + sqrt(_LINEAR**2 + 4 * _SQUARE * (1 - lam)))},
    conditions=(common.BETA_NOT_NEGATIVE, common.BETA_BELOW_72),
    note="Derived: the step size at which the share of descent that is left equals lambda; below it lambda is allowed. "
    "The printed caps do not make that share positive.",
)

# ---- Theorem 2 by a potential ----

WEIGHT_POTENTIAL = common.WEIGHT_72 - lam * mu * eta * K


def _slower(expression: Expr) -> Expr:
    """Use the weight of the divergence in the potential f + a Delta, which shrinks by 1 - lambda mu eta K a round."""
    return expression.subs(1 / common.WEIGHT_72, 1 / WEIGHT_POTENTIAL)


SLOWER: dict[Quantity, Expr] = {q: _slower(common.CONSTANTS[q]) for q in (kappa_1, kappa_2)}
ABSORBED = Condition(
    "72 beta^2 + lambda mu eta K is below 1, so that the potential shrinks as fast as the loss",
    72 * beta**2 + lam * mu * eta * K < 1,
)
LEFT = Condition(
    "lambda is below the share of descent that the potential leaves",
    lam < _slower(sum(common.CONTRACTION_CAP.values())),
)

theorem_2_potential = replace(
    theorem_2,
    **of("theorem_2_potential", None, "Theorem 2, eq. (11), repaired", common.PROOF),
    where=SLOWER,
    conditions=(
        *(c for c in theorem_2.conditions if c not in (common.BETA_BELOW_72, common.CONTRACTION)),
        common.ALL_TRAIN,
        ABSORBED,
        LEFT,
    ),
    note="Derived: the loss gap plus 10 beta^2 L/(N (1 - 72 beta^2 - lambda mu eta K)) times the divergence shrinks by "
    "1 - lambda mu eta K a round, so that no weighted sum of decreases is left over. Under Algorithm 1, where absent "
    "clients keep their models, that sum of both may grow for ever, as the loss gap of Theorem 2 does.",
)

# ---- Theorem 5 with a geometric sum ----

GROWN = 96 * beta**2 * exp(lam * mu * eta * K)  # ratio of neighbouring summands of the last sum
_LAST = "loss: initial loss"

theorem_5_geometric = replace(
    theorem_5,
    **of("theorem_5_geometric", None, "Theorem 5, proof, repaired (appendix: Theorem 10)"),
    terms={**theorem_5.terms, _LAST: theorem_5.terms[_LAST] / (T * (1 - GROWN))},
    conditions=(
        *(c for c in theorem_5.conditions if c is not common.BETA_DECAY),
        Condition("96 beta^2 is below exp(-lambda mu eta K)", GROWN < 1),
    ),
    note="Derived: the last sum as the geometric sum it is. The initial loss then falls like 1/T^2 up to logarithms, "
    "as the printed order says. The decreases of the divergence are left out as in the print.",
)

# ---- stability ----

stability_step_clients = replace(
    stability_step,
    **of("stability_step_clients", None, "Appendix A.3.2, one local step, mean over clients, repaired"),
    terms={name: term.subs(S, C * S) for name, term in stability_step.terms.items()},
    note="Derived: Lemma 6 for the C - 1 clients whose data are the same, Lemmas 6 and 7 for the one whose are not.",
)

stability_start = fedinit_bound(
    **of("stability_start", next_separation, "Appendix A.3.2, between two rounds, repaired", common.ALGORITHM_1),
    terms={"server models": (1 + beta) * separation, "last local models": beta * separation},
    conditions=(common.START, Condition.assume("full_participation"), common.BETA_NOT_NEGATIVE),
    statistic=common.EVERY_ROUND,
    note="Derived: server models are means of the local ones, so relaxed starts of two runs are on average at most "
    "1 + 2 beta times as far apart as their last local models. No divergence enters.",
)
