"""Checkers of trends: slopes of power laws, and whether a bound ranks configurations as measurements do."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True)
class TrendReproduces:
    """In every environment the bound ranks the configurations as the measured values do.

    ``environments(book)`` gives, by name, (bound, measured, errors of the measured): a pair of configurations counts
    when its measured values differ by more than ``sigmas`` of their joint standard error. The claim stands or falls
    with the worst environment; a mean over environments would hide the one that contradicts, and one in which no pair
    counts leaves it open. ``flips`` are the environments audited as contradicting.
    """

    environments: Callable[[Book], Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]]]
    sigmas: float = 4.0
    grade: Grade = Grade.EXACT
    flips: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        pairs = {name: self._pairs(name, *data) for name, data in self.environments(book).items()}
        decided = {name: (float(np.mean(alike)), len(alike)) for name, (alike, _) in pairs.items() if len(alike)}
        silent = [name for name in pairs if name not in decided]
        said = f"; no pair differs by {self.sigmas:g} standard errors in {', '.join(silent)}" if silent else ""
        noisy = any(uncertain for _, uncertain in pairs.values())
        grade = Grade.SAMPLED if noisy and self.grade is Grade.EXACT else self.grade
        if not decided:
            return Finding(Status.OPEN, grade, f"nothing can be ranked{said or ': no environments'}", as_audited=False)
        worst = min(decided, key=lambda name: decided[name])
        against = {name: f"{share:.2f}" for name, (share, _) in decided.items() if share < 1}
        alike = f"pairs ranked alike, worst of {len(decided)} environments: {decided[worst][0]:.2f} ({worst})"
        rate = f"; {self._error_rate(sum(n for _, n in decided.values()))}" if noisy else ""
        if not against:
            return Finding(Status.OPEN if silent else Status.HOLDS, grade, alike + said + rate)
        audited = not self.flips or set(against) == set(self.flips)
        return Finding(Status.FAILS, grade, alike + said + rate, against, audited)

    def _pairs(
        self, name: str, bound: Sequence[float], measured: Sequence[float], errors: Sequence[float]
    ) -> tuple[Array, bool]:
        """For each pair that the measurement decides whether the bound agrees; whether there are errors at all."""
        b, m, e = (np.asarray(a, dtype=float) for a in (bound, measured, errors))
        if not (b.shape == m.shape == e.shape) or not np.isfinite([*b, *m, *e]).all() or (e < 0).any():
            raise ClaimError(f"{name}: bound, measured and errors must be finite and equally many")
        i, j = np.triu_indices(len(m), 1)
        decided = np.abs(m[i] - m[j]) > self.sigmas * np.hypot(e[i], e[j])
        alike = np.sign(b[i] - b[j]) == np.sign(m[i] - m[j])
        return alike[decided], bool(e.any())

    def _error_rate(self, pairs: int) -> str:
        """The chance that noise alone turns one of the pairs, for normal errors."""
        rate = min(1.0, pairs * math.erfc(self.sigmas / math.sqrt(2)))
        return f"error rate at most {rate:.2g} over {pairs} pairs, if errors are normal"
