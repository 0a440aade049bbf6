"""Quadratic federations under local SGD: any bound whose words can be read off such a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.errors import EmpiricsError
from empirics.exact import Readings
from empirics.problems.quadratics import Quadratics

from ...falsify_options import FAMILIES
from ...runs import readings
from ...runs.methods import knob
from ...runs.words import WORDS
from .. import deciding
from ..box import Box, Parameter
from ..core import Instance, Point
from ..numbers import misfit
from . import instance as tables
from .moments import Moments
from .played import Played
from .readings import MomentReadings

CLIENTS, DIM = 4, 2
LONGEST = 3000
"""Rounds of a run whose state is the model alone; with last local models, or a reading of every round, a few do."""
PLANNED = ("cohort", "local_steps", "rounds", "step_size", "relaxation")
LAST_MODELS = {name for name, word in WORDS.items() if {"divergence", "active_divergence"} & {name, word.of}}
"""What the clients' last local models tell, and all that is made of it."""


class QuadraticRuns(Played):
    """Runs of local SGD on quadratic clients, with exact expectations over noise and cohorts."""

    name = "quadratics"
    words = FAMILIES[name]

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        axes = 1 if instance.get("dim") == 1 else 2
        return misfit(instance, tables.NUMBERS, axes) or tables.misweighted(bound, dict(instance))

    def box(self, bound: Bound) -> Box:
        words = {q.name for q in bound.quantities} | {bound.target.name}
        long = LONGEST if _folded(bound) and not remembers(bound) else 12
        found = [
            *_cohorts(bound),
            Parameter("clients", 1, CLIENTS, whole=True, special=(2,)),
            Parameter("dim", 1, DIM, whole=True, special=(1,)),
            Parameter("local_steps", 1, 64, log=True, whole=True, special=(1, 2)),
            Parameter("rounds", 1, long, log=True, whole=True, special=(1,)),
            Parameter("step_share", 1e-4, 1, log=True, special=(1, 1e-6)),
            Parameter("spread", 1e-3, 1e3, log=True, special=(0, 1)),
            Parameter("noise", 1e-3, 1e3, log=True, special=(0,)),
            Parameter("start", 1e-3, 1e3, log=True, special=(0,)),
            Parameter("stationary", 0, 1, special=(0, 1)),
        ]
        if "optimal_loss" in words or "initial_loss" in words or "current_loss" in words:
            found.append(Parameter("floor", -1e3, 1e3, special=(0, -1)))
        if "relaxation" in words:
            found.append(Parameter("relaxation_share", 0, 1, special=(0, 1)))
        if "contraction" in words:
            found.append(Parameter("contraction_share", 0.01, 1, special=(1,)))
        if "dissimilarity_factor" in words:
            found.append(Parameter("dissimilarity_excess", 1e-3, 1e2, log=True, special=(0,)))
        return Box((*found, *_of_clients("client_weight" in words)))

    def instance(self, bound: Bound, point: Point) -> Instance:
        clients, dim = int(point["clients"]), int(point["dim"])
        cohort = 1 + round(point.get("cohort_share", 1) * (clients - 1))
        table: Instance = {
            "clients": clients,
            "dim": dim,
            "cohort": cohort,
            "with_replacement": int(point.get("with_replacement", 0)),
            "local_steps": int(point["local_steps"]),
            "rounds": int(point["rounds"]),
            "floor": point.get("floor", 0.0),
            **{f"start_{i}": point["start"] * point[f"start_{i}"] for i in range(dim)},
        }
        equal = cohort < clients and not table["with_replacement"]  # else the average would be of another loss
        for k in range(clients):
            table |= {f"curvature_{k}_{i}": point[f"curvature_{k}_{i}"] for i in range(dim)}
            table |= {f"minimum_{k}_{i}": point["spread"] * point[f"minimum_{k}_{i}"] for i in range(dim)}
            table |= {f"turn_{k}": point[f"turn_{k}"]} if dim == 2 else {}
            table[f"noise_{k}"] = point["noise"] * point[f"noise_{k}"]
            table[f"weight_{k}"] = 1.0 if equal else point.get(f"weight_{k}", 1.0)
        return self._placed(bound, table, point)

    def _placed(self, bound: Bound, table: Instance, point: Point) -> Instance:
        """The table with step size, relaxation and proof constants at their shares of the largest admissible ones."""
        table |= {"step_size": 1e-12, "relaxation": 0.0}
        try:
            problem = tables.problem(table)
        except EmpiricsError:
            return table
        words = {q.name for q in bound.quantities}
        if "dissimilarity_factor" in words:
            smallest = max(problem.smallest_dissimilarity_factor, 1.0)
            table["dissimilarity_factor"] = problem.dissimilarity_factor + point["dissimilarity_excess"] * smallest
        table = self.inside(bound, table, point, problem)
        return _settled(bound, table, problem) if point["stationary"] == 1 else table

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        if instance["step_size"] <= 0 or instance.get("contraction", 1) <= 0:
            return "no step size is small enough for the conditions"
        return tables.misweighted(bound, dict(instance))

    def federation(self, instance: Mapping[str, Any]) -> Quadratics:
        return tables.problem(dict(instance))

    def plan(self, instance: Mapping[str, Any], problem: Quadratics) -> readings.Drawn:
        return readings.facts(problem, tables.setting(dict(instance)))

    def static(self, instance: Mapping[str, Any], problem: Quadratics) -> dict[str, Any]:
        known = {**readings.of_problem(problem), **readings.of_plan(**{name: instance[name] for name in PLANNED})}
        if "contraction" in instance:
            known["contraction"] = instance["contraction"]
        if "dissimilarity_factor" in instance:
            factor = float(instance["dissimilarity_factor"])
            known |= {"dissimilarity_factor": factor, "dissimilarity_offset": problem.dissimilarity_offset_for(factor)}
        return known

    def run(self, bound: Bound, instance: Instance, problem: Quadratics) -> tuple[Readings, bool]:
        run = MomentReadings(_moments(bound, problem, instance))
        return run, bool(np.isfinite(run.run.states[-1]).all())

    def again(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[dict[str, Any], Readings, str]:
        from .twin import told

        return told(bound, instance)

    def simpler(self, instance: Instance) -> Iterator[Instance]:
        return tables.simpler(instance)


# ---- what a bound asks for ----


def _folded(bound: Bound) -> bool:
    """Whether the statistic is one number for the whole run, so that long runs matter."""
    return bound.statistic is not None and bound.statistic.kind in ("mean", "min", "last", "expectation")


def remembers(bound: Bound) -> bool:
    words = {q.name for q in bound.quantities} | {bound.target.name}
    return bool(words & {*LAST_MODELS, "relaxation"})


def _moments(bound: Bound, problem: Quadratics, instance: Instance) -> Moments:
    beta, reading = knob(bound.about, "relaxation", float(instance["relaxation"]))
    return Moments(
        problem,
        tables.drawn(instance, problem.weights),
        instance["local_steps"],
        float(instance["step_size"]),
        instance["rounds"],
        beta,
        reading,
        memory=remembers(bound),
    )


def _settled(bound: Bound, table: Instance, problem: Quadratics) -> Instance:
    """The table with its start at the distance from the minimiser where the run settles."""
    if table["step_size"] <= 0:
        return table
    run = replace(_moments(bound, problem, {**table, "relaxation": 0.0}), memory=False)
    away = max(run.stationary(), 0.0) ** 0.5
    if not np.isfinite(away):
        return table
    place = [float(x) for x in problem.minimiser]
    return {**table, **{f"start_{i}": x + (away if i == 0 else 0.0) for i, x in enumerate(place)}}


def _cohorts(bound: Bound) -> Iterator[Parameter]:
    """How many clients take part and how they are drawn, where the bound's assumptions leave that open."""

    def fine(cohort: int, sampling: str) -> bool:
        return not deciding.assumptions(bound, None, None, readings.Drawn(3, cohort, sampling))[0]

    if any(fine(2, sampling) for sampling in tables.SAMPLINGS):
        yield Parameter("cohort_share", 0, 1, special=(0, 1))
    if fine(2, "with_replacement"):
        forced = not fine(2, "without_replacement")
        yield Parameter("with_replacement", int(forced), 1, whole=True, special=(int(forced),))


def _of_clients(weighted: bool) -> Iterator[Parameter]:
    """The parameters of single clients, relative to the common sizes."""
    for k in range(CLIENTS):
        yield from (Parameter(f"curvature_{k}_{i}", 1e-3, 1, log=True, special=(1, 0)) for i in range(DIM))
        yield from (Parameter(f"minimum_{k}_{i}", -1, 1, special=(0, 1, -1)) for i in range(DIM))
        yield Parameter(f"turn_{k}", -1, 1, special=(0,))
        yield Parameter(f"noise_{k}", 0, 1, special=(0, 1))
        if weighted:
            yield Parameter(f"weight_{k}", 0.01, 1, log=True, special=(1,))
    yield from (Parameter(f"start_{i}", -1, 1, special=(0, 1)) for i in range(DIM))
