"""Sums, means and maxima over an axis (clients, classes) as SymPy functions, evaluated along the last array axis.

``ClientMean(x)`` is the weighted mean ``E_k[x]`` and ``ClientSum(x)`` the sum. Both pull out factors that are the same
for every client, so that a bound prints as the paper writes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from .errors import DeclarationError
from .quantities import CLASSES, CLIENTS, quantities_of, Quantity
from .vocabulary import client_weight, clients


def varies(expression: sp.Basic, axis: str) -> bool:
    """Whether ``expression`` contains a quantity of ``axis`` that is not inside a reduction."""
    if isinstance(expression, AxisReduction):
        return False
    if isinstance(expression, Quantity):
        return expression.card.axis == axis
    return any(varies(arg, axis) for arg in expression.args)


class AxisReduction(sp.Function):
    """A reduction over one axis. Subclasses set the axis and how the reduction prints, as text and in LaTeX."""

    nargs = 1
    axis = ""
    word = ""
    symbol = ""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        body = printer._print(self.args[0])
        text = rf"{self.symbol}\left[{body}\right]"
        return rf"\left({text}\right)^{{{exp}}}" if exp is not None else text

    def _eval_is_real(self) -> bool | None:
        return self.args[0].is_real

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[0].is_nonnegative else None

    def _eval_is_positive(self) -> bool | None:
        return True if self.args[0].is_positive else None


def is_number(e: sp.Basic) -> bool:
    """Whether ``e`` is a constant. A sum over an axis is not one, since the length of the axis is unknown."""
    return not e.free_symbols and not e.has(AxisReduction)


class LinearReduction(AxisReduction):
    """A reduction that distributes over sums and pulls out factors that do not vary over the axis."""

    @classmethod
    def eval(cls, body: sp.Expr) -> sp.Expr | None:
        if body.is_Add:
            return sp.Add(*(cls(part) for part in body.args))
        if body == 0:  # structurally; body.is_zero would take milliseconds
            return sp.S.Zero
        factors = sp.Mul.make_args(body)
        shared = sp.Mul(*(f for f in factors if not varies(f, cls.axis)))
        if shared != 1:
            return shared * cls(sp.Mul(*(f for f in factors if varies(f, cls.axis))))
        return None

    def _eval_derivative(self, symbol: sp.Symbol) -> sp.Expr:
        return self.func(self.args[0].diff(symbol))


class ClientSum(LinearReduction):
    """``sum_k x_k`` over all clients; ``ClientSum(1)`` is the number of clients."""

    axis = CLIENTS
    word = "sum_k"
    symbol = r"\sum_{k}"


class ClientMean(LinearReduction):
    """``E_k[x_k] = sum_k w_k x_k`` with the clients' weights; the mean of a constant is the constant."""

    axis = CLIENTS
    word = "E_k"
    symbol = r"\mathbb{E}_{k}"

    @classmethod
    def eval(cls, body: sp.Expr) -> sp.Expr | None:
        return body if not varies(body, CLIENTS) else super().eval(body)

    @property
    def free_symbols(self) -> set[sp.Basic]:
        return super().free_symbols | {client_weight}

    def as_sum(self) -> sp.Expr:
        """Return the mean as a sum with explicit weights."""
        return ClientSum(client_weight * self.args[0])


class ClassSum(LinearReduction):
    """``sum_c x_c`` over the classes of a classification problem."""

    axis = CLASSES
    word = "sum_c"
    symbol = r"\sum_{c}"


class ClientMax(AxisReduction):
    """The largest ``x_k`` over the clients."""

    axis = CLIENTS
    word = "max_k"
    symbol = r"\max_{k}"


class ClassMax(AxisReduction):
    """The largest ``x_c`` over the classes."""

    axis = CLASSES
    word = "max_c"
    symbol = r"\max_{c}"


def write_out_means(expression: sp.Basic) -> sp.Basic:
    """Replace every ``ClientMean(x)`` by ``ClientSum(client_weight * x)``."""
    return expression.replace(lambda e: isinstance(e, ClientMean), lambda e: e.as_sum())


def equal_clients(expression: sp.Basic) -> sp.Basic:
    """Return the special case of ``clients`` identical clients: weights ``1/clients``, one value for all of them."""
    shared = {
        q: Quantity(replace(q.card, axis="", meaning=f"{q.card.meaning} (the same for every client)"))
        for q in quantities_of([expression])
        if q.card.axis == CLIENTS and q != client_weight
    }
    plain = write_out_means(expression)
    plain = plain.replace(lambda e: isinstance(e, ClientSum), lambda e: clients * e.args[0])
    plain = plain.replace(lambda e: isinstance(e, ClientMax), lambda e: e.args[0])
    return plain.subs({client_weight: 1 / clients, **shared})


def bind(expression: sp.Basic, values: Mapping[Quantity, Any]) -> sp.Basic:
    """Substitute numbers: a scalar for a shared quantity, a sequence over the axis for one that varies.

    Reductions become explicit sums, so that the result is a plain SymPy expression of the remaining quantities. With
    integers or rationals it is exact.
    """
    lists = {q: v for q, v in values.items() if isinstance(v, Sequence)}
    lengths = {len(v) for v in lists.values()}
    if len(lengths) > 1:
        raise DeclarationError(f"values over one axis must have one length; got {sorted(lengths)}")
    length = lengths.pop() if lengths else 1
    scalars = {q: sp.sympify(v) for q, v in values.items() if q not in lists}

    def member(body: sp.Expr, i: int) -> sp.Expr:
        return body.xreplace({q: sp.sympify(v[i]) for q, v in lists.items()})

    def open_up(e: sp.Expr) -> sp.Expr:
        parts = [member(e.args[0], i) for i in range(length)]
        return sp.Max(*parts) if isinstance(e, (ClientMax, ClassMax)) else sp.Add(*parts)

    opened = write_out_means(expression).replace(lambda e: isinstance(e, AxisReduction), open_up)
    return opened.xreplace(scalars)  # all at once, since SymPy's minima of partly substituted expressions are slow
