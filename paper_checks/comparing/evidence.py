"""Evidence for the rows of a comparison: values of the same quantity, by the same statistic, in runs.

Two kinds are about the federation itself: exact moments of its quadratic surrogate, and training by the plan. The third
is exact moments of other federations, of quadratics that satisfy a row's premises; it shows how loose a theorem can be.
Their clients are of two types in one dimension, with curvatures within [mu, L], the given gap at the start, and noise
and heterogeneity as large as allowed. A true bound is not below the value of any such federation that it covers, which
is checked row by row; the largest value is shown. Exact worst cases are in ``worst_evidence``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from bounds.bounded_quantity import AFTER, BoundedQuantity, full_participation
from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError
from bounds.identities import KNOBS, SCAFFOLD
from bounds.one_machine import NAME as MACHINE
from bounds.places import LOCAL, SERVER, VIRTUAL
from bounds.scenario import Scenario
from bounds.scenario_values import QUANTITIES, Role, role_of
from bounds.substituting import pairs
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged, EmpiricsError
from empirics.exact import Averaging, AveragingRun, exact_run, Moments
from empirics.problems.problem import FederatedProblem
from empirics.problems.quadratics import Quadratics
from empirics.progress import Progress
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from ..runs.origins import ITERATION, ROUND, STATE
from ..runs.readings import of_problem
from ..runs.statistics import entries_of, FOLDS, statistic_of
from .goal import not_fedavg, server_goes_beyond
from .rows import Evidence, EvidenceKind, EvidenceSet, Row, ServerReadings
from .surrogate import LARGE, surrogate_runs

Array = np.ndarray[Any, Any]
GAP = "optimality_gap"
PLACES = {(SERVER, "rounds"): STATE, (LOCAL, "rounds"): STATE, (VIRTUAL, "iterations"): ITERATION,
          (VIRTUAL, AFTER): ROUND}  # fmt: skip
"""Whether a series is over states, rounds or iterations, by the model and the time of a bounded quantity."""
CLOSE = 1 + 1e-9
MOST_CLIENTS, MOST_WORK, MOST_ROUNDS = 1000, 2e7, 2e5
"""Limits of an instance: clients; local steps times clients times rounds; rounds."""
MOST_RELAXED = 2000
"""Limit on clients times rounds for a method with state per client, which is run client by client."""
NEARLY_FLAT = 1e-4
"""The smallest curvature, as a multiple of L, if strong convexity is not given."""


def value_in_run(quantity: BoundedQuantity, run: Moments) -> float | None:
    """The value of a bounded quantity in a run of exact expectations; None if the run does not have it."""
    if (quantity.at, quantity.over) not in PLACES or not is_single_number(quantity):
        return None
    per = PLACES[quantity.at, quantity.over]
    try:
        read = np.asarray(run.server[quantity.target] if per == STATE else run.iterations(quantity.target))
    except KeyError:
        return None
    read = read[1:] if per == ROUND else read  # the value after every step, as for rounds
    return float(statistic_of(read, quantity.statistic, per))


def is_single_number(quantity: BoundedQuantity) -> bool:
    """Whether a bounded quantity is one number of a run, without weights."""
    return quantity.statistic in FOLDS and quantity.statistic != "every" and not quantity.weights


def has_no_reading(quantity: BoundedQuantity, scenario: Scenario) -> bool:
    """Whether runs of the scenario do not have a value at these models.

    A run continues from the server's model, which is the average of all clients only with full participation.
    """
    return quantity.over == AFTER and not full_participation(scenario)


def at_server(quantity: BoundedQuantity) -> BoundedQuantity | None:
    """The same minimum at the server's models; by conversion C4 it is at least the minimum over iterations."""
    if (quantity.statistic, quantity.over, quantity.at) != ("min", "iterations", VIRTUAL):
        return None
    return replace(quantity, over="rounds", at=SERVER)


