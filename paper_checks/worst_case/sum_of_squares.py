"""That a matrix of fractions is a sum of squares, shown by integers: no square roots, no intervals.

``S = D (T T' / 4^bits + E) D`` with powers of two D and integers T; what is left, E, is computed exactly and
diagonally dominant. T is a float Cholesky factor of a little less than S, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from . import verify
from .program import WorstCaseError

BITS = 50
"""Binary digits of the factor, by default."""


def factored(matrix: Mapping[Any, Fraction], names: Sequence[str], *bits: int) -> dict[str, Any]:
    """A proof's entry for a symmetric matrix of fractions, by the names of its rows.

    It has the first of these numbers of binary digits that suffices; ``WorstCaseError`` where none does.
    """
    kept = [a for a in names if any(matrix.get((a, b)) for b in names)]
    if any(matrix.get((a, a), 0) <= 0 for a in kept):
        raise WorstCaseError("the residual of the inequalities is not a sum of squares")
    scale = [round(frexp(float(matrix[a, a]))[1] / 2) for a in kept]
    powers = {a: Fraction(2) ** -e for a, e in zip(kept, scale, strict=True)}
    floats = np.array([[float(powers[a] * matrix.get((a, b), 0) * powers[b]) for b in kept] for a in kept])
    spare = float(np.linalg.eigvalsh(floats)[0]) if kept else 1.0
    if spare <= 0:
        raise WorstCaseError(f"the residual of the inequalities is not a sum of squares: eigenvalue {spare:.2g}")
    root = np.linalg.cholesky(floats - spare / 2 * np.eye(len(kept))) if kept else floats
    for digits in bits or (BITS,):
        rows = [[int(x) for x in np.rint(row[: i + 1] * 2.0**digits)] for i, row in enumerate(root)]
        entry = {"vectors": kept, "bits": digits, "scale": scale, "factor": rows}
        try:
            verify.check_sum_of_squares(entry, dict(matrix))
        except verify.Refused:
            continue
        return entry
    raise WorstCaseError(f"the residual of the inequalities is too close to not being a sum of squares ({spare:.2g})")
