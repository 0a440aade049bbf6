"""Closed forms: write a bound as a sum of powers of one quantity, and minimise the sum as a formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import sympy as sp

from ..errors import NoMinimumError
from ..operators import LinearReduction
from ..papers import Source
from ..quantities import Quantity
from ..statement import Condition, spell, Statement

PASS_VALUES = "pass values for the others to get a certified number"
Powers = dict[sp.Expr, sp.Expr]
"""The coefficients of a sum of powers by exponent. They do not depend on the quantity."""

HIGHEST = 8
"""The largest integer power of a sum that is multiplied out."""


@dataclass(frozen=True)
class Optimum:
    """The minimiser ``at`` of ``bound`` over all positive values of ``over``, and the minimum ``value``, as formulas.

    It is the unique minimum where the relations in ``requires`` hold: with two positive coefficients the bound is
    convex in the logarithm of ``over``. The domain of ``over`` (such as integers) and the bound's conditions on it are
    not considered; ``minimize`` with values does so.
    """

    bound: Statement
    over: Quantity
    at: sp.Expr
    value: sp.Expr
    requires: tuple[sp.Basic, ...] = ()

    def as_bound(
        self,
        *,
        name: str,
        source: Source,
        note: str = "",
        conditions_extra: tuple[Condition, ...] = (),
        **overrides: Any,
    ) -> Any:
        """Return the statement ``over = at``, with the conditions of the bound that do not contain ``over``.

        ``overrides`` are further fields of the new bound, such as ``about``, ``letters`` or ``off_by``.
        """
        fields: dict[str, Any] = {
            "relation": "=",
            "terms": {"optimum": self.at},
            "about": self.bound.about,
            "letters": self.bound.letters,
            **overrides,
        }
        required = tuple(
            Condition(f"coefficient {i} in {self.over.name} is positive, so that the bound has a minimum", r)
            for i, r in enumerate(self.requires, start=1)
        )
        result = type(self.bound)(
            name=name,
            target=self.over,
            source=source,
            note=note,
            conditions=(*self._inherited(), *required, *conditions_extra),
            **fields,
        )
        used = {q.name for q in result.all_quantities}
        return replace(result, given={k: v for k, v in self.bound.given.items() if k in used})

    def _inherited(self) -> tuple[Condition, ...]:
        spelled = (
            c if c.relation is None else replace(c, relation=spell(c.relation, self.bound.where))
            for c in self.bound.conditions
        )
        return tuple(c for c in spelled if c.relation is None or self.over not in c.relation.free_symbols)

    def __str__(self) -> str:
        needs = f"  if {', '.join(map(str, self.requires))}" if self.requires else ""
        return f"{self.over.name} = {self.at}{needs}"


def closed_form(bound: Statement, over: Quantity) -> Optimum:
    """Return the minimiser of ``A over^a + B over^b + C`` with ``a < 0 < b``; raise ``NoMinimumError`` for others."""
    powers = bound_powers(bound, over)
    constant = powers.pop(sp.S.Zero, sp.S.Zero)
    falling = {e: c for e, c in powers.items() if e < 0}
    rising = {e: c for e, c in powers.items() if e > 0}
    _check_shape(bound, over, falling, rising)
    (a,), (b,) = falling, rising
    constant, low, high = (sp.factor_terms(c) if c.is_Add else c for c in (constant, falling[a], rising[b]))
    requires = tuple(r for r in (_positive(bound, over, c) for c in (low, high)) if r is not sp.true)
    at = (-a * low / (b * high)) ** (1 / (b - a))
    # At the minimum the derivative is zero: low at^a = -b/a high at^b.
    value = constant + high * (1 - b / a) * at**b
    return Optimum(bound, over, at, value, requires)


def bound_powers(bound: Statement, over: Quantity) -> Powers:
    """Return the bound as a sum of powers of ``over``, with fixed numbers substituted and equal exponents merged."""
    if not over.is_nonnegative:
        raise NoMinimumError(f"{bound.name}: no closed form, since {over.name} may be negative; {PASS_VALUES}")
    fixed = bound.fixed_scalars
    total: Powers = {}
    for label, term in bound.spelled_terms.items():
        powers = expand_powers(term.subs(fixed) if fixed else term, over)
        if powers is None:
            raise NoMinimumError(
                f"{bound.name}: term {label!r} is not a sum of powers of {over.name}, "
                f"so there is no closed form; {PASS_VALUES}"
            )
        total = add_powers(total, powers)
    return {e: c for e, c in total.items() if not c.is_zero}


def _check_shape(bound: Statement, over: Quantity, falling: Powers, rising: Powers) -> None:
    if not falling and not rising:
        raise NoMinimumError(f"{bound.name} does not depend on {over.name}")
    if len(falling) == len(rising) == 1:
        return
    if falling and rising:
        exponents = ", ".join(str(e) for e in sorted((*falling, *rising)))
        raise NoMinimumError(
            f"{bound.name}: a closed form needs one falling and one rising power of {over.name}, "
            f"got the powers {exponents}; {PASS_VALUES}"
        )
    raise NoMinimumError(
        f"{bound.name} has only {'falling' if falling else 'rising'} powers of {over.name}: its minimum, "
        f"if any, lies at an end of the domain or of the conditions; {PASS_VALUES}"
    )


def _positive(bound: Statement, over: Quantity, coefficient: sp.Expr) -> sp.Basic:
    """Return the relation that makes ``coefficient`` positive, without factors that the domains make positive."""
    open_factors = [f for f in sp.Mul.make_args(coefficient) if not f.is_positive]
    rest = sp.Mul(*open_factors)
    if rest.is_nonpositive:
        raise NoMinimumError(f"{bound.name}: the coefficient {coefficient} is not positive, so the bound is unbounded")
    return rest > 0


# ---- sums of powers ----


def expand_powers(expression: sp.Expr, x: sp.Symbol) -> Powers | None:
    """Return ``expression`` as a sum of powers of the positive symbol ``x``, or None if it is not one.

    Only factors that contain ``x`` are multiplied out; coefficients stay as they are written.
    """
    if x not in expression.free_symbols:
        return {sp.S.Zero: expression}
    if expression == x:
        return {sp.S.One: sp.S.One}
    if expression.is_Pow:
        return _power(expression, x)
    if isinstance(expression, LinearReduction):
        inner = expand_powers(expression.args[0], x)
        return None if inner is None else {e: expression.func(c) for e, c in inner.items()}
    if not (expression.is_Add or expression.is_Mul):
        return None
    combine, start = (add_powers, {}) if expression.is_Add else (_product, {sp.S.Zero: sp.S.One})
    total: Powers = start
    for part in expression.args:
        powers = expand_powers(part, x)
        if powers is None:
            return None
        total = combine(total, powers)
    return total


def _power(expression: sp.Expr, x: sp.Symbol) -> Powers | None:
    base, exponent = expression.args
    inner = expand_powers(base, x) if exponent.is_Rational else None
    if inner is None:
        return None
    if len(inner) == 1:
        ((e, c),) = inner.items()
        return {e * exponent: c**exponent}
    if not (exponent.is_Integer and 0 < exponent <= HIGHEST):
        return None
    total: Powers = {sp.S.Zero: sp.S.One}
    for _ in range(int(exponent)):
        total = _product(total, inner)
    return total


def add_powers(left: Powers, right: Powers) -> Powers:
    """Return the sum of two sums of powers."""
    return {e: left.get(e, sp.S.Zero) + right.get(e, sp.S.Zero) for e in (*left, *(k for k in right if k not in left))}


def _product(left: Powers, right: Powers) -> Powers:
    total: Powers = {}
    for (a, c), (b, d) in product(left.items(), right.items()):
        total = add_powers(total, {a + b: c * d})
    return total
