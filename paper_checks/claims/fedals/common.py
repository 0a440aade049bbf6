"""Shared by the claims of this paper: formulas for equal clients, the samples of one client, and Table 4."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.operators import equal_clients

from ...reported import table
from ..checkers import Formula, resolve
from ..claim import Book

SAMPLES = ((3, 1), (1, -1))
"""The equally likely samples (h, y) of the first client, for the loss ``h/2 (theta - y)^2``: mu = 1 and L = 3."""


def with_equal_clients(formula: Formula) -> Callable[[Book], sp.Expr]:
    """Return the formula for equal clients with uniform weights."""
    return lambda book: equal_clients(resolve(formula, book))


CNN = {row: Fraction(cell.value) for (row, _), cell in table("fedals", "Table 4", version="v2").items()}
"""The settings of image classification by row of Table 4."""
CLIENTS, BATCH, STEPS = (int(CNN[k]) for k in ("number of clients", "batch size per client", "local steps tau"))
