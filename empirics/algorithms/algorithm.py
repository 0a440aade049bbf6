"""A federated algorithm: the handful of places where published methods differ, FedAvg being the defaults.

Every hook is a frozen dataclass with ``__call__``: it prints, hashes and pickles, and it sees stacked flat models
``(rows, dim)``, one row per active client: an update rule reads like the paper's pseudocode whichever engine runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from inspect import signature
from typing import Any, NamedTuple, ParamSpec, Protocol

import numpy as np
import torch
from torch import Tensor

from bounds.domains import Domain

from ..models.model import Batch, Trainable
from ..numbers import check_name, checked, must
from ..spec_strings import check_choice, spec_string
from .hooks import check_hook, checked_models, checked_parts, checked_tensors
from .state import Exchange, own_rows, Remembered, State, STATISTICS


class GradientAt(Protocol):
    """The gradient of the local objective, or of another one, at any models ``(rows, dim)`` on the step's batch."""

    def __call__(self, point: Tensor, objective: Callable[..., Tensor] | None = None) -> Tensor: ...


class Work(NamedTuple):
    """One round of local work as hooks see it; rows follow ``clients``.

    ``counts`` says how often a client counts in the average (1, or m when it was drawn m times), ``weights`` what its
    row weighs there. ``steps`` and ``step_size`` are the plan of this round, ``sizes`` the step sizes of its steps
    (all equal unless a rule changes them within a round), ``step`` the one that is being taken. ``recalled`` keeps,
    for the round, what ``recall`` has looked up and what hooks made: tensors with a row for every client. ``net`` is
    the model, for the server's hooks alone. ``shares`` are the rows' weights p_k in the global objective, which sum to
    1 over all clients (None: 1 over their number). ``momentum`` and ``nesterov`` are those of the local optimiser.

    While local steps are recorded for a GPU, step sizes and the step are tensors, and what else differs from round to
    round cannot be read: an objective that needs it makes it beforehand, in a method ``prepare(net, batch, work)``
    that is given the first batch and puts tensors into ``recalled``.
    """

    state: State
    clients: np.ndarray
    rows: Tensor
    counts: Tensor
    weights: Tensor
    steps: np.ndarray
    step_size: float
    total: int
    seed: int
    starts: Tensor
    layers: Mapping[str, slice]
    sizes: np.ndarray
    recalled: dict[str, Tensor]
    labels: Tensor | None = None
    """How many samples of every class each active client holds ``(rows, classes)``, for methods that ask for it."""
    step: int = 0
    net: Trainable | None = None
    shares: Tensor | None = None
    momentum: float = 0.0
    nesterov: bool = False

    @property
    def past_momentum(self) -> float | Tensor:
        """What a direction that stays the same during a round is to be multiplied by in this step, so that it comes
        out of the local momentum as it was."""
        rest = self.momentum / (1 + self.momentum) if self.nesterov else 0.0
        factor: float | Tensor = 1 - rest ** (self.step + 1) - self.momentum * (1 - rest**self.step)
        return factor

    @property
    def received(self) -> Tensor:
        """The model that clients last received ``(dim,)``: the server's, unless layers have schedules of their own."""
        return self.state.server.get("received", self.state.model)

    @property
    def lengths(self) -> Tensor:
        """Sum of the step sizes each client walks along ``(rows, 1)``: steps times step size."""
        walked = np.cumsum(self.sizes)[self.steps - 1]
        return self.starts.new_tensor(walked).unsqueeze(-1)

    @property
    def size(self) -> float | Tensor:
        """The step size of the step that is being taken."""
        if isinstance(self.sizes, Tensor):
            return self.along(self.sizes)
        return float(self.sizes[self.step])

    def now(self, name: str) -> Tensor:
        """What is recalled for the step that is being taken ``(rows, ...)``, of something ``(rows, steps, ...)``."""
        return self.along(self.recalled[name], 1)

    def along(self, values: Tensor, axis: int = 0) -> Tensor:
        """The entry of the step along an axis of all steps."""
        if isinstance(self.step, Tensor):
            return values.index_select(axis, self.step.reshape(1)).squeeze(axis)
        return values.select(axis, self.step)

    def mean(self, rows: Tensor) -> Tensor:
        """The weighted average of the active clients' rows, ``(dim,)``."""
        return self.weights @ rows

    def mean_change(self, rows: Tensor, uniform: bool = False) -> Tensor:
        """The change ``(dim,)`` of the mean over all clients by p_k, if the active ones change by ``rows``.

        ``uniform``: of the unweighted mean.
        """
        return rows.sum(0) / self.total if uniform or self.shares is None else self.shares @ rows

    def recall(self, name: str) -> Tensor:
        """The active clients' rows of a memory as they were before this round."""
        if name not in self.recalled:
            self.recalled[name] = self.state.memory[name][self.rows]
        return self.recalled[name]

    def part(self, chosen: slice) -> Work:
        """The same work for some of its rows: what one engine chunk or worker sees."""
        return self._rows(chosen, chosen, {name: kept[chosen] for name, kept in self.recalled.items()})

    def pick(self, order: np.ndarray) -> Work:
        """The same work with its rows in another order, or some of them repeated."""
        return self._rows(order, torch.from_numpy(order).to(self.rows.device), {})

    def _rows(self, chosen: Any, rows: Any, recalled: dict[str, Tensor]) -> Work:
        """The work of the rows that are ``chosen`` from arrays and ``rows`` from tensors."""
        return self._replace(
            clients=self.clients[chosen],
            rows=self.rows[rows],
            counts=self.counts[rows],
            weights=self.weights[rows],
            steps=self.steps[chosen],
            starts=self.starts[rows],
            recalled=recalled,
            labels=None if self.labels is None else self.labels[rows],
            shares=None if self.shares is None else self.shares[rows],
            net=None,
        )


