"""One point of a tightness table: the values of a bound's quantities and the worst-case problem that it covers there.

Units are such that L = 1 and the initial loss gap or squared distance is 1. ``heterogeneity`` is the quantity of
``HETEROGENEITY`` by which the bound limits the heterogeneity of the clients, in these units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from bounds import assumptions
from bounds.core import Bound, Statistic
from bounds.errors import BoundsError
from empirics.training.setting import Setting

from ..falsifier.deciding import largest, largest_step_size
from ..runs import schedules
from ..runs.methods import demands, method
from ..runs.obstacles import obstacle
from ..runs.origins import ITERATION, ORIGINS, WORST
from ..runs.readings import of_losses, of_plan, UNBIASED
from .constraints import LIMITS
from .objectives import metric_series, MODEL_METRICS
from .problem import per_local_step, WorstCaseProblem
from .program import WorstCaseError

UNLIMITED_STEP = 10.0
"""A step size, in units of 1/L, that no bound of the catalogue allows."""
TINY = 1e-6
HETEROGENEITY = (
    "heterogeneity",
    "dissimilarity_offset",
    "optimum_dissimilarity",
    "control_error",
    "uniform_dissimilarity",
)
"""Quantities by which a theorem may limit heterogeneity."""
OFFSETS = (10.0, 100.0, 1e3, 1e4)
"""Offsets of a decreasing step size that are tried, if none is given, until the bound's conditions allow one."""
LARGEST = 1e9
"""Limit on all numbers, beyond which floating point does not resolve the units of 1."""
MAX_CLIENTS = 100
"""Limit on the clients; two suffice for any number of identical ones."""


@dataclass(frozen=True)
class GridPoint:
    """One point of a grid.

    The step size is the share ``step_share`` of the largest that the bound's conditions allow, or ``fixed_step_size``
    (in units of 1/L) if that is positive. ``step_offset``, if positive, is the offset of a decreasing step size that
    the bound leaves open. Bounds that determine their step size use none of these. ``step_sizes`` has a number for
    every round or local step, for bounds without a single step size; as text, separated by spaces. ``cohort`` clients
    are drawn in every round; 0 means full participation.
    """

    clients: int = 2
    rounds: int = 2
    local_steps: int = 2
    step_share: float = 0.5
    fixed_step_size: float = 0.0
    condition_number: float = 10.0
    heterogeneity: float = 0.1
    grad_cap_sq: float = 4.0
    dissimilarity_factor: float = 2.0
    relaxation: float = 0.05
    divergence: float = 0.1
    grad_norm_sq: float = 1.0
    step_offset: float = 0.0
    initial_distance_sq: float = 1.0
    step_sizes: tuple[float, ...] = ()
    cohort: int = 0

    def __post_init__(self) -> None:
        sizes = self.step_sizes.split() if isinstance(self.step_sizes, str) else self.step_sizes
        object.__setattr__(self, "step_sizes", tuple(map(float, sizes)))
        for size in self.step_sizes:
            _check("step_sizes", size, f"> 0 and <= {LARGEST:g}", 0 < size <= LARGEST)
        for name, limit in (("clients", MAX_CLIENTS), ("rounds", LARGEST), ("local_steps", LARGEST)):
            x = getattr(self, name)
            _check(name, x, f"an integer >= 1 and <= {limit:g}", 1 <= x <= limit and x == int(x))
        allowed = f"an integer from 1 to the {self.clients:g} clients (0: all of them)"
        _check("cohort", self.cohort, allowed, 0 <= self.cohort <= self.clients and self.cohort == int(self.cohort))
        object.__setattr__(self, "cohort", int(self.cohort) if self.cohort < self.clients else 0)
        for name in NUMBERS:
            x, least = getattr(self, name), 1 if name in ("condition_number", "dissimilarity_factor") else 0
            may_be_least = name not in ("step_share", "condition_number")
            allowed = f"{'>=' if may_be_least else '>'} {least} and <= {LARGEST:g}"
            _check(name, x, allowed, least <= x <= LARGEST and (may_be_least or x > least))

    @property
    def work(self) -> int:
        """The number of gradients of all clients in all rounds."""
        return self.clients * self.rounds * self.local_steps

    def as_row(self) -> dict[str, Any]:
        """Return all values by name, step sizes as text."""
        return {name: getattr(self, name) for name in NAMES} | {"step_sizes": " ".join(map(repr, self.step_sizes))}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> GridPoint:
        """Return the point of a row of a table."""
        return cls(**{name: row[name] for name in NAMES})


NAMES = tuple(field.name for field in fields(GridPoint))
"""The quantities that may vary in a table of worst cases."""
NUMBERS, INTEGERS = (tuple(f.name for f in fields(GridPoint) if f.type == kind) for kind in ("float", "int"))


def _check(name: str, value: float, allowed: str, valid: bool) -> None:
    if not valid:
        raise WorstCaseError(f"{name} must be {allowed}; got {value:g}")


