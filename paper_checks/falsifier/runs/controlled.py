"""SCAFFOLD on quadratics: what its control variates change of a run, in closed form and again by plain loops.

Controls begin at zero and are renewed by option II: a participant's becomes ``c_i - c + (w - end)/(K eta)``, the
server's c moves by a share 1/C of every change. All clients weigh the same and are drawn without replacement, so that a
participant's share of the average is 1/S; clients stay of a few kinds, any number of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from empirics.exact.alike import AlikeRound, Work

from .moments import Array, Moments
from .plain import Form, Law, Number
from .twin import PlainRun, Sends


@dataclass(frozen=True, eq=False)
class ControlledMoments(Moments):
    """A run of SCAFFOLD: the server's numbers are ``(1, w, c)``, what a client remembers is its control."""

    lasting: ClassVar[bool] = False

    @property
    def _served(self) -> int:
        return 1 + 2 * self.problem.dim

    @cached_property
    def _control(self) -> Array:
        """Picks c out of the means ``(d, n)``."""
        return np.eye(self.problem.dim, self._size, 1 + self.problem.dim)

    @cached_property
    def _starts(self) -> Array:
        return np.broadcast_to(self._model, (self.kinds, *self._model.shape))

    @cached_property
    def _pushes(self) -> Array:
        """How far a constant added to every gradient has pushed a client after 0..K steps ``(G, K+1, d, d)``."""
        summed = np.concatenate([np.zeros((self.kinds, 1, self.problem.dim)), np.cumsum(self._shrinks[:, :-1], 1)], 1)
        return -self.step_size * self._turned(summed)

    @cached_property
    def path(self) -> Array:
        correction = self._control - self._lasts
        return self._uncontrolled + np.einsum("kjde,ken->kjdn", self._pushes, correction)

    @cached_property
    def _uncontrolled(self) -> Array:
        vectors = self._axes[1]
        away = np.einsum("ked,ken->kdn", vectors, self._starts - self._minima)
        return np.einsum("kde,kje,ken->kjdn", vectors, self._shrinks, away) + self._minima[:, None]

    @cached_property
    def dev(self) -> Array:
        return -self._pushes

    @cached_property
    def round(self) -> AlikeRound:
        """A participant sends its end, and what c would be if all participants were like it."""
        d, served, length = self.problem.dim, self._served, self.local_steps * self.step_size
        joined = float(self.sizes @ self.draw.mean[:, 1] / self.sizes.sum())
        ends = self.path[:, -1]
        walked = (self._model - ends) / length
        renewed = self._lasts - self._control + walked
        sent = np.concatenate([ends, self._control + joined * (walked - self._control)], axis=1)
        own = [slice(served + k * d, served + (k + 1) * d) for k in range(self.kinds)]
        of_noise = np.concatenate([np.eye(d), -joined / length * np.eye(d), -np.eye(d) / length])
        spread = self._turned(self.noise[:, -1:])[:, 0]
        work = Work(
            sent[:, :, :served], np.stack([sent[k][:, own[k]] for k in range(self.kinds)]),
            renewed[:, :, :served], np.stack([renewed[k][:, own[k]] for k in range(self.kinds)]),
            np.zeros((self.kinds, d, served)), np.tile(np.eye(d), (self.kinds, 1, 1)),
            of_noise @ spread @ of_noise.T, np.zeros((self.kinds, d, d)),
            np.diag([1.0, *[0.0] * (2 * d)]), np.eye(served, 2 * d, -1),
        )  # fmt: skip
        return AlikeRound(work, self.draw, self.sizes)

    @cached_property
    def first(self) -> Array:
        d = self.problem.dim
        u = np.concatenate([[1.0], self.problem.start - self.problem.minimiser, np.zeros(self._size - 1 - d)])
        return self.round.flat(np.outer(u, u), np.zeros((self.kinds, d, d)))


class ControlledRun(PlainRun):
    """The same by plain loops: a client's memory is its control, and the server has a control beside its model."""

    # ---- variables ----

    def _index(self, kind: str, who: int = 0, axis: int = 0) -> int:
        return super()._index("average" if kind == "control" else kind, who, axis)

    def _first(self) -> Law:
        zero, size = 0 * self.table.step_size, (2 + 3 * len(self.people)) * self.dim
        start = [zero] * size
        start[: self.dim] = self.table.start
        return Law(start, [[zero] * size for _ in range(size)])

    def _outliving(self, memory: bool) -> list[int]:
        return [*super()._outliving(True), *(self._index("control", 0, i) for i in range(self.dim))]

    # ---- a round ----

    def _pull(self, who: int) -> list[tuple[Form, Number]]:
        one = self.table.kind(1)
        return [
            ({**form, self._index("last", who, i): -one, self._index("control", 0, i): one}, constant)
            for i, (form, constant) in enumerate(self._gradient(who, "local"))
        ]

    def _change(self, who: int, axis: int) -> dict[int, Number]:
        """What taking part changes of a client's control."""
        length = self.table.step_size * int(self.table.raw["local_steps"])
        return {
            self._index("control", 0, axis): -self.table.kind(1),
            self._index("model", 0, axis): 1 / length,
            self._index("local", who, axis): -1 / length,
        }

    def _kept(self, who: int, axis: int) -> dict[int, Number]:
        return {self._index("last", who, axis): self.table.kind(1), **self._change(who, axis)}

    def _servers(self) -> dict[str, Sends]:
        return {**super()._servers(), "control": self._sent_control}

    def _sent_control(self, who: int, axis: int) -> dict[int, Number]:
        joined = self.table.kind(self.table.pairs.cohort) / self.table.clients
        found = {variable: joined * c for variable, c in self._change(who, axis).items()}
        found[self._index("control", 0, axis)] += self.table.kind(1)
        return found

    def _read_moved(self, before: Law, law: Law, after: Law) -> None:
        """Who moved how far is no reading of these runs: their memory holds no models."""

    def _apart_from_last(self, law: Law) -> None:
        """Nor is the distance of last models."""
