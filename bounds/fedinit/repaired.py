"""FedInit, repaired statements: what holds where a printed step or condition does not.

Each is derived from the printed one by one change, which its note names; nothing is typed twice.
"""

from __future__ import annotations

from dataclasses import replace

from sympy import Expr, sqrt

from ..core import Bound, Condition
from ..quantities import Quantity
from ..vocabulary import (
    contraction as lam,
    heterogeneity_constant as kappa_1,
    local_steps as K,
    noise_constant as kappa_2,
    pl_constant as mu,
    relaxation as beta,
    step_size as eta,
)
from .common import (
    ALGORITHM_1,
    BETA_BELOW_72,
    BETA_NOT_NEGATIVE,
    CONSTANTS,
    CONTRACTION,
    CONTRACTION_CAP,
    EVERY_ROUND,
    LETTERS,
    source,
    WEIGHT_72,
)
from .optimization import theorem_2

# ---- a step size for which lambda exists ----

_LINEAR = -(CONTRACTION_CAP["drift of the average"] + CONTRACTION_CAP["divergence"]) / eta
_SQUARE = -CONTRACTION_CAP["drift of the local models"] / eta**2

step_size_cap_contraction = Bound(
    name="fedinit.step_size_cap_contraction",
    target=eta,
    terms={"cap": 2 * (1 - lam) / (_LINEAR + sqrt(_LINEAR**2 + 4 * _SQUARE * (1 - lam)))},
    conditions=(BETA_NOT_NEGATIVE, BETA_BELOW_72),
    source=source("Theorem 1, lambda, repaired"),
    about=ALGORITHM_1,
    statistic=EVERY_ROUND,
    letters=LETTERS,
    note="Derived: the step size at which the share of descent that is left equals lambda; below it lambda is allowed. "
    "The printed caps do not make that share positive.",
)

# ---- Theorem 2 by a potential ----

WEIGHT_POTENTIAL = WEIGHT_72 - lam * mu * eta * K


def _slower(expression: Expr) -> Expr:
    """The weight of the divergence in the potential f + a Delta that shrinks by 1 - lambda mu eta K a round."""
    return expression.subs(1 / WEIGHT_72, 1 / WEIGHT_POTENTIAL)


SLOWER: dict[Quantity, Expr] = {q: _slower(CONSTANTS[q]) for q in (kappa_1, kappa_2)}
ABSORBED = Condition(
    "72 beta^2 + lambda mu eta K is below 1, so that the loss takes the divergence along",
    72 * beta**2 + lam * mu * eta * K < 1,
)
LEFT = Condition(
    "lambda is below the share of descent that the potential leaves", lam < _slower(sum(CONTRACTION_CAP.values()))
)

theorem_2_potential = replace(
    theorem_2,
    name="fedinit.theorem_2_potential",
    where=SLOWER,
    conditions=(*(c for c in theorem_2.conditions if c not in (BETA_BELOW_72, CONTRACTION)), ABSORBED, LEFT),
    source=source("Theorem 2, eq. (11), repaired"),
    note="Derived: the loss gap plus 10 beta^2 L/(N (1 - 72 beta^2 - lambda mu eta K)) times the divergence shrinks by "
    "1 - lambda mu eta K a round, so that no weighted sum of decreases is left over.",
)

BOUNDS: tuple[Bound, ...] = (step_size_cap_contraction, theorem_2_potential)
