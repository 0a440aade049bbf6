"""Checker of power laws: the slope of a curve in logarithms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..claim import Book, ClaimError, Finding, Grade, Status

Array = np.ndarray[Any, Any]
Curve = tuple[Sequence[float], Sequence[float]]

FEWEST = 4
"""Smallest number of points for which the slope over all and that over the last third can differ."""


@dataclass(frozen=True)
class SlopeIs:
    """States that ``log y`` against ``log x`` has the slope ``power`` within ``tolerance``.

    For exact or computed curves. The slope is fitted over all points and over the last third, to reject a power law
    that holds only for a part of the curve. ``audited`` is the slope of the last third if the audited status is FAILS.
    """

    curve: Callable[[Book], Curve]
    power: float
    tolerance: float = 0.05
    audited: float | None = None

    def __call__(self, book: Book) -> Finding:
        x, y = _curve(*self.curve(book))
        late = slice(-max(2, len(x) // 3), None)
        overall, last = (float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(None), late))
        evidence = f"slope {overall:.3f} over {len(x)} points, {last:.3f} over the last third; stated {self.power:g}"
        if all(abs(slope - self.power) <= self.tolerance for slope in (overall, last)):
            return Finding(Status.HOLDS, Grade.EXACT, evidence)
        witness = {"slope": f"{overall:.3f}", "slope of the last third": f"{last:.3f}"}
        as_audited = self.audited is None or abs(last - self.audited) <= self.tolerance
        return Finding(Status.FAILS, Grade.EXACT, evidence, witness, as_audited)


def _curve(x: Sequence[float], y: Sequence[float]) -> tuple[Array, Array]:
    """Return the logarithms of both coordinates in the order of x; raise for a curve that has no slope."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if a.shape != b.shape or len(np.unique(a)) < max(FEWEST, len(a)):
        raise ClaimError(f"a curve needs {FEWEST} or more points at different x; got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all() and (a > 0).all() and (b > 0).all()):
        raise ClaimError("a curve must have positive finite x and y to have a slope in logarithms")
    order = np.argsort(a)
    return np.log(a[order]), np.log(b[order])
