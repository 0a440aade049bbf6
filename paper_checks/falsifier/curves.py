"""The family ``curves``: local gradient descent on smooth functions of one variable with closed forms.

The shapes: ``g(x) = height^2 s(x / height) + bowl/2 x^2`` with s of curvature at most 1 and minimum 0 at 0.

Client k's loss is ``g(x) + tilt_k x``. The weighted tilts sum to 0, so F is g, with minimum 0 at 0; the mean squared
client gradient exceeds the squared global one by the mean squared tilt everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from math import inf
from types import SimpleNamespace
from typing import Any, NamedTuple

import mpmath
import numpy as np

from bounds.core import Bound
from bounds.weights import Weights
from empirics.exact import Readings
from empirics.training.step_sizes import falling

from ..falsify_options import FAMILIES
from ..runs import readings, schedules
from ..runs.methods import demands, knob
from ..runs.statistics import weighted_mean
from .box import Box, Parameter
from .client_groups import cohort_weights, of_groups
from .core import Instance, Point
from .exact import decimal, WORKING
from .family import Played
from .numbers import misfit, Number, POSITIVE
from .quadratic_tables import misweighted, PLAN, planned, SAMPLINGS
from .quadratics import cohort_of, derived_parameters, QuadraticRuns, regime, remembers, up_to


class Shape(NamedTuple):
    """A shape and its derivative, for NumPy arrays and for mpmath numbers, and its smallest curvature."""

    words: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    exact_value: Callable[[Any], Any]
    exact_slope: Callable[[Any], Any]
    lowest: Any


def _log_cosh(x: Any) -> Any:
    size = np.abs(x)
    near = np.log1p(np.sinh(np.minimum(size, 1.0)) ** 2) / 2
    return np.where(size < 1, near, size + np.log1p(np.exp(-2 * size)) - np.log(2))


# The formulas avoid cancellation near the minimum, where runs end.
SHAPES = (
    Shape("pseudo-Huber", lambda x: x * x / (1 + np.hypot(1, x)), lambda x: x / np.hypot(1, x),
          lambda x: x * x / (1 + mpmath.sqrt(1 + x * x)), lambda x: x / mpmath.sqrt(1 + x * x), 0),
    Shape("log cosh", _log_cosh, np.tanh, lambda x: mpmath.log1p(mpmath.sinh(x) ** 2) / 2, mpmath.tanh, 0),
    Shape("x^2 / (1 + x^2)", lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2,
          lambda x: x * x / (1 + x * x) / 2, lambda x: x / (1 + x * x) ** 2, -0.25),
    Shape("1 - cos x", lambda x: 2 * np.sin(x / 2) ** 2, np.sin, lambda x: 2 * mpmath.sin(x / 2) ** 2, mpmath.sin, -1),
)  # fmt: skip
"""Curvatures lie between ``lowest`` and 1, which is their value at 0."""


Array = np.ndarray[Any, Any]
NumberType = Callable[[Any], Any]


def weights(table: Mapping[str, Any], number: NumberType = float) -> Array:
    """Return the clients' weights, which sum to 1."""
    raw = np.array([number(table[f"weight_{k}"]) for k in range(table["clients"])])
    return raw / raw.sum()


def tilts(table: Mapping[str, Any], shares: Array, number: NumberType = float) -> Array:
    """Return the clients' tilts, shifted so that their weighted sum is 0."""
    raw = np.array([number(table[f"tilt_{k}"]) for k in range(table["clients"])])
    return np.asarray(raw - shares @ raw)


class Curve:
    """The function ``g`` of an instance."""

    def __init__(self, table: Mapping[str, Any], number: NumberType = float) -> None:
        shape = SHAPES[int(table["shape"])]
        self._value, self._slope = shape.value, shape.slope
        if number is not float:
            self._value, self._slope = np.frompyfunc(shape.exact_value, 1, 1), np.frompyfunc(shape.exact_slope, 1, 1)
        self.height, self.bowl = number(table["height"]), number(table["bowl"])

    def value(self, x: Any) -> Any:
        return self.height**2 * self._value(x / self.height) + self.bowl / 2 * x**2

    def slope(self, x: Any) -> Any:
        return self.height * self._slope(x / self.height) + self.bowl * x


