"""The coefficients of one round of a linear method, obtained by calling the method's own hooks.

The hooks of a linear method treat all coordinates equally, so they are called once on *linear forms*: the last axis of
every vector has, instead of coordinates, one entry for each vector that a model may be a combination of (the server's
vectors, the client's memory, its local model, its gradient). The results are the coefficients, in any kind of number;
their cost does not depend on the number of clients.

Every client's last local model belongs to its memory, even if the method does not use it; it starts as the first model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..algorithms.algorithm import Algorithm, TaskLoss, Work
from ..algorithms.state import copy_state, Exchange, State
from ..errors import EmpiricsError
from ..training.setting import Setting
from ..training.step_sizes import geometric
from .numbers import Array, exactly, FLOATS, Kind, vectors

LAST = "last"
CLOSE = 1e-9
PROBES = (1, 10**4)
"""Scales of a generic model that is carried along with the forms: only a linear method gives equal results for both."""


class NotAffineError(EmpiricsError):
    """A round of the algorithm is not an affine map of its state and noise, so its second moments do not close."""


class Coefficients(NamedTuple):
    """A round as one client sees it: coefficients on P server vectors (the model first) and Q vectors of its memory.

    A client starts at ``start (P + Q)``. Its steps go along ``steepness (J)`` times the gradient plus ``pull (J)``
    times its model plus ``push (J, P + Q)``, with J = 1 if all steps are equal. The server's vectors become
    ``server_map (P, P)`` of themselves plus, for every participant, its weight times ``by_weight (P, P + Q + 1)`` plus
    ``by_indicator (P, P + Q + 1)``, whose last column is for the model at which the client ends. The client's memory
    becomes ``memory_map (Q, P + Q + 1)``.
    """

    start: Array
    steepness: Array
    pull: Array
    push: Array
    server_map: Array
    by_weight: Array
    by_indicator: Array
    memory_map: Array

    def commutes_with_shifts(self, initial: Array) -> bool:
        """Whether a run with all models shifted by a vector is the same run, shifted; then the origin may be moved.

        ``initial (P + Q)`` is 1 for vectors that begin as the first model and 0 for those that begin as zero.
        """
        server, shifts = len(self.server_map), np.append(initial, 1)
        rows = [
            self.start @ initial - 1, self.pull + self.push @ initial,
            self.by_indicator @ shifts, self.memory_map @ shifts - initial[server:],
            self.server_map @ initial[:server] + self.by_weight @ shifts - initial[:server],
        ]  # fmt: skip
        return all(bool((np.abs(np.asarray(row, dtype=float)) < CLOSE).all()) for row in rows)


def refuse(algorithm: Algorithm, setting: Setting) -> None:
    """Raise ``NotAffineError`` if a method or setting is known to be nonlinear."""
    if algorithm.steps.needs_loss:
        raise NotAffineError(f"{algorithm} sets its steps by random losses; exact moments need them fixed in advance")
    if algorithm.needs_labels:
        raise NotAffineError(f"{algorithm} uses class labels; quadratics have none")
    if setting.clip is not None or setting.optimizer != "sgd":
        raise NotAffineError(
            "clipping and adaptive steps are not affine in the gradients; sample such runs instead; got optimizer "
            f"{setting.optimizer!r}, clip {setting.clip}"
        )
    if type(algorithm.objective) is not TaskLoss or algorithm.moves is not None:
        raise NotAffineError(f"{algorithm} changes the objective or trains some layers only; sample it instead")
    setting.refuse_epochs("quadratics have no samples to pass over")


def plan(algorithm: Algorithm, setting: Setting, kind: Kind, round_: int) -> tuple[int, Array]:
    """The number of local steps of a round, and the size of each."""
    decay, size = setting.step_size_decay, setting.step_size
    planned = size if decay == 1 else float(geometric(size, decay, round_))
    steps, size = algorithm.steps(State(round_, vectors(kind.zeros(1)), {}, {}), setting.steps, planned)
    return int(steps), kind.array(setting.sizes(round_, size, int(steps)))


def begin(algorithm: Algorithm, model: Any, clients: int, follow_last: bool = True) -> State:
    """The state before the first round; with ``follow_last`` every client's last local model belongs to its memory."""
    rows, server, exchanges = dict[str, Any](), dict[str, Any](), dict[str, Exchange]()
    for memory in algorithm.remember:
        initial = memory.begin(model, clients)
        rows.update(initial.rows)
        server.update(initial.vectors)
        exchanges.update(initial.exchanges)
    if follow_last and LAST not in rows:
        rows[LAST] = model.expand(clients, -1).clone()
    return State(0, model, rows, server, exchanges=exchanges)


