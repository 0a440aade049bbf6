"""Smooth functions of one variable under local gradient descent, convex or not: runs with closed forms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.exact import Readings

from ...falsify_options import FAMILIES
from ...runs import readings, schedules
from ...runs.demands import demands
from ...runs.methods import knob
from ..box import Box, Parameter
from ..core import Instance, Point
from ..exact import decimal, WORKING
from ..kinds import of_kinds
from ..numbers import misfit, Number, POSITIVE
from ..runs.family import cohort_of, held_words, PLANNED, QuadraticRuns, regime, remembers, up_to
from ..runs.instance import misweighted, PLAN
from ..runs.played import Played
from .run import CurveRun, tilts, weights
from .shapes import SHAPES

CLIENTS = 3
WHOLE = ("clients", "cohort", "local_steps", "rounds", "shape", "with_replacement")
STATES = 600
"""Server models that are followed at most."""
NUMBERS = (
    *PLAN, Number("shape", 0, len(SHAPES) - 1, whole=True), Number("height", **POSITIVE), Number("bowl", 0),
    Number("start"), Number("tilt_{k}"),
)  # fmt: skip


@dataclass(frozen=True)
class Facts:
    """The federation of a table in the words that assumptions and bounds read."""

    clients: int
    smoothness: Any
    strong_convexity: Any
    convex: bool
    client_weight: Any
    dissimilarity_offset: Any
    uniform_dissimilarity: Any
    dissimilarity_factor: Any
    initial_gap: Any
    floor: Any
    gradient_variance: int = 0
    lower_bound: float = 0.0
    independent_samples: bool = True
    independent_noise: bool = True
    lipschitz: float = float("inf")
    loss_cap: float = float("inf")

    @property
    def pl_constant(self) -> Any:
        return self.strong_convexity

    @property
    def optimum_dissimilarity(self) -> Any:
        return self.dissimilarity_offset  # the mean squared tilt, at every model

    @property
    def identical_clients(self) -> bool:
        return not self.uniform_dissimilarity

    @property
    def nonnegative_loss(self) -> bool | None:
        return None  # tilted losses may fall below zero


class Curves(Played):
    """Runs without gradient noise on tilted copies of one smooth function."""

    name = "curves"
    words = FAMILIES[name]
    reach: tuple[str, ...] = ("clients", "cohort", "local_steps", "rounds")

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        tilted = [abs(float(instance[f"tilt_{k}"])) for k in range(instance["clients"])]
        sizes = {"least curvature": 1.0, "start": abs(float(instance["start"])), "noise": 0.0}
        return SHAPES[int(instance["shape"])].words, *regime(instance, {**sizes, "disagreement": max(tilted)})

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        return misfit(instance, NUMBERS, 1) or misweighted(bound, dict(instance))

    def box(self, bound: Bound) -> Box:
        whole = QuadraticRuns().box(bound)
        kept = ("cohort_share", "with_replacement", "step_share", "floor", "relaxation_share", "contraction_share",
                "dissimilarity_excess", "step_offset")  # fmt: skip
        found, asked = [p for p in whole.parameters if p.name in kept], demands(bound)
        most, steps = 1 if asked.one_client else CLIENTS, 1 if asked.one_step else 24
        found += [
            Parameter("clients", 1, most, whole=True, special=up_to(most, 2)),
            Parameter("local_steps", 1, steps, log=True, whole=True, special=up_to(steps, 1, 2)),
            Parameter("rounds", 1, 40, log=True, whole=True, special=(1,)),
            Parameter("shape", 0, len(SHAPES) - 1, whole=True),
            Parameter("height", 1e-2, 1e2, log=True, special=(1,)),
            Parameter("bowl", 1e-3, 1, log=True, special=(0,)),
            Parameter("start", -5, 5, special=(0, 1)),
            Parameter("spread", 1e-3, 10, log=True, special=(0,)),
        ]
        words = {q.name for q in bound.quantities}
        shared = "client_weight" in words
        for k in range(CLIENTS):
            found.append(Parameter(f"tilt_{k}", -1, 1, special=(0, 1, -1)))
            found += [Parameter(f"weight_{k}", 0.01, 1, log=True, special=(1,))] if shared else []
        held = (*held_words(words, CLIENTS), Parameter("smoothness", 1, 2), Parameter("gradient_variance", 0, 0))
        return Box(tuple(found), held)

    def instance(self, bound: Bound, point: Point) -> Instance:
        clients, asked = int(point["clients"]), demands(bound)
        cohort = 1 if asked.one_participant else cohort_of(point, clients)
        table: Instance = {name: int(point[name]) for name in ("clients", "local_steps", "rounds", "shape")}
        table |= {"cohort": cohort, "with_replacement": int(point.get("with_replacement", 0)), "relaxation": 0.0}
        table |= {name: point.get(name, 0.0) for name in ("bowl", "floor")}
        table |= {"bowl": point["smoothness"] - 1} if "smoothness" in point else {}
        table |= {"height": point["height"], "start": point["start"] * point["height"], "step_size": 1e-12}
        for k in range(clients):
            equal = cohort < clients and not table["with_replacement"]
            table[f"tilt_{k}"] = 0.0 if asked.identical else point["spread"] * point["height"] * point[f"tilt_{k}"]
            table[f"weight_{k}"] = 1.0 if equal else point.get(f"weight_{k}", 1.0)
        table["rounds"] = min(table["rounds"], _affordable(table))
        return self._placed(bound, table, point)

    def _placed(self, bound: Bound, table: Instance, point: Point) -> Instance:
        """Step size, relaxation and proof constants at their shares of the largest admissible ones."""
        asked = {q.name for q in bound.quantities}
        if "dissimilarity_factor" in asked:
            table["dissimilarity_factor"] = point.get("dissimilarity_factor", 1 + point["dissimilarity_excess"])
        return self.inside(bound, table, point, self.federation(table))

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        return _impossible(dict(instance)) or misweighted(bound, dict(instance))

    def federation(self, instance: Mapping[str, Any]) -> Facts:
        return facts(instance)

    def plan(self, instance: Mapping[str, Any], problem: Facts) -> readings.Drawn:
        sampling = "with_replacement" if instance["with_replacement"] else "without_replacement"
        offset, steps = instance.get("step_offset"), instance["local_steps"]
        told = (instance["cohort"], sampling, steps, float(instance["step_size"]), offset and float(offset))
        return readings.drawn(problem.clients, *told, steps * instance["rounds"])

    def static(
        self, instance: Mapping[str, Any], problem: Facts, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        return static(instance, problem)

    def run(self, bound: Bound, instance: Instance, problem: Facts) -> tuple[CurveRun, bool]:
        about = bound.about if remembers(bound) else None  # else there is no use for last local models
        with np.errstate(all="ignore"):
            run = CurveRun(instance, *knob(about, "relaxation", float(instance["relaxation"])))
        return run, bool(np.isfinite(run.server["optimality_gap"]).all())

    def again(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        knobs = knob(bound.about, "relaxation", decimal(instance["relaxation"]))
        table = {name: value if name in WHOLE else decimal(value) for name, value in instance.items()}
        if schedules.pinned(bound):
            table |= schedules.chosen(bound, static(table, facts(table, decimal)))
        return static(table, facts(table, decimal)), CurveRun(table, *knobs, decimal), f"{WORKING} digits"

    def simpler(self, instance: Instance) -> Iterator[Instance]:
        clients = instance["clients"]
        if clients > 1:
            kept = {n: v for n, v in instance.items() if n not in (f"tilt_{clients - 1}", f"weight_{clients - 1}")}
            yield {**kept, "clients": clients - 1, "cohort": min(instance["cohort"], clients - 1)}
        for name in ("rounds", "local_steps"):
            for fewer in sorted({1, 2, instance[name] // 2, instance[name] - 1}):
                if 1 <= fewer < instance[name]:
                    yield {**instance, name: fewer}
        for cohort in range(instance["cohort"] + 1, clients + 1):
            yield {**instance, "cohort": cohort}
        yield {**instance, **{f"tilt_{k}": 0 for k in range(clients)}}
        for name, value in (("floor", 0), ("relaxation", 0), ("bowl", 0), ("height", 1), ("with_replacement", 0)):
            yield {**instance, name: value}
        yield {**instance, **{f"weight_{k}": 1 for k in range(clients)}}


def _affordable(table: Instance) -> int:
    """Rounds after which the states would be too many."""
    clients, cohort = table["clients"], table["cohort"]
    if cohort == clients and not table["with_replacement"]:
        return 40
    draws = clients**cohort if table["with_replacement"] else clients
    return max(1, int(np.log(STATES) / np.log(max(2, draws))))


def _impossible(instance: Instance) -> str:
    if instance["step_size"] <= 0 or instance.get("contraction", 1) <= 0:
        return "no step size is small enough for the conditions"
    if instance["height"] <= 0 or any(instance[f"weight_{k}"] <= 0 for k in range(instance["clients"])):
        return "heights and weights must be positive"
    if instance.get("dissimilarity_factor", 1) < 1:
        return "the dissimilarity factor is at least 1"
    return ""


def facts(table: Mapping[str, Any], number: Callable[[Any], Any] = float) -> Facts:
    """The federation's constants."""
    shape, shares = SHAPES[int(table["shape"])], weights(table, number)
    run = CurveRun({**table, "rounds": 1, "local_steps": 1}, number(0), "intended", number)
    bowl, lowest = number(table["bowl"]), number(shape.lowest)
    moved = tilts(table, shares, number)
    return Facts(
        clients=table["clients"],
        smoothness=1 + bowl,
        strong_convexity=max(bowl + lowest, number(0)),
        convex=bowl + lowest >= 0,
        client_weight=shares,
        dissimilarity_offset=number(shares @ moved**2),
        uniform_dissimilarity=number((moved**2).max()),
        dissimilarity_factor=number(table.get("dissimilarity_factor", 1)),
        initial_gap=number(run.value(number(table["start"]))),
        floor=number(table["floor"]),
    )


def static(table: Mapping[str, Any], known: Any) -> dict[str, Any]:
    """What federation and plan tell without a run, in the kind of numbers that they hold."""
    words = ("clients", "smoothness", "strong_convexity", "pl_constant", "client_weight", "dissimilarity_offset",
             "dissimilarity_factor", "gradient_variance", "optimum_dissimilarity", "uniform_dissimilarity")  # fmt: skip
    return {
        **{name: getattr(known, name) for name in words},
        **readings.of_plan(**{name: table[name] for name in PLANNED}, step_offset=table.get("step_offset")),
        **readings.UNBIASED,
        "condition_number": readings.condition(known.smoothness, known.strong_convexity),
        **readings.of_losses(known.floor + known.initial_gap, known.floor),
        **({"contraction": table["contraction"]} if "contraction" in table else {}),
        "initial_gap": known.initial_gap,
        "client_gradient_variance": [0] * known.clients,
        **of_kinds([1] * known.clients, known.client_weight),
        "initial_distance_sq": table["start"] * table["start"],
    }