def _server_readings(label: str, target: str, read: Callable[[str, str], tuple[float, float] | None]) -> ServerReadings:
    """The target at the server model by three statistics, and the last gap."""
    least, mean, last = (read(target, statistic) for statistic in ("min", "mean", "last"))
    return ServerReadings(label, least, mean, last, read(GAP, "last"))


def surrogate_evidence(scenario: Scenario, target: str, problem: FederatedProblem, batch: int) -> EvidenceSet:
    """Exact moments of the quadratic surrogate by the scenario's plan; it is another federation, so it proves nothing.

    For a large model only values at the server are computed.
    """
    try:
        plan = setting(scenario, batch)
        averaging = surrogate_runs(problem, plan.cohort, batch, plan.sampling)
    except EmpiricsError as error:
        return EvidenceSet(EvidenceKind.SURROGATE, remarks=(f"surrogate: none, {error}",))
    if problem.clients * averaging.problem.dim**3 <= LARGE:
        run = averaging.run(plan.steps, plan.step_size, plan.rounds)
    else:
        read = averaging.readings(plan.steps, np.array([plan.step_size]), plan.rounds)
        run = AveragingRun({word: x[:, 0] for word, x in read.items()}, {}, {})

    def of(row: Row) -> Evidence | None:
        at = at_server(row.quantity)
        for quantity, via in ((row.quantity, ""), (at, "C4")) if not has_no_reading(row.quantity, scenario) else ():
            if quantity is not None and (value := value_in_run(quantity, run)) is not None:
                what = "second-order models of the clients at the minimiser"
                return Evidence(value, what, via=via, upper=bool(via))
        return None

    def server(word: str, statistic: str) -> tuple[float, float] | None:
        value = value_in_run(BoundedQuantity(word, statistic, "rounds", SERVER, "", ""), run)
        return None if value is None else (value, 0.0)

    return EvidenceSet(EvidenceKind.SURROGATE, of, _server_readings("quadratic surrogate, exact", target, server))


def training_evidence(
    scenario: Scenario, target: str, problem: FederatedProblem, batch: int, seeds: int, bar: Progress
) -> EvidenceSet:
    """Train by the scenario's plan with ``seeds`` seeds (two or more, for a standard error)."""
    plan = setting(scenario, batch, problem.client_weight)
    bar.start(seeds * plan.rounds)
    runs = [_trained(problem, plan, seed, target, bar) for seed in range(seeds)]

    def read(word: str, statistic: str) -> tuple[float, float] | None:
        return estimated(np.stack([run[word] for run in runs]), statistic, STATE) if word in runs[0] else None

    def of(row: Row) -> Evidence | None:
        at = at_server(row.quantity)
        via, quantity = "C4" if at is not None else "", at or row.quantity
        known = (quantity.over, quantity.at) == ("rounds", SERVER) and is_single_number(quantity)
        estimate = read(quantity.target, quantity.statistic) if known else None
        return None if estimate is None else Evidence(estimate[0], "training", estimate[1], seeds, via, bool(via))

    return EvidenceSet(EvidenceKind.MEASURED, of, _server_readings(f"measured, {seeds} seeds", target, read))


def estimated(values: Array, statistic: str, per: str) -> tuple[float, float]:
    """Mean and standard error over seeds of a statistic of values ``(seeds, times)``.

    A minimum over a run is the minimum of the mean over seeds; the mean of the seeds' minima would be smaller.
    """
    entries = entries_of(values.T, statistic, per)
    by_seed = entries[int(np.argmin(entries.mean(1)))] if statistic == "min" else entries.mean(0)
    return float(by_seed.mean()), float(by_seed.std(ddof=1) / len(by_seed) ** 0.5)