def _quantities(point: GridPoint, step_size: float, offset: float | None = None) -> dict[str, Any]:
    """Return all quantities that have a value at a point."""
    n, mu = point.clients, 1 / point.condition_number
    cohort = point.cohort or n
    counts = (point.local_steps,) * point.rounds if point.step_sizes else ()  # there may be billions of rounds
    sizes = per_local_step(point.step_sizes, counts)
    plan = of_plan(cohort, point.local_steps, point.rounds, step_size, point.relaxation, offset)
    given = ("initial_distance_sq", "condition_number", "grad_cap_sq", "dissimilarity_factor", "grad_norm_sq")
    return {
        **plan,
        **of_losses(1.0, 0.0),
        **UNBIASED,
        **{name: getattr(point, name) for name in given},
        **dict.fromkeys(HETEROGENEITY, point.heterogeneity),
        **dict.fromkeys(("gradient_variance", "initial_divergence", "final_divergence"), 0.0),
        **dict.fromkeys(("strong_convexity", "pl_constant"), mu),
        **dict.fromkeys(("smoothness", "distance_sq"), 1.0),
        "clients": n,
        "client_weight": [1 / n] * n,
        "takes_part": [cohort / n] * n,
        "client_gradient_variance": [0.0] * n,
        "contraction": TINY,
        "divergence": point.divergence if point.rounds > 1 else 0.0,
        **({"squared_step_sizes": sum(size**2 for size in sizes)} if sizes else {}),
    }


def values(bound: Bound, point: GridPoint) -> dict[str, Any]:
    """Return the bound's quantities and the step size at a point."""
    if point.step_sizes:
        return values_at_step(bound, point, point.step_sizes[0])
    names = {q.name for q in bound.quantities}
    offset = _offset(bound, point)
    quantities = _quantities(point, TINY, offset)
    if {schedules.SCALE, schedules.FIRST} & set(schedules.prescribed(bound)):
        return values_at_step(bound, point, schedules.step_plan(bound, quantities)[schedules.FIRST])
    limit = largest_step_size(bound, _scalars(quantities), UNLIMITED_STEP, offset)
    if not {schedules.FIRST, schedules.SCALE} & names or limit == UNLIMITED_STEP:
        limit = 1.0  # no condition limits it: 1/L
    if not limit:
        raise WorstCaseError(f"the conditions of {bound.name} allow no step size at this point")
    return values_at_step(bound, point, point.fixed_step_size or point.step_share * limit)


def _offset(bound: Bound, point: GridPoint) -> float | None:
    """Return the offset of a decreasing step size: the bound's, the point's or one of ``OFFSETS``; None if constant."""
    if not schedules.harmonic(bound):
        return None
    offset: float = point.step_offset
    has_scale = schedules.SCALE in {q.name for q in bound.quantities}
    for candidate in (offset,) if offset else OFFSETS:
        quantities = _quantities(point, TINY, candidate)
        offset = schedules.step_plan(bound, quantities)[schedules.OFFSET]
        if not has_scale or largest_step_size(bound, _scalars(quantities), UNLIMITED_STEP, offset):
            break
    return offset


def values_at_step(bound: Bound, point: GridPoint, step_size: float) -> dict[str, Any]:
    """Return the bound's quantities at a point and a step size, with the best contraction that they allow."""
    quantities = _quantities(point, step_size, _offset(bound, point))
    names = [q.name for q in bound.quantities]
    if "contraction" in names:
        quantities["contraction"] = largest(bound, _scalars(quantities), "contraction", 1.0)
        if not 0 < quantities["contraction"] < 1:
            raise WorstCaseError(
                f"the conditions of {bound.name} leave no contraction (lambda) at step size {step_size:.3g} and "
                f"relaxation {point.relaxation:g}: take smaller ones"
            )
    return {name: quantities[name] for name in names} | {"step_size": step_size}


