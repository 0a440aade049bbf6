"""A federated algorithm as a set of hooks, one for each place where published methods differ; the defaults are FedAvg.

Hooks are frozen dataclasses with ``__call__``, so that they print, hash and pickle. They receive stacked flat models
``(rows, dim)``, one row per active client, so that an update rule reads like the paper's pseudocode in every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, Protocol

import numpy as np
import torch
from torch import Tensor

from ..models.model import Batch, Trainable
from ..numbers import check_name, checked_option, must, Rule
from ..spec_strings import spec_string
from .hooks import check_hook, checked_models, checked_parts, checked_tensors
from .state import Exchange, own_rows, Remembered, State, STATISTICS


class GradientAt(Protocol):
    """Function that a ``direction`` hook receives to evaluate further gradients on the batch of the current step.

    It returns the gradient ``(rows, dim)`` of ``objective`` (default: the local objective) at the models ``point``.
    """

    def __call__(self, point: Tensor, objective: Callable[..., Tensor] | None = None) -> Tensor: ...


class Work(NamedTuple):
    """One round of local work as hooks receive it; arrays and tensors have one row per active client.

    ``clients`` are the numbers of the active clients and ``client_index`` the same as a tensor, to index the rows of a
    memory; ``total`` is the number of all clients. ``counts`` says how often a client counts in the average (1, or m if
    it was drawn m times), ``weights`` are the weights of that average, and ``shares`` the clients' weights p_k in the
    global objective, which sum to 1 over all clients (None: one over their number). ``steps`` and ``step_size`` are the
    plan of the round, ``step_sizes`` those of its local steps, ``step`` the number of the current step. ``starts
    (rows, dim)`` are the models that clients start from, ``layers`` names their column ranges. ``recalled`` stores
    tensors with one row per client for the duration of the round. ``labels (rows, classes)`` counts the clients'
    samples of each class, if the algorithm ``needs_labels``. ``net`` is the model, for hooks of the server only.

    While local steps are recorded as a CUDA graph, ``step_sizes`` and ``step`` are tensors, and Python code that
    depends on the round does not run again. An objective with such code puts it into a method ``prepare(net, batch,
    work)``, which is called before the first step, with its batch, and stores tensors in ``recalled``.
    """

    state: State
    clients: np.ndarray
    client_index: Tensor
    counts: Tensor
    weights: Tensor
    steps: np.ndarray
    step_size: float
    total: int
    seed: int
    starts: Tensor
    layers: Mapping[str, slice]
    step_sizes: np.ndarray
    recalled: dict[str, Tensor]
    labels: Tensor | None = None
    step: int = 0
    net: Trainable | None = None
    shares: Tensor | None = None
    momentum: float = 0.0
    nesterov: bool = False

    @property
    def past_momentum(self) -> float | Tensor:
        """Factor of a direction that is constant during the round: with it, momentum does not change its effect."""
        rest = self.momentum / (1 + self.momentum) if self.nesterov else 0.0
        factor: float | Tensor = 1 - rest ** (self.step + 1) - self.momentum * (1 - rest**self.step)
        return factor

    @property
    def received(self) -> Tensor:
        """The model that clients last received ``(dim,)``: the server's, unless layers are sent on schedules."""
        return self.state.server.get("received", self.state.model)

    @property
    def lengths(self) -> Tensor:
        """Total step length ``K eta`` of each client ``(rows, 1)``: the sum of its step sizes."""
        lengths = np.cumsum(self.step_sizes)[self.steps - 1]
        return self.starts.new_tensor(lengths).unsqueeze(-1)

    @property
    def current_step_size(self) -> float | Tensor:
        """The step size of the current step."""
        if isinstance(self.step_sizes, Tensor):
            return self.along(self.step_sizes)
        return float(self.step_sizes[self.step])

    def now(self, name: str) -> Tensor:
        """The slice ``(rows, ...)`` for the current step of a recalled tensor ``(rows, steps, ...)``."""
        return self.along(self.recalled[name], 1)

    def along(self, values: Tensor, axis: int = 0) -> Tensor:
        """The entry for the current step along the axis of ``values`` that counts steps."""
        if isinstance(self.step, Tensor):
            return values.index_select(axis, self.step.reshape(1)).squeeze(axis)
        return values.select(axis, self.step)

    def mean(self, rows: Tensor) -> Tensor:
        """The weighted average ``(dim,)`` of ``rows (rows, dim)`` over the active clients."""
        return self.weights @ rows

    def mean_change(self, rows: Tensor, uniform: bool = False) -> Tensor:
        """The change ``(dim,)`` of the mean over all clients when the active ones change by ``rows``.

        The mean is weighted by p_k, or unweighted if ``uniform``.
        """
        return rows.sum(0) / self.total if uniform or self.shares is None else self.shares @ rows

    def recall(self, name: str) -> Tensor:
        """The active clients' rows of the memory ``name``, with their values from before this round."""
        if name not in self.recalled:
            self.recalled[name] = self.state.memory[name][self.client_index]
        return self.recalled[name]

    def part(self, chosen: slice) -> Work:
        """The same work restricted to a range of rows, for one chunk or worker of an engine."""
        return self._select(chosen, chosen, {name: tensor[chosen] for name, tensor in self.recalled.items()})

    def pick(self, order: np.ndarray) -> Work:
        """The same work with the rows ``order``, which may permute or repeat them; nothing is recalled."""
        return self._select(order, torch.from_numpy(order).to(self.client_index.device), {})

    def _select(self, array_index: Any, tensor_index: Any, recalled: dict[str, Tensor]) -> Work:
        """The work of some rows; the index is passed twice, for NumPy arrays and for tensors."""
        return self._replace(
            clients=self.clients[array_index],
            client_index=self.client_index[tensor_index],
            counts=self.counts[tensor_index],
            weights=self.weights[tensor_index],
            steps=self.steps[array_index],
            starts=self.starts[tensor_index],
            recalled=recalled,
            labels=None if self.labels is None else self.labels[tensor_index],
            shares=None if self.shares is None else self.shares[tensor_index],
            net=None,
        )