def setting(scenario: Scenario, batch: int, client_weight: str = "uniform") -> Setting:
    """The scenario's plan for training; raises if quantities are missing or the algorithm is not FedAvg."""
    needed = ("rounds", "cohort", "local_steps", "step_size")
    if lacking := [word for word in needed if word not in scenario]:
        raise MissingQuantityError(f"a run needs {', '.join(f'{word}=NUMBER' for word in lacking)}")
    if why := not_fedavg(scenario):
        raise EmpiricsError(why)
    length, cohort, local_steps, step_size = (float(scenario[word].value) for word in needed)
    if length != int(length) or length > 10**6:
        raise EmpiricsError(f"too many rounds to simulate: {length:g}")
    return Setting(int(length), int(cohort), batch=batch, local_steps=int(local_steps), step_size=step_size,
                   sampling=scenario.sampling, client_weight=client_weight)  # fmt: skip


def _trained(problem: FederatedProblem, plan: Setting, seed: int, target: str, bar: Progress) -> dict[str, Array]:
    """Squared gradient, gap and squared distance at every server model of a run; infinite after it diverged."""
    bar.doing(f"training, seed {seed}")
    models: list[torch.Tensor] = []
    try:
        for state in rounds(problem.model, problem.federation, fedavg, plan, seed):
            models.append(state.model.double().clone())
            if state.round:
                bar.step()
    except Diverged:
        pass
    stack = torch.stack(models)
    gaps = np.full(len(stack), math.nan)
    for i in range(len(stack)) if target == GAP else [-1]:
        gaps[i] = problem.loss(stack[i]) - problem.optimal_loss
    read = {
        "grad_norm_sq": (problem.gradients(stack) ** 2).sum(-1).double().numpy(),
        "distance_sq": ((stack - problem.minimiser) ** 2).sum(-1).numpy(),
        GAP: gaps,
    }
    return {word: np.concatenate([x, np.full(plan.rounds + 1 - len(x), math.inf)]) for word, x in read.items()}


def with_constants(scenario: Scenario, problem: FederatedProblem, batch: int) -> Scenario:
    """The scenario with the constants of the problem if it has none; raises if the numbers of clients differ."""
    clients = scenario.get("clients")
    if clients is not None and clients.value != problem.clients:
        raise BoundsError(f"the problem has {problem.clients} clients, but the constants are for {clients.value:g}")
    if "smoothness" in scenario or "initial_gap" in scenario:
        return scenario
    from empirics.measuring.constants import as_json, constants

    computed = Scenario.of(as_json(constants(problem, batch)))
    known = {word: stated for word, stated in computed.items() if stated.support == {word} and word not in scenario}
    return scenario.at(**known)


@dataclass(frozen=True, eq=False)
class Instance:
    """A federation of quadratics, its description, and its exact run by the scenario's plan."""

    problem: Quadratics
    description: str
    run: Moments

    @cached_property
    def values(self) -> dict[str, Any]:
        """The constants of the federation, by quantity."""
        caps = {"grad_cap_sq": float(np.max(self.run.rounds["grad_cap_sq"]))}
        p = self.problem
        start = {"initial_grad_norm_sq": float((p.gradient(p.start) ** 2).sum()), "sample_smoothness": p.smoothness}
        kappa = {"condition_number": p.smoothness / p.strong_convexity}
        return {**of_problem(p), **caps, **start, **kappa, "optimum_dissimilarity": p.optimum_dissimilarity}

    @cached_property
    def machine(self) -> Instance:
        """The same run as SGD on one machine: on the mean loss, with the noise of the mean gradient."""
        p = self.problem
        alone = Quadratics(
            p.curvature[None], p.minimiser[None], noise=np.einsum("k,kij->ij", p.weights**2, p.noise)[None],
            floors=np.array([p.optimal_loss]), start=p.start,
        )  # fmt: skip
        return Instance(alone, self.description, self.run)


