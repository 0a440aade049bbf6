"""Uniform stability, by paired runs on data sets that differ in one sample and share start, cohorts and batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from ..algorithms.algorithm import Algorithm
from ..errors import EmpiricsError
from ..problems import evaluation
from ..problems.problem import FederatedProblem
from ..streams import stream
from ..training.rounds import rounds
from ..training.setting import Setting
from .record import Recorder


class Swap(NamedTuple):
    """Which sample is replaced by which: client, its place among the client's samples, the new input and target."""

    client: int
    place: int
    inputs: Tensor
    target: Tensor


@dataclass(frozen=True, eq=False)
class Stability:
    """Of every pair of runs, after every round: how far apart models are and how much losses changed.

    ``separations (pairs, rounds)``: distance of the clients' last local models, mean over clients.
    ``changes (pairs, rounds, points)``: absolute change of the loss of the server model at every point.
    """

    separations: np.ndarray
    changes: np.ndarray

    @property
    def separation(self) -> np.ndarray:
        """Mean over the pairs, round by round: SAMPLED."""
        return np.asarray(self.separations.mean(0))

    @property
    def stability(self) -> np.ndarray:
        """The largest change of a point's loss in the mean over the pairs, round by round.

        SAMPLED over the pairs; where the points are not the whole population the largest is a lower estimate.
        """
        return np.asarray(self.changes.mean(0).max(-1))


def paired(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, swaps: Sequence[Swap]
) -> Stability:
    """Train on the data and, for every swap, on the data with that one sample replaced."""
    if not swaps:
        raise EmpiricsError("stability needs at least one swapped sample")
    points = _points(problem)
    base = _trained(problem, algorithm, setting, seed, points)
    separations, changes = [], []
    for swap in swaps:
        size = problem.client_sizes[swap.client]
        if not 0 <= swap.place < size:
            raise EmpiricsError(f"client {swap.client} has samples 0 to {size - 1}; got {swap.place}")
        twin = _trained(problem.replacing(*swap), algorithm, setting, seed, points)
        pairs = list(zip(base, twin, strict=True))
        separations.append([float((a.last - b.last).norm(dim=-1).mean()) for a, b in pairs])
        changes.append([(a.losses - b.losses).abs().cpu().numpy() for a, b in pairs])
    return Stability(np.array(separations), np.array(changes))


def swaps(problem: FederatedProblem, seed: int, pairs: int) -> list[Swap]:
    """Random samples of random clients, replaced by a fresh draw of the client's: population or own test sample."""
    if pairs < 1:
        raise EmpiricsError(f"pairs must be >= 1; got {pairs}")
    found = []
    for pair in range(pairs):
        draws = stream(seed, "swap", client=pair)
        client = int(draws.integers(problem.clients))
        place = int(draws.integers(problem.client_sizes[client]))
        if problem.population is not None:
            shares = problem.population.shares[client].cpu().numpy()
            new = int(draws.choice(len(shares), p=shares))
            found.append(Swap(client, place, problem.population.inputs[new], problem.population.targets[new]))
        elif problem.local_test is not None:
            test, first = problem.local_test, int(problem.local_test.offsets[client])
            new = int(test.members[first + int(draws.integers(test.client_sizes[client]))])
            found.append(Swap(client, place, test.inputs[new], test.targets[new]))
        else:
            raise EmpiricsError(f"stability of {problem} needs a population or test samples of every client")
    return found


class _Moment(NamedTuple):
    last: Tensor
    losses: Tensor


def _points(problem: FederatedProblem) -> Any:
    """Where losses are compared: every point of the population, else the test samples."""
    if problem.population is not None:
        return problem.population.inputs.unsqueeze(0), problem.population.targets.unsqueeze(0)
    if problem.tests is None:
        raise EmpiricsError(f"stability of {problem} needs a population or test samples")
    return problem.tests


def _trained(
    problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, points: Any
) -> list[_Moment]:
    """Last local models and losses at the points after every round."""
    recorder, moments = Recorder(), []
    for state in rounds(problem.model, problem.federation, algorithm, setting, seed, watch=recorder.round):
        if state.round == 0:
            recorder.last = state.model.expand(problem.clients, -1).clone()
            continue
        if isinstance(points, evaluation.Samples):
            losses = evaluation.per_sample(problem.model, state.model, points)[0]
        else:
            losses = problem.model.evaluate(state.model.unsqueeze(0), *points)[0][0]
        assert recorder.last is not None
        weights = recorder.last[:, : getattr(problem.model, "trained", None)]
        moments.append(_Moment(weights.clone(), losses.double()))  # they are rewritten in place
    return moments


__all__ = ["Stability", "Swap", "paired", "swaps"]
