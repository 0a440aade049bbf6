"""The step sizes that a bound assumes: constant or decreasing, and the numbers that it prescribes.

Iteration t counts local steps since the start, from 0; ``step_size`` is that of the first. Decreasing ones are
``step_size_scale / (step_offset + t)``, so the scale is the first step size times the offset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Any

import mpmath
import numpy as np
import sympy as sp

from bounds.assumptions import HARMONIC_STEP_SIZE
from bounds.core import Bound, Condition, Statistic
from bounds.errors import BoundsError, DeclarationError
from bounds.fedinit.stability import DECAYING_STEP
from bounds.operators import bind
from bounds.quantities import Quantity
from bounds.weights import Weights
from empirics.training.step_sizes import falling

SCALE, OFFSET, FIRST = "step_size_scale", "step_offset", "step_size"
KNOBS = (SCALE, OFFSET, FIRST)
SOME = 8
"""Step sizes by which a rule is recognised: a run may have 10^12 of them."""


def harmonic(bound: Bound) -> bool:
    """Whether the bound assumes step sizes of a scale over an offset plus the iteration."""
    return any(c.assumption is HARMONIC_STEP_SIZE or counted_from_one(c) for c in bound.conditions)


def counted_from_one(condition: Condition) -> bool:
    """Whether the step size of iteration t = 1, 2, ... is a scale over t: the offset is 1, from 0."""
    return condition.words == DECAYING_STEP.words


@lru_cache(maxsize=256)
def pinned(bound: Bound) -> Mapping[str, sp.Expr]:
    """The expressions that the bound prescribes for step sizes, by an abbreviation or an equation of its conditions."""
    found = {q.name: bound._spelled(q.name, q) for q in bound.where if q.name in KNOBS}
    found |= {OFFSET: sp.Integer(1)} if any(map(counted_from_one, bound.conditions)) else {}
    for relation in bound.relations:
        if isinstance(relation, sp.Eq):
            for side, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
                if isinstance(side, Quantity) and side.name in KNOBS and side not in other.free_symbols:
                    found.setdefault(side.name, other)
    return found


def open_knobs(bound: Bound) -> str:
    """Why the decreasing step sizes of a bound are unknown; empty if they are known."""
    told = {q.name for q in bound.quantities} | set(pinned(bound))
    if OFFSET not in told or not told & {SCALE, FIRST}:
        return f"it has no {OFFSET if OFFSET not in told else SCALE} for its decreasing step size"
    return ""


def chosen(bound: Bound, known: Mapping[str, Any]) -> dict[str, Any]:
    """First step size and offset of a plan; values that the bound prescribes replace those in ``known``.

    ``known`` are the quantities without a run, in any number type, which is kept. The offset is left out where step
    sizes are constant.
    """
    plan = {name: known[name] for name in (FIRST, OFFSET) if known.get(name) is not None}
    put = {name: _value(bound, name, known) for name in pinned(bound)}
    if not harmonic(bound):
        return {FIRST: put[FIRST]} if FIRST in put else {FIRST: plan[FIRST]}
    offset = put.get(OFFSET, plan.get(OFFSET))
    if offset is None:
        raise BoundsError(f"{bound.name} assumes a decreasing step size: give its offset, step_offset")
    first = put[SCALE] / offset if SCALE in put else put.get(FIRST, plan[FIRST])
    return {FIRST: first, OFFSET: offset}


def _value(bound: Bound, name: str, known: Mapping[str, Any]) -> Any:
    """The value that the bound prescribes."""
    expression = pinned(bound)[name]
    words = sorted(q.name for q in expression.free_symbols)
    if lacking := [word for word in words if word not in known]:
        raise BoundsError(f"the step size of {bound.name} depends on {', '.join(lacking)}, which only a run determines")
    try:
        return at_numbers(expression, known)
    except ArithmeticError:
        told = ", ".join(f"{word} {float(known[word]):g}" for word in words)
        raise BoundsError(f"{bound.name} determines no {name} at {told}") from None


def at_numbers(expression: sp.Basic, known: Mapping[str, Any]) -> Any:
    """An expression at values by quantity, in their number type."""
    given = [known[word] for word in sorted(q.name for q in expression.free_symbols)]
    if all(isinstance(value, (int, float, np.number)) for value in given):
        return float(_function(expression)(*given))
    put = {q: _number(known[q.name]) for q in expression.free_symbols}
    value = bind(expression, put)
    return Fraction(value.p, value.q) if value.is_Rational else mpmath.mpf(sp.N(value, mpmath.mp.dps)._mpf_)


def weights(at: Statistic | None, known: Mapping[str, Any]) -> Weights | None:
    """The weights of a statistic in numbers; None where all entries weigh the same."""
    if at is None or at.weights is None:
        return None
    asked = at.weights.words
    if lacking := [word for word in asked if word not in known]:
        missing = " ".join(f"{word}=NUMBER" for word in lacking)
        raise BoundsError(f"the weights of the mean need {', '.join(lacking)}: give {missing}")
    try:
        return at.weights.at(lambda expression: at_numbers(expression, known))
    except (ArithmeticError, DeclarationError):
        told = ", ".join(f"{word} {float(known[word]):g}" for word in asked)
        raise BoundsError(f"the mean has no weights at {told}: the plan is outside the bound's conditions") from None


@lru_cache(maxsize=256)
def _function(expression: sp.Basic) -> Callable[..., Any]:
    stand_ins = {q: sp.Symbol(q.name) for q in expression.free_symbols}
    names = sorted(stand_ins.values(), key=str)
    made: Callable[..., Any] = sp.lambdify(names, expression.subs(stand_ins), modules=["math", "sympy"])
    return made


def _number(value: Any) -> Any:
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Float(value, mpmath.mp.dps) if isinstance(value, mpmath.mpf) else sp.sympify(value)


def sizes(first: Any, offset: Any, iterations: int) -> list[Any]:
    """The step size of every iteration, in the number type of the first."""
    return [first if offset is None else falling(first, offset, t) for t in range(iterations)]


def some(first: Any, offset: Any, iterations: int) -> tuple[Any, ...]:
    """The first few step sizes, by which assumptions recognise a rule."""
    return tuple(islice((first if offset is None else falling(first, offset, t) for t in range(iterations)), SOME))
