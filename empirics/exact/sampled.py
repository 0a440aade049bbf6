"""Trains quadratics with real sampling and reads the quantities whose expectations the exact engine computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from torch import Tensor

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm, Work
from ..federation.federation import Minibatches, Source
from ..models.model import Batch, Trainable
from ..problems.quadratics import QuadraticFederation, QuadraticModel, Quadratics
from ..training.engines.stacked import descend
from ..training.rounds import draw_cohort, rounds
from ..training.setting import Setting

Array = np.ndarray[Any, Any]


class _RecordingBatches:
    """Minibatches that append a copy of the local models to ``path`` whenever a step begins."""

    def __init__(self, batches: Minibatches, models: Tensor, path: list[Array]) -> None:
        self.batches, self.models, self.path = batches, models, path

    def at(self, active: int, step: int) -> Batch:
        self.path.append(self.models.numpy().copy())
        return self.batches.at(active, step)

    def part(self, rows: slice) -> _RecordingBatches:
        return _RecordingBatches(self.batches.part(rows), self.models[rows], self.path)


@dataclass(eq=False)
class Tracing:
    """An engine that runs the stacked local loop and records the local models before, between and after the steps.

    For methods that train locally twice a round it records the first time. Call ``forget`` between rounds.
    """

    path: list[Array] = field(default_factory=list)

    def forget(self) -> None:
        self.path = []

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        batches = federation.draw(work.seed, work.state.round, work.clients, work.steps, setting.batch)
        ends, path = work.starts.clone(), list[Array]()
        first = descend(model, algorithm, setting, work, ends, _RecordingBatches(batches, ends, path))
        self.path = self.path or [*path, ends.numpy().copy()]
        return ends, first

    @property
    def models(self) -> Array:
        """The local models ``(rows, steps + 1, dim)`` of the last round."""
        return np.stack(self.path, axis=1)


@dataclass(frozen=True, eq=False)
class SampledRun:
    """One run with one seed: quantities per server model, per round, and per local step at the average of all clients.

    ``along[name]`` has an array per round, with an entry per step. If absent clients do not train, quantities that
    need all clients (drift, averages of all) are NaN.
    """

    server: Mapping[str, Array]
    rounds: Mapping[str, Array]
    along: Mapping[str, Sequence[Array]]
    problem: Quadratics | None = None
    averages: Sequence[Array] = ()

    def iterations(self, name: str) -> Array:
        """A quantity before every local step of the run, and at the last server model."""
        return np.append(np.concatenate(self.along[name]), self.server[name][-1])

    def average_gap(self, weights: Weights | None = None) -> Array:
        """The loss gap at the mean of the averages before every local step; NaN if absent clients do not train."""
        assert self.problem is not None
        averages = np.concatenate(self.averages)
        mean = np.array((weights or Weights()).shares(len(averages))) @ averages
        return np.asarray(self.problem.loss(mean) - self.problem.optimal_loss)

    def first(self, end: int) -> SampledRun:
        """The first ``end`` rounds."""
        server = {name: x[: end + 1] for name, x in self.server.items()}
        along = {name: x[:end] for name, x in self.along.items()}
        rounds = {name: x[:end] for name, x in self.rounds.items()}
        return SampledRun(server, rounds, along, self.problem, self.averages[:end])


def sampled(problem: Quadratics, method: Algorithm, setting: Setting, seed: int) -> SampledRun:
    """Train once; return squared gradient norm and distance, loss gap, divergence and local drift."""
    tracing = Tracing()
    source = QuadraticFederation(problem)
    models, ends, drift = [problem.start], [np.tile(problem.start, (problem.clients, 1))], list[Any]()
    along: dict[str, list[Array]] = {"grad_norm_sq": [], "distance_sq": [], "optimality_gap": []}
    averages: list[Array] = []
    for state in rounds(QuadraticModel(problem), source, method, setting, seed, tracing):
        if not state.round:
            continue
        path = tracing.models
        last = ends[-1].copy()
        last[_trained(method, setting, source, seed, state.round - 1)] = path[:, -1]
        drift.append(((path[:, :-1] - models[-1]) ** 2).sum((1, 2)).mean() if method.everyone else np.nan)
        average = np.einsum("i,ikd->kd", problem.weights, path[:, :-1]) if method.everyone else path[0, :-1] * np.nan
        along["grad_norm_sq"].append((problem.gradient(average) ** 2).sum(-1))
        along["distance_sq"].append(((average - problem.minimiser) ** 2).sum(-1))
        along["optimality_gap"].append(problem.loss(average) - problem.optimal_loss)
        averages.append(average)
        models.append(state.model.numpy().copy())
        ends.append(last)
        tracing.forget()
    server = np.stack(models)
    readings = {
        "grad_norm_sq": (problem.gradient(server) ** 2).sum(-1),
        "distance_sq": ((server - problem.minimiser) ** 2).sum(-1),
        "optimality_gap": problem.loss(server) - problem.optimal_loss,
        "divergence": ((np.stack(ends) - server[:, None]) ** 2).sum(-1).mean(-1),
    }
    return SampledRun(readings, {"local_drift": np.array(drift)}, along, problem, averages)


def _trained(method: Algorithm, setting: Setting, federation: Source, seed: int, round_: int) -> Array:
    """The clients that trained in a round."""
    return np.arange(federation.clients) if method.everyone else draw_cohort(setting, federation, seed, round_)[0]
