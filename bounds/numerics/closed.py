"""Closed forms: a bound as a sum of powers of one quantity, and the minimum that such a sum has as a formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from ..errors import NoMinimumError
from ..operators import LinearReduction
from ..papers import Source
from ..quantities import quantities_of, Quantity
from ..statement import Condition, spell, Statement

PASS_VALUES = "pass values for the others to get a certified number"
Powers = dict[sp.Expr, sp.Expr]
"""Exponent -> coefficient, free of the quantity."""

HIGHEST = 8
"""The largest whole power of a sum that is multiplied out."""


@dataclass(frozen=True)
class Optimum:
    """The minimiser of ``bound`` over all positive values of ``over``, as a formula of the other quantities.

    It is the unique minimum wherever the relations in ``requires`` hold: with two positive coefficients the bound is
    convex in the logarithm of ``over``. The domain of ``over`` (such as whole numbers) and the bound's conditions on it
    are not looked at; pass values to ``minimize`` for that.
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
        """The minimiser as a statement of its own, ``over = at``, with the conditions that do not speak of ``over``.

        ``overrides`` are further fields of the new bound (such as ``about``, ``letters`` or ``off_by``).
        """
        fields: dict[str, Any] = {
            "relation": "=",
            "terms": {"optimum": self.at},
            "about": self.bound.about,
            "letters": self.bound.letters,
            **overrides,
        }
        needed = tuple(Condition(f"{r.lhs} > 0, so that the bound has a minimum", r) for r in self.requires)
        result = type(self.bound)(
            name=name,
            target=self.over,
            source=source,
            note=note,
            conditions=(*self._inherited(), *needed, *conditions_extra),
            **fields,
        )
        used = {q.name for q in result._all}
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
    """The minimiser of ``A over^a + B over^b + C`` with ``a < 0 < b``; a bound of another shape is refused."""
    powers = bound_powers(bound, over)
    constant = powers.pop(sp.S.Zero, sp.S.Zero)
    falling = {e: c for e, c in powers.items() if e < 0}
    rising = {e: c for e, c in powers.items() if e > 0}
    _check_shape(bound, over, falling, rising)
    (a,), (b,) = falling, rising
    constant, low, high = (sp.factor_terms(c) if c.is_Add else c for c in (constant, falling[a], rising[b]))
    requires = tuple(r for r in (_positive(bound, over, c) for c in (low, high)) if r is not sp.true)
    at = (-a * low / (b * high)) ** (1 / (b - a))
    # Where the derivative vanishes, low at^a is -b/a times high at^b.
    value = constant + high * (1 - b / a) * at**b
    return Optimum(bound, over, at, value, requires)


def bound_powers(bound: Statement, over: Quantity) -> Powers:
    """The whole bound as a sum of powers of ``over`` (numbers that were fixed put in), equal exponents joined."""
    if not over.is_nonnegative:
        raise NoMinimumError(f"{bound.name}: no closed form, since {over.name} may be negative; {PASS_VALUES}")
    fixed = {q: sp.nsimplify(bound.given[q.name]) for q in bound._all if np.ndim(bound.given.get(q.name, [])) == 0}
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
        found = ", ".join(str(e) for e in sorted((*falling, *rising)))
        raise NoMinimumError(
            f"{bound.name}: a closed form needs one falling and one rising power of {over.name}, "
            f"got the powers {found}; {PASS_VALUES}"
        )
    raise NoMinimumError(
        f"{bound.name} has only {'falling' if falling else 'rising'} powers of {over.name}: its minimum, "
        f"if any, lies at an end of the domain or of the conditions; {PASS_VALUES}"
    )


def _positive(bound: Statement, over: Quantity, coefficient: sp.Expr) -> sp.Basic:
    """What must hold for ``coefficient > 0``: only the factors whose sign is not known from the domains."""
    open_factors = [f for f in sp.Mul.make_args(coefficient) if not f.is_positive]
    rest = sp.Mul(*open_factors)
    if rest.is_nonpositive:
        raise NoMinimumError(f"{bound.name}: the coefficient {coefficient} is not positive, so the bound is unbounded")
    return rest > 0


