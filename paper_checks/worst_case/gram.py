"""The Gram matrix of a run: function values and inner products of gradients and points, the unknowns of the program.

Functions are translated: with convexity, the minimiser of F is the origin and every f_i is 0 there; without, the start
is the origin and every f_i is 0 there.

Every vector is a row over a few unknown vectors, whose inner products are the unknowns of the program. With identical
clients (same function class, same steps, equal weights) a worst case may be averaged over all permutations of the
clients, since the problem is convex. The inner products are then

    <u_i, v_i> = <mean u, mean v> + <deviation u_i, deviation v_i>,   the same for every client i,
    <u_i, v_j> = <mean u, mean v> - <deviation u_i, deviation v_i> / (N - 1),   the same for all i != j:

two blocks, one of means and one of deviations, whatever the number N of clients. A server model has no deviation, and
no constraint contains <u_i, v_j>; so the worst case for N = 2 is that for every N >= 2, and the size of the program
does not grow with N. Coordinates that are not symmetric have one block for all clients, and need no such argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from math import log2
from typing import Any

import numpy as np

from empirics.errors import EmpiricsError

from .function_class import interpolation
from .linear_run import LinearRun, SAME
from .program import Array, Constraint, pack

Rows = list[Array]
"""A vector of every client, as one row per member: one for all clients in symmetric coordinates, where each vector of a
client has two columns, for its mean and its deviation; otherwise one per client."""


@dataclass(frozen=True, eq=False)
class PointEvaluation:
    """Every member's function at a point: rows of points and gradients, indices of the values (None: 0)."""

    points: Rows
    gradients: Rows
    value_indices: tuple[int | None, ...]
    shared: bool = False
    """Whether all clients are at the same model."""
    name: str = ""
    """``*``: the minimiser; ``own``: each client's own minimiser; ``g3``: where the third gradient was taken; ``w2``:
    the server model after two rounds; ``v5``: the virtual average before step 6; ``mean``: the mean of these averages
    before all steps."""


