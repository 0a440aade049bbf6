"""A federation known only by its class: where its functions are evaluated, and what interpolates there.

Client k's function is L-smooth and mu-strongly convex (mu = 0: convex; mu < 0: of curvature at least mu, mu = -L
being plain L-smoothness). Values and gradients at finitely many points belong to one if and only if, for all pairs,

    f_i >= f_j + <g_j, x_i - x_j> + mu/2 |x_i - x_j|^2 + |g_i - g_j - mu (x_i - x_j)|^2 / (2 (L - mu))

(Taylor, Hendrickx and Glineur 2017, Theorem 4, after taking mu/2 |x|^2 away). So a worst case over the class is one
over numbers. Functions are moved so that the minimiser of F is the origin and every f_i is 0 there; non-convex ones so
that the start is the origin and every f_i is 0 there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from math import log2
from typing import Any

import numpy as np

from .coordinates import Array, averaged, SAME, Space
from .program import Constraint
from .symbolic_run import Recorded

Rows = list[Array]


@dataclass(frozen=True, eq=False)
class PointEvaluation:
    """Every member's function at a point of its own: rows of points and gradients, places of the values (None: 0)."""

    points: Rows
    gradients: Rows
    values: tuple[int | None, ...]
    shared: bool = False
    """Whether all clients are at one model."""
    name: str = ""
    """``*``: the minimiser; ``own``: everybody's own; ``g3``: where the third gradient was taken; ``w2``: the server
    model after two rounds; ``v5``: the virtual average before step 6; ``mean``: the mean of those before every step."""


