"""Trivial bounds: what is known of a quantity without any theorem.

There are two kinds: bounds that follow from the assumptions that a theorem makes anyway, and the value at the start of
training. A theorem that is not below the first is empty for every federation it covers; one that is not below the
second is vacuous for this federation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from . import vocabulary as q
from .identities import evaluated, FEDAVG
from .quantities import quantities_of
from .scenario import Scenario
from .scenario_values import Role

if TYPE_CHECKING:
    from .core import Bound


@dataclass(frozen=True)
class TrivialBound:
    """An upper bound on a target that holds if at least one premise of every group in ``premises`` is made.

    A premise is the name of an assumption or of a quantity: a theorem that uses the initial gap D, for example,
    assumes that the loss has a minimum.
    """

    expression: sp.Expr
    premises: tuple[tuple[str, ...], ...] = ()

    def follows(self, bounds: Iterable[Bound]) -> bool:
        """Whether these bounds together make the premises."""
        made = set().union(*map(premises_of, bounds))
        return all(made & set(group) for group in self.premises)


def premises_of(bound: Bound) -> set[str]:
    """Return the names of a bound's assumptions and of its quantities."""
    assumed = {c.assumption.name for c in bound.conditions if c.assumption is not None}
    return assumed | {each.name for each in bound.quantities}


BELOW = (
    "lower_bounded", "strongly_convex", "polyak_lojasiewicz", "initial_gap", "initial_loss", "optimal_loss",
)  # fmt: skip
"""Premises each of which implies that the loss is bounded below."""
_LENGTH = (q.local_steps * q.step_size) ** 2 * q.grad_cap_sq
_OF_SAMPLING = (q.clients - q.cohort) / (q.cohort * sp.Max(q.clients - 1, 1))

TRIVIAL: dict[str, tuple[TrivialBound, ...]] = {
    "grad_norm_sq": (
        TrivialBound(2 * q.smoothness * q.initial_gap, (("smooth",), BELOW)),
        TrivialBound(
            q.smoothness**2 * q.initial_distance_sq, (("smooth",), ("strongly_convex", "initial_distance_sq"))
        ),
        TrivialBound(q.grad_cap_sq, (("bounded_gradient",),)),
    ),
    "optimality_gap": (TrivialBound(q.initial_gap),),
    "excess_risk": (TrivialBound(q.initial_gap),),
    "distance_sq": (
        TrivialBound(q.initial_distance_sq),
        TrivialBound(2 * q.initial_gap / q.strong_convexity, (("strongly_convex",),)),
    ),
    "divergence": (TrivialBound(_LENGTH * (1 + _OF_SAMPLING), (("bounded_gradient",),)),),
    "consensus_distance": (TrivialBound(_LENGTH, (("bounded_gradient",),)),),
    "stability": (TrivialBound(q.loss_cap, (("bounded_loss",),)),),
    "generalization_gap": (TrivialBound(q.loss_cap, (("bounded_loss",),)),),
}
"""Trivial bounds by target. For the minimum over a run they are proved; for a mean or for the last model they are the
value without training (the excess risk of a start that is independent of the data is D). The divergence of clients that
start together is at most their squared path length, plus the squared distance of the server's model from their mean if
only a part of them is averaged: without replacement, the variance of a mean of N of C clients is (C - N)/(N (C - 1))
times that of one."""
START_VALUES: dict[str, str] = {
    "grad_norm_sq": "initial_grad_norm_sq", "optimality_gap": "initial_gap", "excess_risk": "initial_gap",
    "distance_sq": "initial_distance_sq",
}  # fmt: skip
"""By target, the quantity that holds its value at the start. For other targets the reference is the smallest trivial
bound that this federation's own constants give, whether or not a theorem makes its premises."""


def trivial(target: str, scenario: Scenario, bounds: Sequence[Bound] = ()) -> tuple[float, float]:
    """Return the smallest trivial bound on a target from the premises alone, and its value at the start.

    The premises are those that ``bounds`` make together, or without ``bounds`` all that hold in the scenario. Either
    number is infinite if nothing is known.
    """
    candidates = TRIVIAL.get(target, ())
    every = _smallest((one.expression for one in candidates), scenario)
    least = _smallest((one.expression for one in candidates if one.follows(bounds)), scenario) if bounds else every
    if target not in START_VALUES:
        return least, every
    start = scenario.get(START_VALUES[target])
    return least, float(np.min(start.low)) if start is not None else np.inf  # the low end: certainly below the start


def _smallest(expressions: Iterable[sp.Expr], scenario: Scenario) -> float:
    return min((_value(expression, scenario) for expression in expressions), default=np.inf)


def _value(expression: sp.Expr, scenario: Scenario) -> float:
    """Return a valid value of a trivial bound, infinite if the scenario lacks a valid constant."""
    names = [each.name for each in quantities_of([expression])]
    other_runs = scenario.method != FEDAVG and q.grad_cap_sq.name in names  # the cap holds along runs of FedAvg
    if other_runs or any(name not in scenario or scenario[name].only_estimated for name in names):
        return np.inf
    values = {n: scenario[n].high if scenario[n].role == Role.DEFINED else scenario[n].safe for n in names}
    return float(evaluated(expression, values))