class CurveRun:
    """The metrics of a run, as expectations over the cohorts."""

    def __init__(self, table: Mapping[str, Any], beta: Any, reading: str, number: NumberType = float) -> None:
        self.table, self.beta, self.reading, self.number = table, beta, reading, number
        self.curve, self.eta = Curve(table, number), number(table["step_size"])
        self.shares = weights(table, number)
        self.tilts = tilts(table, self.shares, number)
        everyone = table["cohort"] == len(self.shares) and not table["with_replacement"]
        sampling = "all" if everyone else SAMPLINGS[int(table["with_replacement"])]
        self.cohorts = cohort_weights(sampling, table["cohort"], self.shares)
        self._server: dict[str, list[Any]] = {}
        self._rounds: dict[str, list[Any]] = {}
        self._along: dict[str, list[Any]] = {}
        self._steps, self._averages = 0, list[Array]()
        self._play()

    @cached_property
    def server(self) -> dict[str, Array]:
        return {name: np.array(values) for name, values in self._server.items()}

    @cached_property
    def rounds(self) -> dict[str, Array]:
        gap = self.server["optimality_gap"]
        rounds = {name: np.array(values) for name, values in self._rounds.items()}
        return {**rounds, "loss_change": np.diff(gap), "loss_decrease": -np.diff(gap)}

    def iterations(self, name: str) -> Array:
        return np.array(self._along[name])

    def average_gap(self, weights: Weights | None = None) -> Any:
        """Return the loss gap at the mean of the virtual averages before every local step, under full participation."""
        return self.curve.value(weighted_mean(self._averages, weights))[0]

    @property
    def _size(self) -> Any:
        """The size of the next local step."""
        offset = self.table.get("step_offset")
        return self.eta if offset is None else falling(self.eta, self.number(offset), self._steps)

    def _play(self) -> None:
        clients = len(self.shares)
        chance, model = np.ones(1), np.array([self.number(self.table["start"])])
        last = np.tile(model[:, None], (1, clients))
        for _ in range(self.table["rounds"]):
            self._at_server(chance, model, last)
            chance, model, last = self._round(chance, model, last)
        self._at_server(chance, model, last)
        self._virtual(chance, model)

    def _round(self, chance: Array, model: Array, last: Array) -> tuple[Array, Array, Array]:
        begin = model[:, None] + self.beta * (model[:, None] - last)
        at, walked, drift, cap = begin.copy(), np.zeros_like(begin), 0.0, 0.0
        for _ in range(self.table["local_steps"]):
            gradient = self.curve.slope(at) + self.tilts
            drift += chance @ ((at - model[:, None]) ** 2).mean(1)
            cap = max(cap, (chance @ gradient**2).max())
            average = at @ self.shares
            self._virtual(chance, average)
            if len(average) == 1:
                self._averages.append(average)
            walked += gradient
            at = at - self._size * gradient
            self._steps += 1
        self._of_round(chance, model, walked, drift, cap)
        return self._combine(chance, model, last, begin, at)

    def _combine(
        self, chance: Array, model: Array, last: Array, begin: Array, ends: Array
    ) -> tuple[Array, Array, Array]:
        chances, models, lasts, divergence = [], [], [], 0.0
        for likely, share in self.cohorts:
            moved = model + (ends - begin) @ share if self.reading == "code" else ends @ share
            kept = ends if self.reading == "proof" else np.where(share > 0, ends, last)
            own = np.full(len(share), self.number(1) / len(share)) if len(self.cohorts) == 1 else share
            divergence += likely * (chance @ (((kept - moved[:, None]) ** 2) @ own))
            chances.append(likely * chance)
            models.append(moved)
            lasts.append(kept)
        step = sum(c @ (m - model) ** 2 for c, m in zip(chances, models, strict=True))
        aligned = sum(c @ (self.curve.slope(model) * (m - model)) for c, m in zip(chances, models, strict=True))
        known = self.beta == 0 and len(self.cohorts) == 1
        mean = step / (self.eta * self.table["local_steps"]) ** 2 if known else np.nan
        for name, value in (("global_step", step), ("step_alignment", aligned), ("mean_update_sq", mean),
                            ("active_divergence", divergence)):  # fmt: skip
            self._rounds.setdefault(name, []).append(value)
        return np.concatenate(chances), np.concatenate(models), np.concatenate(lasts)

    def _of_round(self, chance: Array, model: Array, walked: Array, drift: float, cap: float) -> None:
        steps = self.table["local_steps"]
        drifts = chance @ (self.curve.slope(model)[:, None] + self.tilts - walked / steps) ** 2
        readings = {
            "local_drift": drift, "grad_cap_sq": cap, "summed_grad_norm_sq": chance @ walked.sum(1) ** 2,
            "mean_path_gradient_sq": chance @ (walked @ self.shares / steps) ** 2, "gradient_drift": drifts,
            "mean_gradient_drift": drifts @ self.shares,
        }  # fmt: skip
        for name, value in readings.items():
            self._rounds.setdefault(name, []).append(value)

    def _at_server(self, chance: Array, model: Array, last: Array) -> None:
        slope = self.curve.slope(model)
        clients = chance @ (slope[:, None] + self.tilts) ** 2
        readings = {
            "grad_norm_sq": chance @ slope**2, "optimality_gap": chance @ self.curve.value(model),
            "distance_sq": chance @ model**2, "client_grad_norm_sq": clients,
            "mean_client_grad_sq": clients @ self.shares, "divergence": chance @ ((last - model[:, None]) ** 2).mean(1),
        }  # fmt: skip
        for name, value in readings.items():
            self._server.setdefault(name, []).append(value)

    def _virtual(self, chance: Array, average: Array) -> None:
        self._along.setdefault("grad_norm_sq", []).append(chance @ self.curve.slope(average) ** 2)
        self._along.setdefault("distance_sq", []).append(chance @ average**2)
        self._along.setdefault("optimality_gap", []).append(chance @ self.curve.value(average))


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

    def federation(self, instance: Mapping[str, Any], number: NumberType = float) -> Any:
        """Return the federation's constants, by the names that assumptions and bounds use."""
        shape, shares = SHAPES[int(instance["shape"])], weights(instance, number)
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
            initial_gap=number(Curve(instance, number).value(start)), floor=floor, gradient_variance=0,
            lower_bound=0.0, independent_samples=True, independent_noise=True, lipschitz=inf, loss_cap=inf,
            nonnegative_loss=None,  # undecided: tilted losses may be negative
        )  # fmt: skip

    def static(
        self, instance: Mapping[str, Any], problem: Any, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        constants = (
            "clients", "smoothness", "strong_convexity", "pl_constant", "client_weight", "dissimilarity_offset",
            "dissimilarity_factor", "gradient_variance", "optimum_dissimilarity", "uniform_dissimilarity",
        )  # fmt: skip
        return {
            **{name: getattr(problem, name) for name in constants},
            **planned(instance),
            **readings.UNBIASED, "condition_number": readings.condition(problem.smoothness, problem.strong_convexity),
            **readings.of_losses(problem.floor + problem.initial_gap, problem.floor),
            "initial_gap": problem.initial_gap, "client_gradient_variance": [0] * problem.clients,
            **of_groups([1] * problem.clients, problem.client_weight),
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
