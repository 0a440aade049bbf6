"""A federation represented by numbers: function values and gradients at the points of a run, and their interpolation.

Client k's function is L-smooth and mu-strongly convex (mu = 0: convex; mu < 0: of curvature at least mu, and mu = -L
is L-smoothness alone). Values and gradients at finitely many points belong to such a function if and only if, for all
pairs,

    f_i >= f_j + <g_j, x_i - x_j> + mu/2 |x_i - x_j|^2 + |g_i - g_j - mu (x_i - x_j)|^2 / (2 (L - mu))

(Taylor, Hendrickx and Glineur 2017, Theorem 4, after subtracting mu/2 |x|^2). So a worst case over the class is one
over numbers. Functions are translated: with convexity, the minimiser of F is the origin and every f_i is 0 there;
without, the start is the origin and every f_i is 0 there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from math import log2
from typing import Any

import numpy as np

from .coordinates import Array, mean_row, SAME, Space
from .program import Constraint
from .symbolic_run import SymbolicRun

Rows = list[Array]
"""A vector of every client, as one row per member of the coordinates."""


@dataclass(frozen=True, eq=False)
class PointEvaluation:
    """Every member's function at a point: rows of points and gradients, indices of the values (None: it is 0)."""

    points: Rows
    gradients: Rows
    values: tuple[int | None, ...]
    shared: bool = False
    """Whether all clients are at the same model."""
    name: str = ""
    """``*``: the minimiser; ``own``: each client's own minimiser; ``g3``: where the third gradient was taken; ``w2``:
    the server model after two rounds; ``v5``: the virtual average before step 6; ``mean``: the mean of these averages
    before all steps."""


