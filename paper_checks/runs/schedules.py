"""The step sizes that a bound assumes: whether they fall with every iteration, and which of their numbers it says.

Iteration t counts local steps since the start, from 0; ``step_size`` is that of the first. Falling ones are
``step_size_scale / (step_offset + t)``, so that the scale is the first step size times the offset.
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
"""Step sizes that show a rule: a run may have 10^12 of them."""


def harmonic(bound: Bound) -> bool:
    """Whether the bound is on step sizes that fall like a scale over an offset plus the iteration."""
    return any(c.assumption is HARMONIC_STEP_SIZE or counted_from_one(c) for c in bound.conditions)


def counted_from_one(condition: Condition) -> bool:
    """Whether the step size of iteration t = 1, 2, .. is to be a scale over t: that of the offset 1, from 0."""
    return condition.words == DECAYING_STEP.words


@lru_cache(maxsize=256)
def pinned(bound: Bound) -> Mapping[str, sp.Expr]:
    """What the bound says that a knob of the step sizes is: by an abbreviation, or by an equation of its conditions."""
    found = {q.name: bound._spelled(q.name, q) for q in bound.where if q.name in KNOBS}
    found |= {OFFSET: sp.Integer(1)} if any(map(counted_from_one, bound.conditions)) else {}
    for relation in bound.relations:
        if isinstance(relation, sp.Eq):
            for side, other in ((relation.lhs, relation.rhs), (relation.rhs, relation.lhs)):
                if isinstance(side, Quantity) and side.name in KNOBS and side not in other.free_symbols:
                    found.setdefault(side.name, other)
    return found


def open_knobs(bound: Bound) -> str:
    """Why the step sizes of a bound on falling ones are not known; empty if they are."""
    told = {q.name for q in bound.quantities} | set(pinned(bound))
    if OFFSET not in told or not told & {SCALE, FIRST}:
        return f"it names no {OFFSET if OFFSET not in told else SCALE} of its falling step size"
    return ""


def chosen(bound: Bound, known: Mapping[str, Any]) -> dict[str, Any]:
    """First step size and offset of a plan, with what the bound pins down in the place of what ``known`` says.

    ``known`` are the words without a run, in numbers of any kind: the same kind comes out. The offset is left out where
    step sizes do not fall.
    """
    plan = {name: known[name] for name in (FIRST, OFFSET) if known.get(name) is not None}
    put = {name: _value(bound, name, known) for name in pinned(bound)}
    if not harmonic(bound):
        return {FIRST: put[FIRST]} if FIRST in put else {FIRST: plan[FIRST]}
    offset = put.get(OFFSET, plan.get(OFFSET))
    if offset is None:
        raise BoundsError(f"{bound.name} is on a falling step size: give its offset, step_offset")
    first = put[SCALE] / offset if SCALE in put else put.get(FIRST, plan[FIRST])
    return {FIRST: first, OFFSET: offset}


def _value(bound: Bound, name: str, known: Mapping[str, Any]) -> Any:
    """What the bound says that a knob is."""
    expression = pinned(bound)[name]
    words = sorted(q.name for q in expression.free_symbols)
    if lacking := [word for word in words if word not in known]:
        raise BoundsError(f"{bound.name} sets its step size by {', '.join(lacking)}, which only a run tells")
    try:
        return at_numbers(expression, known)
    except ArithmeticError:
        told = ", ".join(f"{word} {float(known[word]):g}" for word in words)
        raise BoundsError(f"{bound.name} says no {name} at {told}") from None


def at_numbers(expression: sp.Basic, known: Mapping[str, Any]) -> Any:
    """An expression of quantities at values by word, in the kind of number that they are."""
    given = [known[word] for word in sorted(q.name for q in expression.free_symbols)]
    if all(isinstance(value, (int, float, np.number)) for value in given):
        return float(_function(expression)(*given))
    put = {q: _number(known[q.name]) for q in expression.free_symbols}
    value = bind(expression, put)
    return Fraction(value.p, value.q) if value.is_Rational else mpmath.mpf(sp.N(value, mpmath.mp.dps)._mpf_)


def weights(at: Statistic | None, known: Mapping[str, Any]) -> Weights | None:
    """The weights of a statistic in numbers; None where all entries count alike."""
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
    """The step size of every iteration, in the kind of number of the first."""
    return [first if offset is None else falling(first, offset, t) for t in range(iterations)]


def some(first: Any, offset: Any, iterations: int) -> tuple[Any, ...]:
    """The first few of them, as assumptions read them."""
    return tuple(islice((first if offset is None else falling(first, offset, t) for t in range(iterations)), SOME))