class StepRule(Protocol):
    """What a method makes of the planned local steps and step size of a round, before the round begins.

    ``needs_loss``: it reads ``state.losses``, so clients report their loss at the model they start from.
    """

    @property
    def needs_loss(self) -> bool: ...

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        """The number of local steps (at least 1) and the step size of the round that follows ``state``."""
        ...


class Memory(Protocol):
    """What an algorithm carries from round to round and how it renews it."""

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
    """The local objective is the task loss; engines use its closed-form gradient where the model has one."""

    def __call__(self, net: Trainable, w: Tensor, batch: Batch, work: Work) -> Tensor:
        return net.task_loss(w, batch)


@dataclass(frozen=True)
class Gradient:
    """Step along the minibatch gradient."""

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        return gradient


@dataclass(frozen=True)
class PlannedSteps:
    """As many local steps as the setting plans, at its step size."""

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
"""What every hook is called with."""


@dataclass(frozen=True)
class Algorithm:
    """A named choice of hooks; ``name`` is how it is written, a call such as ``fedinit(beta=0.1)``."""

    name: str
    start: Callable[[State, Tensor], Tensor] = field(default_factory=ServerStart)
    objective: Callable[..., Tensor] = field(default_factory=TaskLoss)
    direction: Callable[[Work, Tensor, Tensor, GradientAt], Tensor] = field(default_factory=Gradient)
    steps: StepRule = field(default_factory=PlannedSteps)
    combine: Callable[[Work, Tensor], tuple[Tensor, Mapping[str, Tensor]]] = field(default_factory=Average)
    remember: tuple[Memory, ...] = ()
    reading: str = "intended"
    everyone: bool = False
    """All clients train in every round, only the drawn ones are averaged: what some proofs analyse."""
    uploads: float = 1.0
    downloads: float = 1.0
    local_sgd: bool = True
    needs_labels: bool = False
    """The method uses the number of samples of each class that a client holds."""
    moves: Callable[[Work, int], Tensor | None] | None = None
    """Which columns a local step moves (None: all). The optimiser starts afresh when others begin to move.

    A method ``phase(step)`` that names what moves spares comparing the columns, for which a GPU would have to wait.
    """
    also: Algorithm | None = None
    """A second piece of local work by the same clients in every round, on rows of its own: Ditto's personal models."""
    personal: str = ""
    """The memory whose rows are the clients' own models, for local metrics; without one they use the server's."""

    def __post_init__(self) -> None:
        check_name("name of an algorithm", self.name)
        for word, arguments in ARGUMENTS.items():
            hook = getattr(self, word)
            if word != "moves" or hook is not None:
                check_hook(f"{self.name}: {word}", hook, arguments)
        must(hasattr(self.steps, "needs_loss"), f"{self.name}: steps", "a rule that says needs_loss", self.steps)
        must(isinstance(self.also, Algorithm | None), f"{self.name}: also", "an algorithm or None", self.also)
        must(isinstance(self.remember, tuple), f"{self.name}: remember", "a tuple of memories", self.remember)
        for keeper in self.remember:
            where = f"{self.name}: a memory of remember"
            must(hasattr(keeper, "begin"), where, "callable as (work, ends, model), and begin", keeper)
            check_hook(where, keeper, "work, ends, model")
            check_hook(f"{where}: begin", keeper.begin, "model, clients")

    def begin(self, model: Tensor, clients: int) -> State:
        """The state before the first round."""
        memory: dict[str, Tensor] = {}
        server: dict[str, Tensor] = {}
        exchanges: dict[str, Exchange] = {}
        for keeper in (*self.remember, *(self.also.remember if self.also else ())):
            where = f"{self.name}: what a memory begins as"
            begun = Remembered(*checked_parts(where, keeper.begin(model, clients), "(rows, vectors)", 2, 3))
            memory.update(checked_tensors(f"{where}, rows,", begun.rows))
            server.update(checked_tensors(f"{where}, vectors,", begun.vectors))
            exchanges.update(begun.exchanges)
        named = not self.personal or self.personal in memory
        must(named, f"{self.name}: personal", f"the name of a memory of it ({', '.join(memory)})", self.personal)
        return State(0, model, memory, server, exchanges=exchanges)

    def finish(self, work: Work, ends: Tensor, losses: tuple[float, ...]) -> State:
        """The state after a round whose clients ended at ``ends (rows, dim)``."""
        where, state = f"{self.name}: what combine returns", work.state
        made, vectors = checked_parts(where, self.combine(work, ends), "(model, vectors)", 2)
        model = checked_models(f"{where}, model,", made, state.model)
        server = checked_tensors(f"{where}, vectors,", vectors)
        changes = {**server, **self.renew(work, ends, model)}
        return State(state.round + 1, model, state.memory, {**state.server, **changes}, losses, state.exchanges)

    def renew(self, work: Work, ends: Tensor, model: Tensor) -> dict[str, Tensor]:
        """Rewrite the clients' memory after a round that made ``model``; returns the server's new vectors."""
        changes: dict[str, Tensor] = {}
        for keeper in self.remember:
            changes.update(checked_tensors(f"{self.name}: what a memory returns", keeper(work, ends, model)))
        return changes

    def own_models(self, state: State) -> Tensor:
        """Every client's own model ``(clients, dim)``, or the server's ``(1, dim)`` where clients keep none of it."""
        rows = own_rows(state, self.personal) if self.personal else state.model.unsqueeze(0)
        own = state.memory.get(STATISTICS)
        if own is None or (self.personal and self.personal not in state.exchanges):
            return rows
        return torch.cat([rows[:, : -own.shape[1]].expand(len(own), -1), own], 1)

    def __str__(self) -> str:
        return self.name


