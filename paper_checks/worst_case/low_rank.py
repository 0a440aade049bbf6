"""The worst case in few dimensions: a solution of low rank with the same value, on a face of its own.

Interior-point solutions have the largest rank there is. Weighted traces find one of low rank (the log-det heuristic of
Fazel, Hindi and Boyd 2003); the program is then solved once more on the span of its leading vectors, where the numbers
are exact to rounding and a margin keeps them inside the class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .coordinates import Array, pack, unpack
from .program import Constraint, Program, Solved, WorstCaseError
from .solver import attempted

KEPT = 2e-5
"""How much of the value a lower rank may cost, relative to it (and at least to 1e-3)."""
REWEIGHTED = 3
"""How often the traces are weighted anew."""
THRESHOLDS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0)
"""Eigenvalues, relative to the largest of all, below which directions are left out."""
MARGINS = (1e-7, 1e-8, 0.0)
"""By how much the class's inequalities hold, relative to the largest number in them; less where there is no room."""
TOLERANCE = 1e-9
"""The solver's settings on a face; what it reaches is judged by the value, and by the run."""
SILENT = 1e-13
"""Coefficients of a constraint that says nothing on a face."""


@dataclass(frozen=True, eq=False)
class Factors:
    """Vectors ``(r_b, n_b)`` of every block, whose inner products solve a program, and its function values."""

    vectors: tuple[Array, ...]
    values: Array
    value: float

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(len(v) for v in self.vectors)


def lowered(program: Program, found: Solved) -> Iterator[Factors]:
    """Solutions whose value is that of ``found`` up to ``KEPT``, those of low rank and of large margin first."""
    size = max(abs(found.value), 1e-3)
    tried: set[tuple[int, ...]] = set()
    for bases in _spans(_spread(program, found, KEPT / 10 * size)):
        ranks = tuple(b.shape[1] for b in bases)
        if ranks in tried:
            continue
        tried.add(ranks)
        for margin in MARGINS:
            factors = _on_face(program, found, bases, margin)
            if factors is not None and abs(factors.value - found.value) <= KEPT * size:
                yield factors


# ---- a lower rank ----


def _spread(program: Program, found: Solved, slack: float) -> list[Array]:
    """Inner products of the same value, up to ``slack``, with small weighted traces."""
    grams = found.grams
    keep = [Constraint("value", -row, -(found.value - slack)) for row in program.objectives]
    for _ in range(REWEIGHTED):
        weights = [_weight(gram) for gram in grams]
        cost = -np.concatenate([*map(pack, weights), np.zeros(program.values)])
        narrow = replace(program, objectives=(cost,), constraints=(*program.constraints, *keep))
        try:
            grams = attempted(narrow).grams
        except WorstCaseError:  # a heuristic: what there is will do
            break
    return grams


def _weight(gram: Array) -> Array:
    """The inverse of the inner products, directions without length bounded by 1e4 and the whole by 1."""
    size = max(float(np.trace(gram)), 1e-12)
    weight: Array = 1e-4 * np.linalg.inv(gram / size + 1e-4 * np.eye(len(gram)))
    return (weight + weight.T) / 2


def _spans(grams: Sequence[Array]) -> Iterator[list[Array]]:
    """Orthonormal bases ``(n_b, r_b)`` of the leading directions, fewest first."""
    spectra = [np.linalg.eigh(gram) for gram in grams]
    size = max(float(lengths.max()) for lengths, _ in spectra)
    for threshold in THRESHOLDS:
        yield [d[:, lengths > threshold * size] if threshold else d for lengths, d in spectra]


# ---- on a face ----


def _on_face(program: Program, found: Solved, bases: Sequence[Array], margin: float) -> Factors | None:
    """The optimum among inner products on these spans, the class kept with a margin; None if there is none."""
    rows = np.array([c.row for c in program.constraints])
    size = float(np.abs(rows * found.x).max())
    limits = [
        replace(c, row=row, limit=c.limit - margin * size * (c.name == "class"))
        for c, row in zip(program.constraints, _restricted(rows, program, bases), strict=True)
    ]
    silent = [c for c in limits if np.abs(c.row).max() <= SILENT]
    if any(c.limit < 0 for c in silent):
        return None
    inner = Program(
        tuple(b.shape[1] for b in bases),
        program.values,
        tuple(_restricted(np.array(program.objectives), program, bases)),
        tuple(c for c in limits if np.abs(c.row).max() > SILENT),
    )
    try:
        solution = attempted(inner, tolerance=TOLERANCE)
    except WorstCaseError:
        return None
    vectors = tuple(_root(gram) @ base.T for gram, base in zip(solution.grams, bases, strict=True))
    return Factors(vectors, solution.x[inner.packed :], solution.value)


def _restricted(rows: Array, program: Program, bases: Sequence[Array]) -> Array:
    """Linear forms of inner products ``(count, n)`` as forms of those on the spans."""
    pieces, begin = [], 0
    for n, base in zip(program.blocks, bases, strict=True):
        length = n * (n + 1) // 2
        pieces.append(np.array([pack(base.T @ unpack(row, n) @ base) for row in rows[:, begin : begin + length]]))
        begin += length
    return np.concatenate([*pieces, rows[:, begin:]], axis=1)


def _root(gram: Array) -> Array:
    """The symmetric square root."""
    lengths, directions = np.linalg.eigh(gram)
    root: Array = (directions * np.sqrt(np.maximum(lengths, 0.0))) @ directions.T
    return root
