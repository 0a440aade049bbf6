"""A program whose clients may be renamed, made smaller: what renaming leaves as it is, in blocks of its own.

Where clients are drawn the models of a run know who was: means and deviations of clients are not all there is. But
renaming the clients maps the tree of all runs onto itself. The program is convex, so a solution may be averaged over
all ways of renaming (Gatermann and Parrilo 2004): the inner products then commute with the renaming of unknown
vectors, and fall into one block for each irreducible part of it, as large as that part is frequent. The parts are the
eigenspaces of a random matrix that commutes (Murota, Kanno, Kojima and Kojima 2010), aligned by a second one and
checked by a third. Function values, and inequalities, that renaming exchanges are one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from math import factorial
from typing import Any

import numpy as np

from .coordinates import Array, pack, unpacked
from .formulation import Formulation
from .program import Constraint, Program, Solved, turned, WorstCaseError
from .symbolic_run import Drawn

APART, ALIKE = 1e-8, 1e-9
"""Eigenvalues, relative to the largest, of different parts; what may be off of what is checked."""
MOST = 6
"""Clients up to which all ways of renaming are listed; more are kept apart."""
CHUNK = 256
"""Rows that are turned at once."""
SAME_ROW = 9
"""Digits up to which the rows of inequalities that renaming exchanges agree, relative to their largest number."""


@dataclass(frozen=True, eq=False)
class Orbits:
    """A ``whole`` program and the smaller ``program`` of what renaming leaves as it is.

    ``parts`` are the bases ``(copies, n, times)`` of every irreducible part, ``of_value`` and ``of_row`` say which
    value and which constraint of the small program represent those of the whole one.
    """

    whole: Program
    program: Program
    parts: tuple[Array, ...]
    of_value: Array
    of_row: Array

    def lifted(self, found: Solved) -> Solved:
        """A solution of the small program as one of the whole program, with multipliers that renaming leaves alone."""

        def whole(x: Array) -> Array:
            grams = zip(self.parts, unpacked(x, self.program.blocks), strict=True)
            gram = sum(np.einsum("kia,ab,kjb->ij", U, X, U) for U, X in grams)
            return np.concatenate([pack(np.asarray(gram)), x[self.program.packed :][self.of_value]])

        multipliers = (found.multipliers / np.bincount(self.of_row))[self.of_row]
        unknowns: dict[str, Any] = {name: whole(getattr(found, name)) for name in ("x", "inside", "near")}
        return replace(found, **unknowns, multipliers=multipliers, blocks=self.whole.blocks)


def smaller(f: Formulation, program: Program, columns: Array, values: Array) -> Orbits:
    """The program over the ``columns`` and ``values`` of a formulation of a tree that are used, made smaller."""
    if not isinstance(f.recorded, Drawn):
        raise WorstCaseError("only where clients are drawn are they renamed")
    nothing = np.arange(f.space.size), np.arange(f.room[1])
    found = list(_renamings(f)) if f.recorded.clients <= MOST else [nothing]
    _check(f.recorded, found)
    moved = [(_kept(order, columns), _kept(places, values)) for order, places in found]
    extents = np.ones(program.blocks[0]) if program.extents is None else program.extents
    idle = np.zeros(f.space.size)  # the direction that no inequality sees: gradients at the minimiser have the sum 0
    if "*" in f.labels:
        idle[1 + f.recorded.gradients + f.labels.index("*") :: f.space.own] = 1
    parts = tuple(extents[:, None] * U for U in _parts(np.array([o for o, _ in moved]), idle[columns]))
    of_value = np.zeros(0, dtype=int)  # a number for every value, the same for those that renaming exchanges
    if program.values:
        of_value = np.unique(np.array([p for _, p in moved]).min(axis=0), return_inverse=True)[1]
    rows = np.array([*program.objectives, *(c.row for c in program.constraints)])
    short = _shortened(rows, program, parts, of_value)
    goals = len(program.objectives)
    kept, of_row = _once(program.constraints, short[goals:])
    small = Program(
        tuple(U.shape[2] for U in parts),
        int(of_value.max(initial=-1)) + 1,
        tuple(short[:goals]),
        tuple(replace(program.constraints[i], row=short[goals + i]) for i in kept),
        None,
        program.value_unit,
    )
    return Orbits(program, small, parts, of_value, of_row)


# ---- what renaming does ----


def _renamings(f: Formulation) -> Iterator[tuple[Array, Array]]:
    """Where every unknown vector and every function value goes, for every way of renaming the clients."""
    tree, own = f.recorded, f.space.own
    assert isinstance(tree, Drawn)
    for order in permutations(range(tree.clients)):
        gradients, models = tree.renamed(order)
        named = {f"w{i}": f"w{j}" for i, j in enumerate(models)}
        columns, places = np.zeros(f.space.size, dtype=int), np.arange(f.room[1])
        known = {e.name: e for e in f.evaluations}
        for k, to in enumerate(order):
            for j, other in enumerate(gradients[k]):
                columns[1 + k * own + j] = 1 + to * own + other
            for extra, label in enumerate(f.labels):
                there = f.labels.index(named.get(label, label))
                columns[1 + k * own + tree.gradients + extra] = 1 + to * own + tree.gradients + there
            for e in f.evaluations:
                along = e.name.startswith("g")
                name = f"g{gradients[k][int(e.name[1:]) - 1] + 1}" if along else named.get(e.name, e.name)
                here, there_value = e.values[k], known[name].values[to]
                if (here is None) != (there_value is None):
                    raise WorstCaseError("renaming the clients moves a value that is 0")
                if here is not None and there_value is not None:
                    places[here] = there_value
        yield columns, places


def _check(tree: Drawn, found: list[tuple[Array, Array]]) -> None:
    """Refuse a method whose runs renaming does not map onto one another."""
    for order in permutations(range(tree.clients)) if len(found) == factorial(tree.clients) else ():
        gradients, models = tree.renamed(order)
        m = tree.gradients
        columns = np.concatenate([[0], *(1 + order[k] * m + np.array(gradients[k]) for k in range(tree.clients))])
        there = np.array([[tree.asked[order[k], j] for j in gradients[k]] for k in range(tree.clients)])
        off = max(
            np.abs(there[..., columns] - tree.asked).max(), np.abs(tree.server[models][:, columns] - tree.server).max()
        )
        if sorted(columns) != list(range(len(columns))) or off > ALIKE:
            raise WorstCaseError("the clients of this method are not identical: symmetric=False keeps them apart")


def _kept(order: Array, alive: Array) -> Array:
    """A renaming of the places that are kept, numbered anew."""
    number = np.cumsum(alive) - 1
    if not alive[order[alive]].all():
        raise WorstCaseError("renaming the clients moves something that no quantity measures")
    found: Array = number[order[alive]]
    return found


# ---- irreducible parts ----


def _parts(orders: Array, idle: Array) -> list[Array]:
    """Bases of all that the permutations leave together ``(copies, n, times)``, orthonormal."""
    draws = np.random.default_rng(2010)
    size = orders.shape[1]
    free = np.eye(size)
    if idle.any():
        free -= np.outer(idle, idle) / (idle @ idle)

    def commuting() -> Array:
        matrix = draws.standard_normal((size, size))
        total = sum(matrix[np.ix_(order, order)] for order in orders)
        averaged = (total + np.asarray(total).T) / len(orders)
        found: Array = free @ averaged @ free
        return found

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
    found = [np.stack(like, axis=2).transpose(1, 0, 2) for like in parts]
    again = sum(np.einsum("kia,ab,kjb->ij", U, np.einsum("ia,ij,jb->ab", U[0], third, U[0]), U) for U in found)
    if np.abs(again - third).max() > ALIKE * size * np.abs(third).max():
        raise WorstCaseError("the parts that renaming leaves together were not found: take symmetric=False")
    return found


def _shortened(rows: Array, program: Program, parts: tuple[Array, ...], of_value: Array) -> Array:
    """Linear forms of the whole program as forms of the small one."""
    pieces = []
    for begin in range(0, len(rows), CHUNK):
        some = rows[begin : begin + CHUNK]
        squares = [sum(turned(some[:, : program.packed], copy) for copy in U) for U in parts]
        values = np.zeros((len(some), int(of_value.max(initial=-1)) + 1))
        for place, to in enumerate(of_value):
            values[:, to] += some[:, program.packed + place]
        pieces.append(np.concatenate([*squares, values], axis=1))
    return np.concatenate(pieces)


def _once(constraints: tuple[Constraint, ...], rows: Array) -> tuple[list[int], Array]:
    """Which constraints are kept, and which of them represents every one."""
    seen: dict[tuple[str, float, bytes], int] = {}
    kept: list[int] = []
    of_row = np.zeros(len(constraints), dtype=int)
    sizes = np.maximum(np.abs(rows).max(axis=1), 1e-300)
    for i, (c, row) in enumerate(zip(constraints, np.round(rows / sizes[:, None], SAME_ROW) + 0.0, strict=True)):
        key = c.name, float(c.limit), row.tobytes()
        if key not in seen:
            seen[key] = len(kept)
            kept.append(i)
        of_row[i] = seen[key]
    return kept, of_row
