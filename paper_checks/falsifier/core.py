"""Instances, and the evaluation of a bound at an instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

Point = dict[str, float]
"""The values of all parameters of a box, by name."""
Instance = dict[str, Any]
"""An instance as a table of numbers by name: floats during a search, rational in counterexamples."""

FAR = 60.0
"""The largest absolute score."""
MARGIN = 1e-7
"""Scores above this count as violations; smaller ones could be rounding errors."""


@dataclass(frozen=True)
class Evaluation:
    """A statement at an instance: both sides, and the conditions that the instance ``failed``. ``shares`` is, for every
    term of an upper bound, the share of the term that the instance needs: the excess of the measured number over the
    sum of all other terms, divided by the term, or 0."""

    measured: float = float("nan")
    bound: float = float("nan")
    failed: tuple[str, ...] = ()
    relation: str = "<="
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def admissible(self) -> bool:
        """Whether the instance meets all conditions and both sides are numbers."""
        return not self.failed and isfinite(self.measured) and not np.isnan(self.bound)

    @property
    def score(self) -> float:
        """How far the statement is violated; -inf unless admissible."""
        return score(self.measured, self.bound, self.relation) if self.admissible else -float("inf")

    @property
    def ratio(self) -> float:
        """Measured over bound; for a bound of 0, infinite if the measured number is positive and 1 otherwise."""
        if self.bound == 0:
            return float("inf") if self.measured > 0 else 1.0
        return self.measured / self.bound

    @property
    def violated(self) -> bool:
        return self.score > MARGIN


def score(measured: float, bound: float, relation: str) -> float:
    """Return how far ``measured relation bound`` is violated: positive if it is false, else negative or 0. For ``<=``
    and positive numbers it is the logarithm of measured over bound."""
    return float(scores(np.array(measured), np.array(bound), relation))


def scores(measured: Any, bound: Any, relation: str) -> Any:
    """Return ``score`` for arrays."""
    with np.errstate(all="ignore"):
        size = np.abs(measured) + np.abs(bound)
        share = np.clip((measured - bound) / size, -1, 1)
        distance = np.where(np.abs(share) < 1, 2 * np.arctanh(share), np.copysign(FAR, share))
    violation = {"=": np.abs(share), "<=": distance, ">=": -distance}[relation]
    return np.where(np.isfinite(size) & (size > 0), violation, 0.0 if relation == "=" else -FAR)
