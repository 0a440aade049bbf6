"""A bound with a quantity replaced by what an equation of the catalogue says it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bounds.core import Bound, Condition
from bounds.errors import BoundsError
from bounds.showing.loading import load


def loaded(name: str, definitions: Iterable[str] = ()) -> Bound:
    """The bound of this name with the definitions of these names put in."""
    bound = load(name)
    for equation in definitions:
        bound = defined(bound, load(equation))
    return bound


def defined(bound: Bound, equation: Bound) -> Bound:
    """The bound with the equation's target written out.

    Where the bound assumes that the quantity is what its word says (a cap that caps), the definition takes the place of
    that assumption, as it does in a text that defines the quantity so; the equation's own conditions are added.
    """
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
    """Whether the condition is the assumption that the quantity of this name is what its word says."""
    return condition.assumption is not None and getattr(condition.assumption.holds, "attribute", "") == name