# ---- sums of powers ----


def expand_powers(expression: sp.Expr, x: sp.Symbol, positive: bool = True) -> Powers | None:
    """``expression`` as a sum of powers of ``x`` with coefficients free of it, or None if it is not one.

    Coefficients are left as they are written: only what ``x`` touches is multiplied out. Roots of ``x`` are taken apart
    only if it is ``positive``.
    """
    if x not in expression.free_symbols:
        return {sp.S.Zero: expression}
    if expression == x:
        return {sp.S.One: sp.S.One}
    if expression.is_Pow:
        return _power(expression, x, positive)
    if isinstance(expression, LinearReduction):
        inner = expand_powers(expression.args[0], x, positive)
        return None if inner is None else {e: expression.func(c) for e, c in inner.items()}
    if not (expression.is_Add or expression.is_Mul):
        return None
    combine, start = (add_powers, {}) if expression.is_Add else (_product, {sp.S.Zero: sp.S.One})
    total: Powers = start
    for part in expression.args:
        powers = expand_powers(part, x, positive)
        if powers is None:
            return None
        total = combine(total, powers)
    return total


def _power(expression: sp.Expr, x: sp.Symbol, positive: bool) -> Powers | None:
    base, exponent = expression.args
    able = exponent.is_Rational if positive else exponent.is_Integer
    inner = expand_powers(base, x, positive) if able else None
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
    return {e: left.get(e, sp.S.Zero) + right.get(e, sp.S.Zero) for e in (*left, *(k for k in right if k not in left))}


def _product(left: Powers, right: Powers) -> Powers:
    total: Powers = {}
    for (a, c), (b, d) in product(left.items(), right.items()):
        total = add_powers(total, {a + b: c * d})
    return total


def sharpened(terms: tuple[sp.Expr, ...], x: sp.Symbol) -> sp.Expr | None:
    """The sum of ``terms`` with ``x`` written fewer times where that is easy, or None where nothing is gained.

    Terms that are sums of powers of ``x`` are joined; others are tried as sums of powers of a shifted ``x`` such as the
    ``n - 1`` of a denominator, and their denominators are factored, which shows poles where they are.
    """
    joined: Powers = {}
    rest: list[sp.Expr] = []
    for term in (part for whole in terms for part in sp.Add.make_args(whole)):
        powers = expand_powers(term, x, bool(x.is_nonnegative))
        if powers is None:
            rest.append(_shifted(term, x) or _factored(term, x))
        else:
            joined = add_powers(joined, powers)
    result = sp.Add(*(c * x**e for e, c in joined.items()), *rest)
    before = sum(term.count(x) for term in terms)
    return result if result.count(x) < before else None


def _shifted(term: sp.Expr, x: sp.Symbol) -> sp.Expr | None:
    bases = {p.base for p in term.atoms(sp.Pow) if p.exp.is_negative and p.base.is_Add and x in p.base.free_symbols}
    for base in sorted(bases, key=sp.default_sort_key):
        line = expand_powers(base, x, False)
        if line is None or set(line) != {0, 1} or any(q.card.axis for q in quantities_of([base])):
            continue
        u = sp.Dummy("u", real=True)
        powers = expand_powers(term.subs(x, (u - line[sp.S.Zero]) / line[sp.S.One]), u, False)
        if powers is not None:
            return sp.Add(*(c * base**e for e, c in powers.items()))
    return None


def _factored(term: sp.Expr, x: sp.Symbol) -> sp.Expr:
    below = [p for p in term.atoms(sp.Pow) if p.exp.is_negative and p.base.is_Add and p.base.count(x) > 1]
    return term.xreplace({p: sp.factor(p.base) ** p.exp for p in below if p.base.is_polynomial(x)})
