"""From SymPy to JavaScript: an expression as code over an object of numbers and lists.

A quantity that varies over clients or classes is a list; outside of sums the code takes its entry ``i``. Whatever has
no JavaScript of its own is refused here, when the page is built.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.errors import DeclarationError
from bounds.numerics.rounding import RoundUp, SLACK
from bounds.numerics.stable import LogRatio, stable
from bounds.operators import AxisReduction, ClassMax, ClientMax, varies, write_out_means
from bounds.quantities import Quantity

HALF = sp.Rational(1, 2)
WHOLE_POWERS = 4
"""Up to this, powers of a name are products, as in the generated NumPy code."""
INDEX = {"clients": "k", "classes": "c"}
FUNCTIONS: dict[type[sp.Basic], str] = {
    sp.exp: "Math.exp",
    sp.log: "Math.log",
    sp.Min: "Math.min",
    sp.Max: "Math.max",
    sp.Abs: "Math.abs",
    sp.floor: "Math.floor",
    sp.ceiling: "Math.ceil",
    LogRatio: "logRatio",
}
RELATIONS: dict[type[sp.Basic], str] = {
    sp.LessThan: "<=",
    sp.StrictLessThan: "<",
    sp.GreaterThan: ">=",
    sp.StrictGreaterThan: ">",
    sp.Equality: "===",
    sp.Unequality: "!==",
}
LOGIC: dict[type[sp.Basic], str] = {sp.And: " && ", sp.Or: " || "}


def javascript(expression: sp.Basic) -> str:
    """Code of ``expression`` in ``v`` (values by name) and ``i`` (the entry of lists outside of sums)."""
    return _code(stable(write_out_means(expression)), {})


def _code(e: sp.Basic, inside: dict[str, str]) -> str:
    """``inside``: the index of every axis that a sum around here runs over."""
    rules: tuple[tuple[type[sp.Basic] | tuple[type[sp.Basic], ...], Callable[[], str]], ...] = (
        (Quantity, lambda: _name(e, inside)),
        (AxisReduction, lambda: _reduction(e, inside)),
        (RoundUp, lambda: f"Math.ceil({1 - SLACK!r}*({_code(e.args[0], inside)}))"),
        ((sp.Integer, sp.Float), lambda: f"({e})" if e < 0 else str(e)),
        (sp.Rational, lambda: f"({e.p}/{e.q})"),
        (sp.Add, lambda: f"({'+'.join(_code(a, inside) for a in e.args)})"),
        (sp.Mul, lambda: _product(e, inside)),
        (sp.Pow, lambda: _power(e, inside)),
        (tuple(FUNCTIONS), lambda: f"{FUNCTIONS[type(e)]}({','.join(_code(a, inside) for a in e.args)})"),
        (tuple(RELATIONS), lambda: f"({_code(e.lhs, inside)}{RELATIONS[type(e)]}{_code(e.rhs, inside)})"),
        (tuple(LOGIC), lambda: f"({LOGIC[type(e)].join(_code(a, inside) for a in e.args)})"),
        (sp.Not, lambda: f"!{_code(e.args[0], inside)}"),
    )
    for kind, code in rules:
        if isinstance(e, kind):
            return code()
    if e.is_number and e.is_real:
        return repr(float(e))
    raise DeclarationError(f"there is no JavaScript for {type(e).__name__}, in {e}")


def _name(quantity: Quantity, inside: dict[str, str]) -> str:
    axis = quantity.card.axis
    return f"v.{quantity.name}[{inside.get(axis, 'i')}]" if axis else f"v.{quantity.name}"


def _reduction(e: AxisReduction, inside: dict[str, str]) -> str:
    """A sum or a largest value over the length of the axis, ``n.clients`` or ``n.classes``."""
    index = INDEX[e.axis]
    function = "top" if isinstance(e, (ClientMax, ClassMax)) else "sum"
    body = _code(e.args[0], {**inside, e.axis: index} if varies(e.args[0], e.axis) else inside)
    return f"{function}(n.{e.axis},{index}=>{body})"


def _product(e: sp.Mul, inside: dict[str, str]) -> str:
    """Negative powers below one stroke: fewer roundings, and what people read."""
    below = [f for f in e.args if f.is_Pow and f.exp.is_Rational and f.exp < 0]
    above = [_code(f, inside) for f in e.args if f not in below] or ["1"]
    if not below:
        return f"({'*'.join(above)})"
    under = "*".join(_code(1 / f, inside) for f in below)
    return f"({'*'.join(above)}/({under}))"


def _power(e: sp.Pow, inside: dict[str, str]) -> str:
    base, exponent = e.args
    code = _code(base, inside)
    if exponent == HALF:
        return f"Math.sqrt({code})"
    if exponent.is_Rational and exponent < 0:
        return f"(1/{_power(1 / e, inside) if (1 / e).is_Pow else _code(1 / e, inside)})"
    if exponent.is_Integer and base.is_Symbol and exponent <= WHOLE_POWERS:
        return f"({'*'.join([code] * int(exponent))})"
    return f"Math.pow({code},{_code(exponent, inside)})"