@dataclass(eq=False)
class Gram:
    """Evaluations and linear forms for a run on functions of the class.

    The columns of a row are the start, the clients' gradients along the run, and up to ``vector_capacity`` more vectors
    that constraints need. Forms are arrays over the packed inner products and up to ``value_capacity`` function
    values; with no capacity for values, forms leave them out.
    """

    run: LinearRun
    smoothness: Any
    strong_convexity: Any
    convex: bool
    symmetric: bool = True
    vector_capacity: int = 0
    value_capacity: int = 0
    evaluations: list[PointEvaluation] = field(default_factory=list, init=False)
    along_run: list[PointEvaluation] = field(default_factory=list, init=False)
    """The evaluations at the local steps."""
    used_vectors: int = field(default=0, init=False)
    used_values: int = field(default=0, init=False)
    """How many of the extra vectors, and of the values, are in use."""
    extra_points: list[int] = field(default_factory=list, init=False)
    """Which of the extra vectors are points; the others are gradients."""
    bases: dict[str, str] = field(default_factory=dict, init=False)
    """For evaluations whose gradient is expressed as a change: the evaluation of a local step it is a change from."""

    def __post_init__(self) -> None:
        self.symmetric = self.symmetric and self.run.clients > 1  # a single client is its own mean: nothing deviates
        if self.symmetric:
            self._check_identical()
        self._by_key: dict[bytes, PointEvaluation] = {}
        if self.convex:
            origin = self.points(0 * self.run.server[0])
            self._add("*", origin, self.new_vectors(balanced=True), zero=True)
        for j in range(self.run.gradients):
            points = self.points(self.run.queries[:, j])
            gradients = [self.unit(k, j) for k in range(self.members)]
            self.along_run.append(self._add("", points, gradients, not self.convex and j == 0, f"g{j + 1}"))

    def _check_identical(self) -> None:
        """Raise ``EmpiricsError`` if permuting the clients changes where gradients are taken."""
        clients, m = self.run.clients, self.run.gradients
        for shift in range(1, clients):
            order = np.roll(np.arange(clients), shift)
            columns = np.concatenate([[0], *(1 + order[k] * m + np.arange(m) for k in range(clients))])
            if np.abs(self.run.queries[order][..., columns] - self.run.queries).max() > SAME:
                raise EmpiricsError("the clients of this method are not identical: symmetric coordinates do not apply")

    # ---- sizes ----

    @property
    def members(self) -> int:
        return 1 if self.symmetric else self.run.clients

    @property
    def per_client(self) -> int:
        """The number of unknown vectors of a client."""
        return self.run.gradients + self.vector_capacity

    @property
    def blocks(self) -> tuple[int, ...]:
        """The sizes of the matrices of inner products."""
        n = self.per_client
        return (1 + n, n) if self.symmetric else (1 + self.run.clients * n,)

    @property
    def packed(self) -> int:
        """The number of entries of all packed blocks."""
        return sum(n * (n + 1) // 2 for n in self.blocks)

    @property
    def labels(self) -> list[str]:
        """The names of the evaluations with an extra vector, in the order of its columns."""
        return [e.name for e in self.evaluations if e not in self.along_run]

    @cached_property
    def change(self) -> float:
        """The approximate relative change of a gradient in a step; a power of two, so that fractions stay short."""
        return 2.0 ** min(0, round(log2(self.smoothness * max(self.run.step_sizes))))

    def extents(self, length: float, steepness: float) -> Array:
        """Return the approximate size of every unknown vector: ``length`` for points, ``steepness`` for gradients."""
        own = np.full(self.per_client, steepness)
        own[[self.run.gradients + number for number in self.extra_points]] = length
        copies = 2 if self.symmetric else self.run.clients
        return np.concatenate([[length], *[own] * copies])

    # ---- rows ----

    @cached_property
    def _gradients(self) -> Array:
        """A client's gradients along the run ``(m, per_client)``: the first one plus scaled changes.

        Neighbouring gradients are nearly parallel. As separate unknowns they would have inner products that the solver
        cannot distinguish from singular ones.
        """
        m = self.run.gradients
        rows = np.zeros((m, self.per_client))
        for j in range(m):
            if (earlier := self.run.base_gradient(j)) < 0:
                rows[j, j] += 1
            else:
                rows[j] += rows[earlier]
                rows[j, j] += self.change
        return rows

    def unit(self, member: int, number: int) -> Array:
        """Return the row of a member's gradient of this number; extra vectors are numbered after the gradients."""
        row = np.zeros(sum(self.blocks))
        own = self._gradients[number] if number < self.run.gradients else np.eye(self.per_client)[number]
        for begin in [1, 1 + self.per_client] if self.symmetric else [1 + member * self.per_client]:
            row[begin : begin + self.per_client] = own
        return row

    def new_vectors(self, balanced: bool = False, point: bool = False, base: Rows | None = None) -> Rows:
        """Return the row of a new extra vector of every member, a gradient or a point.

        ``balanced`` vectors sum to zero over all clients. With ``base``, the new unknown is the scaled change from
        these rows.
        """
        number = self.used_vectors
        if number == self.vector_capacity:
            raise EmpiricsError("the coordinates have no column left")
        self.used_vectors += 1
        if point:
            self.extra_points.append(number)
        rows = [self.unit(k, self.run.gradients + number) for k in range(self.members)]
        if base is not None:
            rows = [other + self.change * row for other, row in zip(base, rows, strict=True)]
        if balanced:
            rows = [row - mean for row, mean in zip(rows, self.mean(rows), strict=True)]
        return rows

    def points(self, vector: Array) -> Rows:
        """Return the members' rows of a vector over start and gradients: one for all clients, or ``(clients, n)``."""
        each = np.broadcast_to(vector, (self.run.clients, vector.shape[-1]))
        rows = [self._member(each[k], k) for k in range(self.members)]
        if not self.convex:  # the start is the origin
            for row in rows:
                row[0] *= 0
        return rows

    def _member(self, vector: Array, member: int) -> Array:
        """Return the row of a member's vector, given over start and all clients' gradients (see ``LinearRun``)."""
        clients, n = self.run.clients, self.per_client
        own = vector[1:].reshape(clients, self.run.gradients) @ self._gradients
        row = np.zeros(sum(self.blocks))
        row[0] = vector[0]
        if not self.symmetric:
            row[1:] = own.ravel()
            return row
        other = own[(member + 1) % clients]
        row[1 : 1 + n] = own[member] + (clients - 1) * other
        row[1 + n :] = own[member] - other
        return row

    def mean(self, rows: Rows) -> Rows:
        """Return the average over clients, as a vector of every member."""
        if not self.symmetric:
            return [mean_row(rows)] * self.members
        row = rows[0].copy()
        row[1 + self.per_client :] = 0
        return [row]

    # ---- evaluations ----

    def _key(self, points: Rows) -> bytes:
        return (np.round(np.array(points, dtype=float), 10) + 0.0).tobytes()  # no negative zeros

    def _add(self, key: str, points: Rows, gradients: Rows, zero: bool = False, name: str = "") -> PointEvaluation:
        """Add an evaluation with new values, or with values 0; ``key`` is the name of one that no run visits."""
        values: list[int | None] = []
        for _ in range(self.members):
            values.append(None if zero else self.used_values)
            self.used_values += not zero
        pairs = zip(points, self.mean(points), strict=True)
        shared = key != "own" and all(np.abs(row - mean).max() < SAME for row, mean in pairs)
        evaluation = PointEvaluation(points, gradients, tuple(values), shared, name or key)
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

        model = self.run.base_model(vector)
        base = min(self.along_run, key=distance) if model is None else self.at(model)
        evaluation = self._add("", points, self.new_vectors(base=base.gradients), name=self._name(vector))
        self.bases[evaluation.name] = base.name
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
        zero = [np.zeros(sum(self.blocks))] * self.members
        return self._by_key.get(b"own") or self._add("own", self.new_vectors(point=True), zero)

    def server(self, round_: int) -> PointEvaluation:
        return self.at(self.run.server[round_])

    @cached_property
    def averages(self) -> tuple[Array, ...]:
        """The averages of all clients' local models before every step, and the last server model."""
        means = [model for path in self.run.paths for model in mean_row(list(path))[:-1]]
        return (*means, self.run.server[-1])

    @cached_property
    def infimum(self) -> int:
        """The index of inf F among the values, for functions that need not have a minimiser."""
        self.used_values += 1
        return self.used_values - 1

    # ---- linear forms in (packed inner products, values) ----

    def zero(self) -> Array:
        return np.zeros(self.packed + self.value_capacity)

    def inner(self, u: Array, v: Array) -> Array:
        """Return ``<u, v>`` for two vectors of a member; in symmetric coordinates it is the same for every client."""
        form, pieces, begin = self.zero(), [], 0
        for size in self.blocks:
            product = np.outer(u[begin : begin + size], v[begin : begin + size])
            pieces.append(pack((product + product.T) / 2))
            begin += size
        form[: self.packed] = np.concatenate(pieces)
        return form

    def square(self, rows: Rows) -> Array:
        """Return the mean over clients of ``|u_k|^2``."""
        return mean_row([self.inner(row, row) for row in rows])

    def global_gradient_sq(self, at: PointEvaluation) -> Array:
        """Return ``|grad F|^2``."""
        return self.square(self.mean(at.gradients))

    def value(self, index: int | None) -> Array:
        """Return the function value with this index, or 0 for None."""
        form = self.zero()
        if index is not None and self.value_capacity:
            form[self.packed + index] += 1
        return form

    def loss(self, at: PointEvaluation) -> Array:
        """Return ``F``, the mean of the clients' values."""
        return mean_row([self.value(index) for index in at.value_indices])

    def gap(self, at: PointEvaluation) -> Array:
        """Return ``F - F*``."""
        return self.loss(at) if self.convex else self.loss(at) - self.value(self.infimum)

    # ---- interpolation ----

    def interpolation(self) -> list[Constraint]:
        """Return the inequalities of the class: one per member and ordered pair of its points."""
        constraints = []
        for k in range(self.members):
            for one, other in permutations(self.evaluations, 2):
                x, g, h = one.points[k] - other.points[k], one.gradients[k], other.gradients[k]
                row = interpolation(self.inner, x, g, h, self.smoothness, self.strong_convexity)
                row += self.value(other.value_indices[k]) - self.value(one.value_indices[k])
                constraints.append(Constraint("class", row, points=(one.name, other.name)))
        return constraints


def mean_row(rows: Sequence[Array]) -> Array:
    """Return the mean of rows, which may be of exact numbers."""
    total: Array = sum(rows[1:], rows[0])
    return total / len(rows)
