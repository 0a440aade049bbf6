"""Runs of local gradient descent on smooth functions of one variable with closed forms, convex or not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.exact import Readings

from ...falsify_options import FAMILIES
from ...runs import readings, schedules
from ...runs.methods import demands, knob
from ..box import Box, Parameter
from ..core import Instance, Point
from ..exact import decimal, WORKING
from ..kinds import of_kinds
from ..numbers import misfit, Number, POSITIVE
from ..runs.family import cohort_of, derived_parameters, PLANNED, QuadraticRuns, regime, remembers, up_to
from ..runs.instance import misweighted, PLAN
from ..runs.played import Played
from .run import CurveRun, tilts, weights
from .shapes import SHAPES

CLIENTS = 3
WHOLE = ("clients", "cohort", "local_steps", "rounds", "shape", "with_replacement")
STATES = 600
"""Limit on the number of server models (one per history of cohorts)."""
NUMBERS = (
    *PLAN, Number("shape", 0, len(SHAPES) - 1, whole=True), Number("height", **POSITIVE), Number("bowl", 0),
    Number("start"), Number("tilt_{k}"),
)  # fmt: skip


class Curves(Played):
    """Runs without gradient noise on one smooth function plus a linear term (tilt) per client."""

    name = "curves"
    words = FAMILIES[name]

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        tilted = [abs(float(instance[f"tilt_{k}"])) for k in range(instance["clients"])]
        sizes = {"least curvature": 1.0, "start": abs(float(instance["start"])), "noise": 0.0}
        return SHAPES[int(instance["shape"])].words, *regime(instance, {**sizes, "disagreement": max(tilted)})

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        return misfit(instance, NUMBERS, 1) or misweighted(bound, dict(instance))

    def box(self, bound: Bound) -> Box:
        shared = ("cohort_share", "with_replacement", "step_share", "floor", "relaxation_share", "contraction_share",
                  "dissimilarity_excess", "step_offset")  # fmt: skip
        parameters = [p for p in QuadraticRuns().box(bound).parameters if p.name in shared]
        needs = demands(bound)
        most, steps = 1 if needs.one_client else CLIENTS, 1 if needs.one_step else 24
        parameters += [
            Parameter("clients", 1, most, whole=True, special=up_to(most, 2)),
            Parameter("local_steps", 1, steps, log=True, whole=True, special=up_to(steps, 1, 2)),
            Parameter("rounds", 1, 40, log=True, whole=True, special=(1,)),
            Parameter("shape", 0, len(SHAPES) - 1, whole=True),
            Parameter("height", 1e-2, 1e2, log=True, special=(1,)),
            Parameter("bowl", 1e-3, 1, log=True, special=(0,)),
            Parameter("start", -5, 5, special=(0, 1)),
            Parameter("spread", 1e-3, 10, log=True, special=(0,)),
        ]
        names = {q.name for q in bound.quantities}
        for k in range(CLIENTS):
            parameters.append(Parameter(f"tilt_{k}", -1, 1, special=(0, 1, -1)))
            if "client_weight" in names:
                parameters.append(Parameter(f"weight_{k}", 0.01, 1, log=True, special=(1,)))
        constants = (Parameter("smoothness", 1, 2), Parameter("gradient_variance", 0, 0))
        return Box(tuple(parameters), (*derived_parameters(names, CLIENTS), *constants))

    def instance(self, bound: Bound, point: Point) -> Instance:
        clients, needs = int(point["clients"]), demands(bound)
        cohort = 1 if needs.one_participant else cohort_of(point, clients)
        table: Instance = {name: int(point[name]) for name in ("clients", "local_steps", "rounds", "shape")}
        table |= {"cohort": cohort, "with_replacement": int(point.get("with_replacement", 0)), "relaxation": 0.0}
        table |= {name: point.get(name, 0.0) for name in ("bowl", "floor")}
        table |= {"bowl": point["smoothness"] - 1} if "smoothness" in point else {}
        table |= {"height": point["height"], "start": point["start"] * point["height"], "step_size": 1e-12}
        for k in range(clients):
            equal = cohort < clients and not table["with_replacement"]
            table[f"tilt_{k}"] = 0.0 if needs.identical else point["spread"] * point["height"] * point[f"tilt_{k}"]
            table[f"weight_{k}"] = 1.0 if equal else point.get(f"weight_{k}", 1.0)
        table["rounds"] = min(table["rounds"], _affordable(table))
        if "dissimilarity_factor" in {q.name for q in bound.quantities}:
            table["dissimilarity_factor"] = point.get("dissimilarity_factor", 1 + point["dissimilarity_excess"])
        return self.inside(bound, table, point, self.federation(table))

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        return _impossible(dict(instance)) or misweighted(bound, dict(instance))

    def federation(self, instance: Mapping[str, Any], number: Callable[[Any], Any] = float) -> Any:
        """Return the federation's constants, by the names that assumptions and bounds use."""
        shape, shares = SHAPES[int(instance["shape"])], weights(instance, number)
        run = CurveRun({**instance, "rounds": 1, "local_steps": 1}, number(0), "intended", number)
        bowl, start, floor = (number(instance[name]) for name in ("bowl", "start", "floor"))
        lowest, tilt = bowl + number(shape.lowest), tilts(instance, shares, number)
        curvature = max(lowest, number(0))
        dissimilarity = number(shares @ tilt**2)  # the same at every model
        return SimpleNamespace(
            clients=instance["clients"], client_weight=shares, smoothness=1 + bowl, convex=lowest >= 0,
            strong_convexity=curvature, pl_constant=curvature, dissimilarity_offset=dissimilarity,
            optimum_dissimilarity=dissimilarity,
            dissimilarity_factor=number(instance.get("dissimilarity_factor", 1)),
            uniform_dissimilarity=number((tilt**2).max()), identical_clients=not tilt.any(),
            initial_gap=number(run.value(start)), floor=floor, gradient_variance=0,
            lower_bound=0.0, independent_samples=True, independent_noise=True, lipschitz=inf, loss_cap=inf,
            nonnegative_loss=None,  # undecided: tilted losses may be negative
        )  # fmt: skip

    def plan(self, instance: Mapping[str, Any], problem: Any) -> readings.PlanFacts:
        sampling = "with_replacement" if instance["with_replacement"] else "without_replacement"
        offset, steps = instance.get("step_offset"), instance["local_steps"]
        size = float(instance["step_size"])
        args = (problem.clients, instance["cohort"], sampling, steps, size, offset and float(offset))
        return readings.plan_facts(*args, steps * instance["rounds"])

    def static(
        self, instance: Mapping[str, Any], problem: Any, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        constants = (
            "clients", "smoothness", "strong_convexity", "pl_constant", "client_weight", "dissimilarity_offset",
            "dissimilarity_factor", "gradient_variance", "optimum_dissimilarity", "uniform_dissimilarity",
        )  # fmt: skip
        return {
            **{name: getattr(problem, name) for name in constants},
            **readings.of_plan(**{name: instance[name] for name in PLANNED}, step_offset=instance.get("step_offset")),
            **readings.UNBIASED, "condition_number": readings.condition(problem.smoothness, problem.strong_convexity),
            **readings.of_losses(problem.floor + problem.initial_gap, problem.floor),
            **({"contraction": instance["contraction"]} if "contraction" in instance else {}),
            "initial_gap": problem.initial_gap, "client_gradient_variance": [0] * problem.clients,
            **of_kinds([1] * problem.clients, problem.client_weight),
            "initial_distance_sq": instance["start"] * instance["start"],
        }  # fmt: skip

    def run(self, bound: Bound, instance: Instance, problem: Any) -> tuple[CurveRun, bool]:
        about = bound.about if remembers(bound) else None  # else the relaxation does not matter
        with np.errstate(all="ignore"):
            run = CurveRun(instance, *knob(about, "relaxation", float(instance["relaxation"])))
        return run, bool(np.isfinite(run.server["optimality_gap"]).all())

    def exact_run(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        knobs = knob(bound.about, "relaxation", decimal(instance["relaxation"]))
        table = {name: value if name in WHOLE else decimal(value) for name, value in instance.items()}
        if schedules.prescribed(bound):
            table |= schedules.step_plan(bound, self.static(table, self.federation(table, decimal)))
        values = self.static(table, self.federation(table, decimal))
        return values, CurveRun(table, *knobs, decimal), f"{WORKING} digits"


def _affordable(table: Instance) -> int:
    """Return the number of rounds with at most ``STATES`` server models."""
    clients, cohort = table["clients"], table["cohort"]
    if cohort == clients and not table["with_replacement"]:
        return 40
    draws = clients**cohort if table["with_replacement"] else clients
    return max(1, int(np.log(STATES) / np.log(max(2, draws))))


def _impossible(instance: Instance) -> str:
    """Return why there is no such run; empty if there is."""
    if instance["step_size"] <= 0 or instance.get("contraction", 1) <= 0:
        return "no step size is small enough for the conditions"
    if instance["height"] <= 0 or any(instance[f"weight_{k}"] <= 0 for k in range(instance["clients"])):
        return "heights and weights must be positive"
    if instance.get("dissimilarity_factor", 1) < 1:
        return "the dissimilarity factor is at least 1"
    return ""
