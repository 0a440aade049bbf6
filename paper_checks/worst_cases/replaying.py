"""A worst case seen in a run: the training loop on the federation that attains it, read off in plain numbers.

Nothing here knows the program's linear forms: the models are those of the run, losses and gradients those of the
clients' functions there. What agrees with the program's value to ``ACCURACY`` is a federation of the class that does so
badly, whatever the solver claims; that none does worse is what the dual certificate says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bounds.weights import Weights
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play, rounds

from ..runs.statistics import folded, weighed
from ..runs.words import ITERATION
from .drawing import Cohort, everyone, History, tree
from .instances import attaining, Instance
from .interpolants import Interpolant
from .metrics import looked_at
from .program import WorstCaseError
from .recording import Members
from .space import Array
from .worst import WorstCase

ACCURACY = 1e-4
"""How well a replay agrees: relative to the value and at least 1e-3, or to what an assumption allows."""
ENOUGH = ACCURACY / 4
"""At which no other instance is tried."""
LIMITS = "the replay shows the value, and every assumption at the visited models only: "
EXACT = "the replay shows a federation that meets every assumption and attains the value"


@dataclass(frozen=True)
class Replay:
    """What a run said: ``measured`` against the program's ``value``, in ``dimension`` dimensions.

    ``assumptions`` maps each word that limits the federation to the largest number found and the one allowed;
    ``minimiser`` is the squared gradient of F at the origin, which is 0 for convex clients.
    ``shows`` says in words what that amounts to: where the program is a relaxation, less than a federation of the
    theorem that does so badly.
    """

    value: float
    measured: float
    dimension: int
    assumptions: Mapping[str, tuple[float, float]]
    shows: str

    @property
    def error(self) -> float:
        """``|measured - value|`` relative to the value, or to 1e-3 where it is smaller."""
        return abs(self.measured - self.value) / max(abs(self.value), 1e-3)

    @property
    def broken(self) -> tuple[str, ...]:
        """Assumptions that do not hold up to the accuracy."""
        return tuple(w for w, (found, limit) in self.assumptions.items() if found > limit + ACCURACY * max(limit, 1e-3))

    @property
    def agrees(self) -> bool:
        return self.error <= ACCURACY and not self.broken


def attained(worst: WorstCase) -> Instance:
    """The instance of the fewest dimensions whose run attains the worst case, or else the one that comes closest.

    Several are tried: where inequalities of the class are met to rounding only, gradients are off by its root.
    """
    best, least = None, np.inf
    for instance in attaining(worst):
        try:
            error = replay(instance).error
        except WorstCaseError:
            continue
        if error < least:
            best, least = instance, error
        if error <= ENOUGH:
            break
    if best is None:
        raise WorstCaseError(f"no vectors were found that attain the value {worst.value:.6g}: no instance is given")
    return best


def replay(instance: Instance) -> Replay:
    """Run the question's method on the instance and read its metric and its assumptions off the run."""
    question, ran = instance.question, played(instance)
    word, per = looked_at(question.metric, question.statistic)
    kind, weights = question.statistic.kind, question.statistic.weights
    if word in WHOLE:
        measured = WHOLE[word](ran, weights)
    else:
        read = np.array((ITERATIONS if per == ITERATION else METRICS)[word](ran), dtype=float)
        measured = float(read[0] if len(read) == 1 else folded(read, "last" if kind == "every" else kind, per, weights))
    given = {w: (float(ASSUMED[w](ran)), number) for w, number in question.assumptions.items() if w in ASSUMED}
    if question.convex:
        given["minimiser"] = (ran.slope(0 * instance.start), 0.0)
    lost = question.relaxations
    return Replay(instance.value, measured, instance.dim, given, LIMITS + "; ".join(lost) if lost else EXACT)


# ---- the run ----


