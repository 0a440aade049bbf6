"""The step sizes that a bound assumes or prescribes, constant or decreasing.

Iteration t counts local steps from 0, and ``step_size`` is the first step size. Decreasing step sizes are
``step_size_scale / (step_offset + t)``, so the scale is the first step size times the offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
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
"""How many step sizes suffice to recognise a rule; a run may have 10^12 of them."""


def harmonic(bound: Bound) -> bool:
    """Whether the bound assumes step sizes ``step_size_scale / (step_offset + t)``."""
    return any(c.assumption is HARMONIC_STEP_SIZE or counted_from_one(c) for c in bound.conditions)


def counted_from_one(condition: Condition) -> bool:
    """Whether a condition says that the step size of iteration t = 1, 2, ... is a scale over t (the offset is 1)."""
    return condition.words == DECAYING_STEP.words


@lru_cache(maxsize=256)
def prescribed(bound: Bound) -> Mapping[str, sp.Expr]:
    """The expressions that a bound prescribes for step size, scale and offset, in an abbreviation or a condition."""
    expressions = {q.name: bound._spelled(q.name, q) for q in bound.where if q.name in KNOBS}
    if any(map(counted_from_one, bound.conditions)):
        expressions[OFFSET] = sp.Integer(1)
    for relation in bound.relations:
        if isinstance(relation, sp.Eq):
            for side, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
                if isinstance(side, Quantity) and side.name in KNOBS and side not in other.free_symbols:
                    expressions.setdefault(side.name, other)
    return expressions


def open_knobs(bound: Bound) -> str:
    """Why the decreasing step sizes of a bound are unknown; empty if they are known."""
    names = {q.name for q in bound.quantities} | set(prescribed(bound))
    if OFFSET not in names or not names & {SCALE, FIRST}:
        return f"it has no {OFFSET if OFFSET not in names else SCALE} for its decreasing step size"
    return ""


def step_plan(bound: Bound, known: Mapping[str, Any]) -> dict[str, Any]:
    """The first step size of a plan and, where step sizes decrease, the offset.

    Values that the bound prescribes replace those in ``known``, the quantities that are known before a run. Their
    number type is kept.
    """
    values = {name: _value(bound, name, known) for name in prescribed(bound)}
    if not harmonic(bound):
        return {FIRST: values[FIRST] if FIRST in values else known[FIRST]}
    offset = values.get(OFFSET, known.get(OFFSET))
    if offset is None:
        raise BoundsError(f"{bound.name} assumes a decreasing step size: give its offset, step_offset")
    if SCALE in values:
        return {FIRST: values[SCALE] / offset, OFFSET: offset}
    return {FIRST: values[FIRST] if FIRST in values else known[FIRST], OFFSET: offset}


def _value(bound: Bound, name: str, known: Mapping[str, Any]) -> Any:
    """The value that the bound prescribes for a step size, a scale or an offset."""
    expression = prescribed(bound)[name]
    names = sorted(q.name for q in expression.free_symbols)
    if missing := [quantity for quantity in names if quantity not in known]:
        raise BoundsError(f"the step size of {bound.name} depends on {', '.join(missing)}, which only a run determines")
    try:
        return at_numbers(expression, known)
    except ArithmeticError:
        raise BoundsError(f"{bound.name} determines no {name} at {_listed(names, known)}") from None


def _listed(names: Iterable[str], known: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {float(known[name]):g}" for name in names)


def at_numbers(expression: sp.Basic, known: Mapping[str, Any]) -> Any:
    """The value of an expression at quantities by name, in their number type: floats, fractions or mpmath."""
    arguments = [known[name] for name in sorted(q.name for q in expression.free_symbols)]
    if all(isinstance(value, (int, float, np.number)) for value in arguments):
        return float(_function(expression)(*arguments))
    value = bind(expression, {q: _number(known[q.name]) for q in expression.free_symbols})
    return Fraction(value.p, value.q) if value.is_Rational else mpmath.mpf(sp.N(value, mpmath.mp.dps)._mpf_)


def weights(at: Statistic | None, known: Mapping[str, Any]) -> Weights | None:
    """The weights of a statistic with numbers in place of quantities; None if all entries weigh the same."""
    if at is None or at.weights is None:
        return None
    names = at.weights.words
    if missing := [name for name in names if name not in known]:
        values = " ".join(f"{name}=NUMBER" for name in missing)
        raise BoundsError(f"the weights of the mean need {', '.join(missing)}: give {values}")
    try:
        return at.weights.at(lambda expression: at_numbers(expression, known))
    except (ArithmeticError, DeclarationError):
        where = _listed(names, known)
        raise BoundsError(f"the mean has no weights at {where}: the plan is outside the bound's conditions") from None


@lru_cache(maxsize=256)
def _function(expression: sp.Basic) -> Callable[..., Any]:
    symbols = {q: sp.Symbol(q.name) for q in expression.free_symbols}
    arguments = sorted(symbols.values(), key=str)
    function: Callable[..., Any] = sp.lambdify(arguments, expression.subs(symbols), modules=["math", "sympy"])
    return function


def _number(value: Any) -> Any:
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.Float(value, mpmath.mp.dps) if isinstance(value, mpmath.mpf) else sp.sympify(value)


def step_sizes(first: Any, offset: Any, iterations: int) -> list[Any]:
    """The step size of every iteration, in the number type of the first."""
    return [first if offset is None else falling(first, offset, t) for t in range(iterations)]


def first_step_sizes(first: Any, offset: Any, iterations: int) -> tuple[Any, ...]:
    """The first few step sizes, by which assumptions recognise a rule."""
    return tuple(step_sizes(first, offset, min(SOME, iterations)))