def exact_evidence(scenario: Scenario, book: Mapping[str, Bound]) -> EvidenceSet:
    """For each row the largest exact value among the instances that its theorem covers."""
    try:
        instances = list(_instances(scenario))
    except EmpiricsError as error:
        return EvidenceSet(EvidenceKind.EXACT, remarks=(f"exact: none, {error}",))

    def of(row: Row) -> Evidence | None:
        best: Evidence | None = None
        if has_no_reading(row.quantity, scenario):
            return None
        for one in instances:
            value = value_in_run(row.quantity, one.run)
            if value is None or math.isnan(value) or (best is not None and value <= best.value):
                continue
            if covers(row, book[row.bound], one, scenario):
                best = Evidence(value, f"the worst of {len(instances)} instances: {one.description}")
        return best

    return EvidenceSet(EvidenceKind.EXACT, of)


def covers(row: Row, bound: Bound, one: Instance, scenario: Scenario) -> bool:
    """Whether the row's theorem, with the row's values, covers an instance.

    The constants of the instance must be on the admissible side of the row's. Quantities that define a problem, such as
    the gap at the start, are those of the instance, and with them the bound must not exceed the row.
    """
    if MACHINE in row.conversions and scenario.machine is not None:
        one, scenario = one.machine, scenario.machine[0]
    theirs: dict[str, Any] = {}
    for word, stated in row.values.items():
        if word not in QUANTITIES:  # a quantity of a user's bound cannot be checked
            continue
        role = role_of(word)
        mine: Any = one.values.get(bound.word_of(word), one.values.get(word))
        if role == Role.OUTCOME or (role in (Role.UP, Role.DOWN, Role.DEFINED) and mine is None):
            return False
        if role == Role.UP and not np.all(np.asarray(mine) <= np.asarray(stated) * CLOSE):
            return False
        if role == Role.DOWN and not np.all(np.asarray(mine) * CLOSE >= np.asarray(stated)):
            return False
        if role == Role.DEFINED:
            theirs[word] = np.asarray(mine) if np.ndim(stated) else float(np.max(mine))
    if any(role_of(word) == Role.PAIR for word in row.values):
        offset, factor = (row.values.get(f"dissimilarity_{word}") for word in ("offset", "factor"))
        if offset is None or factor is None:
            return False
        if one.problem.dissimilarity_offset_for(float(factor)) > float(offset) * CLOSE:
            return False
    facts = scenario.facts[1:]
    if any(c.assumption is not None and c.assumption.holds(one.problem, *facts) is False for c in bound.conditions):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(bound(**{**row.values, **theirs})) * row.factor
    return value <= row.high * CLOSE  # false for NaN: conditions not met


def _instances(scenario: Scenario) -> Iterator[Instance]:
    words = ("clients", "cohort", "local_steps", "rounds", "step_size", "smoothness")
    lacking = [word for word in words if word not in scenario]
    if lacking or not {"initial_gap", "initial_distance_sq"} & scenario.keys():
        raise EmpiricsError(f"it needs {', '.join(lacking) or 'initial_gap'}")
    clients, cohort, steps, rounds = (int(scenario[word].value) for word in words[:4])
    step_size = float(scenario["step_size"].value)
    if clients > MOST_CLIENTS or clients * steps * rounds > MOST_WORK or rounds > MOST_ROUNDS:
        raise EmpiricsError(f"{clients} clients, {rounds} rounds of {steps} steps are too many")
    if "client_weight" in scenario and np.ptp(np.asarray(scenario["client_weight"].value)) > 1e-12:
        raise EmpiricsError("the clients weigh differently")
    if why := server_goes_beyond(scenario):
        raise EmpiricsError(why)
    relaxed = [knob for _, knob, off in KNOBS if scenario[knob].value != off]
    stateful = [*relaxed, *([SCAFFOLD] if scenario.base == SCAFFOLD else [])]
    if stateful and (stateful not in (["relaxation"], [SCAFFOLD]) or clients * rounds > MOST_RELAXED):
        raise EmpiricsError(f"runs of {scenario.method} this long take too much time")
    plan = Setting(rounds, cohort, local_steps=steps, step_size=step_size, sampling=scenario.sampling)
    for problem, description in _federations(scenario, clients, 1 / (step_size * steps * rounds), few=bool(stateful)):
        if stateful:
            method = algorithm(f"fedinit(beta={float(scenario['relaxation'].value)!r})" if relaxed else "scaffold()")
            yield Instance(problem, description, exact_run(problem, method, plan))
        else:
            run = Averaging(problem, cohort, scenario.sampling).run(steps, step_size, rounds)
            yield Instance(problem, description, run)


