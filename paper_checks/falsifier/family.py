"""The protocol of a family of instances, and what all families of runs have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Protocol

import mpmath
import numpy as np

from bounds.core import About, Bound
from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.exact import DIGITS, Readings

from ..runs import readings, schedules
from ..runs.methods import method
from ..runs.obstacles import obstacle
from . import deciding
from .box import Box
from .client_groups import by_group
from .core import Evaluation, Instance, Point
from .exact import evaluate_exactly, Exactly, WORKING
from .quadratic_tables import misweighted, setting


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
            decided = deciding.decided(bound, *self.assumed(bound, instance))
            return evaluate_exactly(by_group(bound), known, measured, decided, arithmetic)


def _sizes(known: Mapping[str, Any]) -> Any:
    """Return the step size of a plan, or the step sizes of all iterations if they decrease."""
    first, offset = known[schedules.FIRST], known.get(schedules.OFFSET)
    return first if offset is None else schedules.step_sizes(first, offset, int(known["iterations"]))


class Played(Family, Protocol):
    """The protocol of a family whose instances are runs."""

    # ---- what a family of runs defines ----

    def federation(self, instance: Mapping[str, Any]) -> Any:
        """Return the problem with its constants; raise ``EmpiricsError`` if the numbers do not define one."""

    def static(
        self, instance: Mapping[str, Any], problem: Any, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Return the quantities that do not need a run; with ``wanted``, others may be missing."""

    def run(self, bound: Bound, instance: Instance, problem: Any) -> tuple[Readings, bool]:
        """Return the run in floating point, and whether all its numbers are finite."""

    def exact_run(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        """Return the quantities that do not need a run, the run in exact numbers, and the name of the arithmetic."""

    # ---- defaults ----

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        """Return why there is no such run, or the bound does not cover it; empty otherwise."""
        if instance["step_size"] <= 0 or instance.get("contraction", 1) <= 0:
            return "no step size is small enough for the conditions"
        return misweighted(bound, dict(instance))

    def plan(self, instance: Mapping[str, Any], problem: Any) -> readings.PlanFacts:
        """Return participation and length of the run, in the form that assumptions read."""
        return replace(readings.setting_facts(problem, setting(instance)), clients=instance["clients"])

    def assumed(self, bound: Bound, instance: Mapping[str, Any], problem: Any = None) -> tuple[Any, Any, Any]:
        """Return problem, method (FedAvg if the bound names none) and plan. An instance that is given with its
        ``problem`` has the step sizes of ``pinned`` already."""
        if problem is None:
            problem = self.federation(instance)
            instance = self.pinned(bound, instance, problem)
        return problem, method(bound.about or About("fedavg"), data=False), self.plan(instance, problem)

    def inside(self, bound: Bound, table: Instance, point: Point, problem: Any) -> Instance:
        """Return the table with step size, relaxation and contraction at their shares of the largest allowed values."""
        if schedules.harmonic(bound) and schedules.OFFSET not in schedules.prescribed(bound):
            table[schedules.OFFSET] = point[schedules.OFFSET]
        names = {q.name for q in bound.quantities}
        quantities = {**self.static(table, problem, {*names, "smoothness"}), "contraction": 1e-9}
        limits = {"relaxation": 0.9, schedules.FIRST: 1.9 / quantities["smoothness"], "contraction": 1 - 1e-9}
        for name, high in limits.items():
            if name in point:
                table[name] = quantities[name] = point[name]
            elif name == schedules.FIRST:
                most = deciding.largest_step_size(bound, quantities, high, quantities.get(schedules.OFFSET))
                table[name] = quantities[name] = point["step_share"] * most
            elif name in names:
                most = deciding.largest(bound, quantities, name, high)
                table[name] = quantities[name] = point[f"{name}_share"] * most
        return self.pinned(bound, table, problem)

    def pinned(self, bound: Bound, instance: Mapping[str, Any], problem: Any) -> Instance:
        """Return the instance with the step sizes that the bound prescribes, if it does; 0 if they are not possible."""
        if not schedules.prescribed(bound):
            return dict(instance)
        try:
            sizes = schedules.step_plan(bound, self.static(instance, problem))
        except BoundsError:
            sizes = {}
        if not sizes or not all(0 < value < np.inf for value in sizes.values()):
            sizes = {schedules.FIRST: 0.0, schedules.OFFSET: 1.0}
        return {**instance, **sizes}

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        if wrong := self.impossible(bound, instance):
            return Evaluation(failed=(wrong,), relation=bound.relation)
        try:
            problem = self.federation(instance)
            instance = self.pinned(bound, instance, problem)
            if wrong := self.impossible(bound, instance):
                return Evaluation(failed=(wrong,), relation=bound.relation)
            if failed := deciding.broken_assumptions(bound, *self.assumed(bound, instance, problem)):
                return Evaluation(failed=failed, relation=bound.relation)
            run, finite = self.run(bound, instance, problem)
        except EmpiricsError as error:
            return Evaluation(failed=(str(error),), relation=bound.relation)
        if not finite:
            return Evaluation(failed=("the run left the finite numbers",), relation=bound.relation)
        values = {**self.static(instance, problem, deciding.used_quantities(bound)), **readings.of_run(run)}
        values |= readings.iterated(bound, run)
        scalars = {name: float(value) for name, value in values.items() if isinstance(value, Real)}
        return deciding.compare(by_group(bound), values, readings.target(bound, run, _sizes(values), scalars))

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        static, run, arithmetic = self.exact_run(bound, instance, late)
        values = {**static, **readings.of_run(run), **readings.iterated(bound, run)}
        return values, readings.target(bound, run, _sizes(static), static), arithmetic
