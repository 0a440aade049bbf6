"""Quadratic federations under local SGD: any bound whose words can be read off such a run."""

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

from ...falsify_options import FAMILIES
from ...runs import readings, schedules
from ...runs.methods import demands, keeps_state, knob, method as named
from ...runs.origins import AVERAGE, ENDS as ENDS_OF_STEPS, on_local_iterations, SOURCES
from .. import deciding
from ..box import Box, Parameter
from ..core import Instance, Point
from ..exact import decimal, Exactly, RATIONAL, WORKING
from ..kinds import counts, kinds as kinds_of, of_kinds
from ..numbers import misfit
from . import instance as tables
from .constants import constants, exact_clients
from .played import Played

KINDS, DIM = 4, 2
MOST = 10**6
"""Clients: a run of any number costs the same."""
LISTED = 3 * 10**4
"""Local models of a run that are evaluated one by one; of a longer one, a statistic's own few moments."""
RATIONAL_STEPS = 60
"""Local steps of all kinds and rounds up to which numbers stay rational; beyond, 60 digits are carried."""
PLAYED = 300
"""The same in exact numbers, where a round takes long."""
LONGEST, LONG, SHORT = 2**40, 2**20, 12
"""Rounds of a run of which one number is needed, of one that keeps sums which rounding moves (controls add up to the
server's), or is evaluated late, and of one in which every round counts."""
ANYHOW, SETTLES, BEST = 0, 1, 2
"""Where a run starts: wherever the vector of shares says, at the distance to which it converges, or at the
minimiser."""
PLANNED = ("cohort", "local_steps", "rounds", "step_size", "relaxation")
LAST_MODELS = {name for name, word in SOURCES.items() if {"divergence", "active_divergence"} & {name, word.of}}
"""What the clients' last local models tell, and all that is made of it."""


