"""Where a bound is smallest: ``Optimum``, a closed form of the other quantities, or ``Minimum``, certified numbers."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, floor, isinf, isnan
from typing import Any

import numpy as np
import sympy as sp

from ..errors import BoundsError, NoMinimumError, NoSolutionError
from ..quantities import Quantity
from ..statement import Statement
from .balls import as_float, Point
from .closed import closed_form, Optimum
from .objective import LARGEST, LARGEST_WHOLE, Objective, SMALLEST, swept
from .search import lowest, sharpened_place, Valley
from .tape import Tape

CLOSED, SEARCHED = "closed form", "interval branch and bound"
WIDEST_GAP = 1e-6
"""Relative distance of value and lower bound beyond which a minimum does not count as certified."""
NUDGE = 1e-9
"""Relative step that tells whether a condition stops the minimiser from moving on."""
EACH = ("at", "value", "lower", "method", "binding", "integer_at", "integer_value")
"""What a minimum has one of at every point of a sweep."""
Closed = tuple[Tape, list[Tape]]
"""A closed form, its place and its value, and what it needs."""


@dataclass(frozen=True)
class Minimum:
    """The smallest value of ``bound`` over the points of the domain of ``over`` where its numeric conditions hold.

    ``value`` is the bound at ``at`` and ``lower`` a certified lower bound of all values: they differ by 1e-10 of the
    value at most. For a whole-number quantity ``at`` is the real minimiser and ``integer_at`` the best whole number,
    found by a search of its own (ties beyond rounding aside). ``binding`` says which condition or end of the domain
    stops the minimiser, if one does. With sweeps in the values every field but ``bound`` and ``over`` is an array;
    where a point of a sweep has no minimum it is NaN, and ``binding`` the reason.
    """

    bound: Statement
    over: Quantity
    at: Any
    value: Any
    lower: Any
    method: Any
    binding: Any
    integer_at: Any = None
    integer_value: Any = None

    def __str__(self) -> str:
        lines = [f"{self.over.name} = {self.at}  gives {self.bound.target.name} = {self.value}  ({self.method})"]
        if self.integer_at is not None:
            lines.append(f"best whole number: {self.integer_at}, which gives {self.integer_value}")
        if np.ndim(self.binding) == 0 and self.binding:
            lines.append(f"limited by: {self.binding}")
        return "\n".join(lines)


def minimize(bound: Statement, over: Quantity | str, values: Mapping[str, Any]) -> Optimum | Minimum:
    """Where ``bound`` is smallest in ``over``: a closed form without values, certified numbers with values."""
    quantity = shared_quantity(bound, over, values)
    if not values and any(q != quantity for q in bound.quantities):
        return closed_form(bound, quantity)
    closed = None
    with suppress(NoMinimumError):  # the search does not need one
        form = closed_form(bound, quantity)
        closed = Tape((form.at, form.value)), [Tape((needed,)) for needed in form.requires]
    found: Minimum = swept(bound, quantity, values, lambda one: _minimum(one, closed), EACH)
    return found


def shared_quantity(bound: Statement, chosen: Quantity | str, values: Mapping[str, Any]) -> Quantity:
    """The quantity to choose freely, by itself or by name: one number for all clients that is not given already."""
    name = chosen.name if isinstance(chosen, Quantity) else str(chosen)
    if name in bound.given or name in values:
        raise BoundsError(f"{name} is to be found but also given; leave its value out")
    quantity = bound.quantity(name)
    if quantity.card.axis:
        raise BoundsError(f"{name} has one value for each of the {quantity.card.axis}; choose a quantity they share")
    return quantity


def _minimum(objective: Objective, form: Closed | None) -> Minimum:
    name, over = objective.bound.name, objective.over
    if over not in sp.Add(*objective.bound.spelled_terms.values()).free_symbols:
        raise NoMinimumError(f"{name} does not depend on {over.name}, so no value of it is best")
    best: float | None = None
    if form is not None and (closed := _by_formula(objective, form)) is not None:
        at, least, method, stop = closed.at, closed.floor, CLOSED, ""
        best = _best_neighbour(objective, at) if objective.whole else None
    else:
        found = lowest(objective, whole=False)
        _check_certified(objective, found)
        best = lowest(objective, whole=True).at if objective.whole else None
        at, least, method = sharpened_place(objective, found.at), found.floor, SEARCHED
        stop = binding(objective, at, NUDGE, -NUDGE)
    if best is not None and isnan(best):
        raise NoSolutionError(f"{name}: no whole number meets the conditions at these numbers: {objective.unmet()}")
    at, value = objective.stepped(at, objective.point(at).way, lambda value: not isnan(value))
    return Minimum(
        bound=objective.bound,
        over=over,
        at=at,
        value=value,
        lower=float(np.minimum(as_float(least.lower()), value)),
        method=method,
        binding=stop,
        integer_at=None if best is None else int(best),
        integer_value=None if best is None else objective.called(best),
    )


def _by_formula(objective: Objective, form: Closed) -> Valley | None:
    """The minimum that the closed form gives, where it is inside the domain and the conditions are met."""
    formulas, required = form
    given, width = objective.enclosure.given, objective.enclosure.width
    if not all(all(Point(tape, given, width).holds()) for tape in required):
        return None
    (at,), (value,) = Point(formulas, given, width).balls()
    if not objective.low <= (x := as_float(at)) <= objective.high:
        return None
    here = objective.point(x)
    return None if here.outside or isinf(as_float(here.low)) else Valley(x, here.high, value)


def _best_neighbour(objective: Objective, at: float) -> float:
    """The best whole number: a neighbour of the closed form if both are allowed (a sum of one falling and one rising
    power falls, then rises), else by a search of its own."""
    below, above = (max(float(x), objective.low) for x in (floor(at), ceil(at)))
    left, right = objective.point(below), objective.point(above)
    if left.outside or right.outside or above > objective.high:
        return lowest(objective, whole=True).at
    return above if right.high < left.low else below


def _check_certified(objective: Objective, found: Valley) -> None:
    """Refuse what is no certified minimum."""
    name, over = objective.bound.name, objective.over.name
    if isnan(found.at):
        raise NoSolutionError(
            f"{name}: no value in the domain meets the conditions at these numbers: {objective.unmet()}"
        )
    ends = ((objective.low, objective.open_low, "falls"), (objective.high, objective.open_high, "rises"))
    for end, is_open, way in ends:
        if is_open and _reached(objective, found, end):
            raise NoMinimumError(
                f"{name} keeps falling as {over} {way}, as far as {end:g}, where the search ends: it has no minimum "
                "before"
            )
    if isinf(as_float(found.top)):
        raise NoMinimumError(
            f"{name} is beyond floating-point numbers where it is smallest; give numbers of a moderate size"
        )
    if not found.top - found.floor <= WIDEST_GAP * abs(found.top) + float(np.finfo(float).tiny):
        low, high = as_float(found.floor), as_float(found.top)
        raise NoMinimumError(
            f"{name}: its minimum over {over} is between {low:g} and {high:g}; the search could not decide where"
        )


def _reached(objective: Objective, found: Valley, end: float) -> bool:
    """Whether the bound at an end of the search is as low as anywhere, and not because it is level there."""
    at = objective.point(end)
    level = at.least_slope.is_zero() and at.largest_slope.is_zero()
    return not at.outside and not level and not at.high > found.top


def binding(objective: Objective, at: float, *steps: float) -> str:
    """The words of a condition, or of the end of the domain, that holds at a point and fails a step beside it.

    Steps are relative, for counts whole; what a condition forbids there, it forbids from here on.
    """
    beside = [at + step if abs(step) == 1 else at + step * max(abs(at), SMALLEST / NUDGE) for step in steps]
    low, high = objective.low, objective.high
    for near in beside:
        failing = objective.fails(min(max(near, low), high))
        for condition, fails in zip(objective.bound.numeric_conditions, failing, strict=True):
            if fails:
                return condition.words
    if any((near < at and at == low) or (near > at and at == high) for near in beside):
        return _end_words(objective, at == low, at)
    return ""


def _end_words(objective: Objective, low: bool, x: float) -> str:
    """What the end of the domain at ``x`` is: the domain's own rule, or another quantity."""
    card = objective.over.card
    if abs(x) in (SMALLEST, LARGEST, LARGEST_WHOLE):
        return f"nothing up to {x:g}, where the search ends"
    if x == (card.domain.low if low else card.domain.high):
        return f"{card.name} must be {card.domain.words}"
    if not low and card.at_most is not None:
        return f"{card.name} must be <= {card.at_most.name}"
    below = [q.name for q in objective.bound._all if q.card.at_most is not None and q.card.at_most.name == card.name]
    return f"{card.name} must be >= {', '.join(below)}" if low and below else f"{card.name} must be {card.domain.words}"