class StepRule(Protocol):
    """Hook that turns the planned local steps and step size into those of the next round.

    A rule with ``needs_loss`` reads ``state.losses``, so clients report their loss at the model they start from.
    """

    @property
    def needs_loss(self) -> bool: ...

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        """Return the number of local steps (minimum 1) and the step size of the round that follows ``state``."""
        ...


class Memory(Protocol):
    """Tensors that an algorithm carries from round to round.

    ``begin`` returns their initial values. After each round, a call updates the clients' rows in place and returns
    the new vectors of the server by name; ``ends`` are the clients' final models, ``model`` is the new server model.
    """

    def begin(self, model: Tensor, clients: int) -> Remembered: ...

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]: ...


# ---- the hooks of FedAvg ----


@dataclass(frozen=True)
class ServerStart:
    """Every client starts at the server model."""

    def __call__(self, state: State, rows: Tensor) -> Tensor:
        return state.model.expand(len(rows), -1)  # not a copy for each: engines make their own


@dataclass(frozen=True)
class TaskLoss:
    """The local objective is the task loss, whose closed-form gradient engines use where the model has one."""

    def __call__(self, net: Trainable, w: Tensor, batch: Batch, work: Work) -> Tensor:
        return net.task_loss(w, batch)


@dataclass(frozen=True)
class Gradient:
    """Step along the minibatch gradient."""

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return gradient


@dataclass(frozen=True)
class PlannedSteps:
    """The number of local steps and the step size are those of the setting."""

    needs_loss = False

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        return steps, step_size


@dataclass(frozen=True)
class Average:
    """The new server model is the weighted average of the clients' models."""

    def __call__(self, work: Work, ends: Tensor) -> tuple[Tensor, Mapping[str, Tensor]]:
        return work.mean(ends), {}


ARGUMENTS = {
    "start": "state, rows",
    "objective": "net, w, batch, work",
    "direction": "work, w, gradient, gradient_at",
    "steps": "state, steps, step_size",
    "combine": "work, ends",
    "moves": "work, step",
}
"""Arguments of each hook."""


