"""Checker of trends: slopes of power laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..claim import Book, ClaimError, Finding, Grade, Status

Array = np.ndarray[Any, Any]
Curve = tuple[Sequence[float], Sequence[float]]


FEWEST = 4
"""Points from which on a slope over all and one over the last third are two numbers."""


@dataclass(frozen=True)
class SlopeIs:
    """``log y`` against ``log x`` has the slope ``power`` within ``tolerance``, over all points and in the last third.

    For exact or computed curves. Two slopes are fitted since a power law that only sets in late, or ends, is none.
    Where it fails, ``found`` is the audited slope of the last third.
    """

    curve: Callable[[Book], Curve]
    power: float
    tolerance: float = 0.05
    found: float | None = None

    def __call__(self, book: Book) -> Finding:
        x, y = _curve(*self.curve(book))
        late = slice(-max(2, len(x) // 3), None)
        slopes = [float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(None), late)]
        said = f"slope {slopes[0]:.3f} over {len(x)} points, {slopes[1]:.3f} over the last third; stated {self.power:g}"
        if all(abs(s - self.power) <= self.tolerance for s in slopes):
            return Finding(Status.HOLDS, Grade.EXACT, said)
        witness = {"slope": f"{slopes[0]:.3f}", "slope of the last third": f"{slopes[1]:.3f}"}
        as_audited = self.found is None or abs(slopes[1] - self.found) <= self.tolerance
        return Finding(Status.FAILS, Grade.EXACT, said, witness, as_audited)


def _curve(x: Sequence[float], y: Sequence[float]) -> tuple[Array, Array]:
    """The logarithms, in the order of x."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or len(np.unique(a)) < max(FEWEST, len(a)):
        raise ClaimError(f"a curve needs {FEWEST} or more points at different x; got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all() and (a > 0).all() and (b > 0).all()):
        raise ClaimError("a curve must have positive finite x and y to have a slope in logarithms")
    order = np.argsort(a)
    return np.log(a[order]), np.log(b[order])
