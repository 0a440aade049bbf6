"""Values to compare rows with: the same quantity by the same statistic, in a run.

Here are those of the federation itself: exact moments of its quadratic surrogate, and training by this plan. Exact
numbers of other federations are in ``exact_evidence`` and ``worst_evidence``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from bounds.classes import AFTER, ClassOf, everyone
from bounds.errors import BoundsError, MissingQuantityError
from bounds.places import LOCAL, SERVER, VIRTUAL
from bounds.scenario import Scenario
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged, EmpiricsError
from empirics.exact import AveragingRun, Moments
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from ..runs.statistics import counted, folded, FOLDS
from ..runs.words import ITERATION, ROUND, STATE
from .goal import not_fedavg
from .rows import Evidence, Found, MEASURED, Row, ServerReadings, SURROGATE
from .surrogate import LARGE, surrogate_runs

Array = np.ndarray[Any, Any]
GAP = "optimality_gap"
PLACES = {(SERVER, "rounds"): STATE, (LOCAL, "rounds"): STATE, (VIRTUAL, "iterations"): ITERATION,
          (VIRTUAL, AFTER): ROUND}  # fmt: skip
"""Per what a run has a value, by the model and the time of a reading."""


# ---- the number of a bounded quantity in a run ----


def number(kind: ClassOf, run: Moments) -> float | None:
    """The value of this kind in a run of exact expectations; None where there is none."""
    if (kind.at, kind.over) not in PLACES or not plain(kind):
        return None
    per = PLACES[kind.at, kind.over]
    try:
        read = np.asarray(run.server[kind.target] if per == STATE else run.iterations(kind.target))
    except KeyError:
        return None
    read = read[1:] if per == ROUND else read  # after every step there is one that counts, as after every round
    return float(folded(read, kind.statistic, per))


def plain(kind: ClassOf) -> bool:
    """Whether it is one number of a run without weights."""
    return kind.statistic in FOLDS and kind.statistic != "every" and not kind.weights


def unread(kind: ClassOf, scenario: Scenario) -> bool:
    """Whether runs of the scenario have no reading at these models.

    A run continues from the server's model, which is the average of all clients only where all take part.
    """
    return kind.over == AFTER and not everyone(scenario)


def at_server(kind: ClassOf) -> ClassOf | None:
    """The same at the server's models, which by C4 is at least the minimum at the average of all clients."""
    if (kind.statistic, kind.over, kind.at) != ("min", "iterations", VIRTUAL):
        return None
    return replace(kind, over="rounds", at=SERVER)


def _server_readings(label: str, target: str, read: Callable[[str, str], tuple[float, float] | None]) -> ServerReadings:
    """The target by three statistics and the last gap, of the server model."""
    least, mean, last = (read(target, statistic) for statistic in ("min", "mean", "last"))
    return ServerReadings(label, least, mean, last, read(GAP, "last"))


# ---- the quadratic surrogate ----


def of_surrogate(scenario: Scenario, target: str, problem: FederatedProblem, batch: int) -> Found:
    """Exact moments of the surrogate by this plan; it is another federation, so it proves nothing.

    For a large model only readings at the server are computed.
    """
    try:
        plan = setting(scenario, batch)
        averaging = surrogate_runs(problem, plan.cohort, batch, plan.sampling)
    except EmpiricsError as error:
        return Found(SURROGATE, remarks=(f"surrogate: none, {error}",))
    if problem.clients * averaging.problem.dim**3 <= LARGE:
        run = averaging.run(plan.steps, plan.step_size, plan.rounds)
    else:
        read = averaging.readings(plan.steps, np.array([plan.step_size]), plan.rounds)
        run = AveragingRun({word: x[:, 0] for word, x in read.items()}, {}, {})

    def of(row: Row) -> Evidence | None:
        at = at_server(row.kind)
        for kind, via in ((row.kind, ""), (at, "C4")) if not unread(row.kind, scenario) else ():
            if kind is not None and (value := number(kind, run)) is not None:
                what = "second-order models of the clients at the minimiser"
                return Evidence(value, what, via=via, upper=bool(via))
        return None

    def server(word: str, statistic: str) -> tuple[float, float] | None:
        value = number(ClassOf(word, statistic, "rounds", SERVER, "", ""), run)
        return None if value is None else (value, 0.0)

    return Found(SURROGATE, of, _server_readings("quadratic surrogate, exact", target, server))


# ---- training ----


def measured(
    scenario: Scenario, target: str, problem: FederatedProblem, batch: int, seeds: int, bar: Progress
) -> Found:
    """Train by this plan with so many seeds; a standard error needs at least two."""
    if seeds < 2:
        raise BoundsError(f"a standard error needs at least 2 seeds to measure with; got {seeds}")
    plan = setting(scenario, batch, problem.client_weight)
    bar.start(seeds * plan.rounds)
    runs = [_trained(problem, plan, seed, target, bar) for seed in range(seeds)]

    def read(word: str, statistic: str) -> tuple[float, float] | None:
        return estimated(np.stack([run[word] for run in runs]), statistic, STATE) if word in runs[0] else None

    def of(row: Row) -> Evidence | None:
        at = at_server(row.kind)
        via, kind = "C4" if at is not None else "", at or row.kind
        known = (kind.over, kind.at) == ("rounds", SERVER) and plain(kind)
        found = read(kind.target, kind.statistic) if known else None
        return None if found is None else Evidence(found[0], "training", found[1], seeds, via, bool(via))

    return Found(MEASURED, of, _server_readings(f"measured, {seeds} seeds", target, read))


def estimated(values: Array, statistic: str, per: str) -> tuple[float, float]:
    """Mean and standard error over seeds of readings ``(seeds, times)``.

    The minimum over a run is that of the mean over seeds: the mean of the minima of the seeds is below it.
    """
    read = counted(values.T, statistic, per)
    one = read[int(np.argmin(read.mean(1)))] if statistic == "min" else read.mean(0)
    return float(one.mean()), float(one.std(ddof=1) / len(one) ** 0.5)


def setting(scenario: Scenario, batch: int, client_weight: str = "uniform") -> Setting:
    """The scenario's plan for training; refused where quantities are missing or the method is not FedAvg."""
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
    """Squared gradient, gap and squared distance at every server model of one run; infinite from where it diverged."""
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


# ---- constants ----


def completed(scenario: Scenario, problem: FederatedProblem, batch: int) -> Scenario:
    """The scenario with the constants of the problem where it has none; refused where the clients differ in number."""
    clients = scenario.get("clients")
    if clients is not None and clients.value != problem.clients:
        raise BoundsError(
            f"the problem has {problem.clients} clients and the constants {clients.value:g}: these are two federations"
        )
    if "smoothness" in scenario or "initial_gap" in scenario:
        return scenario
    from empirics.measuring.constants import as_json, constants

    found = Scenario.of(as_json(constants(problem, batch)))
    known = {word: stated for word, stated in found.items() if stated.support == {word} and word not in scenario}
    return scenario.at(**known)
