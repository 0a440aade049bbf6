"""What a family of instances is: what each says of its own, and what follows from that."""

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
    """Instances of one kind, on which both sides of a bound can be computed exactly.

    ``name`` is also that of the evidence.
    """

    name: str
    words: str
    reach: tuple[str, ...] = ("clients", "cohort", "local_steps", "rounds")
    """The numbers of an instance whose range says how large a box was searched."""

    # ---- what a family says ----

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        """The regime that an instance is in, one label per axis."""

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        """Why numbers by name are not an instance of this family that the bound covers; empty if they are."""

    def box(self, bound: Bound) -> Box:
        """The parameters of an instance and their ranges."""

    def instance(self, bound: Bound, point: Point) -> Instance:
        """The concrete instance at a point, pulled inside the conditions where a step size can do that."""

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        """Both sides in floating-point arithmetic."""

    def assumed(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        """Problem, method and plan, as assumptions read them."""

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        """Every quantity by word and the measured numbers, in exact arithmetic, and which that is.

        ``late``: of a statement on every round the last one will do.
        """

    # ---- what follows, unless a family says otherwise ----

    def radius(self, bound: Bound, instance: Instance) -> float:
        """The factor that one round puts on what grows fastest of a run's moments; NaN where nothing can grow."""
        return float("nan")

    def refuses(self, bound: Bound) -> str:
        """Why this family cannot put both sides of the bound side by side; empty if it can."""
        return obstacle(bound, self.name)

    def undecided(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        """The conditions that no machine decides on such an instance."""
        return deciding.assumptions(bound, *self.assumed(bound, instance))[1]

    def exactly(self, bound: Bound, instance: Instance, late: bool = False) -> Exactly:
        """The statement in fractions or 60-digit numbers, at the entry where it does worst."""
        with mpmath.workdps(WORKING), DIGITS.precision():
            known, measured, arithmetic = self.exact_values(bound, instance, late)
            counted = by_kind(bound)
            used = {q.name: known[q.name] for q in counted.quantities}
            worst = worst_entry(counted, used, np.asarray(measured, dtype=object))
            return weigh(counted, worst, deciding.decided(bound, *self.assumed(bound, instance)), arithmetic, known)
