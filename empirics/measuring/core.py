"""What a measurement is: a quantity of the vocabulary, how it is computed from a run, and how exact the number is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm, Work
from ..algorithms.state import State
from ..errors import EmpiricsError
from ..problems import evaluation
from ..problems.evaluation import Means
from ..problems.problem import FederatedProblem
from ..training.setting import Setting


class Exactness(Enum):
    """EXACT: the quantity itself, for this run. SAMPLED: an unbiased estimate of it. PROXY: something near it."""

    EXACT = "exact"
    SAMPLED = "sampled"
    PROXY = "proxy"

    def __str__(self) -> str:
        return self.value


class Reading(NamedTuple):
    """One number: for a client, a layer, after a local step (None or empty where it does not vary over them)."""

    value: float
    client: int | None = None
    layer: str = ""
    step: int | None = None


Readings = Sequence[Reading]
Reader = Callable[["Snapshot"], float | Tensor | Readings]
"""What is read off a snapshot: one number, one for each participant, or readings."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What one moment of a run shows; evaluations are made when asked for and shared by all measurements.

    ``work`` and ``ends`` are those of the round that has just ended (None before the first). For measurements that need
    them, ``path (rows, K, d)`` holds the clients' models before each of their local steps, ``last (clients, d)`` every
    client's model after its last local work (the first model before that), ``averages (d,)`` by weights the means of
    the virtual averages before every local step so far, in float64. ``seconds`` are those of training so far, without
    measuring.
    """

    problem: FederatedProblem
    algorithm: Algorithm
    setting: Setting
    state: State
    work: Work | None = None
    ends: Tensor | None = None
    path: Tensor | None = None
    last: Tensor | None = None
    seconds: float = 0.0
    averages: Mapping[Weights, Tensor] = field(default_factory=dict)

    # ---- the server model ----

    @cached_property
    def train(self) -> Means:
        """The server model on every client's training samples."""
        return evaluation.shared(self.problem.model, self.state.model, self.problem.samples)

    @cached_property
    def test(self) -> Means:
        """The server model on the common test set (one number each)."""
        return evaluation.each(self.problem.model, self.state.model.unsqueeze(0), need_test(self.problem))

    @cached_property
    def risks(self) -> Tensor:
        """Population risk of the server model under every client's distribution, or its estimate.

        With a population: itself. With test samples for every client: their means. Else the common test set.
        """
        problem = self.problem
        if problem.population is not None:
            return problem.population.risks(problem.model, self.state.model.unsqueeze(0))[0]
        if problem.own_tests is not None:
            return evaluation.shared(problem.model, self.state.model, problem.own_tests).loss
        return self.test.loss.expand(problem.clients)

    @cached_property
    def gradient(self) -> Tensor:
        """The gradient of the global training loss at the server model."""
        return self.problem.gradients(self.state.model.unsqueeze(0))[0]

    # ---- the local models ----

    @property
    def active(self) -> np.ndarray:
        """Clients that were averaged in the last round."""
        return self.done.clients[self.averaged.cpu().numpy()]

    @property
    def averaged(self) -> Tensor:
        """Which rows were averaged (all but those that only an algorithm for ``everyone`` trains)."""
        return self.done.counts > 0

    @property
    def done(self) -> Work:
        """The work of the round that has just ended."""
        if self.work is None:
            raise EmpiricsError("before the first round there are no local models to measure")
        return self.work

    @property
    def rows(self) -> Tensor:
        """The models of the active clients after their local work ``(active, dim)``."""
        assert self.ends is not None
        return self.ends[self.averaged]

    @cached_property
    def local_train(self) -> Means:
        """Every active client's own model on its own training samples."""
        return evaluation.own(self.problem.model, self.rows, self.active, self.problem.samples)

    @cached_property
    def local_risks(self) -> Tensor:
        """Population risk of every active client's own model under its own distribution, or its estimate."""
        problem = self.problem
        if problem.population is not None:
            risks = problem.population.risks(problem.model, self.rows)
            return risks[torch.arange(len(self.active)), torch.from_numpy(self.active)]
        if problem.own_tests is not None:
            return evaluation.own(problem.model, self.rows, self.active, problem.own_tests).loss
        return self.local_common.loss

    @cached_property
    def local_common(self) -> Means:
        """Every active client's own model on the common test set."""
        return evaluation.each(self.problem.model, self.rows, need_test(self.problem))


