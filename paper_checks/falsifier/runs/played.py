"""What the families of runs share: from a table to both sides of a statement, in floats and again exactly."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from numbers import Real
from typing import Any, Protocol

import numpy as np

from bounds.core import About, Bound
from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.exact import Readings

from ...runs import readings, schedules
from ...runs.methods import method
from .. import deciding
from ..core import Evaluation, Instance, Point
from ..instances import Family
from ..kinds import by_kind


def _sizes(known: Mapping[str, Any]) -> Any:
    """The step size of a plan's words, or that of every iteration where it falls."""
    first, offset = known[schedules.FIRST], known.get(schedules.OFFSET)
    return first if offset is None else schedules.step_sizes(first, offset, int(known["iterations"]))


class Played(Family, Protocol):
    """A family whose instances are runs."""

    # ---- what a family of runs says ----

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        """Why there is no such run, or it says nothing about the bound; empty if there is."""

    def federation(self, instance: Mapping[str, Any]) -> Any:
        """The problem with its constants; EmpiricsError where the numbers make none."""

    def plan(self, instance: Mapping[str, Any], problem: Any) -> readings.PlanFacts:
        """Who takes part and how long, as assumptions read it."""

    def static(
        self, instance: Mapping[str, Any], problem: Any, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        """The quantities that federation and plan give without a run; with ``wanted``, perhaps only those."""

    def run(self, bound: Bound, instance: Instance, problem: Any) -> tuple[Readings, bool]:
        """The run in floating-point numbers, and whether it stayed among the finite ones."""

    def again(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        """The words without a run, the run in exact numbers, and the arithmetic."""

    # ---- what follows ----

    def assumed(self, bound: Bound, instance: Mapping[str, Any], problem: Any = None) -> tuple[Any, Any, Any]:
        """The same; the method is FedAvg where the bound names none. An instance with its ``problem`` is pinned."""
        if problem is None:
            problem = self.federation(instance)
            instance = self.pinned(bound, instance, problem)
        return problem, method(bound.about or About("fedavg"), data=False), self.plan(instance, problem)

    def inside(self, bound: Bound, table: Instance, point: Point, problem: Any) -> Instance:
        """The table with step size, relaxation and proof constants at their shares of the largest admissible ones."""
        if schedules.harmonic(bound) and schedules.OFFSET not in schedules.prescribed(bound):
            table[schedules.OFFSET] = point[schedules.OFFSET]
        asked = {q.name for q in bound.quantities}
        known = {**self.static(table, problem, {*asked, "smoothness"}), "contraction": 1e-9}
        high = {"relaxation": 0.9, "step_size": 1.9 / known["smoothness"], "contraction": 1 - 1e-9}
        shares = {"relaxation": "relaxation_share", "step_size": "step_share", "contraction": "contraction_share"}
        for name, most in high.items():
            if name in asked or name == "step_size":
                held = point.get(name)
                value = held if held is not None else point[shares[name]] * self._largest(bound, known, name, most)
                table[name] = known[name] = value
        return self.pinned(bound, table, problem)

    def _largest(self, bound: Bound, known: Mapping[str, Any], name: str, most: float) -> float:
        """The largest admissible value; of a step size that falls and is given by its scale, that of the scale."""
        offset = known.get(schedules.OFFSET)
        if name != schedules.FIRST or offset is None or schedules.SCALE not in {q.name for q in bound.quantities}:
            return deciding.largest(bound, known, name, most)
        return deciding.inside(bound, known, schedules.SCALE, most * offset) / offset

    def pinned(self, bound: Bound, instance: Mapping[str, Any], problem: Any) -> Instance:
        """The instance with the step sizes that the bound says its runs have, where it does."""
        if not schedules.prescribed(bound):
            return dict(instance)
        try:
            told = schedules.step_plan(bound, self.static(instance, problem))
        except BoundsError:
            told = {}
        fine = told and all(0 < value < np.inf for value in told.values())
        return {**instance, **(told if fine else {schedules.FIRST: 0.0, schedules.OFFSET: 1.0})}

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        if wrong := self.impossible(bound, instance):
            return Evaluation(failed=(wrong,), relation=bound.relation)
        try:
            problem = self.federation(instance)
            instance = self.pinned(bound, instance, problem)
            if wrong := self.impossible(bound, instance):
                return Evaluation(failed=(wrong,), relation=bound.relation)
            if failed := deciding.assumptions(bound, *self.assumed(bound, instance, problem))[0]:
                return Evaluation(failed=failed, relation=bound.relation)
            run, finite = self.run(bound, instance, problem)
        except EmpiricsError as error:
            return Evaluation(failed=(str(error),), relation=bound.relation)
        if not finite:
            return Evaluation(failed=("the run left the finite numbers",), relation=bound.relation)
        known = {**self.static(instance, problem, deciding.words(bound)), **readings.of_run(run)}
        known |= readings.iterated(bound, run)
        floats = {name: float(value) for name, value in known.items() if isinstance(value, Real)}  # or fractions
        return deciding.beside(by_kind(bound), known, readings.target(bound, run, _sizes(known), floats))

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        told, run, arithmetic = self.again(bound, instance, late)
        known = {**told, **readings.of_run(run), **readings.iterated(bound, run)}
        return known, readings.target(bound, run, _sizes(told), told), arithmetic