class QuadraticRuns(Played):
    """Runs of local SGD or SCAFFOLD on quadratic clients, with exact expectations over noise and cohorts."""

    name = "quadratics"
    words = FAMILIES[name]

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        return regime(instance, _sizes(instance))

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        axes = 1 if instance.get("dim") == 1 else 2
        return misfit(instance, tables.NUMBERS, axes) or tables.misweighted(bound, dict(instance))

    def box(self, bound: Bound) -> Box:
        words = {q.name for q in bound.quantities} | {bound.target.name}
        powers = tuple(2.0**k for k in range(2, 41, 2))
        longest = LONG if keeps_state(bound.about) else LONGEST
        rounds = {
            FOLDED: Parameter("rounds", 1, longest, log=True, whole=True, special=up_to(longest, 1, 2, *powers)),
            ANYWHERE: Parameter("rounds", 1, LONG, log=True, whole=True, special=(1, 2, 3, *powers[:9])),
            EVERYWHERE: Parameter("rounds", 1, SHORT, log=True, whole=True, special=(1, 2)),
            STEP_BY_STEP: Parameter("rounds", 1, FOLLOWED, log=True, whole=True, special=(1, 2, 3, 10)),
        }[_length(bound)]
        asked = demands(bound)
        most = 1 if asked.one_client else KINDS if asked.average else MOST
        steps = 1 if asked.one_step else FOLLOWED if _length(bound) == STEP_BY_STEP else 1000
        found = [
            *_cohorts(bound),
            Parameter("clients", 1, most, log=True, whole=True, special=up_to(most, 1, 2, 3, 10, 100, 1000, MOST)),
            Parameter("kinds", 1, KINDS, whole=True, special=(1, 2)),
            Parameter("lone", 0, 1, whole=True),
            Parameter("dim", 1, DIM, whole=True, special=(1,)),
            Parameter("local_steps", 1, steps, log=True, whole=True, special=up_to(steps, 1, 2, 3, 10, 100, 1000)),
            rounds,
            Parameter("step_share", 1e-4, 1, log=True, special=(1, 1e-1, 1e-3, 1e-6)),
            Parameter("spread", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("noise", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("start", 1e-4, 1e4, log=True, special=(0, 1, 1e9)),
            Parameter("start_at", ANYHOW, ANYHOW, whole=True, special=(ANYHOW, SETTLES, BEST)),
        ]
        if "optimal_loss" in words or "initial_loss" in words or "current_loss" in words:
            found.append(Parameter("floor", -1e3, 1e3, special=(0, -1)))
        if "relaxation" in words:
            found.append(Parameter("relaxation_share", 0, 1, special=(0, 1, 0.5, 1 - 1e-10)))
        if "contraction" in words:
            found.append(Parameter("contraction_share", 1e-9, 1, log=True, special=(1, 0.5, 1e-3, 1e-9)))
        if "dissimilarity_factor" in words:
            found.append(Parameter("dissimilarity_excess", 1e-3, 1e2, log=True, special=(0, 1)))
        found += offsets(bound)
        return Box((*found, *_of_clients("client_weight" in words)), (*held_words(words, MOST), *SCALES))

    def instance(self, bound: Bound, point: Point) -> Instance:
        clients, dim = int(point["clients"]), int(point["dim"])
        asked = demands(bound)
        kinds = 1 if asked.identical else clients if asked.average else min(int(point["kinds"]), clients)
        cohort = 1 if asked.one_participant else cohort_of(point, clients)
        table: Instance = {
            "clients": clients,
            "kinds": kinds,
            "dim": dim,
            "cohort": cohort,
            "with_replacement": int(point.get("with_replacement", 0)),
            "local_steps": int(point["local_steps"]),
            "rounds": int(point["rounds"]),
            "floor": point.get("floor", 0.0),
            **{f"start_{i}": point["start"] * point[f"start_{i}"] for i in range(dim)},
        }
        equal = cohort < clients and not table["with_replacement"]  # else the average would be of another loss
        for k, count in enumerate(_counts(clients, kinds, bool(point["lone"]))):
            table[f"count_{k}"] = count
            table |= {f"curvature_{k}_{i}": point[f"curvature_{k}_{i}"] for i in range(dim)}
            table |= {f"minimum_{k}_{i}": point["spread"] * point[f"minimum_{k}_{i}"] for i in range(dim)}
            table |= {f"turn_{k}": point[f"turn_{k}"]} if dim == 2 else {}
            table[f"noise_{k}"] = 0.0 if asked.quiet else point["noise"] * point[f"noise_{k}"]
            table[f"weight_{k}"] = 1.0 if equal else point.get(f"weight_{k}", 1.0)
        _scaled(table, point)
        # Where all bend alike along the axes, a run's ends are its extremes, and gradients differ alike everywhere.
        if asked.parallel or looked(bound, table) == ENDS:
            table |= {f"curvature_{k}_{i}": table[f"curvature_0_{i}"] for k in range(kinds) for i in range(dim)}
            table |= {name: 0.0 for name in table if name.startswith("turn_")}
        return self._placed(bound, table, point)

    def _placed(self, bound: Bound, table: Instance, point: Point) -> Instance:
        """The table with step size, relaxation and proof constants at their shares of the largest admissible ones."""
        table |= {"step_size": 1e-12, "relaxation": 0.0}
        try:
            problem = tables.problem(table)
        except EmpiricsError:
            return table
        words = {q.name for q in bound.quantities}
        if "dissimilarity_factor" in point:
            table["dissimilarity_factor"] = point["dissimilarity_factor"]
        elif "dissimilarity_factor" in words:
            smallest = max(problem.smallest_dissimilarity_factor, 1.0)
            table["dissimilarity_factor"] = problem.dissimilarity_factor + point["dissimilarity_excess"] * smallest
        table = _started(table, problem, 0.0) if point["start_at"] == BEST else table
        table = self.inside(bound, table, point, problem)
        table = _settled(bound, table, problem) if point["start_at"] == SETTLES else table
        return _finite(bound, table, problem) if table["rounds"] > SHORT and table["relaxation"] else table

    def impossible(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        if instance["step_size"] <= 0 or instance.get("contraction", 1) <= 0:
            return "no step size is small enough for the conditions"
        return tables.misweighted(bound, dict(instance))

    def radius(self, bound: Bound, instance: Instance) -> float:
        try:
            steady = {name: value for name, value in instance.items() if name != "step_offset"}
            return _run(bound, steady, clients_of(instance, self.federation(instance))).radius
        except EmpiricsError:
            return float("nan")

    def federation(self, instance: Mapping[str, Any]) -> Quadratics:
        return tables.problem(_from_start(instance))

    def plan(self, instance: Mapping[str, Any], problem: Quadratics) -> readings.PlanFacts:
        return replace(readings.setting_facts(problem, tables.setting(dict(instance))), clients=instance["clients"])

    def static(
        self, instance: Mapping[str, Any], problem: Quadratics, wanted: Collection[str] | None = None
    ) -> dict[str, Any]:
        plan = {name: instance[name] for name in PLANNED}
        known = readings.of_problem(problem, wanted)
        known |= readings.of_plan(**plan, step_offset=instance.get("step_offset"))
        away = problem.start - problem.minimiser  # a difference of two large losses may come out negative
        known |= readings.of_losses(
            problem.optimal_loss + float(away @ problem.curvature @ away) / 2, problem.optimal_loss
        )
        known |= {n: np.array(v) for n, v in of_kinds(counts(instance), list(problem.weights)).items()}
        if "contraction" in instance:
            known["contraction"] = instance["contraction"]
        if "dissimilarity_factor" in instance:
            factor = known["dissimilarity_factor"] = float(instance["dissimilarity_factor"])
            if wanted is None or "dissimilarity_offset" in wanted:
                known["dissimilarity_offset"] = problem.dissimilarity_offset_for(factor)
        return known

    def run(self, bound: Bound, instance: Instance, problem: Quadratics) -> tuple[Readings, bool]:
        run = _run(bound, instance, clients_of(instance, problem), looked(bound, instance))
        with np.errstate(all="ignore"):
            return run, run.finite

    def exactly(self, bound: Bound, instance: Instance, late: bool = False) -> Exactly:
        """Of many rounds in which the statement is made the last one first, which is reached by squaring."""
        instance = _from_start(instance)
        steps = instance["rounds"] * instance["local_steps"] * kinds_of(instance)
        people = sum(min(count, 2) for count in counts(instance)) * needs_memory(bound, instance["relaxation"])
        numbers = instance["dim"] * (1 + people + keeps_state(bound.about))
        plays = numbers * (numbers + 3) // 2  # of a round, at most, by which its map is known
        far = _length(bound) == ANYWHERE and steps > PLAYED and instance["rounds"] > plays
        if far and (found := super().exactly(bound, instance, late=True)).violated:
            return found
        return super().exactly(bound, instance, late)

    def again(
        self, bound: Bound, instance: Mapping[str, Any], late: bool = False
    ) -> tuple[dict[str, Any], Readings, str]:
        drawn = instance["cohort"] if instance["with_replacement"] else 1
        steps = max(kinds_of(instance) * instance["local_steps"] * instance["rounds"], drawn)
        kind = FRACTIONS if steps <= RATIONAL_STEPS else DIGITS
        plan = {name: Fraction(instance[name]) for name in (schedules.FIRST, schedules.OFFSET) if name in instance}
        known = constants(instance, **plan)
        if schedules.prescribed(bound):
            plan = schedules.step_plan(bound, known)
            known = constants(instance, **plan)
        known = known if kind is FRACTIONS else {name: _in_digits(value) for name, value in known.items()}
        planned = {**{name: value for name, value in instance.items() if name != schedules.OFFSET}, **plan}
        run = _run(bound, planned, exact_clients(instance, kind), LAST if late else looked(bound, instance, PLAYED))
        if not run.finite:
            raise ArithmeticError("between the ends of the run its moments may lie anywhere")
        return known, run, RATIONAL if kind is FRACTIONS else f"{WORKING} digits"


def _in_digits(value: Any) -> Any:
    if isinstance(value, list):
        return [_in_digits(each) for each in value]
    return decimal(value) if isinstance(value, Fraction) else value


def _from_start(instance: Mapping[str, Any]) -> Instance:
    """The table with positions measured from the start: of large ones that are equal, digits would leave what is not
    there."""
    axes = range(instance["dim"])
    moved = {f"minimum_{k}_{i}": instance[f"minimum_{k}_{i}"] - instance[f"start_{i}"]
             for k in range(kinds_of(instance)) for i in axes}  # fmt: skip
    return {**instance, **moved, **{f"start_{i}": 0 for i in axes}}


def regime(instance: Mapping[str, Any], sizes: Mapping[str, float]) -> tuple[str, ...]:
    """Who takes part, how far the run goes, how many local steps, and what of ``sizes`` is largest."""
    clients, cohort, steps = instance["clients"], instance["cohort"], instance["local_steps"]
    part = "all clients" if cohort == clients else "a few clients" if 30 * cohort < clients else "part of the clients"
    way = instance["rounds"] * steps * float(instance["step_size"]) * sizes["least curvature"]
    far = "short" if way < 0.1 else "long" if way < 10 else "settled"
    local = "one local step" if steps == 1 else "few local steps" if steps < 30 else "many local steps"
    strong = max(("start", "noise", "disagreement"), key=lambda name: sizes[name])
    return part, local, far, f"{strong} largest" if sizes[strong] else "nothing moves"


def _sizes(instance: Mapping[str, Any]) -> dict[str, float]:
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


# ---- what a bound asks for ----

FOLDED, ANYWHERE, EVERYWHERE = "one number of a run", "a late round", "every round from the first"
STEP_BY_STEP = "every local step from the first"
FOLLOWED = 30
"""Rounds, and local steps of one, of a run that is followed step by step."""


def _length(bound: Bound) -> str:
    """How long runs may be: what the statement bounds can be had after any number of rounds, late, or early only."""
    words = {q.name for q in bound.quantities} | {bound.target.name}
    kind = bound.statistic.kind if bound.statistic is not None else "every"
    capped = "grad_cap_sq" in words
    made = SOURCES[bound.target.name].how if bound.target.name in SOURCES else ""
    weighed = bound.statistic is not None and bound.statistic.weights is not None
    if schedules.harmonic(bound) or weighed or made in (ENDS_OF_STEPS, AVERAGE):
        return STEP_BY_STEP
    if keeps_state(bound.about) and (kind == "min" or not _known(bound)):
        return STEP_BY_STEP  # nobody shows that the ends are extremes where controls move
    if kind == "min" or (kind in ("mean", "last") and not capped):
        return FOLDED
    return EVERYWHERE if capped or on_local_iterations(bound) else ANYWHERE


@lru_cache(maxsize=256)
def _wanted(bound: Bound) -> frozenset[str]:
    """The words of a statement, and those they are made of."""
    told = {q.name for q in bound.quantities} | {bound.target.name}
    return frozenset(told | {SOURCES[name].of for name in told if name in SOURCES})


def remembers(bound: Bound) -> bool:
    words = {q.name for q in bound.quantities} | {bound.target.name}
    return bool(words & {*LAST_MODELS, "relaxation"})


def needs_memory(bound: Bound, beta: Any) -> bool:
    """Whether a run must keep the clients' last local models, or their controls."""
    return (
        beta != 0
        or keeps_state(bound.about)
        or bool(({q.name for q in bound.quantities} | {bound.target.name}) & LAST_MODELS)
    )


def looked(bound: Bound, instance: Mapping[str, Any], listed: int = LISTED) -> str:
    """Which states of a run are evaluated: all of them, ``listed`` local models at most, or a statistic's own few."""
    steps = instance["rounds"] * instance["local_steps"] * kinds_of(instance)
    kind = bound.statistic.kind if bound.statistic is not None else "every"
    if _length(bound) == STEP_BY_STEP:
        return ALL
    if steps <= (listed if kind in ("mean", "last") else LISTED):
        return ALL
    return {"mean": MEAN, "min": ENDS}.get(kind, LAST)


def clients_of(instance: Mapping[str, Any], problem: Quadratics) -> Clients:
    """The clients of an instance in floats, around the minimiser."""
    best = problem.minimiser
    return Clients(
        FLOATS, counts(instance), problem.weights, problem.curvatures, problem.minima - best, problem.noise,
        problem.start - best, 0 * best,
    )  # fmt: skip


@lru_cache
def _relaxed(reading: str) -> Algorithm:
    return fedinit(reading=reading)


def _known(bound: Bound) -> bool:
    """Whether the method is known to be linear and to do the same in every round."""
    return not keeps_state(bound.about) or (bound.about is not None and bound.about.algorithm == "scaffold")


def _run(bound: Bound, instance: Mapping[str, Any], clients: Clients, looked_at: str = "") -> Run:
    """The run of an instance, in the numbers that its clients have."""
    beta, reading = knob(bound.about, "relaxation", instance["relaxation"])
    last = needs_memory(bound, beta)
    if keeps_state(bound.about):
        method, last = named(bound.about, data=False), False
    elif not last:
        method = fedavg
    else:
        method = copy(_relaxed(reading))
        object.__setattr__(method, "start", RelaxedStart(clients.kind.make(beta)))  # its hooks were checked once
    plan = tables.setting(instance)
    trusted = _known(bound)
    looked_at = looked_at if plan.step_offset is None and trusted else ""
    share = clients.weights / clients.counts
    drawn = draw(plan.sampling, plan.cohort, clients.sizes, share, clients.kind)
    fixed = not keeps_state(bound.about) and not clients.kind.exact
    known = first_round(method, last) if fixed else None
    return Run(clients, method, plan, drawn, None, looked_at, last, trusted, known, _wanted(bound))


def _finite(bound: Bound, table: Instance, problem: Quadratics) -> Instance:
    """The table with as many rounds as leave its moments finite: what grows for ever is evaluated before it is lost."""
    growth = np.log(max(_run(bound, table, clients_of(table, problem)).radius, 1.0)) if table["step_size"] > 0 else 0.0
    most = FAR / growth if growth > 0 and np.isfinite(growth) else np.inf
    return {**table, "rounds": max(1, int(min(table["rounds"], most)))}


FAR = 350.0
"""The logarithm of what moments may grow by."""


def _settled(bound: Bound, table: Instance, problem: Quadratics) -> Instance:
    """The table with its start at the distance from the minimiser to which the run converges."""
    if table["step_size"] <= 0:
        return table
    run = _run(bound, {**table, "relaxation": 0.0}, clients_of(table, problem))
    run = replace(run, algorithm=fedavg, follow_last=False, fixed_round=first_round(fedavg, False))
    if not np.isfinite(run.opening.moment_map.affine[0]).all():
        return table
    away = max(run.stationary(), 0.0) ** 0.5
    return _started(table, problem, away) if np.isfinite(away) else table


def _started(table: Instance, problem: Quadratics, away: float) -> Instance:
    """The table moved so that the minimiser lies at zero, with its start at this distance from there.

    Distances among minima decide where that is: large ones far from zero would leave nothing but their rounding.
    """
    apart = problem.minima - problem.minima[0]
    middle = np.linalg.solve(problem.curvature, np.einsum("k,kde,ke->d", problem.weights, problem.curvatures, apart))
    moved = {f"minimum_{k}_{i}": float(x) for k, place in enumerate(apart - middle) for i, x in enumerate(place)}
    return {**table, **moved, **{f"start_{i}": away if i == 0 else 0.0 for i in range(problem.dim)}}


def cohort_at(share: float, clients: int) -> int:
    """The cohort at a share of the logarithm of the number of clients, or next to one of two edges."""
    if share > 1:
        return max(1, clients // 2 if share == HALF else clients - 1)
    return min(clients, max(1, round(clients**share)))


def cohort_of(point: Point, clients: int) -> int:
    """The cohort that is held, or that of the place."""
    return int(point["cohort"]) if "cohort" in point else cohort_at(point.get("cohort_share", 1), clients)


def up_to(most: float, *numbers: float) -> tuple[float, ...]:
    """Those of the numbers that are no larger."""
    return tuple(number for number in numbers if number <= most)


def offsets(bound: Bound) -> Iterator[Parameter]:
    """The offset of a step size that falls, where the bound leaves it open."""
    if schedules.harmonic(bound) and schedules.OFFSET not in schedules.prescribed(bound):
        yield Parameter(schedules.OFFSET, 0.1, 1e6, log=True, special=(1, 2, 10))


def held_words(words: Collection[str], clients: int) -> Iterator[Parameter]:
    """The words that follow from a place, as far as they have a meaning, unless somebody holds them."""
    yield Parameter("cohort", 1, clients, whole=True, at_most="clients")
    yield Parameter("step_size", 1e-15, 1e15)
    ranges = {"relaxation": (0, 0.999), "contraction": (1e-15, 1), "dissimilarity_factor": (1, 1e15)}
    yield from (Parameter(name, *ends) for name, ends in ranges.items() if name in words)
    if "relaxation" not in words:
        yield Parameter("relaxation", 0, 0)


SCALES = (Parameter("smoothness", 1e-9, 1e9), Parameter("gradient_variance", 0, 1e18))
"""Words that scale a kind of number of all clients."""


def _scaled(table: Instance, point: Point) -> None:
    """Bring the largest curvature and noise to the values at which they are held."""
    for word, prefix in (("smoothness", "curvature_"), ("gradient_variance", "noise_")):
        names = [name for name in table if name.startswith(prefix)]
        if word in point and (top := max(table[name] for name in names)) > 0:
            table |= {name: table[name] * point[word] / top for name in names}
        elif word in point and point[word] > 0:
            table |= dict.fromkeys(names, point[word])


HALF, ALL_BUT_ONE = 2, 3
"""Cohorts that stand beside the shares."""


def _counts(clients: int, kinds: int, lone: bool) -> list[int]:
    """How many clients there are of every kind: as many of each, or a single one of the first."""
    first = [1] if lone and kinds > 1 else []
    left, among = clients - len(first), kinds - len(first)
    return [*first, *(left // among + (k < left % among) for k in range(among))]


def _cohorts(bound: Bound) -> Iterator[Parameter]:
    """How many clients take part and how they are drawn, where the bound's assumptions leave that open."""

    def fine(cohort: int, sampling: str) -> bool:
        return not deciding.assumptions(bound, None, None, readings.PlanFacts(3, cohort, sampling))[0]

    if any(fine(2, sampling) for sampling in tables.SAMPLINGS):
        yield Parameter("cohort_share", 0, 1, special=(0, 1, 0.5, HALF, ALL_BUT_ONE))
    some = 1 if demands(bound).one_participant else 2
    if fine(some, "with_replacement"):
        forced = not fine(some, "without_replacement")
        yield Parameter("with_replacement", int(forced), 1, whole=True, special=(int(forced),))


def _of_clients(weighted: bool) -> Iterator[Parameter]:
    """The parameters of kinds of clients, relative to the common sizes."""
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