@dataclass(frozen=True, eq=False)
class Interpolants:
    """The model trained on an instance: every client's function in closed form; a batch says which clients it is for.

    ``asked`` collects the squared length of every gradient that the method computed.
    """

    functions: tuple[Interpolant, ...]
    begin: Array
    asked: list[float] = field(default_factory=list)

    stacked: ClassVar[bool] = True
    dtype: ClassVar[torch.dtype] = torch.float64

    @property
    def dim(self) -> int:
        return len(self.begin)

    @property
    def layers(self) -> Mapping[str, slice]:
        return {"model": slice(0, self.dim)}

    def start(self, seed: int) -> Tensor:
        """The instance's start, whatever the seed."""
        return torch.tensor(self.begin, dtype=self.dtype)

    def task_loss(self, w: Tensor, batch: Tensor) -> Tensor:
        raise EmpiricsError("a replay serves gradients of the task loss and nothing else")

    def gradient(self, w: Tensor, batch: Tensor) -> Tensor:
        """The clients' gradients ``(rows, d)`` at models of their own."""
        found = [self.functions[k].gradient(x) for k, x in zip(batch.tolist(), w.numpy(), strict=True)]
        self.asked.extend(float(g @ g) for g in found)
        return torch.tensor(np.array(found), dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class Ran:
    """A run on an instance: server models ``(R+1, d)``, local models ``path[r] (N, K_r + 1, d)``, step sizes.

    Where clients are drawn: the server models of all runs, ``lengths`` being the rounds before each, and no path.
    """

    instance: Instance
    server: Array
    path: tuple[Array, ...]
    step_sizes: tuple[float, ...]
    largest_gradient: float
    lengths: tuple[int, ...] = ()

    @property
    def after(self) -> list[Array]:
        """The server models after 0, 1, ... rounds ``(runs, d)``, each as likely."""
        lengths = np.array(self.lengths or range(len(self.server)))
        return [self.server[lengths == r] for r in range(max(lengths) + 1)]

    def gradients(self, model: Array) -> Array:
        """Every client's gradient at one model ``(N, d)``."""
        return np.array([f.gradient(model) for f in self.instance.functions])

    def loss(self, model: Array) -> float:
        """F."""
        return float(np.mean([f.value(model) for f in self.instance.functions]))

    def gap(self, model: Array) -> float:
        """F - F*, of functions without a known minimum above what the program took for inf F."""
        if self.instance.floor is None:
            raise WorstCaseError("this instance knows no F*: its question does not ask for it")
        return self.loss(model) - self.instance.floor

    def slope(self, model: Array) -> float:
        """``|grad F|^2``."""
        return _square(self.gradients(model).mean(0))

    @property
    def averages(self) -> Array:
        """The averages of the local models, iteration by iteration, and the last server model."""
        return np.concatenate([*(path.mean(0)[:-1] for path in self.path), self.server[-1:]])


def played(instance: Instance) -> Ran:
    """The question's run of the training loop on the instance's clients."""
    question, engine = instance.question, Tracing()
    model: Any = Interpolants(instance.functions, instance.start)
    federation: Any = Members(instance.clients)
    if question.drawn:
        return _drawn(instance, model, federation)
    server, path, sizes = list[Array](), list[Array](), list[float]()

    def watch(work: Any, ends: Tensor, after: Any) -> None:
        sizes.extend(work.sizes.tolist())
        path.append(engine.models)
        engine.forget()

    for state in rounds(model, federation, question.method, question.plan, 0, engine, watch):
        server.append(state.model.numpy().copy())
    return Ran(instance, np.stack(server), tuple(path), tuple(sizes), max(model.asked))


def _drawn(instance: Instance, model: Any, federation: Any) -> Ran:
    """The runs of all cohorts that may be drawn."""
    question = instance.question
    method, plan = question.method, question.plan

    def advanced(state: Any, history: History, cohort: Cohort) -> Any:
        return play(model, federation, method, plan, 0, Tracing(), state, cohort=everyone(cohort))

    begun = method.begin(model.start(0), instance.clients)
    states = list(tree(plan, instance.clients, begun, advanced))
    server = np.stack([state.model.numpy() for _, state in states])
    return Ran(instance, server, (), (), max(model.asked), tuple(len(history) for history, _ in states))


# ---- what is read ----


def _square(vector: Array) -> float:
    return float(vector @ vector)


def _mean_square(rows: Array) -> float:
    """The mean over clients of squared lengths of ``(N, d)``."""
    return float((rows**2).sum(-1).mean())


def _divergence(ran: Ran) -> list[float]:
    pairs = zip(ran.path, ran.server[1:], strict=True)
    return [0.0, *(_mean_square(path[:, -1] - model) for path, model in pairs)]


def _consensus(ran: Ran) -> list[float]:
    models = [path[:, j] for path in ran.path for j in range(path.shape[1] - 1)]
    return [_mean_square(each - each.mean(0)) for each in models]


def _drift(ran: Ran) -> list[float]:
    """Local models from the server's, summed over the steps of a round."""
    pairs = zip(ran.path, ran.server, strict=False)
    return [sum(_mean_square(path[:, j] - w) for j in range(path.shape[1] - 1)) for path, w in pairs]


def _gradient_drift(ran: Ran) -> list[float]:
    found = []
    for path, model in zip(ran.path, ran.server, strict=False):
        own = zip(ran.instance.functions, path, strict=True)
        walked = np.array([np.mean([f.gradient(x) for x in models[:-1]], axis=0) for f, models in own])
        found.append(_mean_square(ran.gradients(model) - walked))
    return found


def _weighted(ran: Ran) -> list[float]:
    """Squared gradients at the averages, times the step sizes, summed."""
    return [sum(size * ran.slope(model) for size, model in zip(ran.step_sizes, ran.averages, strict=False))]


def _mean_gap(ran: Ran, weights: Weights | None) -> float:
    """The mean of the gaps at the averages after every local step."""
    return float(weighed([ran.gap(model) for model in ran.averages[1:]], weights))


def _average_gap(ran: Ran, weights: Weights | None) -> float:
    """The gap at the mean of the averages before every local step."""
    return ran.gap(weighed(ran.averages[:-1], weights))


Reading = Callable[[Ran], list[float]]


def _at_servers(what: Callable[[Ran, Array], float]) -> Reading:
    """In the mean over all that may be drawn."""
    return lambda ran: [float(np.mean([what(ran, model) for model in models])) for models in ran.after]


def _along(what: Callable[[Ran, Array], float]) -> Reading:
    return lambda ran: [what(ran, model) for model in ran.averages]


def _distance(ran: Ran, model: Array) -> float:
    """From the minimiser, which is the origin."""
    return _square(model)


METRICS: dict[str, Reading] = {
    "distance_sq": _at_servers(_distance),
    "optimality_gap": _at_servers(Ran.gap),
    "grad_norm_sq": _at_servers(Ran.slope),
    "divergence": _divergence,
    "local_drift": _drift,
    "consensus_distance": _consensus,
    "global_step": lambda ran: [_square(b - a) for a, b in pairwise(ran.server)],
    "loss_change": lambda ran: [ran.loss(b) - ran.loss(a) for a, b in pairwise(ran.server)],
    "mean_gradient_drift": _gradient_drift,
    "weighted_grad_norm_sq": _weighted,
}
ITERATIONS: dict[str, Reading] = {
    "distance_sq": _along(_distance),
    "optimality_gap": _along(Ran.gap),
    "grad_norm_sq": _along(Ran.slope),
}
WHOLE = {"mean_gap": _mean_gap, "average_gap": _average_gap}
"""One number of a run, by the weights of its statistic."""


# ---- what is assumed ----


def _heterogeneity(ran: Ran) -> float:
    """``F* - mean min f_k``: where the gradient vanishes, a convex client is at its minimum."""
    lowest = []
    for f in ran.instance.functions:
        flat = np.flatnonzero(~f.gradients.any(axis=1))
        lowest.append(min(f.value(f.points[j]) for j in flat))
    return ran.loss(0 * ran.instance.start) - float(np.mean(lowest))


def _dissimilarity(ran: Ran) -> float:
    factor = ran.instance.question.assumptions.get("dissimilarity_factor", 1.0)
    return max(_mean_square(ran.gradients(model)) - factor * ran.slope(model) for model in ran.server[:-1])


def _uniform(ran: Ran) -> float:
    """The largest squared distance of a client's gradient to the global one, where all are at one model."""
    found = []
    for model in ran.averages:
        each = ran.gradients(model)
        found.append(float(((each - each.mean(0)) ** 2).sum(-1).max()))
    return max(found)


def _polyak(ran: Ran) -> float:
    """The constant plus the largest excess of ``2 mu (F - F*)`` over ``|grad F|^2``: no more than it where it holds."""
    given = ran.instance.question.assumptions["pl_constant"]
    return given + max(2 * given * ran.gap(model) - ran.slope(model) for model in ran.server[:-1])


ASSUMED: dict[str, Callable[[Ran], float]] = {
    "initial_distance_sq": lambda ran: _square(ran.server[0]),
    "initial_gap": lambda ran: ran.gap(ran.server[0]),
    "grad_norm_sq": lambda ran: ran.slope(ran.server[-2]),
    "divergence": lambda ran: _divergence(ran)[-2],
    "distance_sq": lambda ran: _square(ran.averages[-2]),
    "optimum_dissimilarity": lambda ran: _mean_square(ran.gradients(0 * ran.server[0])),
    "heterogeneity": _heterogeneity,
    "uniform_dissimilarity": _uniform,
    "dissimilarity_offset": _dissimilarity,
    "grad_cap_sq": lambda ran: ran.largest_gradient,
    "pl_constant": _polyak,
}
