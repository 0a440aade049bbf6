"""One round of a linear method in numbers: what it does to each coordinate, read off the method's own hooks.

Hooks of a linear method treat all coordinates equally, so they are played once on *linear forms*: the last axis of
every
vector counts the parts that a model may be made of (server vectors, the client's memory, its local model, its gradient)
instead of coordinates. What comes out are the coefficients, in any kind of number, whatever the number of clients.

The local model that a client made last is followed besides what the method remembers; it starts as the first model.
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
"""Sizes of the generic model at which a round is played beside the forms: only a linear method treats both equally."""


class NotAffineError(EmpiricsError):
    """A round of the algorithm is not an affine map of its state and noise, so its moments do not close."""


class Coefficients(NamedTuple):
    """A round of P server vectors (the model first) and Q vectors of every client, as seen by one client.

    A client starts at ``start (P + Q)``. Its steps go along ``steepness (J)`` times the gradient plus ``pull (J)``
    times its model plus ``push (J, P + Q)``, with J = 1 if all steps are equal. The server's vectors become ``stays
    (P, P)`` of themselves plus, for every participant, its weight times ``weighed (P, P + Q + 1)`` plus ``added
    (P, P + Q + 1)``; the last column is for where the client ended. Its memory becomes ``keeps (Q, P + Q + 1)``.
    """

    start: Array
    steepness: Array
    pull: Array
    push: Array
    stays: Array
    weighed: Array
    added: Array
    keeps: Array

    def moves_along(self, first: Array) -> bool:
        """Whether a run whose places are all shifted is the same run, shifted; ``first`` is 1 for places.

        Then places may be measured from anywhere.
        """
        server, places = len(self.stays), np.append(first, 1)
        rows = [
            self.start @ first - 1, self.pull + self.push @ first,
            self.added @ places, self.keeps @ places - first[server:],
            self.stays @ first[:server] + self.weighed @ places - first[:server],
        ]  # fmt: skip
        return all(bool((np.abs(np.asarray(row, dtype=float)) < CLOSE).all()) for row in rows)


def refuse(algorithm: Algorithm, setting: Setting) -> None:
    """Refuse what moments cannot follow, in one line."""
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
    """Local steps of a round and the size of each."""
    decay, size = setting.step_size_decay, setting.step_size
    planned = size if decay == 1 else float(geometric(size, decay, round_))
    steps, size = algorithm.steps(State(round_, vectors(kind.zeros(1)), {}, {}), setting.steps, planned)
    return int(steps), kind.array(setting.sizes(round_, size, int(steps)))


def begin(algorithm: Algorithm, model: Any, clients: int, last: bool = True) -> State:
    """The state before the first round; with ``last`` every client's last local model belongs to its memory."""
    rows, server, exchanges = dict[str, Any](), dict[str, Any](), dict[str, Exchange]()
    for keeper in algorithm.remember:
        begun = keeper.begin(model, clients)
        rows, server, exchanges = {**rows, **begun.rows}, {**server, **begun.vectors}, {**exchanges, **begun.exchanges}
    if last and LAST not in rows:
        rows[LAST] = model.expand(clients, -1).clone()
    return State(0, model, rows, server, exchanges=exchanges)


def finish(algorithm: Algorithm, work: Work, ends: Any) -> State:
    """The state after a round whose clients ended at ``ends (rows, d)``."""
    before = copy_state(work.state)
    work = work._replace(state=before)
    model, renewed = algorithm.combine(work, ends)
    server = {**before.server, **renewed}
    for keeper in algorithm.remember:
        server |= keeper(work, ends, model)
    if LAST in before.memory:
        before.memory[LAST][work.rows] = ends
    return State(before.round + 1, model, before.memory, server, exchanges=before.exchanges)


