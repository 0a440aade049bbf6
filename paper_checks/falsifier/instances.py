"""The protocol of a family of instances: what every family defines, and what follows from that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import mpmath
import numpy as np

from bounds.core import Bound
from empirics.exact import DIGITS

from ..runs.obstacles import obstacle
from . import deciding
from .box import Box
from .core import Evaluation, Instance, Point
from .exact import Exactly, weigh, WORKING, worst_entry
from .kinds import by_kind


class Family(Protocol):
    """A family of instances on which both sides of a bound can be computed exactly. ``name`` is also the name of the
    evidence, ``words`` a description."""

    name: str
    words: str
    reach: tuple[str, ...] = ("clients", "cohort", "local_steps", "rounds")
    """The numbers whose searched ranges are reported."""

    # ---- what a family defines ----

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the regime of an instance, one label per axis."""

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        """Return why numbers are not an instance of this family that the bound covers; empty if they are."""

    def box(self, bound: Bound) -> Box:
        """Return the parameters of an instance and their ranges."""

    def instance(self, bound: Bound, point: Point) -> Instance:
        """Return the instance at a point, with a step size that the conditions allow if possible."""

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        """Return the evaluation in floating point."""

    def assumed(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Return problem, method and plan, in the form that assumptions read."""

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        """Return all quantities by name, the measured numbers, and the name of the exact arithmetic. With ``late``, a
        statement on every round is evaluated at the last round only."""

    # ---- defaults ----

    def radius(self, bound: Bound, instance: Instance) -> float:
        """Return the growth factor per round of a run's fastest growing moment; NaN if none can grow."""
        return float("nan")

    def refuses(self, bound: Bound) -> str:
        """Return why this family cannot compute both sides of the bound; empty if it can."""
        return obstacle(bound, self.name)

    def undecided(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the conditions that cannot be decided automatically on this instance."""
        return tuple(words for words, _, met in deciding.decided(bound, *self.assumed(bound, instance)) if met is None)

    def exactly(self, bound: Bound, instance: Instance, late: bool = False) -> Exactly:
        """Return the statement in fractions or 60-digit numbers, at the entry where it is violated most."""
        with mpmath.workdps(WORKING), DIGITS.precision():
            known, measured, arithmetic = self.exact_values(bound, instance, late)
            counted = by_kind(bound)
            used = {q.name: known[q.name] for q in counted.quantities}
            worst = worst_entry(counted, used, np.asarray(measured, dtype=object))
            return weigh(counted, worst, deciding.decided(bound, *self.assumed(bound, instance)), arithmetic, known)
