"""The federation itself beside the rows: exact moments of its quadratic twin, and training at this plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from .compare_rows import Beside, Evidence, MEASURED, Row, TWIN
from .evidence import beside, estimated, Found, GAP, no_fedavg, number, plain, unread
from .twin import runs, WALKS

Array = np.ndarray[Any, Any]


def of_twin(scenario: Scenario, target: str, problem: FederatedProblem, batch: int) -> Found:
    """Exact moments of the twin at this plan; it starts from another gradient, and proves nothing.

    Of a large model the server's readings alone are computed.
    """
    try:
        plan = setting(scenario, batch)
        averaging = runs(problem, plan.cohort, batch, plan.sampling)
    except EmpiricsError as error:
        return Found(TWIN, lambda row: None, remarks=(f"twin: none, {error}",))
    if problem.clients * averaging.problem.dim**3 <= WALKS:
        run = averaging.run(plan.steps, plan.step_size, plan.rounds)
    else:
        read = averaging.readings(plan.steps, np.array([plan.step_size]), plan.rounds)
        run = AveragingRun({word: x[:, 0] for word, x in read.items()}, {}, {})

    def of(row: Row) -> Evidence | None:
        what = "second-order models of the clients at the minimiser"
        if unread(row.kind, scenario):
            return None
        if (value := number(row.kind, run)) is not None:
            return Evidence(value, what)
        at = at_server(row.kind)
        value = None if at is None else number(at, run)
        return None if value is None else Evidence(value, what, via="C4", above=True)

    return Found(TWIN, of, beside("quadratic twin, exact", target, run))


def at_server(kind: ClassOf) -> ClassOf | None:
    """The class at the server's models whose number is at least that of this one at the average of all clients: C4."""
    if (kind.statistic, kind.over, kind.at) != ("min", "iterations", VIRTUAL):
        return None
    return replace(kind, over="rounds", at=SERVER)


# ---- training ----


@dataclass(frozen=True, eq=False)
class Trained:
    """Moments at the server models of seeds ``(seeds, rounds + 1)``, by word."""

    server: Mapping[str, Array]

    @property
    def seeds(self) -> int:
        return len(self.server[GAP])

    def of(self, target: str, statistic: str) -> tuple[float, float] | None:
        if target not in self.server:
            return None
        return estimated(self.server[target], statistic, STATE)


def measured(
    scenario: Scenario, target: str, problem: FederatedProblem, batch: int, seeds: int, bar: Progress
) -> Found:
    """Train with so many seeds at this plan; refused with fewer than two, which have no standard error."""
    if seeds < 2:
        raise BoundsError(f"a standard error needs at least 2 seeds to measure with; got {seeds}")
    plan = setting(scenario, batch, problem.client_weight)
    bar.start(seeds * plan.rounds)
    found = [_trained(problem, plan, seed, target, bar) for seed in range(seeds)]
    trained = Trained({word: np.stack([one[word] for one in found]) for word in found[0]})

    def of(row: Row) -> Evidence | None:
        at = at_server(row.kind)
        via = "C4" if at is not None else ""
        at = at or row.kind
        read = (at.over, at.at) == ("rounds", SERVER) and plain(at)
        told = trained.of(at.target, at.statistic) if read else None
        return None if told is None else Evidence(told[0], "training", told[1], seeds, via, bool(via))

    least, mean, last = (trained.of(target, kind) for kind in ("min", "mean", "last"))
    line = Beside(f"measured, {seeds} seeds", least, mean, last, trained.of(GAP, "last"))
    return Found(MEASURED, of, line)


def setting(scenario: Scenario, batch: int, client_weight: str = "uniform") -> Setting:
    """The scenario's plan as training takes it; refused where words are missing or the method is another one."""
    needed = ("rounds", "cohort", "local_steps", "step_size")
    if lacking := [word for word in needed if word not in scenario]:
        raise MissingQuantityError(f"a run needs {', '.join(f'{word}=NUMBER' for word in lacking)}")
    if why := no_fedavg(scenario):
        raise EmpiricsError(why)
    if scenario["rounds"].value != int(scenario["rounds"].value) or scenario["rounds"].value > 10**6:
        raise EmpiricsError(f"nobody waits for {scenario['rounds'].value:g} rounds")
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
