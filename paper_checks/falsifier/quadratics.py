"""The family ``quadratics``: local SGD or SCAFFOLD on quadratic losses, with exact moments over noise and cohorts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.algorithms.algorithm import Algorithm, fedavg
from empirics.algorithms.relaxed import fedinit, RelaxedStart
from empirics.errors import EmpiricsError
from empirics.exact import Clients, DIGITS, draw, FLOATS, FRACTIONS, Readings, Run
from empirics.exact.coefficients import first_round
from empirics.exact.moments import ALL, ENDS, LAST_ROUND as LAST, MEAN
from empirics.problems.quadratics import Quadratics

from ..falsify_options import FAMILIES
from ..runs import readings, schedules
from ..runs.methods import demands, keeps_state, knob, method as named
from ..runs.origins import AVERAGE, ENDS as ENDS_OF_STEPS, on_local_iterations, ORIGINS
from . import deciding, quadratic_tables as tables
from .box import Box, Parameter
from .client_groups import counts, kinds as kinds_of, of_groups
from .core import Instance, Point
from .exact import decimal, Exactly, RATIONAL, WORKING
from .family import Played
from .numbers import misfit
from .quadratic_tables import constants, exact_clients

KINDS, DIM = 4, 2
MAX_CLIENTS = 10**6
"""Limit on the clients; the cost of a run does not depend on their number."""
LISTED = 3 * 10**4
"""Number of local models up to which all are evaluated; in longer runs, only the few that a statistic needs."""
RATIONAL_STEPS = 60
"""Local steps of all groups and rounds up to which numbers are rational; in longer runs they have 60 digits."""
EXACT_LISTED = 300
"""``LISTED`` in exact numbers."""
LONGEST, LONG, SHORT = 2**40, 2**20, 12
"""Limits on the rounds: if a run needs one number; if it may store more than models (such as control variates,
whose sums drift by rounding) or is evaluated at a late round; and if every round is evaluated."""
ANYWHERE_START, STATIONARY, AT_MINIMISER = 0, 1, 2
"""The start of a run: at the drawn position, at the distance to which the run converges, or at the minimiser."""
LAST_MODELS = {name for name, word in ORIGINS.items() if {"divergence", "active_divergence"} & {name, word.of}}
"""Quantities that depend on the clients' last local models."""


