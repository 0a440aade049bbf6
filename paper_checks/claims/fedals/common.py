"""What the claims of this paper share: its signs, equal clients, failing in two ways, and Table 4."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.fedals.letters import Delta, delta, epsilon
from bounds.operators import equal_clients

from ...reported import table
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


CNN = {row: Fraction(cell.value) for (row, _), cell in table("fedals", "Table 4", version="v2").items()}
"""The settings of image classification by their rows in Table 4."""
CLIENTS, BATCH, STEPS = (int(CNN[k]) for k in ("number of clients", "batch size per client", "local steps tau"))
