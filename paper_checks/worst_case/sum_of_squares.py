"""That a matrix of fractions is a sum of squares, shown by integers: no square roots, no intervals.

``S = D (T T' / 4^bits + E) D`` with powers of two D and integers T; what is left, E, is computed exactly and
diagonally dominant. T is a float Cholesky factor of a little less than S, rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp
from typing import Any

import numpy as np

from .program import WorstCaseError

Array = np.ndarray[Any, Any]
BITS = 50
"""Binary digits of the factor, where nothing else is said."""


@dataclass(frozen=True, eq=False)
class Factor:
    """Powers of two, and the rows of the lower triangle T, as in the formula above; ``kept`` are the rows of S."""

    kept: tuple[int, ...]
    scale: tuple[int, ...]
    rows: tuple[tuple[int, ...], ...]
    spare: float
    """The smallest eigenvalue of the scaled matrix, whose diagonal is about 1."""
    bits: int = BITS

    def entry(self, names: Sequence[str]) -> dict[str, Any]:
        """The factor as a proof holds it; ``names`` are those of the matrix's rows."""
        rows = [list(row) for row in self.rows]
        return {"vectors": [names[i] for i in self.kept], "bits": self.bits, "scale": list(self.scale), "factor": rows}


def factored(matrix: Array, bits: int = BITS) -> Factor:
    """The factor of a symmetric matrix of fractions; ``WorstCaseError`` where it has none of so many binary digits."""
    kept = [i for i in range(len(matrix)) if any(matrix[i])]
    if not kept:
        return Factor((), (), (), 1.0, bits)
    inner = matrix[np.ix_(kept, kept)]
    if any(inner[i, i] <= 0 for i in range(len(kept))):
        raise WorstCaseError("the residual of the inequalities is not a sum of squares")
    scale = [round(frexp(float(inner[i, i]))[1] / 2) for i in range(len(kept))]
    powers = [Fraction(2) ** -e for e in scale]
    scaled = np.array([[powers[i] * x * powers[j] for j, x in enumerate(row)] for i, row in enumerate(inner)], object)
    floats = scaled.astype(float)
    spare = float(np.linalg.eigvalsh(floats)[0])
    if spare <= 0:
        raise WorstCaseError(f"the residual of the inequalities is not a sum of squares: eigenvalue {spare:.2g}")
    root = np.linalg.cholesky(floats - spare / 2 * np.eye(len(kept)))
    rows = tuple(tuple(int(x) for x in np.rint(row[: i + 1] * 2.0**bits)) for i, row in enumerate(root))
    if not _dominant(scaled, rows, bits):
        raise WorstCaseError(
            f"the residual of the inequalities is too close to not being a sum of squares ({spare:.2g})"
        )
    return Factor(tuple(kept), tuple(scale), rows, spare, bits)


def _dominant(scaled: Array, rows: Sequence[Sequence[int]], bits: int) -> bool:
    for i, row in enumerate(rows):
        left = [
            scaled[i, j] - Fraction(sum(x * y for x, y in zip(row, other, strict=False)), 4**bits)
            for j, other in enumerate(rows)
        ]
        if left[i] < sum(abs(x) for j, x in enumerate(left) if j != i):
            return False
    return True