@dataclass(eq=False)
class Formulation:
    """Evaluations and linear forms for a run on functions of the class. Forms are arrays over the packed inner products
    and the function values. ``capacity`` is the number of extra vectors and of values that may be added; with no
    capacity for values, forms leave them out."""

    run: SymbolicRun
    smoothness: Any
    strong_convexity: Any
    convex: bool
    symmetric: bool = True
    capacity: tuple[int, int] = (0, 0)
    evaluations: list[PointEvaluation] = field(default_factory=list, init=False)
    along_run: list[PointEvaluation] = field(default_factory=list, init=False)
    """The evaluations at the local steps."""
    used_values: int = field(default=0, init=False)
    labels: list[str] = field(default_factory=list, init=False)
    """The names of the evaluations with an extra vector, in the order of its columns."""
    near: dict[str, str] = field(default_factory=dict, init=False)
    """For evaluations whose gradient is expressed as a change: the evaluation of a local step it is a change from."""

    def __post_init__(self) -> None:
        self.space = Space(self.run, self.symmetric, self.capacity[0], self._change)
        self._by_key: dict[bytes, PointEvaluation] = {}
        if self.convex:
            origin = self.points(0 * self.run.server[0])
            self._add("*", origin, self.space.new_vectors(balanced=True), zero=True)
        for j in range(self.run.gradients):
            points = self.points(self.run.queries[:, j])
            gradients = [self.space.unit(k, j) for k in range(self.space.members)]
            self.along_run.append(self._add("", points, gradients, not self.convex and j == 0, f"g{j + 1}"))

    @property
    def _change(self) -> float:
        """The approximate relative change of a gradient in a step; a power of two, so that fractions stay short."""
        return 2.0 ** min(0, round(log2(self.smoothness * max(self.run.step_sizes))))

    @property
    def used(self) -> tuple[int, int]:
        """The number of extra vectors and of values that are used."""
        return self.space.used, self.used_values

    # ---- points ----

    def points(self, vector: Array) -> Rows:
        """Return the members' rows of a vector over start and gradients: one for all clients, or ``(clients, n)``."""
        each = np.broadcast_to(vector, (self.run.clients, vector.shape[-1]))
        rows = [self.space.member(each[k], k) for k in range(self.space.members)]
        if not self.convex:  # the start is the origin
            for row in rows:
                row[0] *= 0
        return rows

    def _key(self, points: Rows) -> bytes:
        return (np.round(np.array(points, dtype=float), 10) + 0.0).tobytes()  # no negative zeros

    def _add(self, key: str, points: Rows, gradients: Rows, zero: bool = False, name: str = "") -> PointEvaluation:
        """Add an evaluation with new values, or with values 0; ``key`` is the name of one that no run visits."""
        values: list[int | None] = []
        for _ in range(self.space.members):
            values.append(None if zero else self.used_values)
            self.used_values += not zero
        mean = self.space.mean(points)
        shared = key != "own" and all(np.abs(row - mean).max() < SAME for row in points)
        evaluation = PointEvaluation(points, gradients, tuple(values), shared, name or key)
        if not evaluation.name.startswith("g"):
            self.labels.append(evaluation.name)
        self.evaluations.append(evaluation)
        self._by_key[key.encode() or self._key(points)] = evaluation
        if key:
            self._by_key[self._key(points)] = evaluation
        return evaluation

    def at(self, vector: Array) -> PointEvaluation:
        """Return the evaluation of all functions at a vector over start and gradients, adding it if it is new."""
        points = self.points(vector)
        existing = self._by_key.get(self._key(points))
        if existing is not None:
            return existing

        def distance(e: PointEvaluation) -> float:
            return round(float(np.abs(np.array(points) - np.array(e.points)).sum()), 9)  # ties despite rounding errors

        base = self.run.base_model(vector)
        near = min(self.along_run, key=distance) if base is None else self.at(base)
        evaluation = self._add("", points, self.space.new_vectors(near=near.gradients), name=self._name(vector))
        self.near[evaluation.name] = near.name
        return evaluation

    def _name(self, vector: Array) -> str:
        """Return the name of a server model, of a virtual average, or of the mean of the averages."""
        models = {f"w{i}": model for i, model in enumerate(self.run.server)}
        models |= {f"v{i}": model for i, model in enumerate(self.averages)}
        if len(self.averages) > 1:
            models["mean"] = mean_row(self.averages[:-1])
        return next((name for name, model in models.items() if np.abs(model - vector).max() < SAME), "")

    @property
    def optimum(self) -> PointEvaluation:
        return self._by_key[b"*"]

    @property
    def own_minima(self) -> PointEvaluation:
        """Every client's function at its own minimiser."""
        zero = [self.space.zero() for _ in range(self.space.members)]
        return self._by_key.get(b"own") or self._add("own", self.space.new_vectors(point=True), zero)

    def server(self, round_: int) -> PointEvaluation:
        return self.at(self.run.server[round_])

    @cached_property
    def averages(self) -> tuple[Array, ...]:
        """The averages of all clients' local models before every step, and the last server model."""
        means = [model for path in self.run.path for model in mean_row(list(path))[:-1]]
        return (*means, self.run.server[-1])

    @cached_property
    def floor(self) -> int:
        """The index of inf F among the values, for functions that need not have a minimiser."""
        self.used_values += 1
        return self.used_values - 1

    # ---- linear forms in (packed inner products, values) ----

    @property
    def width(self) -> int:
        return self.space.packed + self.capacity[1]

    def zero(self) -> Array:
        return np.zeros(self.width)

    def inner(self, u: Rows, v: Rows) -> Array:
        """Return the mean over clients of ``<u_k, v_k>``."""
        form = self.zero()
        form[: self.space.packed] = mean_row([self.space.inner(a, b) for a, b in zip(u, v, strict=True)])
        return form

    def member_square(self, row: Array) -> Array:
        """Return ``|u|^2`` for a member's vector; in symmetric coordinates it is the same for every client."""
        form = self.zero()
        form[: self.space.packed] = self.space.inner(row, row)
        return form

    def square(self, rows: Rows) -> Array:
        """Return the mean over clients of ``|u_k|^2``."""
        return self.inner(rows, rows)

    def mean(self, rows: Rows) -> Rows:
        """Return the average over clients, as a vector of every member."""
        return [self.space.mean(rows)] * self.space.members

    def global_gradient_sq(self, at: PointEvaluation) -> Array:
        """Return ``|grad F|^2``."""
        return self.square(self.mean(at.gradients))

    def value(self, index: int | None) -> Array:
        """Return the function value with this index, or 0 for None."""
        form = self.zero()
        if index is not None and self.capacity[1]:
            form[self.space.packed + index] += 1
        return form

    def loss(self, at: PointEvaluation) -> Array:
        """Return ``F``, the mean of the clients' values."""
        return mean_row([self.value(index) for index in at.values])

    def gap(self, at: PointEvaluation) -> Array:
        """Return ``F - F*``."""
        return self.loss(at) if self.convex else self.loss(at) - self.value(self.floor)

    # ---- interpolation ----

    def interpolation(self) -> list[Constraint]:
        """Return the inequalities of the class: one per member and ordered pair of its points."""
        constraints = []
        for k in range(self.space.members):
            for one, other in permutations(self.evaluations, 2):
                constraints.append(Constraint("class", self._pair(k, one, other), points=(one.name, other.name)))
        return constraints

    def _pair(self, member: int, one: PointEvaluation, other: PointEvaluation) -> Array:
        L, mu, inner = self.smoothness, self.strong_convexity, self.space.inner
        x = one.points[member] - other.points[member]
        h = other.gradients[member]
        residual = one.gradients[member] - h - mu * x
        form = self.value(other.values[member]) - self.value(one.values[member])
        form[: self.space.packed] += inner(h, x) + mu / 2 * inner(x, x)
        form[: self.space.packed] += inner(residual, residual) / (2 * (L - mu))
        return form
