"""Minimise a bound over one quantity: ``Optimum`` is a closed form, ``Minimum`` a certified number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf, isnan
from typing import Any

import numpy as np
import sympy as sp

from ..errors import BoundsError, NoMinimumError, NoSolutionError
from ..quantities import Quantity
from ..statement import Statement
from .balls import as_float
from .closed import closed_form, Optimum
from .objective import LARGEST, LARGEST_WHOLE, Objective, objective_of, SMALLEST
from .search import lowest, refined_minimiser, Valley

WIDEST_GAP = 1e-6
"""The relative distance between value and lower bound beyond which a minimum does not count as certified."""
NUDGE = 1e-9
"""The relative step beside the minimiser at which conditions are tested for being the limit."""


@dataclass(frozen=True)
class Minimum:
    """The smallest value of ``bound`` over all ``over`` in its domain with all numeric conditions met.

    ``value`` is the bound at ``at``, and ``lower`` a certified lower bound of all values, usually within 1e-10,
    relatively. For an integer ``over``, ``at`` is the real minimiser, and ``integer_at`` the best integer. ``binding``
    is the condition or the end of the domain that limits the minimiser, if any.
    """

    bound: Statement
    over: Quantity
    at: float
    value: float
    lower: float
    binding: str
    integer_at: int | None = None
    integer_value: float | None = None

    def __str__(self) -> str:
        lines = [f"{self.over.name} = {self.at}  gives {self.bound.target.name} = {self.value}"]
        if self.integer_at is not None:
            lines.append(f"best integer: {self.integer_at}, which gives {self.integer_value}")
        if self.binding:
            lines.append(f"limited by: {self.binding}")
        return "\n".join(lines)


def minimize(bound: Statement, over: Quantity | str, values: Mapping[str, Any]) -> Optimum | Minimum:
    """Minimise ``bound`` over one quantity: a closed form without values, a certified number with values."""
    quantity = shared_quantity(bound, over, values)
    if not values and any(q != quantity for q in bound.quantities):
        return closed_form(bound, quantity)
    return _minimum(objective_of(bound, quantity, values))


def shared_quantity(bound: Statement, chosen: Quantity | str, values: Mapping[str, Any]) -> Quantity:
    """Return the quantity to optimise over; raise if it has a value already or one value per client."""
    name = chosen.name if isinstance(chosen, Quantity) else str(chosen)
    if name in bound.given or name in values:
        raise BoundsError(f"{name} is the unknown but also has a value; leave its value out")
    quantity = bound.quantity(name)
    if quantity.card.axis:
        raise BoundsError(f"{name} has one value for each of the {quantity.card.axis}; choose a quantity they share")
    return quantity


def _minimum(objective: Objective) -> Minimum:
    name, over = objective.bound.name, objective.over
    if over not in sp.Add(*objective.bound.spelled_terms.values()).free_symbols:
        raise NoMinimumError(f"{name} does not depend on {over.name}, so no value of it is best")
    valley = lowest(objective, whole=False)
    _check_certified(objective, valley)
    best = lowest(objective, whole=True).at if objective.whole else None
    at = refined_minimiser(objective, valley.at)
    stop = binding(objective, at, NUDGE, -NUDGE)
    if best is not None and isnan(best):
        raise NoSolutionError(f"{name}: no whole number meets the conditions at these numbers: {objective.unmet()}")
    at, value = objective.step_inward(at, objective.point(at).direction, lambda value: not isnan(value))
    return Minimum(
        bound=objective.bound,
        over=over,
        at=at,
        value=value,
        lower=float(np.minimum(as_float(valley.floor.lower()), value)),
        binding=stop,
        integer_at=None if best is None else int(best),
        integer_value=None if best is None else objective.value(best),
    )


def _check_certified(objective: Objective, valley: Valley) -> None:
    """Raise if there is no minimum, or if the search did not certify it."""
    name, over = objective.bound.name, objective.over.name
    if isnan(valley.at):
        raise NoSolutionError(
            f"{name}: no value in the domain meets the conditions at these numbers: {objective.unmet()}"
        )
    ends = ((objective.low, objective.open_low, "falls"), (objective.high, objective.open_high, "rises"))
    for end, is_open, way in ends:
        if is_open and _lowest_at_end(objective, valley, end):
            raise NoMinimumError(
                f"{name} keeps falling as {over} {way}, up to {end:g}, where the search ends: no minimum was found"
            )
    if isinf(as_float(valley.top)):
        raise NoMinimumError(f"{name} leaves the floating-point range at its minimum; give numbers of a moderate size")
    if not valley.top - valley.floor <= WIDEST_GAP * abs(valley.top) + float(np.finfo(float).tiny):
        low, high = as_float(valley.floor), as_float(valley.top)
        raise NoMinimumError(
            f"{name}: its minimum over {over} is between {low:g} and {high:g}; the search could not decide where"
        )


def _lowest_at_end(objective: Objective, valley: Valley, end: float) -> bool:
    """Whether the bound is as small at an end of the search as anywhere, and still decreasing."""
    at = objective.point(end)
    level = at.least_slope.is_zero() and at.largest_slope.is_zero()
    return not at.outside and not level and not at.high > valley.top


def binding(objective: Objective, at: float, *steps: float) -> str:
    """Return the condition or the end of the domain that stops ``over`` at a point: it fails a step beside it.

    Steps are relative; a step of 1 or -1 is absolute, for counts. Empty if nothing fails there.
    """
    beside = [at + step if abs(step) == 1 else at + step * max(abs(at), SMALLEST / NUDGE) for step in steps]
    low, high = objective.low, objective.high
    for near in beside:
        failing = objective.fails(min(max(near, low), high))
        for condition, fails in zip(objective.bound.numeric_conditions, failing, strict=True):
            if fails:
                return condition.words
    if any((near < at and at == low) or (near > at and at == high) for near in beside):
        return _end_text(objective, at == low, at)
    return ""


def _end_text(objective: Objective, low: bool, x: float) -> str:
    """Describe the end of the domain at ``x``: the rule of the domain, or another quantity."""
    card = objective.over.card
    if abs(x) in (SMALLEST, LARGEST, LARGEST_WHOLE):
        return f"nothing up to {x:g}, where the search ends"
    if x == (card.domain.low if low else card.domain.high):
        return f"{card.name} must be {card.domain.words}"
    if not low and card.at_most is not None:
        return f"{card.name} must be <= {card.at_most.name}"
    below = ", ".join(objective.below)
    return f"{card.name} must be >= {below}" if low and below else f"{card.name} must be {card.domain.words}"
