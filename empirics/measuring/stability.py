"""Stability, by paired runs on data sets that differ in some samples and share start, cohorts and batches."""

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
"""Replaced samples in a run, whose mean estimates that over all."""


class Swap(NamedTuple):
    """Which samples of a client are replaced: their places among the client's samples, the new inputs and targets."""

    client: int
    places: np.ndarray
    inputs: Tensor
    targets: Tensor


class Pairs(NamedTuple):
    """Of every pair of runs, after every round ``(pairs, rounds)``: how far apart models are, and what losses change.

    ``separations``: distance of the clients' last local models, mean over clients.
    ``changes``: mean loss of the server model on the new samples, minus that of the model trained on them.
    """

    separations: np.ndarray
    changes: np.ndarray


def paired(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, swaps: Sequence[Swap]
) -> Pairs:
    """Train on the data and, for every swap, on the data with those samples replaced."""
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
    """Random samples of random clients, replaced by a fresh draw of the client's: population or own test sample."""
    found = []
    for pair in range(pairs):
        draws = stream(seed, "swap", client=pair)
        client = int(draws.integers(problem.clients))
        found.append(_fresh(problem, client, draws.integers(problem.client_sizes[client], size=1), draws))
    return found


def every_client(problem: FederatedProblem, seed: int) -> list[Swap]:
    """For every client all of its samples, replaced by as many fresh ones."""
    streams = [stream(seed, "swap of all samples", client=client) for client in range(problem.clients)]
    return [_fresh(problem, k, np.arange(size), streams[k]) for k, size in enumerate(problem.client_sizes)]


def _fresh(problem: FederatedProblem, client: int, places: np.ndarray, draws: np.random.Generator) -> Swap:
    """Further samples of a client in these places."""
    if problem.population is not None:
        shares = problem.population.shares[client].cpu().numpy()
        new = draws.choice(len(shares), p=shares, size=len(places))
        return Swap(client, places, problem.population.inputs[new], problem.population.targets[new])
    if problem.local_test is None:
        raise EmpiricsError(f"stability of {problem} needs a population or test samples of every client")
    test, first = problem.local_test, int(problem.local_test.offsets[client])
    held = test.members[first + draws.integers(test.client_sizes[client], size=len(places))]
    return Swap(client, places, test.inputs[held], test.targets[held])


def _loss(problem: FederatedProblem, model: Tensor, swap: Swap) -> float:
    """The mean loss of a model on the new samples."""
    losses = problem.model.evaluate(model.unsqueeze(0), swap.inputs.unsqueeze(0), swap.targets.unsqueeze(0))[0]
    return float(losses.double().mean())


def _trained(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int
) -> list[tuple[Tensor, Tensor]]:
    """Server model and last local models after every round."""
    recorder, moments = Recorder(), []
    for state in rounds(problem.model, problem.federation, algorithm, setting, seed, watch=recorder.round):
        if state.round == 0:
            recorder.last = state.model.expand(problem.clients, -1).clone()
            continue
        assert recorder.last is not None
        weights = recorder.last[:, : first_statistic(problem.model)]  # of batch norm no statistics
        moments.append((state.model.clone(), weights.clone()))  # they are rewritten in place
    return moments


# ---- as words of a run ----


def _unread(s: Snapshot) -> Readings:
    raise EmpiricsError("stability compares runs: it is not read off a single one")


PAIRED = {
    name: Measurement(name, _unread, of_population, local=True, by_client=name == "swap_gap")
    for name in ("stability", "separation", "swap_gap")
}
"""What pairs of runs say, by word, as means over them.

``stability`` is that on average over the replaced sample and what replaces it, at the new sample: no uniform stability
is smaller, and no expected generalization gap larger. ``swap_gap`` replaces all samples of a client.
"""


def of_pairs(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, words: Collection[str]
) -> list[Row]:
    """The rows of these words after every round of the run of this seed."""
    found: dict[tuple[str, int | None], np.ndarray] = {}
    if {"stability", "separation"} & {*words}:
        pairs = paired(problem, algorithm, setting, seed, swaps(problem, seed, PAIRS))
        found = {("stability", None): np.abs(pairs.changes).mean(0), ("separation", None): pairs.separations.mean(0)}
    if "swap_gap" in words:
        changes = paired(problem, algorithm, setting, seed, every_client(problem, seed)).changes
        found |= {("swap_gap", client): values for client, values in enumerate(changes)}
    name = (str(problem), algorithm.name, seed)
    return [
        Row(*name, round_, None, client, "", word, float(value), str(Exactness.SAMPLED))
        for (word, client), values in found.items()
        for round_, value in enumerate(values, 1)
    ]
