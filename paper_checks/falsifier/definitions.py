"""Bounds in which a quantity is replaced by an equation of the catalogue that defines it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bounds.core import Bound, Condition
from bounds.errors import BoundsError
from bounds.showing.loading import load


def loaded(name: str, definitions: Iterable[str] = ()) -> Bound:
    """Return the bound of this name after substituting the equations of these names."""
    bound = load(name)
    for equation in definitions:
        bound = defined(bound, load(equation))
    return bound


def defined(bound: Bound, equation: Bound) -> Bound:
    """Return the bound with the target of the equation replaced by its right side. An assumption of the bound that
    states what the quantity is (such as a cap on gradients) is dropped, since the equation now defines the quantity;
    the conditions of the equation are added."""
    target = equation.target
    if equation.relation != "=" or target not in bound.all_quantities:
        raise BoundsError(f"{equation.name} is not an equation for a quantity of {bound.name}")
    kept = [c for c in bound.conditions if not _states(c, target.name)]
    words = {c.words for c in kept}
    return replace(
        bound,
        where={**bound.where, **equation.where, target: equation.expr},
        conditions=(*kept, *(c for c in equation.conditions if c.words not in words)),
        note=f"{bound.note} With {target.name} as {equation.name} defines it.".strip(),
    )


def _states(condition: Condition, name: str) -> bool:
    """Return whether the condition is the assumption that states what the quantity of this name is."""
    return condition.assumption is not None and getattr(condition.assumption.holds, "attribute", "") == name
