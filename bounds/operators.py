"""Sums and means over an axis (clients, classes): small linear SymPy functions, evaluated along the last array axis.

``ClientMean(x)`` is the mean with the clients' weights, ``E_k[x]``; ``ClientSum(x)`` is the plain sum. Both pull out
factors that are the same for every client, so a bound prints the way the paper writes it.
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
    """True when ``expression`` has a quantity of ``axis`` outside the reductions over it."""
    if isinstance(expression, AxisReduction):
        return False
    if isinstance(expression, Quantity):
        return expression.card.axis == axis
    return any(varies(arg, axis) for arg in expression.args)


class AxisReduction(sp.Function):
    """A reduction over one axis; subclasses name the axis and how it prints, in words and in LaTeX."""

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
    """True without quantities, and without sums over an axis, whose length is not known before there are values."""
    return not e.free_symbols and not e.has(AxisReduction)


class LinearReduction(AxisReduction):
    """Distributes over sums and pulls out factors that do not vary over the axis."""

    @classmethod
    def eval(cls, body: sp.Expr) -> sp.Expr | None:
        if body.is_Add:
            return sp.Add(*(cls(part) for part in body.args))
        if body == 0:  # as it stands; asking SymPy whether it must be 0 takes milliseconds
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
    """``E_k[x_k] = sum_k w_k x_k`` with the clients' weights; the mean of what no client changes is itself."""

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
        """The same mean with its weights written out."""
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
    """The special case of ``clients`` equal clients: weights ``1/clients``, per-client quantities shared by all."""
    one_for_all = {
        q: Quantity(replace(q.card, axis="", meaning=f"{q.card.meaning} (the same for every client)"))
        for q in quantities_of([expression])
        if q.card.axis == CLIENTS and q != client_weight
    }
    plain = write_out_means(expression)
    plain = plain.replace(lambda e: isinstance(e, ClientSum), lambda e: clients * e.args[0])
    plain = plain.replace(lambda e: isinstance(e, ClientMax), lambda e: e.args[0])
    return plain.subs({client_weight: 1 / clients, **one_for_all})


def bind(expression: sp.Basic, values: Mapping[Quantity, Any]) -> sp.Basic:
    """Put numbers in: a scalar for a shared quantity, a sequence over the axis for one that varies.

    Reductions become explicit sums, so the result is a plain expression in what is left over: the way into exact
    arithmetic (give integers or rationals), interval arithmetic and calculus.
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
    return opened.xreplace(scalars)  # all at once: minima of half-bound expressions are slow