fedavg = Algorithm("fedavg()")


def renamed(algorithm: Algorithm, name: str, **hooks: Any) -> Algorithm:
    """``algorithm`` with some hooks exchanged and a new name."""
    return replace(algorithm, name=name, **hooks)


# ---- methods by name ----

P = ParamSpec("P")
Rule = Domain | Collection[str] | type[bool] | Callable[[str, Any], Any]


def method(*unwritten: str, **rules: Rule) -> Callable[[Callable[P, Algorithm]], Callable[P, Algorithm]]:
    """Make a published method of a function that returns ``replace(fedavg, ...)`` with its hooks.

    Every option is checked by its rule: a domain of numbers, the words to choose from, ``bool``, or a function of the
    option's description and value; an argument ``algorithm`` must be one. The method's name is the call with all
    options spelled out, but for those ``unwritten`` at their default value.
    """

    def decorated(make: Callable[P, Algorithm]) -> Callable[P, Algorithm]:
        word, form = make.__name__, signature(make)

        @wraps(make)
        def made(*arguments: P.args, **options: P.kwargs) -> Algorithm:
            given = form.bind(*arguments, **options)
            given.apply_defaults()
            for name, value in given.arguments.items():
                optional = "None" in str(form.parameters[name].annotation)
                if name == "algorithm":
                    known = isinstance(value, Algorithm)
                    must(known, f"{word}: its first argument", f"an algorithm, as in {word}(fedavg())", value)
                elif value is not None or not optional:
                    given.arguments[name] = _ruled(word, name, value, rules[name])
            found = make(*given.args, **given.kwargs)
            spelled = dict(given.arguments)
            inner = [spelled.pop("algorithm")] if "algorithm" in spelled else []
            for name in unwritten:
                if spelled[name] == form.parameters[name].default:
                    del spelled[name]
            return replace(found, name=spec_string(word, *inner, **spelled))

        vars(made)["rules"] = rules
        return made

    return decorated


def on_fedavg(name: str, plug_in: Callable[..., Algorithm], about: str, **usual: Any) -> Callable[..., Algorithm]:
    """The method ``name``: a plug-in on FedAvg, of whose options those in ``usual`` have other defaults there."""
    form = signature(plug_in)
    options = [p.replace(default=usual.get(p.name, p.default)) for p in form.parameters.values()][1:]

    def make(*arguments: Any, **given: Any) -> Algorithm:
        return plug_in(fedavg, *arguments, **given)

    make.__name__, make.__doc__ = name, about
    vars(make)["__signature__"] = form.replace(parameters=options)
    return method(**vars(plug_in)["rules"])(make)


def _ruled(word: str, name: str, value: Any, rule: Rule) -> Any:
    """The value of an option of the method ``word`` in its own kind, if it keeps its rule."""
    where = f"{word}: {name}"
    if isinstance(rule, Domain):
        return checked(where, value, rule)
    if rule is bool:
        must(isinstance(value, bool), where, "True or False", value)
        return value
    return rule(where, value) if callable(rule) else check_choice(f"{name} of {word}", value, rule)


@dataclass(frozen=True)
class Rows:
    """A memory of one row per client that starts as copies of the first model and is set to the ends."""

    key: str

    def begin(self, model: Tensor, clients: int) -> Remembered:
        return Remembered({self.key: model.expand(clients, -1).clone()}, {})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        work.state.memory[self.key][work.rows] = ends
        return {}