class Forms:
    """The hooks of one method under one setting, on forms; rounds must be played in order, from 0.

    ``layer`` is the one that is followed: methods may treat layers in different ways. ``last``: whether the local model
    that a client made last belongs to its memory, where the method does not remember it itself. The first two rounds
    are played at a second size, too, to see that the method is linear, unless it is ``trusted`` to be, and to remember
    from the beginning whatever it remembers later.
    """

    def __init__(
        self,
        algorithm: Algorithm,
        setting: Setting,
        kind: Kind,
        layers: Sequence[str] = ("model",),
        layer: str = "model",
        last: bool = True,
        trusted: bool = False,
    ) -> None:
        refuse(algorithm, setting)
        self.algorithm, self.setting, self.kind = exactly(algorithm, kind), setting, kind
        self.layers = {name: slice(0, None) if name == layer else slice(0, 0) for name in layers}
        self.round, self.trusted = 0, trusted
        try:
            one = vectors(kind.eye(1)[0])
            begun = begin(self.algorithm, one, 1, last)
            server, self.exchanges = {"model": one, **begun.server}, begun.exchanges
            self.begun, self.server, self.memory = len(server), list(server), list(begun.memory)
            own = begun.memory.values()
            self.first = np.array([*(value[0] for value in server.values()), *(row[0, 0] for row in own)])
            self._values = self._generic(PROBES[0])
            if not trusted:
                later = self._finished(self._work(1, None), self._unit(-3)[None])[0]
                self.server += [name for name in later if name not in server]
                self.first = np.insert(self.first, self.begun, kind.zeros(len(self.server) - self.begun))
        except (AttributeError, TypeError, ValueError) as error:
            raise self._not_affine() from error

    def _not_affine(self) -> NotAffineError:
        return NotAffineError(f"{self.algorithm} is not an affine map of its state and noise; sample it instead")

    # ---- forms: parts, the local model, its gradient, and the value at a generic model ----

    def _generic(self, probe: int) -> Array:
        count = len(self.server) + len(self.memory) + 2
        return self.kind.array([probe * Fraction(7 * i + 3, 2 * i + 5) for i in range(count)])

    def _unit(self, place: int) -> Any:
        found = self.kind.zeros(len(self._values) + 1)
        found[place if place >= 0 else len(found) + place] = self.kind.make(1)
        found[-1] = self._values[place if place >= 0 else place + 1]
        return vectors(found)

    def _state(self) -> State:
        known = self.server if self.round else self.server[: self.begun]
        server = {name: self._unit(i) for i, name in enumerate(known)}
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
            state=state, clients=rows, rows=rows, counts=one, weights=one, steps=np.array([steps]),
            step_size=sizes[0], total=clients, seed=0, starts=starts, layers=self.layers, sizes=sizes, recalled={},
            shares=None if share is None else one * share, momentum=self.setting.momentum,
            nesterov=self.setting.nesterov,
        )  # fmt: skip

    def plan(self) -> tuple[int, Array]:
        """Local steps of the next round and the size of each."""
        return plan(self.algorithm, self.setting, self.kind, self.round)

    # ---- a round ----

    def next(self, clients: int, share: Any = None) -> Coefficients:
        """The coefficients of the next round of a number of ``clients``, one of which has a ``share`` of the loss.

        ``share`` is None where all shares are equal.
        """
        try:
            self._values = self._generic(PROBES[0])
            found, exchanges = self._played(clients, share)
            if self.round < 2 and not self.trusted:
                self._values = self._generic(PROBES[1])
                other, _ = self._played(clients, share)
                if not all(np.allclose(x.astype(float), y.astype(float), CLOSE, CLOSE) for x, y in zip(found, other)):  # noqa: B905
                    raise self._not_affine()
        except (AttributeError, TypeError, ValueError) as error:
            raise self._not_affine() from error
        self.round, self.exchanges = self.round + 1, exchanges
        return found

    def _played(self, clients: int, share: Any) -> tuple[Coefficients, dict[str, Exchange]]:
        work, parts = self._work(clients, share), len(self.server) + len(self.memory)
        local, slope = self._unit(parts)[None], self._unit(parts + 1)[None]
        # Directions differ from step to step only where a method knows the momentum gathered so far.
        shown = range(len(work.sizes)) if self.setting.momentum else range(1)
        made = [self.algorithm.direction(work._replace(step=k), local, slope, _elsewhere)[0] for k in shown]
        nobody = work._replace(
            clients=work.clients[:0], rows=work.rows[:0], counts=work.counts[:0], weights=work.weights[:0],
            steps=work.steps[:0], starts=work.starts[:0], shares=None if share is None else work.shares[:0],  # type: ignore[index]
        )  # fmt: skip
        stays = self._named(self._finished(nobody, local[:0])[0])
        lost = self._named(self._finished(work._replace(weights=0 * work.weights), local)[0])
        ended, memory, exchanges = self._finished(work, local)
        server = self._named(ended)
        forms = np.concatenate([work.starts, made, stays, lost, server, memory])
        apart = (forms[:, :-1] @ self._values - forms[:, -1]).astype(float)
        if not (np.abs(apart) <= CLOSE * (1 + np.abs(forms[:, -1].astype(float)))).all():
            raise self._not_affine()
        along, own = np.array(made), parts + 1
        found = (
            work.starts[0, :parts], along[:, parts + 1], along[:, parts], along[:, :parts],
            stays[:, : len(self.server)], (server - lost)[:, :own], (lost - stays)[:, :own], memory[:, :own],
        )  # fmt: skip
        return Coefficients(*(np.asarray(x) for x in found)), exchanges

    def _named(self, server: Mapping[str, Any]) -> Array:
        none = self.kind.zeros(len(self._values) + 1)
        return np.array([np.broadcast_to(server.get(name, none), none.shape) for name in self.server])

    def _finished(self, work: Work, ends: Any) -> tuple[dict[str, Any], Array, dict[str, Exchange]]:
        """The server's vectors and the client's memory after a round that it ended at ``ends``."""
        after = finish(self.algorithm, work._replace(recalled={}), ends)
        rows = np.array([rows[0] for rows in after.memory.values()]).reshape(len(after.memory), len(self._values) + 1)
        return {**after.server, "model": after.model}, rows, dict(after.exchanges)


@lru_cache(maxsize=64)
def first_round(algorithm: Algorithm, last: bool) -> tuple[Forms, Coefficients]:
    """In floats, of a method known to do the same whatever the step sizes, the round and the number of clients."""
    forms = Forms(algorithm, Setting(rounds=1, cohort=1, local_steps=1, step_size=1.0), FLOATS, last=last, trusted=True)
    return forms, forms.next(1)


def _elsewhere(*args: Any, **options: Any) -> Any:
    raise AttributeError("gradients elsewhere are not followed")