@dataclass(frozen=True)
class Algorithm:
    """A named set of hooks; ``name`` is its canonical text, a call such as ``fedinit(beta=0.1)``."""

    name: str
    start: Callable[[State, Tensor], Tensor] = field(default_factory=ServerStart)
    objective: Callable[..., Tensor] = field(default_factory=TaskLoss)
    direction: Callable[[Work, Tensor, Tensor, GradientAt], Tensor] = field(default_factory=Gradient)
    steps: StepRule = field(default_factory=PlannedSteps)
    combine: Callable[[Work, Tensor], tuple[Tensor, Mapping[str, Tensor]]] = field(default_factory=Average)
    remember: tuple[Memory, ...] = ()
    reading: str = "intended"
    """Which reading of an ambiguous paper this is, such as ``intended``, ``printed`` or ``code``."""
    everyone: bool = False
    """Whether all clients train in every round and only the drawn ones are averaged, as some proofs assume."""
    uploads: float = 1.0
    """Vectors of the model's size that a client sends in a round; ``downloads`` counts those it receives."""
    downloads: float = 1.0
    local_sgd: bool = True
    needs_labels: bool = False
    """Whether the method uses the number of samples of each class that a client holds."""
    moves: Callable[[Work, int], Tensor | None] | None = None
    """Hook that returns a mask of the columns that a local step updates (None: all); a change resets the optimiser.

    If it has a method ``phase(step)`` that names the current mask, masks are not compared, which would stall a GPU.
    """
    also: Algorithm | None = None
    """A second algorithm that the same clients run in every round on separate models: Ditto's personal models."""
    personal: str = ""
    """Name of the memory that holds the clients' personal models, for local metrics; empty: the server's model."""

    def __post_init__(self) -> None:
        check_name("name of an algorithm", self.name)
        for role, arguments in ARGUMENTS.items():
            hook = getattr(self, role)
            if role != "moves" or hook is not None:
                check_hook(f"{self.name}: {role}", hook, arguments)
        must(hasattr(self.steps, "needs_loss"), f"{self.name}: steps", "a rule with needs_loss", self.steps)
        must(isinstance(self.also, Algorithm | None), f"{self.name}: also", "an algorithm or None", self.also)
        must(isinstance(self.remember, tuple), f"{self.name}: remember", "a tuple of memories", self.remember)
        for hook in self.remember:
            where = f"{self.name}: a memory of remember"
            must(hasattr(hook, "begin"), where, "callable as (work, ends, model), with a method begin", hook)
            check_hook(where, hook, "work, ends, model")
            check_hook(f"{where}: begin", hook.begin, "model, clients")

    def begin(self, model: Tensor, clients: int) -> State:
        """Return the state before the first round."""
        memory: dict[str, Tensor] = {}
        server: dict[str, Tensor] = {}
        exchanges: dict[str, Exchange] = {}
        for hook in (*self.remember, *(self.also.remember if self.also else ())):
            where = f"{self.name}: the initial value of a memory"
            initial = Remembered(*checked_parts(where, hook.begin(model, clients), "(rows, vectors)", 2, 3))
            memory.update(checked_tensors(f"{where}, rows,", initial.rows))
            server.update(checked_tensors(f"{where}, vectors,", initial.vectors))
            exchanges.update(initial.exchanges)
        exists = not self.personal or self.personal in memory
        must(exists, f"{self.name}: personal", f"the name of one of its memories ({', '.join(memory)})", self.personal)
        return State(0, model, memory, server, exchanges=exchanges)

    def finish(self, work: Work, ends: Tensor, losses: tuple[float, ...]) -> State:
        """Return the state after a round whose clients ended at ``ends (rows, dim)``."""
        where, state = f"{self.name}: what combine returns", work.state
        combined, vectors = checked_parts(where, self.combine(work, ends), "(model, vectors)", 2)
        model = checked_models(f"{where}, model,", combined, state.model)
        server = checked_tensors(f"{where}, vectors,", vectors)
        changes = {**server, **self.renew(work, ends, model)}
        return State(state.round + 1, model, state.memory, {**state.server, **changes}, losses, state.exchanges)

    def renew(self, work: Work, ends: Tensor, model: Tensor) -> dict[str, Tensor]:
        """Update the clients' memory in place after a round with result ``model``; return the server's new vectors."""
        changes: dict[str, Tensor] = {}
        for hook in self.remember:
            changes.update(checked_tensors(f"{self.name}: what a memory returns", hook(work, ends, model)))
        return changes

    def own_models(self, state: State) -> Tensor:
        """Every client's personal model ``(clients, dim)``, or the server's ``(1, dim)`` if there are none."""
        rows = own_rows(state, self.personal) if self.personal else state.model.unsqueeze(0)
        own = state.memory.get(STATISTICS)
        if own is None or (self.personal and self.personal not in state.exchanges):
            return rows
        return torch.cat([rows[:, : -own.shape[1]].expand(len(own), -1), own], 1)

    def __str__(self) -> str:
        return self.name