def finish(algorithm: Algorithm, work: Work, ends: Any) -> State:
    """The state after a round whose clients ended at the models ``ends (rows, d)``."""
    before = copy_state(work.state)
    work = work._replace(state=before)
    model, updates = algorithm.combine(work, ends)
    server = {**before.server, **updates}
    for memory in algorithm.remember:
        server |= memory(work, ends, model)
    if LAST in before.memory:
        before.memory[LAST][work.client_index] = ends
    return State(before.round + 1, model, before.memory, server, exchanges=before.exchanges)


class Forms:
    """Computes the coefficients of one method under one setting, round by round from 0.

    ``layer`` selects the layer, as methods may treat layers differently. ``follow_last`` adds every client's last local
    model to its memory if the method does not remember it. The first two rounds are computed at a second scale too, to
    check that the method is linear, unless it is ``trusted`` to be linear and to remember the same vectors in every
    round.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        setting: Setting,
        kind: Kind,
        layers: Sequence[str] = ("model",),
        layer: str = "model",
        follow_last: bool = True,
        trusted: bool = False,
    ) -> None:
        refuse(algorithm, setting)
        self.algorithm, self.setting, self.kind = exactly(algorithm, kind), setting, kind
        self.layers = {name: slice(0, None) if name == layer else slice(0, 0) for name in layers}
        self.round, self.trusted = 0, trusted
        try:
            one = vectors(kind.eye(1)[0])
            state = begin(self.algorithm, one, 1, follow_last)
            server, self.exchanges = {"model": one, **state.server}, state.exchanges
            self.initial_server, self.server, self.memory = len(server), list(server), list(state.memory)
            memory = state.memory.values()
            self.initial = np.array([*(value[0] for value in server.values()), *(row[0, 0] for row in memory)])
            self._values = self._generic(PROBES[0])
            if not trusted:  # a method may keep more server vectors from the first round on
                later = self._finish(self._work(1, None), self._unit(-3)[None])[0]
                self.server += [name for name in later if name not in server]
                self.initial = np.insert(
                    self.initial, self.initial_server, kind.zeros(len(self.server) - self.initial_server)
                )
        except (AttributeError, TypeError, ValueError) as error:
            raise self._not_affine() from error

    def _not_affine(self) -> NotAffineError:
        return NotAffineError(f"{self.algorithm} is not an affine map of its state and noise; sample it instead")

    # A form has coefficients of the server's vectors, of the memory, of the local model and of its gradient; the last
    # entry is the form's value at generic vectors, which a nonlinear hook makes differ from what the coefficients give.

    def _generic(self, probe: int) -> Array:
        """Generic values of the vectors that forms combine."""
        count = len(self.server) + len(self.memory) + 2
        return self.kind.array([probe * Fraction(7 * i + 3, 2 * i + 5) for i in range(count)])

    def _unit(self, index: int) -> Any:
        """The form that is a single vector; negative indices count from the end, where -1 is the value."""
        form = self.kind.zeros(len(self._values) + 1)
        form[index] = self.kind.make(1)
        form[-1] = self._values[index if index >= 0 else index + 1]
        return vectors(form)

    def _state(self) -> State:
        names = self.server if self.round else self.server[: self.initial_server]
        server = {name: self._unit(i) for i, name in enumerate(names)}
        memory = {name: self._unit(len(self.server) + i)[None] for i, name in enumerate(self.memory)}
        model, exchanges = server.pop("model"), {}
        for name, (sent, written) in self.exchanges.items():  # the same for all columns of a layer
            when = np.full(len(model), int(np.asarray(sent).ravel()[0]))
            exchanges[name] = Exchange(vectors(when), vectors(np.array(written, dtype=int)))
        return State(self.round, model, memory, server, exchanges=exchanges)

    def _work(self, clients: int, share: Any) -> Work:
        state, one, rows = self._state(), vectors(self.kind.eye(1)[0]), vectors([0])
        starts = self.algorithm.start(state, rows)
        steps, sizes = self.plan()
        return Work(
            state=state, clients=rows, client_index=rows, counts=one, weights=one,
            steps=np.array([steps]), step_size=sizes[0], total=clients, seed=0, starts=starts, layers=self.layers,
            step_sizes=sizes, recalled={}, shares=None if share is None else one * share,
            momentum=self.setting.momentum, nesterov=self.setting.nesterov,
        )  # fmt: skip

    def plan(self) -> tuple[int, Array]:
        """Local steps of the next round and the size of each."""
        return plan(self.algorithm, self.setting, self.kind, self.round)

    # ---- a round ----

    def next(self, clients: int, share: Any = None) -> Coefficients:
        """Return the next round's coefficients for a client with this ``share`` of the loss (None: all equal)."""
        try:
            self._values = self._generic(PROBES[0])
            coefficients, exchanges = self._round(clients, share)
            if self.round < 2 and not self.trusted:
                self._values = self._generic(PROBES[1])
                again, _ = self._round(clients, share)
                for one, other in zip(coefficients, again, strict=True):
                    if not np.allclose(one.astype(float), other.astype(float), CLOSE, CLOSE):
                        raise self._not_affine()
        except (AttributeError, TypeError, ValueError) as error:
            raise self._not_affine() from error
        self.round, self.exchanges = self.round + 1, exchanges
        return coefficients

    def _round(self, clients: int, share: Any) -> tuple[Coefficients, dict[str, Exchange]]:
        """Coefficients of the current round, and the exchanges after it."""
        work, parts = self._work(clients, share), len(self.server) + len(self.memory)
        local, gradient = self._unit(parts)[None], self._unit(parts + 1)[None]
        # Directions differ from step to step only if a method uses the momentum gathered so far.
        steps = range(len(work.step_sizes)) if self.setting.momentum else range(1)
        directions = [
            self.algorithm.direction(work._replace(step=k), local, gradient, _gradient_elsewhere)[0] for k in steps
        ]
        without_clients = work._replace(
            clients=work.clients[:0], client_index=work.client_index[:0], counts=work.counts[:0],
            weights=work.weights[:0], steps=work.steps[:0], starts=work.starts[:0],
            shares=None if share is None else work.shares[:0],  # type: ignore[index]
        )  # fmt: skip
        alone = self._server_forms(self._finish(without_clients, local[:0])[0])
        unweighted = self._server_forms(self._finish(work._replace(weights=0 * work.weights), local)[0])
        vectors_after, memory, exchanges = self._finish(work, local)
        server = self._server_forms(vectors_after)
        forms = np.concatenate([work.starts, directions, alone, unweighted, server, memory])
        errors = (forms[:, :-1] @ self._values - forms[:, -1]).astype(float)
        if not (np.abs(errors) <= CLOSE * (1 + np.abs(forms[:, -1].astype(float)))).all():
            raise self._not_affine()
        along, end = np.array(directions), parts + 1  # forms of results have no coefficient of a gradient
        coefficients = (
            work.starts[0, :parts], along[:, parts + 1], along[:, parts], along[:, :parts],
            alone[:, : len(self.server)], (server - unweighted)[:, :end], (unweighted - alone)[:, :end],
            memory[:, :end],
        )  # fmt: skip
        return Coefficients(*(np.asarray(x) for x in coefficients)), exchanges

    def _server_forms(self, server: Mapping[str, Any]) -> Array:
        """The server's vectors in the order of ``self.server``, zero for missing ones."""
        zero = self.kind.zeros(len(self._values) + 1)
        return np.array([np.broadcast_to(server.get(name, zero), zero.shape) for name in self.server])

    def _finish(self, work: Work, ends: Any) -> tuple[dict[str, Any], Array, dict[str, Exchange]]:
        """The server's vectors, the client's memory and exchanges after a round in which it ended at ``ends``."""
        after = finish(self.algorithm, work._replace(recalled={}), ends)
        rows = np.array([rows[0] for rows in after.memory.values()]).reshape(len(after.memory), len(self._values) + 1)
        return {**after.server, "model": after.model}, rows, dict(after.exchanges)


@lru_cache(maxsize=64)
def first_round(algorithm: Algorithm, follow_last: bool) -> tuple[Forms, Coefficients]:
    """Coefficients, in floats, of a method for which they do not depend on step sizes, round or number of clients."""
    setting = Setting(rounds=1, cohort=1, local_steps=1, step_size=1.0)
    forms = Forms(algorithm, setting, FLOATS, follow_last=follow_last, trusted=True)
    return forms, forms.next(1)


def _gradient_elsewhere(*args: Any, **options: Any) -> Any:
    raise AttributeError("gradients elsewhere are not followed")