@dataclass(eq=False)
class Formulation:
    """The run of ``recorded`` on functions of the class; ``room`` is how many extra vectors and values it may take."""

    recorded: Recorded
    smoothness: Any
    strong_convexity: Any
    convex: bool
    symmetric: bool = True
    room: tuple[int, int] = (0, 0)
    evaluations: list[PointEvaluation] = field(default_factory=list, init=False)
    walked: list[PointEvaluation] = field(default_factory=list, init=False)
    taken_values: int = field(default=0, init=False)
    labels: list[str] = field(default_factory=list, init=False)
    """The evaluations with a vector of their own besides the gradients along the run, in the order of its columns."""
    near: dict[str, str] = field(default_factory=dict, init=False)
    """The evaluations whose gradient is written as a change, and from which one along the run."""

    def __post_init__(self) -> None:
        self.space = Space(self.recorded, self.symmetric, self.room[0], self._change)
        self._known: dict[bytes, PointEvaluation] = {}
        if self.convex:
            nowhere = self.points(0 * self.recorded.server[0])
            self._place("*", nowhere, self.space.fresh(balanced=True), zero=True)
        for j in range(self.recorded.gradients):  # every client's j-th gradient along its run
            points = self.points(self.recorded.asked[:, j])
            gradients = [self.space.unit(k, j) for k in range(self.space.members)]
            self.walked.append(self._place("", points, gradients, not self.convex and j == 0, f"g{j + 1}"))

    @property
    def _change(self) -> float:
        """How much a gradient changes in a step, about: a power of two, so that fractions stay short."""
        return 2.0 ** min(0, round(log2(self.smoothness * max(self.recorded.step_sizes))))

    @property
    def taken(self) -> tuple[int, int]:
        return self.space.taken, self.taken_values

    # ---- points ----

    def points(self, recorded: Array) -> Rows:
        """A vector that is the same for all clients, or ``(clients, n)`` one for each, as the members' rows."""
        each = np.broadcast_to(recorded, (self.recorded.clients, recorded.shape[-1]))
        rows = [self.space.member(each[k], k) for k in range(self.space.members)]
        if not self.convex:  # the start is the origin
            for row in rows:
                row[0] *= 0
        return rows

    def _key(self, points: Rows) -> bytes:
        return (np.round(np.array(points, dtype=float), 10) + 0.0).tobytes()  # no negative zeros

    def _place(self, key: str, points: Rows, gradients: Rows, zero: bool = False, name: str = "") -> PointEvaluation:
        values: list[int | None] = []
        for _ in range(self.space.members):
            values.append(None if zero else self.taken_values)
            self.taken_values += not zero
        mean = self.space.mean(points)
        shared = key != "own" and all(np.abs(row - mean).max() < SAME for row in points)
        found = PointEvaluation(points, gradients, tuple(values), shared, name or key)
        if not found.name.startswith("g"):  # it has a vector of its own
            self.labels.append(found.name)
        self.evaluations.append(found)
        self._known[key.encode() or self._key(points)] = found
        if key:
            self._known[self._key(points)] = found
        return found

    def at(self, recorded: Array) -> PointEvaluation:
        """All functions at a vector (or one for each client) that the recorder wrote."""
        points = self.points(recorded)
        known = self._known.get(self._key(points))
        if known is not None:
            return known

        def away(e: PointEvaluation) -> float:
            return round(float(np.abs(np.array(points) - np.array(e.points)).sum()), 9)  # not by rounding

        leading = self.recorded.leading(recorded)
        near = min(self.walked, key=away) if leading is None else self.at(leading)
        found = self._place("", points, self.space.fresh(near=near.gradients), name=self._name(recorded))
        self.near[found.name] = near.name
        return found

    def _name(self, recorded: Array) -> str:
        """Which server model, or which virtual average, a vector is."""
        models = {f"w{i}": model for i, model in enumerate(self.recorded.server)}
        models |= {f"v{i}": model for i, model in enumerate(self.averages)}
        if len(self.averages) > 1:
            models["mean"] = averaged(self.averages[:-1])
        return next((name for name, model in models.items() if np.abs(model - recorded).max() < SAME), "")

    @property
    def optimum(self) -> PointEvaluation:
        return self._known[b"*"]

    @property
    def own_minima(self) -> PointEvaluation:
        """Every function at a minimiser of its own."""
        nothing = [self.space.zero() for _ in range(self.space.members)]
        return self._known.get(b"own") or self._place("own", self.space.fresh(point=True), nothing)

    def server(self, round_: int) -> PointEvaluation:
        return self.at(self.recorded.server[round_])

    @cached_property
    def averages(self) -> tuple[Array, ...]:
        """The virtual averages of all clients' local models, iteration by iteration, the last server model included."""
        means = [model for path in self.recorded.path for model in averaged(list(path))[:-1]]
        return (*means, self.recorded.server[-1])

    @cached_property
    def floor(self) -> int:
        """The place of inf F among the values, for functions without a minimiser."""
        self.taken_values += 1
        return self.taken_values - 1

    # ---- linear forms in (packed inner products, values) ----

    @property
    def width(self) -> int:
        return self.space.packed + self.room[1]

    def zero(self) -> Array:
        return np.zeros(self.width)

    def inner(self, u: Rows, v: Rows) -> Array:
        """The mean over clients of ``<u_k, v_k>``."""
        form = self.zero()
        form[: self.space.packed] = averaged([self.space.inner(a, b) for a, b in zip(u, v, strict=True)])
        return form

    def of_member(self, member: int, u: Array, v: Array) -> Array:
        """``<u, v>`` of one member's vectors; in symmetric coordinates of every client's."""
        form = self.zero()
        form[: self.space.packed] = self.space.inner(u, v)
        return form

    def square(self, rows: Rows) -> Array:
        """The mean over clients of ``|u_k|^2``."""
        return self.inner(rows, rows)

    def mean(self, rows: Rows) -> Rows:
        """The average over clients, for every member."""
        return [self.space.mean(rows)] * self.space.members

    def global_gradient(self, at: PointEvaluation) -> Array:
        """``|grad F|^2``."""
        return self.square(self.mean(at.gradients))

    def value(self, place: int | None) -> Array:
        form = self.zero()
        if place is not None and self.room[1]:
            form[self.space.packed + place] += 1
        return form

    def loss(self, at: PointEvaluation) -> Array:
        """``F``: the mean of the clients' values."""
        return averaged([self.value(place) for place in at.values])

    def gap(self, at: PointEvaluation) -> Array:
        """``F - F*``."""
        return self.loss(at) if self.convex else self.loss(at) - self.value(self.floor)

    # ---- what makes it a federation of the class ----

    def interpolation(self) -> list[Constraint]:
        """One inequality per member and ordered pair of its points."""
        found, named = [], [e.name for e in self.evaluations]
        for k in range(self.space.members):
            at = [(e.points[k], e.gradients[k], e.values[k]) for e in self.evaluations]
            pairs = permutations(zip(at, named, strict=True), 2)
            found += [Constraint("class", self._pair(x, y), of=(a, b)) for (x, a), (y, b) in pairs]
        return found

    def _pair(self, one: Any, other: Any) -> Array:
        (x, g, f), (y, h, e) = one, other
        L, mu = self.smoothness, self.strong_convexity
        apart, bent = x - y, g - h - mu * (x - y)
        form = self.value(e) - self.value(f)
        inner = self.space.inner
        form[: self.space.packed] += inner(h, apart) + mu / 2 * inner(apart, apart)
        form[: self.space.packed] += inner(bent, bent) / (2 * (L - mu))
        return form
