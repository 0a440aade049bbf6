"""Evidence from the federation itself: exact moments of its quadratic surrogate, and training by this plan."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from bounds.classes import ClassOf
from bounds.errors import BoundsError, MissingQuantityError
from bounds.places import SERVER, VIRTUAL
from bounds.scenario import Scenario
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged, EmpiricsError
from empirics.exact import AveragingRun
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

from ..runs.words import STATE
from .evidence import estimated, Found, GAP, number, plain, server_readings, unread
from .goal import not_fedavg
from .rows import Evidence, MEASURED, Row, ServerReadings, SURROGATE
from .surrogate import LARGE, surrogate_runs

Array = np.ndarray[Any, Any]


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
    what = "second-order models of the clients at the minimiser"

    def of(row: Row) -> Evidence | None:
        if unread(row.kind, scenario):
            return None
        if (value := number(row.kind, run)) is not None:
            return Evidence(value, what)
        at = at_server(row.kind)
        value = None if at is None else number(at, run)
        return None if value is None else Evidence(value, what, via="C4", upper=True)

    return Found(SURROGATE, of, server_readings("quadratic surrogate, exact", target, run))


def at_server(kind: ClassOf) -> ClassOf | None:
    """The same at the server's models, which by C4 is at least the minimum at the average of all clients."""
    if (kind.statistic, kind.over, kind.at) != ("min", "iterations", VIRTUAL):
        return None
    return replace(kind, over="rounds", at=SERVER)


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
    server = {word: np.stack([run[word] for run in runs]) for word in runs[0]}

    def read(word: str, statistic: str) -> tuple[float, float] | None:
        return estimated(server[word], statistic, STATE) if word in server else None

    def of(row: Row) -> Evidence | None:
        at = at_server(row.kind)
        via = "C4" if at is not None else ""
        at = at or row.kind
        found = read(at.target, at.statistic) if (at.over, at.at) == ("rounds", SERVER) and plain(at) else None
        return None if found is None else Evidence(found[0], "training", found[1], seeds, via, bool(via))

    least, mean, last = (read(target, statistic) for statistic in ("min", "mean", "last"))
    return Found(MEASURED, of, ServerReadings(f"measured, {seeds} seeds", least, mean, last, read(GAP, "last")))


def setting(scenario: Scenario, batch: int, client_weight: str = "uniform") -> Setting:
    """The scenario's plan for training; refused where quantities are missing or the method is not FedAvg."""
    needed = ("rounds", "cohort", "local_steps", "step_size")
    if lacking := [word for word in needed if word not in scenario]:
        raise MissingQuantityError(f"a run needs {', '.join(f'{word}=NUMBER' for word in lacking)}")
    if why := not_fedavg(scenario):
        raise EmpiricsError(why)
    if scenario["rounds"].value != int(scenario["rounds"].value) or scenario["rounds"].value > 10**6:
        raise EmpiricsError(f"too many rounds to simulate: {scenario['rounds'].value:g}")
    return Setting(
        rounds=int(scenario["rounds"].value),
        cohort=int(scenario["cohort"].value),
        batch=batch,
        local_steps=int(scenario["local_steps"].value),
        step_size=float(scenario["step_size"].value),
        sampling=scenario.sampling,
        client_weight=client_weight,
    )


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
    gaps = [stack[-1]] if target != GAP else stack
    read = {
        "grad_norm_sq": (problem.gradients(stack) ** 2).sum(-1).double().numpy(),
        "distance_sq": ((stack - problem.minimiser) ** 2).sum(-1).numpy(),
        GAP: np.array([problem.loss(w) - problem.optimal_loss for w in gaps]),
    }
    read[GAP] = np.concatenate([np.full(len(stack) - len(gaps), math.nan), read[GAP]])
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
