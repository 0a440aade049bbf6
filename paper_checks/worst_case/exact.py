"""Exact arithmetic of proofs: rounding in a known direction, and integer proofs that a matrix is a sum of squares.

What is printed of a proof is rounded so that it stays true. The proof of a sum of squares needs no square roots and no
interval arithmetic: ``S = D (T T' / 4^bits + E) D`` with a diagonal matrix D of powers of two, an integer matrix T, and
E, which is computed exactly, diagonally dominant. T is a rounded Cholesky factor of slightly less than S.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Context, Decimal, ROUND_CEILING
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from . import verify
from .program import WorstCaseError

TINY = 1e-300
"""Lower limit of positive numbers that are rounded up."""
BITS = 50
"""Default number of binary digits of the factor."""


def square_factor(matrix: Mapping[Any, Fraction], names: Sequence[str], *bits: int) -> dict[str, Any]:
    """Return the entry of a proof file that shows that a symmetric matrix is a sum of squares.

    ``matrix`` maps pairs of row names to fractions. The factor has the first of these numbers of binary digits that
    suffices. Raises ``WorstCaseError`` if none does.
    """
    used = [a for a in names if any(matrix.get((a, b)) for b in names)]
    if any(matrix.get((a, a), 0) <= 0 for a in used):
        raise WorstCaseError("the residual of the inequalities is not a sum of squares")
    scale = [round(frexp(float(matrix[a, a]))[1] / 2) for a in used]
    powers = {a: Fraction(2) ** -e for a, e in zip(used, scale, strict=True)}
    floats = np.array([[float(powers[a] * matrix.get((a, b), 0) * powers[b]) for b in used] for a in used])
    eigenvalue = float(np.linalg.eigvalsh(floats)[0]) if used else 1.0
    if eigenvalue <= 0:
        raise WorstCaseError(f"the residual of the inequalities is not a sum of squares: eigenvalue {eigenvalue:.2g}")
    root = np.linalg.cholesky(floats - eigenvalue / 2 * np.eye(len(used))) if used else floats
    for digits in bits or (BITS,):
        rows = [[int(x) for x in np.rint(row[: i + 1] * 2.0**digits)] for i, row in enumerate(root)]
        entry = {"vectors": used, "bits": digits, "scale": scale, "factor": rows}
        try:
            verify.check_sum_of_squares(entry, dict(matrix))
        except verify.Refused:
            continue
        return entry
    raise WorstCaseError(f"the residual of the inequalities is barely a sum of squares: eigenvalue {eigenvalue:.2g}")


def rounded(x: Fraction, way: str, digits: int = 9) -> float:
    """Return a fraction with this many significant digits, rounded by a rounding mode of ``decimal``."""
    context = Context(prec=digits, rounding=way)
    return float(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def round_up(x: Fraction | float, digits: int = 6) -> float:
    """Return a number >= 0 rounded up to this many significant digits; it stays positive."""
    return max(rounded(Fraction(x), ROUND_CEILING, digits), TINY) if x else 0.0