def _federations(scenario: Scenario, clients: int, slow: float, few: bool) -> Iterator[tuple[Quadratics, str]]:
    """Federations with two types of clients: curvatures on a grid; gradients at the minimiser, and noise, 0 or maximal.

    ``slow`` is the curvature at which the plan covers about a third of the distance. ``few``: use a smaller grid, and
    the same noise for all clients.
    """
    top = float(np.max(scenario["smoothness"].safe))
    least = float(scenario["strong_convexity"].safe) if "strong_convexity" in scenario else NEARLY_FLAT * top
    inside = np.clip([least, slow, (least * top) ** 0.5, top / 4, top], least, top)
    grid = [least, top] if few else sorted({float(a) for a in inside})
    first = (clients + 1) // 2
    noise = np.zeros(clients)
    words = [word for word in ("client_gradient_variance", "gradient_variance") if word in scenario]
    if words and not scenario[words[0]].only_estimated:
        stated = np.broadcast_to(np.asarray(scenario[words[0]].safe, dtype=float), (clients,))
        noise = np.full(clients, stated.min()) if few else np.array(stated)
    optimal = float(scenario["optimal_loss"].value) if "optimal_loss" in scenario else 0.0
    for low, high in ((low, high) for i, low in enumerate(grid) for high in grid[i:]):
        curves = np.where(np.arange(clients) < first, low, high)
        if "initial_gap" in scenario:
            start = math.sqrt(2 * float(scenario["initial_gap"].value) / curves.mean())
        else:
            start = math.sqrt(float(scenario["initial_distance_sq"].value))
        most = _largest_gradient(scenario, low, high, first, clients)
        for pull in dict.fromkeys((0.0, most, -most) if high > low else (0.0, most)):
            gradients = np.where(np.arange(clients) < first, pull, -pull * first / max(clients - first, 1))
            kind = f"curvature {low:.3g}" if low == high else f"curvatures {low:.3g} and {high:.3g}"
            apart = f"gradients at the minimiser {pull:+.2g} and {gradients[-1]:+.2g}" if pull else "one minimum"
            for variance in (noise, np.zeros(clients)) if noise.any() else (noise,):
                problem = Quadratics(  # the minimiser is 0; ``pull`` is the first type's gradient there
                    curves[:, None, None], (-gradients / curves)[:, None], noise=variance[:, None, None],
                    start=np.array([start]), floors=np.full(clients, optimal - np.mean(gradients**2 / curves) / 2),
                )  # fmt: skip
                yield problem, f"{kind}, {apart}, {'noise as given' if variance.any() else 'no noise'}"


def _largest_gradient(scenario: Scenario, low: float, high: float, first: int, clients: int) -> float:
    """The largest gradient of the first type at the minimiser that the given heterogeneity allows."""
    if first == clients:
        return 0.0
    share = first / clients
    ratio = share / (1 - share)
    square = share + (1 - share) * ratio**2  # of the clients' gradients, in units of the first type's squared
    limits = []
    if "optimum_dissimilarity" in scenario:
        limits.append(float(scenario["optimum_dissimilarity"].value) / square)
    elif known := pairs(scenario):
        limits.append(max(pair.offset for pair in known) / square)
    if "heterogeneity" in scenario:
        of_gap = share / (2 * low) + (1 - share) * ratio**2 / (2 * high)
        limits.append(float(scenario["heterogeneity"].value) / of_gap)
    return math.sqrt(min(limits)) if limits else 0.0
