"""Formulas at one point in Arb's ball arithmetic (python-flint): as many digits as it takes, and no end to the range.

Two questions are asked of balls. *Values*: given numbers are the floats that they are, and the precision grows until
the result is known to the last digit of a float. *Jumps* (comparisons, ceilings): a given number that is not a count
stands for all numbers that round to it, since 0.1 is not exactly a float and a step size of 1/(4 L) seldom is. A
condition ``<=`` then holds unless it fails for all of these numbers, ``<`` only if it holds for all of them, and a
ceiling is the smallest that any of them has. So 0.1 * 3 <= 0.3 holds and 0.1 * 3 < 0.3 does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp

from .floats import COMPARISONS
from .tape import Tape

LEVELS = (64, 128, 512, 2048, 10_000)
"""Bits for values, one after the other; what is zero up to rounding with the most is zero."""
WITH_ERRORS = (200, 2000)
"""Bits for jumps: beyond them only the errors of the given numbers are left."""
HALF_UNIT = 2.0**-53
"""How far a number may be from the float that it rounds to, relatively."""
FAR = 2**9000
"""The exponential of a larger number is taken as infinite (or zero): nothing brings it back into range."""
Members = list[Any]
"""One ball for each entry of the axis, or one for all."""


class Balls:
    """Operations on lists of balls; with ``errors`` given numbers stand for all that round to them."""

    def __init__(self, width: int, errors: bool = False) -> None:
        from flint import arb, fmpq

        self.width, self.errors, self.arb, self.fmpq = width, errors, arb, fmpq
        self.nan, self.infinite = arb.nan(), arb.pos_inf()
        self.lost = False
        """Whether a number was not known to a factor of e."""

    def given(self, x: Any, count: bool = False) -> Any:
        """The ball of a given number, of a ``count`` the number itself."""
        x = self.arb(x)
        return x + self.arb(0, abs(x).upper() * HALF_UNIT) if self.errors and not count else x

    def number(self, value: sp.Expr, near: float) -> Members:
        if value.is_Rational:
            return [self.arb(self.fmpq(int(value.p), int(value.q)))]
        if value.is_Float:
            return [self.given(near)]
        return [self.arb.pi() if value == sp.pi else self.arb(1).exp()]

    def truth(self, value: bool) -> list[bool]:
        return [value]

    # ---- arithmetic ----

    def add(self, a: Members, b: Members) -> Members:
        return each(lambda x, y: x + y, a, b)

    def subtract(self, a: Members, b: Members) -> Members:
        return each(lambda x, y: x - y, a, b)

    def multiply(self, a: Members, b: Members) -> Members:
        return each(lambda x, y: x * y, a, b)

    def divide(self, a: Members, b: Members) -> Members:
        return each(self._over, a, b)

    def _over(self, x: Any, y: Any) -> Any:
        if not y.is_zero():
            return x / y
        return self.infinite if x > 0 else -self.infinite if x < 0 else self.nan

    def whole_power(self, base: Members, exponent: int) -> Members:
        return each(lambda x: x**exponent, base)

    def square_root(self, x: Members) -> Members:
        return each(lambda x: x.sqrt(), x)

    def power(self, base: Members, exponent: Members) -> Members:
        return each(self.raised, base, exponent)

    def raised(self, x: Any, y: Any) -> Any:
        if y.is_zero():
            return self.arb(1)
        if x.is_zero():
            return self.arb(0) if y > 0 else self.infinite if y < 0 else self.nan
        if x > 0:
            return self.exp(y * x.log())
        return x**y

    def growth(self, x: Members, exponent: Members) -> Members:
        return each(lambda a, n: self.exp(n * a.log1p()) if a > -1 else self.raised(1 + a, n), x, exponent)

    def exponential(self, x: Members) -> Members:
        return each(self.exp, x)

    def exp(self, x: Any) -> Any:
        """Beyond what Arb takes, ``2^n exp(r)`` with ``x = n log 2 + r``, where the precision tells ``n``."""
        if abs(x) > FAR:
            return self.infinite if x > 0 else self.arb(0)
        self.lost |= self.errors and x.rad() > 1
        found = x.exp()
        if found.is_finite() and (abs(x) < 1 << 60 or found.rel_accuracy_bits() > 0):
            return found
        log_2 = self.arb.const_log2()
        n = (x / log_2).floor().unique_fmpz()
        return self.nan if n is None else (x - n * log_2).exp() * self.arb((1, n))

    def logarithm(self, x: Members) -> Members:
        return each(lambda a: -self.infinite if a.is_zero() else a.log(), x)

    def log_ratio(self, x: Members) -> Members:
        return each(lambda a: self.arb(1) if a.is_zero() else a.log1p() / a, x)

    def absolute(self, x: Members) -> Members:
        return each(abs, x)

    def maximum(self, a: Members, b: Members) -> Members:
        return each(lambda x, y: x.max(y), a, b)

    def minimum(self, a: Members, b: Members) -> Members:
        return each(lambda x, y: x.min(y), a, b)

    def total(self, x: Members) -> Members:
        return [x[0] * self.width if len(x) == 1 else sum(x[1:], x[0])]

    def largest(self, x: Members) -> Members:
        found = x[0]
        for other in x[1:]:
            found = found.max(other)
        return [found]

    # ---- jumps ----

    def ceiling(self, x: Members) -> Members:
        return each(lambda a: a.lower().ceil() if a.is_finite() else a, x)

    def floor(self, x: Members) -> Members:
        return each(lambda a: a.upper().floor() if a.is_finite() else a, x)

    def compare(self, a: Members, b: Members, relation: str, given: bool) -> list[bool]:
        """Computed sides stand for all numbers that round to them; given ones are the floats that they are."""
        if given:
            return each(lambda x, y: COMPARISONS[relation](float(x.mid()), float(y.mid())), a, b)
        a, b = ([x if x.is_exact() else self.given(x) for x in side] for side in (a, b))
        return each(lambda x, y: x.is_finite() and y.is_finite() and DECIDED[relation](x, y), a, b)

    def negated(self, a: list[bool]) -> list[bool]:
        return [not x for x in a]

    def both(self, a: list[bool], b: list[bool]) -> list[bool]:
        return each(lambda x, y: x and y, a, b)

    def either(self, a: list[bool], b: list[bool]) -> list[bool]:
        return each(lambda x, y: x or y, a, b)

    def pieces(self, *parts: list[Any]) -> Members:
        count = len(parts) // 2

        def chosen(*entries: Any) -> Any:
            return next(
                (value for holds, value in zip(entries[:count], entries[count:], strict=True) if holds), self.nan
            )

        return each(chosen, *parts)


DECIDED: dict[str, Callable[[Any, Any], bool]] = {
    "<=": lambda x, y: not x > y,
    "<": lambda x, y: bool(x < y),
    ">=": lambda x, y: not x < y,
    ">": lambda x, y: bool(x > y),
    "==": lambda x, y: bool(x.overlaps(y)),
    "!=": lambda x, y: not x.overlaps(y),
}
"""Comparisons of balls: see the module."""


def each(function: Callable[..., Any], *lists: list[Any]) -> list[Any]:
    length = max(map(len, lists))
    return [function(*(x[i if len(x) > 1 else 0] for x in lists)) for i in range(length)]


class Point:
    """A tape at one point: lists of floats by quantity, over an axis of ``width`` entries."""

    def __init__(self, tape: Tape, values: Mapping[str, Sequence[float]], width: int) -> None:
        self.tape, self.given, self.width = tape, values, width

    def jumps(self) -> list[Any]:
        """What every slot holds, where given numbers stand for all that round to them.

        Where that leaves nothing of a number (a count to the power of 1e50, say), they are the floats that they are.
        """
        for bits in WITH_ERRORS:
            balls = Balls(self.width, errors=True)
            held = self._run(bits, balls)
            if balls.lost:
                return self._run(LEVELS[-1], Balls(self.width))
        return held

    def holds(self) -> list[bool]:
        """Whether the first output, a relation, holds at each entry."""
        found: list[bool] = self.jumps()[self.tape.outputs[0]]
        return found

    def balls(self) -> list[Members]:
        """Every output, as exactly as a float can hold, or as the largest precision tells."""
        decided = self.jumps() if self.tape.jumps else None
        for bits in LEVELS:
            held = self._run(bits, Balls(self.width), decided)
            found: list[Members] = [held[slot] for slot in self.tape.outputs]
            if all(_known(x) for members in found for x in members):
                break
        return found

    def values(self) -> list[list[float]]:
        """For every output the nearest floats; NaN is no real number, and nothing but zero becomes zero."""
        return [[as_float(x) for x in members] for members in self.balls()]

    def _run(self, bits: int, balls: Balls, decided: Sequence[Any] | None = None) -> list[Any]:
        from flint import ctx

        with ctx.workprec(bits):
            leaves = {
                q.name: [balls.given(x, q.card.domain.whole) for x in self.given[q.name]]
                for q in self.tape.leaves.values()
            }
            return self.tape.run(balls, leaves, decided)


def _known(x: Any) -> bool:
    return bool(x.rel_accuracy_bits() >= 60 or x.is_zero() or x.is_exact())


def as_float(x: Any) -> float:
    """The nearest float of a ball."""
    if x.is_nan():
        return float("nan")
    if not x.is_finite():
        return float("inf") if x > 0 else float("-inf") if x < 0 else float("nan")
    if not _known(x) and x.contains(0):
        return 0.0
    near = float(x.mid())
    return near or (0.0 if x.is_zero() else 5e-324 if x > 0 else -5e-324)
