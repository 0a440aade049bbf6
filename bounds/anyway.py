"""What is known of a number without a theorem: from the premises that a theorem makes anyway, and at the start.

A theorem that says no more than its own premises say is empty for its whole class of federations; one that says more
than that, and less than an evaluation at the start shows, is empty for this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from . import vocabulary as q
from .quantities import quantities_of
from .scenario import Scenario
from .stated import DEFINED
from .ties import evaluated, FEDAVG

if TYPE_CHECKING:
    from .core import Bound


@dataclass(frozen=True)
class Anyway:
    """An expression that bounds a target where one of every group of ``premises`` is made.

    A premise is an assumption by name, or a quantity: a bound on D assumes that there is a smallest loss.
    """

    expression: sp.Expr
    premises: tuple[tuple[str, ...], ...] = ()

    def follows(self, bounds: Iterable[Bound]) -> bool:
        """Whether the premises are among those of these bounds together."""
        made = set().union(*map(supposed, bounds))
        return all(made & set(group) for group in self.premises)


def supposed(bound: Bound) -> set[str]:
    """What a bound supposes: the names of its assumptions, and its words."""
    assumed = {c.assumption.name for c in bound.conditions if c.assumption is not None}
    return assumed | {each.name for each in bound.quantities}


BELOW = (
    "lower_bounded", "strongly_convex", "polyak_lojasiewicz", "initial_gap", "initial_loss", "optimal_loss",
)  # fmt: skip
"""Each of them supposes that the loss is bounded below."""
_WAY = (q.local_steps * q.step_size) ** 2 * q.grad_cap_sq
_OF_SAMPLING = (q.clients - q.cohort) / (q.cohort * sp.Max(q.clients - 1, 1))

TRIVIAL: dict[str, tuple[Anyway, ...]] = {
    "grad_norm_sq": (
        Anyway(2 * q.smoothness * q.initial_gap, (("smooth",), BELOW)),
        Anyway(q.smoothness**2 * q.initial_distance_sq, (("smooth",), ("strongly_convex", "initial_distance_sq"))),
        Anyway(q.grad_cap_sq, (("bounded_gradient",),)),
    ),
    "optimality_gap": (Anyway(q.initial_gap),),
    "excess_risk": (Anyway(q.initial_gap),),
    "distance_sq": (
        Anyway(q.initial_distance_sq),
        Anyway(2 * q.initial_gap / q.strong_convexity, (("strongly_convex",),)),
    ),
    "divergence": (Anyway(_WAY * (1 + _OF_SAMPLING), (("bounded_gradient",),)),),
    "consensus_distance": (Anyway(_WAY, (("bounded_gradient",),)),),
    "stability": (Anyway(q.loss_cap, (("bounded_loss",),)),),
    "generalization_gap": (Anyway(q.loss_cap, (("bounded_loss",),)),),
}
"""By target: what bounds it where one does not train. For the least over a run that is proved; for a mean or the last
one it is what not training gives (the excess risk of a start that knows no data is D). The divergence of clients that
start together is at most the way that they can go, and the way of the server's model beside their mean where only some
are averaged: the variance of a mean of N of C without replacement is (C - N)/(N (C - 1)) times that of one."""
HERE: dict[str, str] = {
    "grad_norm_sq": "initial_grad_norm_sq",
    "optimality_gap": "initial_gap",
    "excess_risk": "initial_gap",
    "distance_sq": "initial_distance_sq",
}
"""By target: the word of its value at the start of this federation: one evaluation, no theorem. Of others it is what
this federation's own constants give, whoever supposes them."""


def trivial(target: str, scenario: Scenario, bounds: Sequence[Bound] = ()) -> tuple[float, float]:
    """What is known of a target without a theorem: from the premises alone, and at the start; infinite if nothing.

    The premises are those of ``bounds`` together; without any, all that hold in the scenario.
    """
    known = TRIVIAL.get(target, ())
    every = _least((one.expression for one in known), scenario)
    least = _least((one.expression for one in known if one.follows(bounds)), scenario) if bounds else every
    if target not in HERE:
        return least, every
    stated = scenario.get(HERE[target])
    return least, float(np.min(stated.low)) if stated is not None else np.inf  # what is below that is below the start


def _least(expressions: Iterable[sp.Expr], scenario: Scenario) -> float:
    return min((_safely(expression, scenario) for expression in expressions), default=np.inf)


def _safely(expression: sp.Expr, scenario: Scenario) -> float:
    names = [each.name for each in quantities_of([expression])]
    elsewhere = scenario.method != FEDAVG and q.grad_cap_sq.name in names  # a cap along the runs of FedAvg
    if elsewhere or any(name not in scenario or scenario[name].floor for name in names):
        return np.inf
    put = {n: scenario[n].high if scenario[n].role == DEFINED else scenario[n].safe for n in names}
    return float(evaluated(expression, put))