class QuadraticRuns(Played):
    """Runs of local SGD or SCAFFOLD on quadratic losses, with exact expectations over noise and cohorts."""

    name = "quadratics"
    words = FAMILIES[name]

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        return regime(instance, _sizes(instance))

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        axes = 1 if instance.get("dim") == 1 else 2
        return misfit(instance, tables.NUMBERS, axes) or tables.misweighted(bound, dict(instance))

    def box(self, bound: Bound) -> Box:
        names = _names(bound)
        powers = tuple(2.0**k for k in range(2, 41, 2))
        longest = LONG if keeps_state(bound.about) else LONGEST
        rounds = {
            ANY_LENGTH: Parameter("rounds", 1, longest, log=True, whole=True, special=up_to(longest, 1, 2, *powers)),
            LATE: Parameter("rounds", 1, LONG, log=True, whole=True, special=(1, 2, 3, *powers[:9])),
            EVERY_ROUND: Parameter("rounds", 1, SHORT, log=True, whole=True, special=(1, 2)),
            EVERY_STEP: Parameter("rounds", 1, STEPWISE, log=True, whole=True, special=(1, 2, 3, 10)),
        }[_length(bound)]
        needs = demands(bound)
        most = 1 if needs.one_client else KINDS if needs.average else MAX_CLIENTS
        steps = 1 if needs.one_step else STEPWISE if _length(bound) == EVERY_STEP else 1000
        counts_of_clients = up_to(most, 1, 2, 3, 10, 100, 1000, MAX_CLIENTS)
        parameters = [
            *_cohorts(bound), Parameter("clients", 1, most, log=True, whole=True, special=counts_of_clients),
            Parameter("kinds", 1, KINDS, whole=True, special=(1, 2)), Parameter("lone", 0, 1, whole=True),
            Parameter("dim", 1, DIM, whole=True, special=(1,)),
            Parameter("local_steps", 1, steps, log=True, whole=True, special=up_to(steps, 1, 2, 3, 10, 100, 1000)),
            rounds, Parameter("step_share", 1e-4, 1, log=True, special=(1, 1e-1, 1e-3, 1e-6)),
            Parameter("spread", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("noise", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("start", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("start_at", 0, 0, whole=True, special=(ANYWHERE_START, STATIONARY, AT_MINIMISER)),
        ]  # fmt: skip
        if names & {"optimal_loss", "initial_loss", "current_loss"}:
            parameters.append(Parameter("floor", -1e3, 1e3, special=(0, -1)))
        if "relaxation" in names:
            parameters.append(Parameter("relaxation_share", 0, 1, special=(0, 1, 0.5, 1 - 1e-10)))
        if "contraction" in names:
            parameters.append(Parameter("contraction_share", 1e-9, 1, log=True, special=(1, 0.5, 1e-3, 1e-9)))
        if "dissimilarity_factor" in names:
            parameters.append(Parameter("dissimilarity_excess", 1e-3, 1e2, log=True, special=(0, 1)))
        parameters += [*offsets(bound), *_client_parameters("client_weight" in names)]
        return Box(tuple(parameters), (*derived_parameters(names, MAX_CLIENTS), *SCALES))

    def instance(self, bound: Bound, point: Point) -> Instance:
        clients, dim = int(point["clients"]), int(point["dim"])
        needs = demands(bound)
        kinds = 1 if needs.identical else clients if needs.average else min(int(point["kinds"]), clients)
        cohort = 1 if needs.one_participant else cohort_of(point, clients)
        table: Instance = {
            "clients": clients, "kinds": kinds, "dim": dim, "cohort": cohort,
            "with_replacement": int(point.get("with_replacement", 0)), "local_steps": int(point["local_steps"]),
            "rounds": int(point["rounds"]), "floor": point.get("floor", 0.0),
            **{f"start_{i}": point["start"] * point[f"start_{i}"] for i in range(dim)},
        }  # fmt: skip
        equal = cohort < clients and not table["with_replacement"]  # see ``misweighted``
        for k, count in enumerate(_counts(clients, kinds, bool(point["lone"]))):
            table[f"count_{k}"] = count
            table |= {f"curvature_{k}_{i}": point[f"curvature_{k}_{i}"] for i in range(dim)}
            table |= {f"minimum_{k}_{i}": point["spread"] * point[f"minimum_{k}_{i}"] for i in range(dim)}
            table |= {f"turn_{k}": point[f"turn_{k}"]} if dim == 2 else {}
            table[f"noise_{k}"] = 0.0 if needs.quiet else point["noise"] * point[f"noise_{k}"]
            table[f"weight_{k}"] = 1.0 if equal else point.get(f"weight_{k}", 1.0)
        _scaled(table, point)
        # with equal curvatures, the extremes of a run are at its ends and heterogeneity is the same everywhere
        if needs.parallel or evaluated_states(bound, table) == ENDS:
            table |= {f"curvature_{k}_{i}": table[f"curvature_0_{i}"] for k in range(kinds) for i in range(dim)}
            table |= {name: 0.0 for name in table if name.startswith("turn_")}
        return self._placed(bound, table, point)

    def _placed(self, bound: Bound, table: Instance, point: Point) -> Instance:
        """Return the table with its start, step size and constants at their shares of the largest allowed values."""
        table |= {"step_size": 1e-12, "relaxation": 0.0}
        try:
            problem = tables.problem(table)
        except EmpiricsError:
            return table
        if "dissimilarity_factor" in point:
            table["dissimilarity_factor"] = point["dissimilarity_factor"]
        elif "dissimilarity_factor" in {q.name for q in bound.quantities}:
            smallest = max(problem.smallest_dissimilarity_factor, 1.0)
            table["dissimilarity_factor"] = problem.dissimilarity_factor + point["dissimilarity_excess"] * smallest
        if point["start_at"] == AT_MINIMISER:
            table = _with_start(table, problem, 0.0)
        table = self.inside(bound, table, point, problem)
        if point["start_at"] == STATIONARY:
            table = _with_stationary_start(bound, table, problem)
        return _finite(bound, table, problem) if table["rounds"] > SHORT and table["relaxation"] else table

    def radius(self, bound: Bound, instance: Instance) -> float:
        try:
            constant_steps = {name: value for name, value in instance.items() if name != "step_offset"}
            return _run(bound, constant_steps, clients_of(instance, self.federation(instance))).radius
        except EmpiricsError:
            return float("nan")

    def federation(self, instance: Mapping[str, Any]) -> Quadratics:
        return tables.problem(_from_start(instance))

    def static(
        self, instance: Mapping[str, Any], problem: Quadratics, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        values = readings.of_problem(problem, wanted) | tables.planned(instance)
        from_minimiser = problem.start - problem.minimiser
        gap = float(from_minimiser @ problem.curvature @ from_minimiser) / 2  # accurate, unlike a difference of losses
        values |= readings.of_losses(problem.optimal_loss + gap, problem.optimal_loss)
        values |= {n: np.array(v) for n, v in of_groups(counts(instance), list(problem.weights)).items()}
        if "dissimilarity_factor" in instance:
            factor = values["dissimilarity_factor"] = float(instance["dissimilarity_factor"])
            if wanted is None or "dissimilarity_offset" in wanted:
                values["dissimilarity_offset"] = problem.dissimilarity_offset_for(factor)
        return values

    def run(self, bound: Bound, instance: Instance, problem: Quadratics) -> tuple[Readings, bool]:
        run = _run(bound, instance, clients_of(instance, problem), evaluated_states(bound, instance))
        with np.errstate(all="ignore"):
            return run, run.finite

    def exactly(self, bound: Bound, instance: Instance, late: bool = False) -> Exactly:
        """Return the exact statement; in a long run, try the last round first, which is reached by squaring."""
        instance = _from_start(instance)
        steps = instance["rounds"] * instance["local_steps"] * kinds_of(instance)
        with_memory = sum(min(count, 2) for count in counts(instance)) * needs_memory(bound, instance["relaxation"])
        numbers = instance["dim"] * (1 + with_memory + keeps_state(bound.about))
        rounds_for_map = numbers * (numbers + 3) // 2  # rounds that determine the map of a round
        long = _length(bound) == LATE and steps > EXACT_LISTED and instance["rounds"] > rounds_for_map
        if long and (exact := super().exactly(bound, instance, late=True)).violated:
            return exact
        return super().exactly(bound, instance, late)

    def exact_run(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        drawn = instance["cohort"] if instance["with_replacement"] else 1
        steps = max(kinds_of(instance) * instance["local_steps"] * instance["rounds"], drawn)
        kind = FRACTIONS if steps <= RATIONAL_STEPS else DIGITS
        step_sizes = {n: Fraction(instance[n]) for n in (schedules.FIRST, schedules.OFFSET) if n in instance}
        instance = {**instance, **step_sizes}  # a ratio of integers would be a float
        values = constants(instance)
        if schedules.prescribed(bound):
            instance = {n: x for n, x in instance.items() if n != schedules.OFFSET} | schedules.step_plan(bound, values)
            values = constants(instance)
        if kind is not FRACTIONS:
            values = {name: _in_digits(value) for name, value in values.items()}
        states = LAST if late else evaluated_states(bound, instance, EXACT_LISTED)
        run = _run(bound, instance, exact_clients(instance, kind), states)
        if not run.finite:
            raise ArithmeticError("between the ends of the run its moments may lie anywhere")
        return values, run, RATIONAL if kind is FRACTIONS else f"{WORKING} digits"


def _in_digits(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_digits(each) for each in value]
    return decimal(value) if isinstance(value, Fraction) else value


def _from_start(instance: Mapping[str, Any]) -> Instance:
    """Return the table with positions relative to the start, so that large equal positions cancel exactly."""
    axes = range(instance["dim"])
    moved = {f"minimum_{k}_{i}": instance[f"minimum_{k}_{i}"] - instance[f"start_{i}"]
             for k in range(kinds_of(instance)) for i in axes}  # fmt: skip
    return {**instance, **moved, **{f"start_{i}": 0 for i in axes}}


def regime(instance: Mapping[str, Any], sizes: Mapping[str, float]) -> tuple[str, ...]:
    """Return the regime: participation, local steps, length of the run, and which of ``sizes`` is largest."""
    clients, cohort, steps = instance["clients"], instance["cohort"], instance["local_steps"]
    part = "all clients" if cohort == clients else "a few clients" if 30 * cohort < clients else "part of the clients"
    length = instance["rounds"] * steps * float(instance["step_size"]) * sizes["least curvature"]
    far = "short" if length < 0.1 else "long" if length < 10 else "settled"
    local = "one local step" if steps == 1 else "few local steps" if steps < 30 else "many local steps"
    strong = max(("start", "noise", "disagreement"), key=lambda name: sizes[name])
    return part, local, far, f"{strong} largest" if sizes[strong] else "nothing moves"


def _sizes(instance: Mapping[str, Any]) -> dict[str, float]:
    """Return the sizes of start, noise and disagreement (as gradients), and the smallest curvature."""
    kinds, axes = range(kinds_of(instance)), range(instance["dim"])
    minima = [[float(instance[f"minimum_{k}_{i}"]) for k in kinds] for i in axes]
    middle = [sum(m) / len(m) for m in minima]
    curvatures = [float(instance[f"curvature_{k}_{i}"]) for k in kinds for i in axes]
    return {
        "least curvature": min(curvatures),
        "start": max(abs(float(instance[f"start_{i}"]) - middle[i]) for i in axes) * max(curvatures),
        "noise": max(float(instance[f"noise_{k}"]) for k in kinds) ** 0.5,
        "disagreement": max(max(m) - min(m) for m in minima) * max(curvatures),
    }


# ---- what a bound needs ----

ANY_LENGTH, LATE, EVERY_ROUND = "one number of a run", "a late round", "every round from the first"
EVERY_STEP = "every local step from the first"
STEPWISE = 30
"""Limit on rounds, and on local steps per round, of a run whose every local step is evaluated."""


def _names(bound: Bound) -> set[str]:
    """Return the names of the quantities and the target of a bound."""
    return {q.name for q in bound.quantities} | {bound.target.name}


def _length(bound: Bound) -> str:
    """Return which states of a run a statement needs, which limits the length of runs."""
    kind = bound.statistic.kind if bound.statistic is not None else "every"
    capped = "grad_cap_sq" in _names(bound)
    made = ORIGINS[bound.target.name].how if bound.target.name in ORIGINS else ""
    weighed = bound.statistic is not None and bound.statistic.weights is not None
    if schedules.harmonic(bound) or weighed or made in (ENDS_OF_STEPS, AVERAGE):
        return EVERY_STEP
    if keeps_state(bound.about) and (kind == "min" or not _is_linear(bound)):
        return EVERY_STEP  # if more than models is stored, the extremes need not be at the ends
    if kind == "min" or (kind in ("mean", "last") and not capped):
        return ANY_LENGTH
    return EVERY_ROUND if capped or on_local_iterations(bound) else LATE


@lru_cache(maxsize=256)
def _wanted(bound: Bound) -> frozenset[str]:
    """Return the quantities of a statement and those from which they are computed."""
    names = _names(bound)
    return frozenset(names | {ORIGINS[name].of for name in names if name in ORIGINS})


def remembers(bound: Bound) -> bool:
    """Return whether a bound depends on the clients' last local models."""
    return bool(_names(bound) & {*LAST_MODELS, "relaxation"})


def needs_memory(bound: Bound, beta: Any) -> bool:
    """Return whether a run must store the clients' last local models or other state."""
    return beta != 0 or keeps_state(bound.about) or bool(_names(bound) & LAST_MODELS)


def evaluated_states(bound: Bound, instance: Mapping[str, Any], listed: int = LISTED) -> str:
    """Return which states of a run are evaluated: all, up to ``listed`` local models, or those of the statistic."""
    steps = instance["rounds"] * instance["local_steps"] * kinds_of(instance)
    kind = bound.statistic.kind if bound.statistic is not None else "every"
    if _length(bound) == EVERY_STEP:
        return ALL
    if steps <= (listed if kind in ("mean", "last") else LISTED):
        return ALL
    return {"mean": MEAN, "min": ENDS}.get(kind, LAST)


def clients_of(instance: Mapping[str, Any], problem: Quadratics) -> Clients:
    """Return the clients of an instance in floats, translated so that the minimiser is 0."""
    minimiser = problem.minimiser
    return Clients(
        FLOATS, counts(instance), problem.weights, problem.curvatures, problem.minima - minimiser, problem.noise,
        problem.start - minimiser, 0 * minimiser,
    )  # fmt: skip


@lru_cache
def _relaxed(reading: str) -> Algorithm:
    return fedinit(reading=reading)


def _is_linear(bound: Bound) -> bool:
    """Return whether the method is known to be linear and the same in every round."""
    return not keeps_state(bound.about) or (bound.about is not None and bound.about.algorithm == "scaffold")


def _run(bound: Bound, instance: Mapping[str, Any], clients: Clients, states: str = "") -> Run:
    """Return the run of an instance, in the number type of its clients; ``states`` are those to evaluate."""
    beta, reading = knob(bound.about, "relaxation", instance["relaxation"])
    last = needs_memory(bound, beta)
    if keeps_state(bound.about):
        method, last = named(bound.about, data=False), False
    elif not last:
        method = fedavg
    else:
        method = copy(_relaxed(reading))
        object.__setattr__(method, "start", RelaxedStart(clients.kind.make(beta)))  # avoids checking the hooks again
    plan = tables.setting(instance)
    linear = _is_linear(bound)
    states = states if plan.step_offset is None and linear else ""
    share = clients.weights / clients.counts
    cohorts = draw(plan.sampling, plan.cohort, clients.sizes, share, clients.kind)
    floats = not keeps_state(bound.about) and not clients.kind.exact
    opening = first_round(method, last) if floats else None
    return Run(clients, method, plan, cohorts, None, states, last, linear, opening, _wanted(bound))


def _finite(bound: Bound, table: Instance, problem: Quadratics) -> Instance:
    """Return the table with fewer rounds if its moments would otherwise overflow."""
    growth = np.log(max(_run(bound, table, clients_of(table, problem)).radius, 1.0)) if table["step_size"] > 0 else 0.0
    most = MAX_GROWTH / growth if growth > 0 and np.isfinite(growth) else np.inf
    return {**table, "rounds": max(1, int(min(table["rounds"], most)))}


MAX_GROWTH = 350.0
"""Limit on the logarithm of the growth of moments in a run."""


def _with_stationary_start(bound: Bound, table: Instance, problem: Quadratics) -> Instance:
    """Return the table with its start at the distance from the minimiser to which the run converges."""
    if table["step_size"] <= 0:
        return table
    run = _run(bound, {**table, "relaxation": 0.0}, clients_of(table, problem))
    run = replace(run, algorithm=fedavg, follow_last=False, fixed_round=first_round(fedavg, False))
    if not np.isfinite(run.opening.moment_map.affine[0]).all():
        return table
    distance = max(run.stationary(), 0.0) ** 0.5
    return _with_start(table, problem, distance) if np.isfinite(distance) else table


def _with_start(table: Instance, problem: Quadratics, distance: float) -> Instance:
    """Return the table translated so that the minimiser is zero, with its start at this distance. The minimiser is
    computed from differences of minima, which avoids rounding errors of minima far from zero."""
    differences = problem.minima - problem.minima[0]
    pull = np.einsum("k,kde,ke->d", problem.weights, problem.curvatures, differences)
    minima = differences - np.linalg.solve(problem.curvature, pull)
    moved = {f"minimum_{k}_{i}": float(x) for k, minimum in enumerate(minima) for i, x in enumerate(minimum)}
    return {**table, **moved, **{f"start_{i}": distance if i == 0 else 0.0 for i in range(problem.dim)}}


def cohort_at(share: float, clients: int) -> int:
    """Return the cohort size ``clients ** share``; the shares ``HALF`` and ``ALL_BUT_ONE`` give these sizes."""
    if share > 1:
        return max(1, clients // 2 if share == HALF else clients - 1)
    return min(clients, max(1, round(clients**share)))


def cohort_of(point: Point, clients: int) -> int:
    """Return the fixed cohort size, or that of the point."""
    return int(point["cohort"]) if "cohort" in point else cohort_at(point.get("cohort_share", 1), clients)


def up_to(most: float, *numbers: float) -> tuple[float, ...]:
    """Return the numbers that are at most ``most``."""
    return tuple(number for number in numbers if number <= most)


def offsets(bound: Bound) -> Iterator[Parameter]:
    """Yield the offset of a decreasing step size, if the bound leaves it open."""
    if schedules.harmonic(bound) and schedules.OFFSET not in schedules.prescribed(bound):
        yield Parameter(schedules.OFFSET, 0.1, 1e6, log=True, special=(1, 2, 10))


def derived_parameters(names: Collection[str], clients: int) -> Iterator[Parameter]:
    """Yield the numbers that follow from the parameters unless they are fixed; ``names`` are those of the bound."""
    yield Parameter("cohort", 1, clients, whole=True, at_most="clients")
    yield Parameter("step_size", 1e-15, 1e15)
    ranges = {"relaxation": (0, 0.999), "contraction": (1e-15, 1), "dissimilarity_factor": (1, 1e15)}
    yield from (Parameter(name, *ends) for name, ends in ranges.items() if name in names)
    if "relaxation" not in names:
        yield Parameter("relaxation", 0, 0)


SCALES = (Parameter("smoothness", 1e-9, 1e9), Parameter("gradient_variance", 0, 1e18))
"""Derived numbers that scale the curvature or the noise of all clients."""


def _scaled(table: Instance, point: Point) -> None:
    """Scale the largest curvature and noise to their fixed values, in place."""
    for scale, prefix in (("smoothness", "curvature_"), ("gradient_variance", "noise_")):
        names = [name for name in table if name.startswith(prefix)]
        if scale in point and (largest := max(table[name] for name in names)) > 0:
            table |= {name: table[name] * point[scale] / largest for name in names}
        elif scale in point and point[scale] > 0:
            table |= dict.fromkeys(names, point[scale])


HALF, ALL_BUT_ONE = 2, 3
"""Special values of ``cohort_share``."""


def _counts(clients: int, kinds: int, lone: bool) -> list[int]:
    """Return the number of clients of every group: equal numbers, or with ``lone`` a single client in the first."""
    first = [1] if lone and kinds > 1 else []
    rest, groups = clients - len(first), kinds - len(first)
    return [*first, *(rest // groups + (k < rest % groups) for k in range(groups))]


def _cohorts(bound: Bound) -> Iterator[Parameter]:
    """Yield the parameters of participation that the bound's assumptions leave open."""

    def allowed(cohort: int, sampling: str) -> bool:
        return not deciding.broken_assumptions(bound, None, None, readings.PlanFacts(3, cohort, sampling))

    if any(allowed(2, sampling) for sampling in tables.SAMPLINGS):
        yield Parameter("cohort_share", 0, 1, special=(0, 1, 0.5, HALF, ALL_BUT_ONE))
    some = 1 if demands(bound).one_participant else 2
    if allowed(some, "with_replacement"):
        forced = not allowed(some, "without_replacement")
        yield Parameter("with_replacement", int(forced), 1, whole=True, special=(int(forced),))


def _client_parameters(weighted: bool) -> Iterator[Parameter]:
    """Yield the parameters of client groups, relative to the common sizes."""
    for k in range(KINDS):
        yield from (
            Parameter(f"curvature_{k}_{i}", 1e-7, 1, log=True, special=(1, 0, 0.1, 1e-3, 1e-6)) for i in range(DIM)
        )
        yield from (Parameter(f"minimum_{k}_{i}", -1, 1, special=(0, 1, -1)) for i in range(DIM))
        yield Parameter(f"turn_{k}", -1, 1, special=(0,))
        yield Parameter(f"noise_{k}", 0, 1, special=(0, 1))
        if weighted:
            yield Parameter(f"weight_{k}", 1e-4, 1, log=True, special=(1,))
    yield from (Parameter(f"start_{i}", -1, 1, special=(0, 1)) for i in range(DIM))
