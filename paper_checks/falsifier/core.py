"""What the falsifier works with: instances, and what evaluating a bound at one of them says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

Point = dict[str, float]
"""One place of a box: a number by the name of every parameter."""
Instance = dict[str, Any]
"""A concrete instance: numbers by name, rational as soon as it is to be kept."""

FAR = 60.0
MARGIN = 1e-7
"""A score above this is taken for a violation; below, floating-point arithmetic could have made it."""


@dataclass(frozen=True)
class Evaluation:
    """A statement at an instance: both sides, the conditions it fails, and how far the statement is violated.

    ``score`` is the logarithm of measured over bound for positive numbers; positive exactly where the statement is
    violated, whatever the signs. An instance that fails a condition is not admissible: its score says nothing.
    ``shares`` say by term of an upper bound what share of it the instance needs: what the measured number exceeds the
    sum of all other terms by, over the term; 0 where it does not exceed it.
    """

    measured: float = float("nan")
    bound: float = float("nan")
    failed: tuple[str, ...] = ()
    relation: str = "<="
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def admissible(self) -> bool:
        return not self.failed and isfinite(self.measured) and not np.isnan(self.bound)

    @property
    def score(self) -> float:
        return score(self.measured, self.bound, self.relation) if self.admissible else -float("inf")

    @property
    def ratio(self) -> float:
        """Measured over bound; infinite where the bound is zero or negative and the measured number is not."""
        if self.bound == 0:
            return float("inf") if self.measured > 0 else 1.0
        return self.measured / self.bound

    @property
    def violated(self) -> bool:
        return self.score > MARGIN


def score(measured: float, bound: float, relation: str) -> float:
    """How far ``measured relation bound`` is from true: the log of a ratio for positive numbers, positive if false."""
    return float(scores(np.array(measured), np.array(bound), relation))


def scores(measured: Any, bound: Any, relation: str) -> Any:
    """The same for arrays."""
    with np.errstate(all="ignore"):
        size = np.abs(measured) + np.abs(bound)
        share = np.clip((measured - bound) / size, -1, 1)
        distance = np.where(np.abs(share) < 1, 2 * np.arctanh(share), np.copysign(FAR, share))
    said = {"=": np.abs(share), "<=": distance, ">=": -distance}[relation]
    return np.where(np.isfinite(size) & (size > 0), said, 0.0 if relation == "=" else -FAR)  # nothing against nothing