fedavg = Algorithm("fedavg()")


def renamed(algorithm: Algorithm, name: str, **hooks: Any) -> Algorithm:
    """Return ``algorithm`` with a new name and some hooks replaced."""
    return replace(algorithm, name=name, **hooks)


# ---- methods by name ----

P = ParamSpec("P")


def method(*unwritten: str, **rules: Rule) -> Callable[[Callable[P, Algorithm]], Callable[P, Algorithm]]:
    """Decorate a function that returns ``replace(fedavg, ...)``: check its options and name the algorithm it returns.

    Each option is checked by its rule. An argument ``algorithm`` must be an ``Algorithm``. The algorithm's name is the
    call with all options, except those of ``unwritten`` that have their default value.
    """

    def decorate(make: Callable[P, Algorithm]) -> Callable[P, Algorithm]:
        method_name, form = make.__name__, signature(make)

        @wraps(make)
        def checked_make(*arguments: P.args, **options: P.kwargs) -> Algorithm:
            bound = form.bind(*arguments, **options)
            bound.apply_defaults()
            for name, value in bound.arguments.items():
                optional = "None" in str(form.parameters[name].annotation)
                if name == "algorithm":
                    rule = f"an algorithm, as in {method_name}(fedavg())"
                    must(isinstance(value, Algorithm), f"{method_name}: its first argument", rule, value)
                elif value is not None or not optional:
                    bound.arguments[name] = checked_option(f"{method_name}: {name}", value, rules[name])
            algorithm = make(*bound.args, **bound.kwargs)
            spelled = dict(bound.arguments)
            inner = [spelled.pop("algorithm")] if "algorithm" in spelled else []
            for name in unwritten:
                if spelled[name] == form.parameters[name].default:
                    del spelled[name]
            return replace(algorithm, name=spec_string(method_name, *inner, **spelled))

        vars(checked_make)["rules"] = rules
        return checked_make

    return decorate


def on_fedavg(name: str, plug_in: Callable[..., Algorithm], about: str, **defaults: Any) -> Callable[..., Algorithm]:
    """Return the method ``name``: the plug-in applied to FedAvg, with the ``defaults`` of some options replaced."""
    form = signature(plug_in)
    options = [p.replace(default=defaults.get(p.name, p.default)) for p in form.parameters.values()][1:]

    def make(*arguments: Any, **options: Any) -> Algorithm:
        return plug_in(fedavg, *arguments, **options)

    make.__name__, make.__doc__ = name, about
    vars(make)["__signature__"] = form.replace(parameters=options)
    return method(**vars(plug_in)["rules"])(make)


@dataclass(frozen=True)
class Rows:
    """A memory with one model per client: first the initial model, later the client's last local model."""

    key: str

    def begin(self, model: Tensor, clients: int) -> Remembered:
        return Remembered({self.key: model.expand(clients, -1).clone()}, {})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        work.state.memory[self.key][work.client_index] = ends
        return {}
