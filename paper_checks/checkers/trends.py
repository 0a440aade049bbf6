"""Checkers of trends: slopes of power laws, and whether a bound ranks configurations as measurements do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..claims import Book, Finding, Grade, Status

Curve = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class SlopeIs:
    """``log y`` against ``log x`` has the slope ``power`` within ``tolerance``, over all points and in the last third.

    For exact or computed curves. Two slopes are fitted since a power law that only sets in late, or ends, is none.
    """

    curve: Callable[[Book], Curve]
    power: float
    tolerance: float = 0.05

    def __call__(self, book: Book) -> Finding:
        x, y = (np.log(np.asarray(a, dtype=float)) for a in self.curve(book))
        late = slice(-max(2, len(x) // 3), None)
        slopes = [float(np.polyfit(x[part], y[part], 1)[0]) for part in (slice(None), late)]
        said = f"slope {slopes[0]:.3f} over {len(x)} points, {slopes[1]:.3f} over the last third; stated {self.power:g}"
        fits = all(abs(s - self.power) <= self.tolerance for s in slopes)
        return Finding(Status.HOLDS if fits else Status.FAILS, Grade.EXACT, said)


@dataclass(frozen=True)
class TrendReproduces:
    """In every environment the bound ranks the configurations as the measured values do.

    ``environments(book)`` gives, by name, (bound, measured, errors of the measured): a pair of configurations counts
    when its measured values differ by more than ``sigmas`` of their joint standard error. The claim stands or falls
    with the worst environment; a mean over environments would hide the one that contradicts. ``flips`` are the
    environments audited as contradicting.
    """

    environments: Callable[[Book], Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]]]
    sigmas: float = 4.0
    grade: Grade = Grade.EXACT
    flips: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        agreement = {name: self._agreement(*data) for name, data in self.environments(book).items()}
        worst = min(agreement, key=lambda name: agreement[name])
        against = {name: f"{a:.2f}" for name, a in agreement.items() if a < 1}
        said = f"pairs ranked alike, worst of {len(agreement)} environments: {agreement[worst]:.2f} ({worst})"
        if not against:
            return Finding(Status.HOLDS, self.grade, said)
        audited = not self.flips or set(against) == set(self.flips)
        return Finding(Status.FAILS, self.grade, said, against, audited)

    def _agreement(self, bound: Sequence[float], measured: Sequence[float], errors: Sequence[float]) -> float:
        b, m, e = (np.asarray(a, dtype=float) for a in (bound, measured, errors))
        i, j = np.triu_indices(len(m), 1)
        decided = np.abs(m[i] - m[j]) > self.sigmas * np.hypot(e[i], e[j])
        alike = np.sign(b[i] - b[j]) == np.sign(m[i] - m[j])
        return float(alike[decided].mean()) if decided.any() else 1.0