def need_test(problem: FederatedProblem) -> evaluation.Samples:
    if problem.tests is None:
        raise EmpiricsError(f"{problem} has no test samples; give it a test set, local tests or a population")
    return problem.tests


def refuse_untested(problem: FederatedProblem, measurements: Iterable[Measurement]) -> None:
    """Refuse measurements for which this problem holds no test samples, before anything is trained."""
    for m in measurements:
        if m.tests == "own" and problem.own_tests is None:
            raise EmpiricsError(f"{m.name} needs test samples of every client; {problem} has none")
        if m.tests == "any" or (m.tests == "risk" and problem.population is None):
            need_test(problem)


# ---- how exact a number is ----

Grade = Callable[[FederatedProblem, Algorithm, Setting], Exactness]


def exact(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    return Exactness.EXACT


def sampled(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    return Exactness.SAMPLED


def of_population(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact on a pool, sampled by clients' own test samples, a proxy by a test set that is not theirs."""
    if problem.population is not None:
        return Exactness.EXACT
    return Exactness.SAMPLED if problem.own_tests is not None else Exactness.PROXY


def of_minimum(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact where the minimum is known, else zero is used for the smallest loss."""
    return Exactness.EXACT if problem.convex else Exactness.PROXY


def of_everyone(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact when all clients train in every round; else those that train, or their last models, stand for all."""
    everyone = algorithm.everyone or (setting.cohort == problem.clients and setting.sampling == "without_replacement")
    return Exactness.EXACT if everyone else Exactness.PROXY


def least_exact(*grades: Grade) -> Grade:
    """The least exact of several grades."""
    return lambda *run: max((grade(*run) for grade in grades), key=list(Exactness).index)


of_all_minima = least_exact(of_everyone, of_minimum)
of_excess = least_exact(of_population, of_minimum)


@dataclass(frozen=True)
class Measurement:
    """A word of the vocabulary, read off a snapshot; ``name`` is how it is written, ``word`` where it is another.

    The quantity itself is a symbol of SymPy's, which takes longer to load than a short run takes to train.
    ``cost`` counts forward passes over the training samples, where the moments may be chosen. ``local``: it is about
    the round that has ended. ``path``, ``last``: it needs the local steps, every client's last model; ``average``: the
    average of the run's iterates by these weights. ``by_client``: it reads a number of every participant. ``over``
    folds readings into one: their ``"sum"`` or ``"mean"`` over the rounds so far, or the mean over all ``"earlier"``
    states, the start among them and the present one not. Such a measurement is read after every round. ``tests``: it
    needs test samples, ``"any"``, every client's ``"own"``, or some where there is no population (``"risk"``).
    """

    name: str
    read: Reader
    grade: Grade = exact
    word: str = ""
    cost: float = 0.0
    local: bool = False
    path: bool = False
    last: bool = False
    average: Weights | None = None
    by_client: bool = False
    over: str = ""
    tests: str = ""

    def __post_init__(self) -> None:
        if not self.word:
            object.__setattr__(self, "word", self.name)

    def __str__(self) -> str:
        return self.name

    def exactness(self, problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
        return self.grade(problem, algorithm, setting)

    def readings(self, snapshot: Snapshot) -> Readings:
        """What is read off a snapshot, number by number."""
        found = self.read(snapshot)
        if not isinstance(found, (int, float, Tensor)):
            return found
        if not self.by_client:
            return [Reading(float(found))]
        assert isinstance(found, Tensor)
        return [Reading(float(v), client=int(k)) for v, k in zip(found, snapshot.active, strict=True)]


def quantities(measurements: Iterable[Measurement]) -> dict[str, str]:
    """What the numbers of each measurement are called in a run of all of these, by its name.

    It is the quantity of the vocabulary, or the call with its arguments where several of them read the same quantity.
    """
    every = list(measurements)
    words = Counter(m.word for m in every)
    return {m.name: m.word if words[m.word] == 1 else m.name for m in every}