def _scalars(quantities: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quantities that are not one number per client."""
    return {name: value for name, value in quantities.items() if not isinstance(value, list)}


def heterogeneity_of(bound: Bound) -> list[str]:
    """Return the quantities by which the bound limits heterogeneity: those that ``heterogeneity`` of a point fills."""
    return [q.name for q in bound.quantities if q.name in HETEROGENEITY]


def adapted(bound: Bound, point: GridPoint) -> GridPoint:
    """Return the point with the numbers of clients and local steps that the bound's assumptions fix."""
    if point.cohort and (reason := why_no_cohort(bound)):
        raise WorstCaseError(f"{bound.name} takes no cohort: {reason}")
    fixed = {name: value for name, value in demands(bound).plan.items() if name != "cohort"}
    return replace(point, **fixed)


def problem_at(bound: Bound, point: GridPoint) -> WorstCaseProblem:
    """Return the problem for the worst case over all federations that the bound covers at a point."""
    if reason := obstacle(bound, WORST):
        raise WorstCaseError(
            f"{bound.name} has no exact worst case: {reason}; fedbounds tightness lists those with one"
        )
    if point.step_sizes and not has_several_step_sizes(bound):
        raise WorstCaseError(
            f"{bound.name} has a single step size: step_sizes are for bounds that contain squared_step_sizes only; "
            "give step_share or fixed_step_size"
        )
    point, offset = adapted(bound, point), _offset(bound, point)
    quantities = {**_quantities(point, 0.0), **values(bound, point)}
    conditions = {c.assumption for c in bound.conditions if c.assumption is not None}
    assumed = {"smoothness": quantities["smoothness"]}
    if assumptions.CONVEX in conditions:
        assumed["strong_convexity"] = 0.0
    if assumptions.STRONGLY_CONVEX in conditions:
        assumed["strong_convexity"] = quantities["strong_convexity"]
    if assumptions.GLOBALLY_STRONGLY_CONVEX in conditions:  # the PL inequality; with one client about that client
        assumed["strong_convexity" if point.clients == 1 else "pl_constant"] = quantities["strong_convexity"]
    if assumptions.POLYAK_LOJASIEWICZ in conditions and "strong_convexity" not in assumed:
        assumed["pl_constant"] = quantities["pl_constant"]
    if assumptions.DISSIMILARITY in conditions:
        assumed |= {name: quantities[name] for name in ("dissimilarity_offset", "dissimilarity_factor")}
    names = {q.name for q in bound.quantities}
    if names & {"initial_loss", "current_loss"}:
        names.add("initial_gap")
    if "control_error" in names:  # controls start at zero
        names.add("optimum_dissimilarity")
    limited = names - {"pl_constant", bound.target.name}
    assumed |= {name: quantities[name] for name in LIMITS if name in limited}
    _check_convex(bound, assumed, "strong_convexity" in names)
    members = 1 if demands(bound).identical else point.cohort or point.clients  # identical clients make the same steps
    plan = Setting(point.rounds, members, local_steps=point.local_steps, step_size=quantities["step_size"])
    setting = replace(plan, step_offset=offset)
    statistic = bound.statistic or Statistic("last", "rounds")
    statistic = replace(statistic, weights=schedules.weights(statistic, quantities))
    algorithm = method(bound.about, data=False, relaxation=point.relaxation)
    sizes, clients = point.step_sizes or None, point.clients if point.cohort else None
    return WorstCaseProblem(
        algorithm, setting, assumed, bound.target.name, statistic, step_sizes=sizes, clients=clients
    )


def has_several_step_sizes(bound: Bound) -> bool:
    """Return whether every local step may have its own step size, because the bound has no single one."""
    names = {q.name for q in bound.quantities}
    single = names & {*schedules.KNOBS} or schedules.prescribed(bound) or schedules.harmonic(bound)
    return not single and all(c.assumption is not assumptions.FIXED_STEP_SIZE for c in bound.conditions)


def why_no_cohort(bound: Bound) -> str:
    """Return why the bound has no worst case with a drawn cohort; empty if it has one."""
    if all(c.assumption is not assumptions.SAMPLED_WITHOUT_REPLACEMENT for c in bound.conditions):
        return "it does not assume that participants are drawn uniformly without replacement"
    statistic = bound.statistic or Statistic("last", "rounds")
    metric, per = metric_series(bound.target.name, statistic)
    if metric not in MODEL_METRICS or per == ITERATION:
        return f"it is on {metric}, {statistic}; with a cohort it must be on {', '.join(MODEL_METRICS)}, over rounds"
    return ""


def _check_convex(bound: Bound, assumed: Mapping[str, float], has_curvature: bool) -> None:
    """Raise ``WorstCaseError`` if a bound contains a minimiser or curvature but does not assume convexity."""
    if "strong_convexity" in assumed:
        return
    names = [name for name in assumed if name in LIMITS and LIMITS[name].convex]
    if has_curvature and "pl_constant" not in assumed:
        names.append("strong_convexity")
    if (ORIGINS[bound.target.name].of or bound.target.name) == "distance_sq":
        names.append(bound.target.name)
    if names:
        raise WorstCaseError(
            f"{bound.name} contains {names[0]}, which only convex losses have: one of its conditions must be "
            'Condition.assume(ASSUMPTIONS["strongly_convex"]) or Condition.assume(ASSUMPTIONS["convex"])'
        )


def unused_quantities(bound: Bound, point: GridPoint, names: Iterable[str]) -> list[str]:
    """Return the quantities of a point, among ``names``, that change neither the bound nor the worst case there."""
    current = problem_at(bound, point), values(bound, point)

    def unused(name: str) -> bool:
        if name == "step_sizes":
            return not has_several_step_sizes(bound)
        if name == "cohort":
            return bool(why_no_cohort(bound))
        value = getattr(point, name)
        other: Any = value + 1 if isinstance(value, int) else 1.01 * value or TINY
        changed = replace(point, **{name: other})
        try:
            return (problem_at(bound, changed), values(bound, changed)) == current
        except BoundsError:
            return False

    return [name for name in names if unused(name)]
