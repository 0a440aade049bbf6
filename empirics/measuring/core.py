"""Measurements: a quantity of the vocabulary, its computation from the state of a run, and how exact it is."""

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
    """EXACT: the quantity of this run. SAMPLED: an unbiased estimate of it. PROXY: a substitute for it."""

    EXACT = "exact"
    SAMPLED = "sampled"
    PROXY = "proxy"

    def __str__(self) -> str:
        return self.value


class Reading(NamedTuple):
    """One number: for a client, a layer, after a local step (None or empty if it does not vary over them)."""

    value: float
    client: int | None = None
    layer: str = ""
    step: int | None = None


Readings = Sequence[Reading]
Reader = Callable[["Snapshot"], float | Tensor | Readings]
"""Computes from a snapshot one number, one number for each participant, or readings."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A run after a round; evaluations are computed at first use and shared by all measurements.

    ``work`` and ``ends`` are the work and the clients' models of the last round (None before the first). If some
    measurement needs them, ``path (rows, K, d)`` has the clients' models before each of their local steps, ``last
    (clients, d)`` every client's last local model (initially the first model), and ``averages`` has, by weights, the
    means ``(d,)`` of the virtual averages before every local step so far, in float64. ``seconds`` is the time of
    training so far, without measuring.
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
        return evaluation.one_model(self.problem.model, self.state.model, self.problem.samples)

    @cached_property
    def test(self) -> Means:
        """The server model on the common test set (one number each)."""
        return evaluation.every_model(self.problem.model, self.state.model.unsqueeze(0), need_test(self.problem))

    @cached_property
    def risks(self) -> Tensor:
        """Population risk of the server model under every client's distribution, or an estimate of it.

        The estimate is the mean over the client's test samples if all clients have some, else over the common test set.
        """
        problem = self.problem
        if problem.population is not None:
            return problem.population.risks(problem.model, self.state.model.unsqueeze(0))[0]
        if problem.own_tests is not None:
            return evaluation.one_model(problem.model, self.state.model, problem.own_tests).loss
        return self.test.loss.expand(problem.clients)

    @cached_property
    def gradient(self) -> Tensor:
        """The gradient of the global training loss at the server model."""
        return self.problem.gradients(self.state.model.unsqueeze(0))[0]

    # ---- the local models ----

    @property
    def active(self) -> np.ndarray:
        """The clients that were averaged in the last round."""
        return self.last_work.clients[self.averaged.cpu().numpy()]

    @property
    def averaged(self) -> Tensor:
        """A mask of the rows that were averaged; others were trained by an algorithm for ``everyone``."""
        return self.last_work.counts > 0

    @property
    def last_work(self) -> Work:
        """The work of the last round; raises before the first round."""
        if self.work is None:
            raise EmpiricsError("before the first round there are no local models to measure")
        return self.work

    @property
    def local_models(self) -> Tensor:
        """The models of the active clients after their local work ``(active, dim)``."""
        assert self.ends is not None
        return self.ends[self.averaged]

    @cached_property
    def local_train(self) -> Means:
        """Every active client's model on its own training samples."""
        return evaluation.own_models(self.problem.model, self.local_models, self.active, self.problem.samples)

    @cached_property
    def local_risks(self) -> Tensor:
        """Population risk of every active client's model under its own distribution, or an estimate of it."""
        problem = self.problem
        if problem.population is not None:
            risks = problem.population.risks(problem.model, self.local_models)
            return risks[torch.arange(len(self.active)), torch.from_numpy(self.active)]
        if problem.own_tests is not None:
            return evaluation.own_models(problem.model, self.local_models, self.active, problem.own_tests).loss
        return self.local_common.loss

    @cached_property
    def local_common(self) -> Means:
        """Every active client's model on the common test set."""
        return evaluation.every_model(self.problem.model, self.local_models, need_test(self.problem))


def need_test(problem: FederatedProblem) -> evaluation.Samples:
    """Return the problem's test samples; raise if it has none."""
    if problem.tests is None:
        raise EmpiricsError(f"{problem} has no test samples; give it a test set, local tests or a population")
    return problem.tests


def refuse_untested(problem: FederatedProblem, measurements: Iterable[Measurement]) -> None:
    """Raise if the problem lacks the test samples that a measurement needs."""
    for m in measurements:
        if m.tests == "own" and problem.own_tests is None:
            raise EmpiricsError(f"{m.name} needs test samples of every client; {problem} has none")
        if m.tests == "any" or (m.tests == "risk" and problem.population is None):
            need_test(problem)


# ---- grades: how exact a measurement is ----

Grade = Callable[[FederatedProblem, Algorithm, Setting], Exactness]


def exact(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    return Exactness.EXACT


def sampled(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    return Exactness.SAMPLED


def of_population(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact for a known population, sampled by clients' own test samples, a proxy by the common test set."""
    if problem.population is not None:
        return Exactness.EXACT
    return Exactness.SAMPLED if problem.own_tests is not None else Exactness.PROXY


def of_minimum(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact if the minimum is known; otherwise zero is used for the smallest loss."""
    return Exactness.EXACT if problem.convex else Exactness.PROXY


def of_everyone(problem: FederatedProblem, algorithm: Algorithm, setting: Setting) -> Exactness:
    """Exact if all clients train in every round; otherwise the trained or last models are used for all clients."""
    everyone = algorithm.everyone or (setting.cohort == problem.clients and setting.sampling == "without_replacement")
    return Exactness.EXACT if everyone else Exactness.PROXY


def least_exact(*grades: Grade) -> Grade:
    """The least exact of several grades."""
    return lambda *run: max((grade(*run) for grade in grades), key=list(Exactness).index)


of_all_minima = least_exact(of_everyone, of_minimum)
of_excess = least_exact(of_population, of_minimum)


@dataclass(frozen=True)
class Measurement:
    """A quantity of the vocabulary that ``read`` computes from a snapshot.

    ``name`` is the measurement's call, ``word`` the quantity's name (not the SymPy symbol, whose import takes longer
    than a short run). ``cost`` is the number of forward passes over the training samples. ``local``: it is about the
    last round. ``path``, ``last``: it needs the local steps, or every client's last model; ``average``: the average of
    the run's iterates with these weights. ``by_client``: it has a number for every participant. ``over`` combines
    values by ``"sum"`` or ``"mean"`` over the rounds so far, or by the mean over all ``"earlier"`` states (including
    the start, not the present one); such a measurement is evaluated after every round. ``tests`` are the test samples
    that it needs: ``"any"``, every client's ``"own"``, or some if there is no population (``"risk"``).
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
        """Evaluate the measurement on a snapshot."""
        values = self.read(snapshot)
        if not isinstance(values, (int, float, Tensor)):
            return values
        if not self.by_client:
            return [Reading(float(values))]
        assert isinstance(values, Tensor)
        return [Reading(float(v), client=int(k)) for v, k in zip(values, snapshot.active, strict=True)]


def quantities(measurements: Iterable[Measurement]) -> dict[str, str]:
    """Return the name of each measurement's numbers in a table of all of them.

    It is the quantity, or the measurement's call if several measurements have the same quantity.
    """
    every = list(measurements)
    words = Counter(m.word for m in every)
    return {m.name: m.word if words[m.word] == 1 else m.name for m in every}
