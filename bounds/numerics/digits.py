"""Formulas at one point with as many digits as they need, and with no end to the range of numbers.

Numbers are mpmath's. Every value carries how many bits its formula has lost so far; where fewer than enough are left
the point is evaluated again with more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import inf, log2
from typing import Any, NamedTuple

import mpmath
import sympy as sp
from mpmath import libmp

from ..operators import AxisReduction, ClassMax, ClientMax, is_number, write_out_means
from ..quantities import Quantity
from .landscape import sides_of
from .rounding import lenient, Raised, RoundUp, SLACK
from .stable import grows, LogRatio, stable

mp = mpmath.mp
LEVELS = (150, 500, 1500, 9000)
"""Bits to work with, one after the other until enough are left; what is zero up to rounding with the most is zero."""

LEFT = 70
"""Bits that count as enough."""

BEYOND = mpmath.mpf(10) ** 5000
"""The exponential of a larger number is taken as infinite (or zero): nothing brings it back into range."""


class Number(NamedTuple):
    """One number per member of the axis (one where they share it), the bits lost, and whether none was ever rounded."""

    members: list[Any]
    lost: float = 0.0
    exact: bool = False


class Digits:
    """Some expressions and relations, compiled once for all points."""

    def __init__(self, values: Sequence[sp.Expr], relations: Sequence[sp.Basic]) -> None:
        self.leaves: dict[int, str] = {}
        self.tape: list[tuple[int, Callable[..., Number], tuple[int, ...]]] = []
        self.slots: dict[sp.Basic, int] = {}
        self.width = 1
        self.values = [self._slot(lenient(stable(write_out_means(e), whole=False))) for e in values]
        self.relations = tuple(lenient(stable(write_out_means(r), whole=False)) for r in relations)
        self.sides = [self._slot(side) for side in sides_of(self.relations)]

    def at(self, point: Mapping[str, list[float]], width: int) -> tuple[list[list[Any]], list[list[bool]], bool]:
        """Values and relations (one per member where they vary) at a point, and whether enough bits were left."""
        self.width = width
        for bits in LEVELS:
            with mp.workprec(bits):
                numbers = self._run(point)
                enough = max((numbers[i].lost for i in (*self.values, *self.sides)), default=0.0) <= bits - LEFT
                if enough:
                    break
        sides = iter([numbers[i].members for i in self.sides])
        met = [_decide(r, sides) for r in self.relations]
        return [numbers[i].members for i in self.values], met, enough

    def _run(self, point: Mapping[str, list[float]]) -> dict[int, Number]:
        numbers = {slot: Number([mp.mpf(x) for x in point[name]], 0.0, True) for slot, name in self.leaves.items()}
        for slot, step, args in self.tape:
            numbers[slot] = step(*[numbers[i] for i in args])
        return numbers

    # ---- compiling ----

    def _slot(self, e: sp.Basic) -> int:
        if e not in self.slots:
            args = () if isinstance(e, Quantity) or is_number(e) else tuple(map(self._slot, _parts(e)))
            slot = self.slots[e] = len(self.slots)
            if isinstance(e, Quantity):
                self.leaves[slot] = e.name
            else:
                self.tape.append((slot, self._step(e), args))
        return self.slots[e]

    def _step(self, e: sp.Basic) -> Callable[..., Number]:
        if is_number(e):
            whole = bool(e.is_Integer)
            return lambda: Number([mp.mpf(e.p) / e.q if e.is_Rational else e._to_mpmath(mp.prec + 10)], 0.0, whole)
        if isinstance(e, AxisReduction):
            largest = isinstance(e, (ClientMax, ClassMax))
            return lambda a: self._reduced(a, largest)
        if isinstance(e, sp.Pow) and e.exp.is_Rational:
            return lambda a, b: _power(a, b, (int(e.exp.p), int(e.exp.q)))
        if grows(e):
            return _growth
        if isinstance(e, sp.Piecewise):
            return _pieces([condition for _, condition in e.args])
        return next((step for kind, step in STEPS.items() if isinstance(e, kind)), None) or _any_function(e)

    def _reduced(self, a: Number, largest: bool) -> Number:
        members = a.members * self.width if len(a.members) == 1 else a.members
        if largest:
            return Number([_most(members, 1)], a.lost)
        return _sums([members], (a,))


def as_float(x: Any) -> float:
    """The nearest float; what is no real number is NaN, and no number but zero becomes zero."""
    if isinstance(x, mpmath.mpc) or mp.isnan(x):
        return float("nan")
    near = float(x)
    return near or (0.0 if x == 0 else 5e-324 if x > 0 else -5e-324)


def _parts(e: sp.Basic) -> Sequence[sp.Basic]:
    """What an expression is computed of: of pieces, their values and the sides of their conditions; of a power
    ``(1+x)^y``, ``x`` and ``y``."""
    if grows(e):
        return (e.base - 1, e.exp)
    if not isinstance(e, sp.Piecewise):
        return e.args
    return [value for value, _ in e.args] + sides_of(tuple(condition for _, condition in e.args))


def _pieces(conditions: Sequence[sp.Basic]) -> Callable[..., Number]:
    """The value of the first piece whose condition holds, NaN where none does."""

    def run(*parts: Number) -> Number:
        values, sides = parts[: len(conditions)], parts[len(conditions) :]
        rest = iter([side.members for side in sides])
        length = max(len(p.members) for p in parts)
        met = [_decide(condition, rest) for condition in conditions]
        first = [next((k for k, m in enumerate(met) if m[i % len(m)]), None) for i in range(length)]
        found = [mp.nan if k is None else values[k].members[i % len(values[k].members)] for i, k in enumerate(first)]
        used = [*sides, *(values[k] for k in set(first) if k is not None)]
        return Number(found, max((p.lost for p in used), default=0.0), all(p.exact for p in used))

    return run


def _any_function(e: sp.Basic) -> Callable[..., Number]:
    """A function without a rule: its loss is how far its value moves when the last digits of an argument do."""
    letters = [sp.Dummy() for _ in e.args]
    plain = sp.lambdify(letters, e.func(*letters), modules="mpmath")

    def function(*x: Any) -> Any:
        try:
            found = mp.convert(plain(*(a if abs(a) <= BEYOND else mp.sign(a) * mp.inf for a in x)))
        except (ValueError, ZeroDivisionError):
            return mp.nan
        return mp.nan if isinstance(found, mpmath.mpc) else found

    def run(*parts: Number) -> Number:
        before = max(p.lost for p in parts)
        members = _each(lambda *x: x)(*(p.members for p in parts))
        found, most = [], before
        for x in members:
            value = function(*x)
            share = mp.mpf(2) ** (min(before, mp.prec - 1) - mp.prec)
            moved = [function(*x[:i], a * (1 + share), *x[i + 1 :]) for i, a in enumerate(x)]
            lost = max(_moved(value, other) for other in moved)
            if lost > mp.prec - LEFT and mp.prec >= LEVELS[-1]:
                value, lost = mp.mpf(0), before
            found.append(value)
            most = max(most, lost)
        return Number(found, most + 2.0)

    return run


def _moved(value: Any, other: Any) -> float:
    """The bits in which two values differ; all of them where one is zero and the other is not."""
    if value == other or not (mp.isfinite(value) and mp.isfinite(other)):
        return 0.0
    return inf if value == 0 else float(max(0, mp.prec + mp.mag(other - value) - mp.mag(value)))


def _sums(rows: Sequence[Sequence[Any]], parts: Sequence[Number]) -> Number:
    """The sum of every row of numbers that stem from ``parts``."""
    if all(p.exact for p in parts):
        return Number([mp.make_mpf(libmp.mpf_sum([x._mpf_ for x in row])) for row in rows], 0.0, True)
    before = max(p.lost for p in parts)
    totals, most = [], 0.0
    for row in rows:
        total = mp.fsum(row)
        lost = before + _cancelled(total, row)
        if lost > mp.prec - LEFT and mp.prec >= LEVELS[-1]:
            total, lost = mp.mpf(0), before
        totals.append(total)
        most = max(most, lost)
    return Number(totals, most + 1.0)


def _cancelled(total: Any, parts: Sequence[Any]) -> float:
    """Bits lost in a sum; all of them where it is zero though its parts are not."""
    size = mp.fsum(parts, absolute=True)
    if not mp.isfinite(size) or size == 0:
        return 0.0
    return inf if total == 0 else float(max(0, mp.mag(size) - mp.mag(total)))


def _each(function: Callable[..., Any]) -> Callable[..., list[Any]]:
    def run(*lists: list[Any]) -> list[Any]:
        length = max(map(len, lists))
        return [function(*(x[i % len(x)] for x in lists)) for i in range(length)]

    return run


def _add(*parts: Number) -> Number:
    return _sums(_each(lambda *x: x)(*(p.members for p in parts)), parts)


def _multiply(*parts: Number) -> Number:
    if all(p.exact for p in parts):
        return Number(_each(lambda *x: reduce(_exact_product, x))(*(p.members for p in parts)), 0.0, True)
    return Number(_each(lambda *x: mp.fprod(x))(*(p.members for p in parts)), max(p.lost for p in parts) + 2.0)


def _exact_product(a: Any, b: Any) -> Any:
    return mp.make_mpf(libmp.mpf_mul(a._mpf_, b._mpf_))


def _power(base: Number, exponent: Number, fixed: tuple[int, int] | None = None) -> Number:
    if base.exact and fixed in ((2, 1), (3, 1), (4, 1)):
        return _multiply(*[base] * fixed[0])
    if fixed:
        root = _each(lambda b: _root(b, *fixed))(base.members)
        return Number(root, max(base.lost, exponent.lost) + 2.0 + abs(log2(abs(fixed[0] / fixed[1]))))
    logs = _each(lambda b, e: e * _logarithm(b) if e else mp.mpf(0))(base.members, exponent.members)
    # b^e is off by e times the share by which b is, also where b is next to 1, and by log(b^e) times that of e.
    from_base = 0.0 if base.exact else base.lost + max(map(_bits, exponent.members))
    from_exponent = exponent.lost + max(map(_bits, logs))
    return Number([_exponential(x) for x in logs], max(from_base, from_exponent) + 3.0)


def _growth(x: Number, y: Number) -> Number:
    """``(1+x)^y`` for whole ``y``, of a negative base too; nothing is lost where ``x`` is tiny."""
    before = max(x.lost, y.lost)
    found, most = [], before
    for a, n in _each(lambda *pair: pair)(x.members, y.members):
        base = 1 + a
        logarithm = n * (mp.log1p(a) if base > 0 else _logarithm(-base)) if n else mp.mpf(0)
        size = _exponential(logarithm)
        found.append(-size if base < 0 and int(n) % 2 else size)
        if base:  # the exponent is off by n a/(1+a) times the share by which a is
            most = max(most, before + max(_bits(n * a / base), _bits(logarithm)))
        elif not x.exact and mp.prec < LEVELS[-1]:
            most = inf
    return Number(found, most + 4.0)


def _root(b: Any, p: int, q: int) -> Any:
    """``b^(p/q)``."""
    if b == 0:
        return b if p > 0 else mp.inf
    if q == 1:
        return b**p
    return mp.root(b, q) ** p if b > 0 else mp.nan


def _bits(x: Any) -> float:
    """Binary digits before the point."""
    return float(max(0, mp.mag(x))) if mp.isfinite(x) and x else 0.0


def _exponential(x: Any) -> Any:
    if mp.isnan(x) or abs(x) <= BEYOND:
        return mp.exp(x)
    return mp.inf if x > 0 else mp.mpf(0)


def _function(one: Callable[[Any], Any], steep: Callable[[Any], Any]) -> Callable[..., Number]:
    """A function of one number; ``steep`` is by how much it enlarges a relative error."""

    def step(a: Number) -> Number:
        return Number([one(x) for x in a.members], a.lost + max(_bits(steep(x)) for x in a.members) + 2.0)

    return step


def _logarithm(x: Any) -> Any:
    return mp.log(x) if x > 0 else -mp.inf if x == 0 else mp.nan


def _log_ratio(x: Any) -> Any:
    return mp.mpf(1) if x == 0 else mp.log1p(x) / x if x > -1 else mp.inf if x == -1 else mp.nan


def _most(numbers: Sequence[Any], sign: int) -> Any:
    return mp.nan if any(map(mp.isnan, numbers)) else sign * max(sign * x for x in numbers)


def _extreme(sign: int) -> Callable[..., Number]:
    return lambda *parts: Number(
        _each(lambda *x: _most(x, sign))(*(p.members for p in parts)), max(p.lost for p in parts)
    )


def _even(x: Any) -> Any:
    return mp.mpf(1)


def _raised(a: Number, *more: Number) -> Number:
    near = Number([x * (1 + mp.sign(x) * SLACK) for x in a.members], a.lost + 2.0)
    return _add(near, *more) if more else near


STEPS: dict[type[sp.Basic], Callable[..., Number]] = {
    sp.Add: _add,
    sp.Mul: _multiply,
    sp.Pow: _power,
    sp.exp: _function(_exponential, abs),
    sp.log: _function(_logarithm, lambda x: 1 / abs(mp.log(x)) if x > 0 and x != 1 else mp.mpf(1)),
    LogRatio: _function(_log_ratio, lambda x: 1 / (1 + x) if x > -1 else mp.mpf(1)),
    sp.Max: _extreme(1),
    sp.Min: _extreme(-1),
    sp.Abs: _function(abs, _even),
    Raised: _raised,
    RoundUp: _function(lambda x: mp.ceil((1 - mp.mpf(SLACK)) * x), _even),
    sp.ceiling: _function(mp.ceil, _even),
    sp.floor: _function(mp.floor, _even),
}

COMPARISONS: dict[type[sp.Basic], Callable[[Any, Any], bool]] = {
    sp.LessThan: lambda a, b: a <= b,
    sp.StrictLessThan: lambda a, b: a < b,
    sp.GreaterThan: lambda a, b: a >= b,
    sp.StrictGreaterThan: lambda a, b: a > b,
    sp.Equality: lambda a, b: a == b,
    sp.Unequality: lambda a, b: a != b,
}


def _decide(relation: sp.Basic, sides: Any) -> list[bool]:
    """Each side rounded to the digits of a float first: a cap that is met up to rounding is met."""
    if relation in (sp.true, sp.false):
        return [bool(relation)]
    if not relation.is_Relational:
        parts = [_decide(r, sides) for r in relation.args]
        if isinstance(relation, sp.Not):
            return [not x for x in parts[0]]
        return _each(lambda *x: all(x) if isinstance(relation, sp.And) else any(x))(*parts)
    a, b = next(sides), next(sides)
    with mp.workprec(53):
        return _each(lambda x, y: COMPARISONS[type(relation)](+x, +y))(a, b)
