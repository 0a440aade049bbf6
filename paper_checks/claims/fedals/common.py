"""What the claims of this paper share: its signs, equal clients, and failing in two ways."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedals.letters import Delta, delta, epsilon
from bounds.operators import equal_clients

from ..checkers import All, Broken, Formula, resolve
from ..claim import Book, Check

NONNEGATIVE = (sp.Ge(Delta, 0), sp.Ge(delta, 0))
SOLVER = (sp.Ge(Delta + epsilon, 0), sp.Ge(delta + epsilon, 0))
"""What holds by itself for any solver: both are mean training risks above the smallest one."""


def alike(formula: Formula) -> Callable[[Book], sp.Expr]:
    """The formula for equal clients with uniform weights."""
    return lambda book: equal_clients(resolve(formula, book))


def shared(quantity: sp.Expr) -> sp.Expr:
    """A client quantity, or a formula of some, as it stands in a formula for equal clients."""
    return equal_clients(quantity)


def found_too(check: Check, bound: str) -> All:
    """A statement fails by ``check`` and, with another instance, by the one that the falsifier has found."""
    checks: dict[str, Check] = {"by arithmetic": check, "found by search": Broken(bound, f"{bound}.json")}
    return All(checks, wrong=tuple(checks))
