"""Stability of training: pairs of runs with equal start, cohorts and batches, on data that differ in some samples."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems.problem import FederatedProblem
from ..streams import stream
from ..training.rounds import rounds
from ..training.setting import Setting
from ..training.statistics import first_statistic
from .core import Exactness, Measurement, of_population, Readings, Snapshot
from .record import Recorder
from .table import Row

PAIRS = 12
"""The number of samples that are replaced, one at a time, to estimate the mean over all samples."""


class Swap(NamedTuple):
    """Samples of a client to replace: their indices among the client's samples, new inputs and new targets."""

    client: int
    places: np.ndarray
    inputs: Tensor
    targets: Tensor


class Pairs(NamedTuple):
    """Differences of every pair of runs after every round ``(pairs, rounds)``.

    ``separations``: the distance of the clients' last local models, mean over clients.
    ``changes``: the mean loss on the new samples of the server model, minus that of the server model trained on them.
    """

    separations: np.ndarray
    changes: np.ndarray


def paired_runs(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, swaps: Sequence[Swap]
) -> Pairs:
    """Train on the data and, for every swap, on the data with its samples replaced; return the differences."""
    base = _trained(problem, algorithm, setting, seed)
    separations, changes = [], []
    for swap in swaps:
        size = problem.client_sizes[swap.client]
        if swap.places.min() < 0 or swap.places.max() >= size:
            raise EmpiricsError(f"client {swap.client} has samples 0 to {size - 1}; got {swap.places}")
        other = _trained(problem.replacing(*swap), algorithm, setting, seed)
        pairs = list(zip(base, other, strict=True))
        separations.append([float((a - b).norm(dim=-1).mean()) for (_, a), (_, b) in pairs])
        changes.append([_loss(problem, a, swap) - _loss(problem, b, swap) for (a, _), (b, _) in pairs])
    return Pairs(np.array(separations), np.array(changes))


def swaps(problem: FederatedProblem, seed: int, pairs: int) -> list[Swap]:
    """Random samples of random clients, each replaced by a new sample of the client's population or test samples."""
    result = []
    for pair in range(pairs):
        rng = stream(seed, "swap", client=pair)
        client = int(rng.integers(problem.clients))
        result.append(_new_samples(problem, client, rng.integers(problem.client_sizes[client], size=1), rng))
    return result


def client_swaps(problem: FederatedProblem, seed: int) -> list[Swap]:
    """For every client, all of its samples replaced by new ones."""
    streams = [stream(seed, "swap of all samples", client=client) for client in range(problem.clients)]
    return [_new_samples(problem, k, np.arange(size), streams[k]) for k, size in enumerate(problem.client_sizes)]


def _new_samples(problem: FederatedProblem, client: int, places: np.ndarray, rng: np.random.Generator) -> Swap:
    """The samples of a client at ``places``, replaced by new ones."""
    if problem.population is not None:
        shares = problem.population.shares[client].cpu().numpy()
        new = rng.choice(len(shares), p=shares, size=len(places))
        return Swap(client, places, problem.population.inputs[new], problem.population.targets[new])
    if problem.local_test is None:
        raise EmpiricsError(f"stability of {problem} needs a population or test samples of every client")
    test, first = problem.local_test, int(problem.local_test.offsets[client])
    index = test.members[first + rng.integers(test.client_sizes[client], size=len(places))]
    return Swap(client, places, test.inputs[index], test.targets[index])


def _loss(problem: FederatedProblem, model: Tensor, swap: Swap) -> float:
    """The mean loss of a model on the new samples."""
    losses = problem.model.evaluate(model.unsqueeze(0), swap.inputs.unsqueeze(0), swap.targets.unsqueeze(0))[0]
    return float(losses.double().mean())


def _trained(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int
) -> list[tuple[Tensor, Tensor]]:
    """The server model and the clients' last local models after every round."""
    recorder, models = Recorder(), []
    for state in rounds(problem.model, problem.federation, algorithm, setting, seed, watch=recorder.round):
        if state.round == 0:
            recorder.last = state.model.expand(problem.clients, -1).clone()
            continue
        assert recorder.last is not None
        weights = recorder.last[:, : first_statistic(problem.model)]
        models.append((state.model.clone(), weights.clone()))
    return models


# ---- as quantities of a run ----


def _needs_pairs(s: Snapshot) -> Readings:
    raise EmpiricsError("stability compares pairs of runs; it cannot be measured on a single run")


PAIRED = {
    name: Measurement(name, _needs_pairs, of_population, local=True, by_client=name == "swap_gap")
    for name in ("stability", "separation", "swap_gap")
}
"""The quantities of pairs of runs by name, as means over pairs.

``stability`` is the mean change of the loss at a new sample when it replaces another: at most the uniform stability,
and at least the expected generalization gap. ``swap_gap`` replaces all samples of a client.
"""


def pair_rows(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, words: Collection[str]
) -> list[Row]:
    """Return the rows of these quantities (names in ``PAIRED``) after every round of the run with this seed."""
    series: dict[tuple[str, int | None], np.ndarray] = {}
    if {"stability", "separation"} & {*words}:
        pairs = paired_runs(problem, algorithm, setting, seed, swaps(problem, seed, PAIRS))
        series = {("stability", None): np.abs(pairs.changes).mean(0), ("separation", None): pairs.separations.mean(0)}
    if "swap_gap" in words:
        changes = paired_runs(problem, algorithm, setting, seed, client_swaps(problem, seed)).changes
        series |= {("swap_gap", client): values for client, values in enumerate(changes)}
    name = (str(problem), algorithm.name, seed)
    return [
        Row(*name, round_, None, client, "", word, float(value), str(Exactness.SAMPLED))
        for (word, client), values in series.items()
        for round_, value in enumerate(values, 1)
    ]
