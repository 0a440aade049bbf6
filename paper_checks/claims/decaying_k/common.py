"""What the claims on Decaying-K share: the paper's letters, its conditions, and bounds at exact numbers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from bounds.decaying_k.letters import D, eta, F_star, F_t0, G2, L, mu, U, x
from bounds.operators import bind
from bounds.quantities import quantities_of

from ..claim import Book

KAPPA = L / mu
TAU = x / D + x / U
CAP = eta <= 1 / (4 * L)
REAL_ROOT = sp.Gt(KAPPA * F_t0, F_star)
STEEP = 2 * mu * (F_t0 - F_star) <= G2
"""What strong convexity asks of a bound on gradients."""
Exact: TypeAlias = int | Fraction
A1_TO_A3 = ("smooth", "strongly_convex", "bounded_variance")
SETTING = (*A1_TO_A3, "bounded_gradient", "fixed_step_size")


def number(book: Book, name: str, **values: Exact | Sequence[Exact]) -> sp.Expr:
    """A bound's right-hand side at exact numbers by quantity name; its conditions are not asked."""
    bound = book[name]
    used = {q: values[q.name] for q in quantities_of([bound.expr])}
    return bind(
        bound.expr, {q: tuple(map(_exact, v)) if isinstance(v, Sequence) else _exact(v) for q, v in used.items()}
    )


def _exact(given: Exact) -> sp.Rational:
    plain = Fraction(given)
    return sp.Rational(plain.numerator, plain.denominator)


def short(number_: Fraction | float | sp.Expr) -> str:
    """A number for evidence."""
    return str(number_) if isinstance(number_, (int, Fraction)) and len(str(number_)) < 10 else f"{float(number_):.6g}"
