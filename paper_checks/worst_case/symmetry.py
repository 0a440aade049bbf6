"""Symmetry reduction: a smaller program for drawn cohorts, from the permutations of the clients.

With drawn cohorts the models of a run depend on who was drawn, so means and deviations of clients do not suffice. But
permuting the clients maps the tree of all runs onto itself. As the program is convex, a solution may be averaged over
all permutations (Gatermann and Parrilo 2004): the inner products then commute with the permutations of the unknown
vectors, and decompose into one block for each irreducible part, of the size of its multiplicity. The parts are the
eigenspaces of a random matrix that commutes (Murota, Kanno, Kojima and Kojima 2010), aligned by a second one and
checked by a third. Function values, and inequalities, that are permuted into one another are merged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from .gram import Gram
from .linear_run import LinearTree
from .program import Array, change_basis, Constraint, pack, Program, Solution, unpack_blocks, WorstCaseError

APART, ALIKE = 1e-8, 1e-9
"""Relative distance of eigenvalues of different parts; tolerance of checks."""
MAX_CLIENTS = 6
"""Number of clients up to which all permutations are used; larger federations are not reduced."""
CHUNK = 256
"""How many rows are transformed at once."""
SAME_ROW = 9
"""Digits, relative to the largest number, to which the rows of merged inequalities agree."""


@dataclass(frozen=True, eq=False)
class Orbits:
    """A ``whole`` program and the equivalent ``program`` over invariant solutions.

    Attributes:
        parts: Bases ``(copies, n, times)`` of every irreducible part.
        of_value, of_row: For the values and constraints of the whole program, their index in the reduced one.
    """

    whole: Program
    program: Program
    parts: tuple[Array, ...]
    of_value: Array
    of_row: Array

    def lifted(self, solution: Solution) -> Solution:
        """Return a solution of the reduced program as an invariant one of the whole program."""

        def whole(x: Array) -> Array:
            grams = zip(self.parts, unpack_blocks(x, self.program.blocks), strict=True)
            gram = sum(np.einsum("kia,ab,kjb->ij", U, X, U) for U, X in grams)
            return np.concatenate([pack(np.asarray(gram)), x[self.program.packed :][self.of_value]])

        multipliers = (solution.multipliers / np.bincount(self.of_row))[self.of_row]
        unknowns: dict[str, Any] = {name: whole(getattr(solution, name)) for name in ("x", "interior", "last_interior")}
        return replace(solution, **unknowns, multipliers=multipliers, blocks=self.whole.blocks)


def reduced(gram: Gram, program: Program, columns: Array, values: Array) -> Orbits:
    """Return the reduction of the program that has only the ``columns`` and ``values`` (masks) of a tree's formulation.

    Raises ``WorstCaseError`` if the method does not treat all clients alike.
    """
    if not isinstance(gram.run, LinearTree):
        raise WorstCaseError("symmetry reduction is for drawn cohorts")
    images = list(_permutations(gram))
    _check(gram.run)
    images = [(_restricted(of_columns, columns), _restricted(of_values, values)) for of_columns, of_values in images]
    extents = np.ones(program.blocks[0]) if program.extents is None else program.extents
    idle = np.zeros(sum(gram.blocks))  # occurs in no inequality: the gradients at the minimiser sum to 0
    if "*" in gram.labels:
        idle[1 + gram.run.gradients + gram.labels.index("*") :: gram.per_client] = 1
    parts = tuple(extents[:, None] * U for U in _parts(np.array([o for o, _ in images]), idle[columns]))
    of_value = np.zeros(0, dtype=int)
    if program.value_count:
        of_value = np.unique(np.array([v for _, v in images]).min(axis=0), return_inverse=True)[1]
    whole = np.array([*program.objectives, *(c.row for c in program.constraints)])
    rows = _reduced_rows(whole, program, parts, of_value)
    goals = len(program.objectives)
    kept, of_row = _merged(program.constraints, rows[goals:])
    small = Program(
        tuple(U.shape[2] for U in parts),
        int(of_value.max(initial=-1)) + 1,
        tuple(rows[:goals]),
        tuple(replace(program.constraints[i], row=rows[goals + i]) for i in kept),
        None,
        program.value_unit,
    )
    return Orbits(program, small, parts, of_value, of_row)


# ---- permutations of the clients ----


def _permutations(gram: Gram) -> Iterator[tuple[Array, Array]]:
    """Yield, for every permutation of the clients, the images of all unknown vectors and function values."""
    tree, own, labels = gram.run, gram.per_client, gram.labels
    assert isinstance(tree, LinearTree)
    by_name = {e.name: e for e in gram.evaluations}
    for order in permutations(range(tree.clients)):
        gradients, models = tree.permuted(order)
        images = {f"w{i}": f"w{j}" for i, j in enumerate(models)}
        columns, values = np.zeros(sum(gram.blocks), dtype=int), np.arange(gram.value_capacity)
        for k, to in enumerate(order):
            for j, other in enumerate(gradients[k]):
                columns[1 + k * own + j] = 1 + to * own + other
                images[f"g{j + 1}"] = f"g{other + 1}"
            for extra, label in enumerate(labels):
                image = labels.index(images.get(label, label))
                columns[1 + k * own + tree.gradients + extra] = 1 + to * own + tree.gradients + image
            for e in gram.evaluations:
                value, image_value = e.value_indices[k], by_name[images.get(e.name, e.name)].value_indices[to]
                if (value is None) != (image_value is None):
                    raise WorstCaseError("a permutation of the clients moves a value that is 0")
                if value is not None and image_value is not None:
                    values[value] = image_value
        yield columns, values


def _check(tree: LinearTree) -> None:
    """Raise ``WorstCaseError`` if a permutation of the clients does not map the runs onto one another."""
    for order in permutations(range(tree.clients)):
        gradients, models = tree.permuted(order)
        m = tree.gradients
        columns = np.concatenate([[0], *(1 + order[k] * m + np.array(gradients[k]) for k in range(tree.clients))])
        queries = np.array([[tree.queries[order[k], j] for j in gradients[k]] for k in range(tree.clients)])
        error = np.abs(queries[..., columns] - tree.queries).max()
        error = max(error, np.abs(tree.server[models][:, columns] - tree.server).max())
        if sorted(columns) != list(range(len(columns))) or error > ALIKE:
            raise WorstCaseError("the clients of this method are not identical: symmetric=False keeps them apart")


def _restricted(order: Array, used: Array) -> Array:
    """Return a permutation of the used entries, renumbered."""
    number = np.cumsum(used) - 1
    if not used[order[used]].all():
        raise WorstCaseError("a permutation of the clients maps a used unknown to an unused one")
    return np.asarray(number[order[used]])


# ---- irreducible parts ----


def _parts(orders: Array, idle: Array) -> list[Array]:
    """Return orthonormal bases ``(copies, n, times)`` of the irreducible parts of permutations, without ``idle``."""
    random = np.random.default_rng(2010)
    size = orders.shape[1]
    free = np.eye(size)
    if idle.any():
        free -= np.outer(idle, idle) / (idle @ idle)

    def commuting() -> Array:
        matrix = random.standard_normal((size, size))
        total = sum(matrix[np.ix_(order, order)] for order in orders)
        averaged = (total + np.asarray(total).T) / len(orders)
        return np.asarray(free @ averaged @ free)

    first, second, third = commuting(), commuting(), commuting()
    lengths, axes = np.linalg.eigh(first + 1e3 * np.abs(first).max() * (np.eye(size) - free))
    cuts = np.flatnonzero(np.diff(lengths) > APART * np.abs(first).max()) + 1
    spaces = [s for s in np.split(axes, cuts, axis=1) if np.abs(idle @ s).max() < ALIKE * size]
    parts: list[list[Array]] = []
    for space in spaces:
        for like in parts:
            link = like[0].T @ second @ space
            if link.shape[0] == link.shape[1] and np.abs(link).max() > APART * np.abs(second).max():
                like.append(space @ link.T / np.sqrt((link**2).sum() / len(link)))
                break
        else:
            parts.append([space])
    bases = [np.stack(like, axis=2).transpose(1, 0, 2) for like in parts]
    rebuilt = sum(np.einsum("kia,ab,kjb->ij", U, np.einsum("ia,ij,jb->ab", U[0], third, U[0]), U) for U in bases)
    if np.abs(rebuilt - third).max() > ALIKE * size * np.abs(third).max():
        raise WorstCaseError("the symmetry reduction failed: take symmetric=False")
    return bases


def _reduced_rows(rows: Array, program: Program, parts: tuple[Array, ...], of_value: Array) -> Array:
    """Return linear forms of the whole program as forms of the reduced one."""
    pieces = []
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        squares = [sum(change_basis(some[:, : program.packed], copy) for copy in U) for U in parts]
        values = np.zeros((len(some), int(of_value.max(initial=-1)) + 1))
        for index, to in enumerate(of_value):
            values[:, to] += some[:, program.packed + index]
        pieces.append(np.concatenate([*squares, values], axis=1))
    return np.concatenate(pieces)


def _merged(constraints: tuple[Constraint, ...], rows: Array) -> tuple[list[int], Array]:
    """Return the indices of distinct constraints, and for every constraint the position of its equal among them."""
    seen: dict[tuple[str, float, bytes], int] = {}
    kept: list[int] = []
    of_row = np.zeros(len(constraints), dtype=int)
    sizes = np.maximum(np.abs(rows).max(axis=1), 1e-300)
    for i, (c, row) in enumerate(zip(constraints, np.round(rows / sizes[:, None], SAME_ROW) + 0.0, strict=True)):
        key = c.kind, float(c.limit), row.tobytes()
        if key not in seen:
            seen[key] = len(kept)
            kept.append(i)
        of_row[i] = seen[key]
    return kept, of_row
