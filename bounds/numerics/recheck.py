"""Evaluate formulas over broadcast arrays in floating point, and recompute points where floats may be wrong.

Blocks of points run through ``Approximations``. Points whose error bounds are too large are evaluated again in ball
arithmetic, every distinct point once. The axis of reductions (clients, classes) is the last axis of all arguments;
inside a block it comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, reduce
from math import prod
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from .approximate import Approximate, Approximations, ROUNDING
from .balls import Point
from .floats import Floats
from .tape import Tape

BLOCK = 131_072
"""The numbers per array in a block: small enough for the processor's cache, large enough to need few calls."""
CLOSE = 1e-10
"""The relative error up to which a float is accepted."""
MOST = 20_000
"""The largest number of points recomputed in one call, which takes some seconds."""
NUMBERS = 2**24
"""The largest number of arguments of recomputed points, which take 128 MiB."""
TINY = float(np.finfo(float).tiny)
Arrays = dict[str, np.ndarray]
Block = tuple[Any, ...]


class CheckedResult(NamedTuple):
    """The result of a checked evaluation.

    ``values`` may be NaN where a relation fails, ``met`` is where each relation holds, and ``applies`` where all do.
    ``tiny`` is whether a value is too small to have all digits of a float, and ``undecided`` at how many points floats
    may be wrong but were not recomputed.
    """

    values: list[np.ndarray]
    met: list[np.ndarray]
    applies: np.ndarray
    tiny: bool = False
    undecided: int = 0


class Formulas:
    """Values and relations over the same quantities.

    If ``axis``, reductions run over the last axis of every array. Values have length one there unless the target
    itself varies over it (``keeps_axis``), and relations must hold for all its entries.
    """

    def __init__(self, values: Sequence[sp.Expr], relations: Sequence[sp.Basic], axis: bool, keeps_axis: bool) -> None:
        self.axis, self.keeps_axis = axis, keeps_axis
        self.expressions, self.conditions = tuple(values), tuple(relations)

    @cached_property
    def joint(self) -> Tape:
        """One tape for values and relations, so that common parts are computed once."""
        return Tape((*self.expressions, *self.conditions))

    @cached_property
    def value_tape(self) -> Tape:
        return Tape(self.expressions)

    @cached_property
    def relation_tapes(self) -> list[Tape]:
        """One tape for each relation."""
        return [Tape((relation,)) for relation in self.conditions]

    def plain(self, arrays: Arrays, shape: tuple[int, ...]) -> list[np.ndarray]:
        """Return the values in plain floating point, NaN where a relation fails."""
        outs = [np.empty(self._shape(shape, self.keeps_axis)) for _ in self.expressions]
        for block, inside in self._blocks(arrays, shape):
            slots = self.joint.run(Floats(shape[-1] if self.axis else 1), inside)
            outputs = [slots[slot] for slot in self.joint.outputs]
            applies = reduce(np.logical_and, (self._along(np.all, r) for r in outputs[len(outs) :]), np.True_)
            one_or_nan = 1.0 if applies.all() else np.divide(applies, applies)  # 0/0: faster than a masked copy
            for out, value in zip(outs, outputs, strict=False):
                np.multiply(value, one_or_nan, out=self._axis_first(out, shape)[block])
        return outs

    def checked(self, arrays: Arrays, shape: tuple[int, ...], outside: bool = False) -> CheckedResult:
        """Return values and relations, recomputed in ball arithmetic where floats may be wrong.

        Values are NaN where a relation fails, unless ``outside``.
        """
        outs = [np.empty(self._shape(shape, self.keeps_axis)) for _ in self.expressions]
        met = [np.empty(self._shape(shape), dtype=bool) for _ in self.conditions]
        doubtful, unclear = np.zeros(self._shape(shape), dtype=bool), [np.zeros_like(holds) for holds in met]
        for block, inside in self._blocks(arrays, shape):

            def put(whole: np.ndarray, part: Any, block: Block = block) -> None:
                self._axis_first(whole, shape)[block] = part

            arguments = {
                q.name: Approximate(inside[q.name], 0.0 if q.card.domain.whole else ROUNDING)
                for q in self.joint.leaves.values()
            }
            slots = self.joint.run(Approximations(shape[-1] if self.axis else 1), arguments)
            outputs = [slots[slot] for slot in self.joint.outputs]
            doubt: Any = False
            for out, number in zip(outs, outputs, strict=False):
                put(out, number.value)
                if not number.worst <= CLOSE:
                    doubt = doubt | self._along(np.any, ~(np.asarray(number.error) <= CLOSE))
            put(doubtful, doubt)
            for holds, mask, truth in zip(met, unclear, outputs[len(outs) :], strict=True):
                put(holds, self._along(np.all, truth.holds))
                put(mask, self._along(np.any, truth.open))
        left, tiny = 0, False
        for holds, mask, tape in zip(met, unclear, self.relation_tapes, strict=True):
            if mask.any():
                points, (truths,), more = self._recomputed(tape, mask, arrays, shape, lambda p: [[all(p.holds())]])
                holds.reshape(-1, 1)[points] = truths
                left += more
        applies = np.logical_and.reduce(met) if met else np.ones(self._shape(shape), dtype=bool)
        if not outside:
            doubtful &= applies
        if doubtful.any():
            points, answers, more = self._recomputed(self.value_tape, doubtful, arrays, shape, Point.values)
            for out, numbers in zip(outs, answers, strict=True):
                out.reshape(-1, out.shape[-1] if self.axis else 1)[points] = numbers
                tiny |= bool(((numbers != 0) & (np.abs(numbers) < TINY)).any())
            left += more
        if met and not outside:
            for out in outs:
                np.copyto(out, np.nan, where=~applies)
        return CheckedResult(outs, met, applies, tiny, left)

    def _recomputed(
        self, tape: Tape, doubt: np.ndarray, arrays: Arrays, shape: tuple[int, ...], ask: Callable[[Point], Any]
    ) -> tuple[np.ndarray, list[np.ndarray], int]:
        """Recompute points in doubt, up to a limit.

        Returns the indices of the recomputed points, every output there, and the number of points left out.
        """
        points = np.flatnonzero(doubt)
        rows, back = self._distinct(tape, arrays, shape, points)
        answers = [ask(Point(tape, row, shape[-1] if self.axis else 1)) for row in rows]
        outputs = [np.array(column)[back] for column in zip(*answers, strict=True)]
        return points[: len(back)], outputs, len(points) - len(back)

    # ---- blocks and points ----

    def _along(self, reduction: Any, truth: Any) -> Any:
        """Reduce a truth array by ``np.all`` or ``np.any`` along the axis of reductions."""
        return reduction(truth, axis=0, keepdims=True) if self.axis and np.ndim(truth) else truth

    def _distinct(
        self, tape: Tape, arrays: Arrays, shape: tuple[int, ...], points: np.ndarray
    ) -> tuple[list[dict[str, list[float]]], np.ndarray]:
        """Return the distinct points among the first ``MOST`` ones, and the index of each point among them."""
        lead = (shape[:-1] if self.axis else shape) or (1,)
        used = {q.name: np.asarray(arrays[q.name]) for q in tape.leaves.values()}
        lists = {name: a if self.axis else a[..., None] for name, a in used.items()}
        points = points[: max(1, NUMBERS // max(1, sum(a.shape[-1] for a in lists.values())))]
        places = np.unravel_index(points, lead)
        parts = [np.broadcast_to(a, (*lead, a.shape[-1]))[places] for a in lists.values()]
        table = np.concatenate([np.zeros((len(points), 0)), *parts], axis=1)
        first, back = _rows(table)
        if len(first) > MOST:
            first, back = _rows(table[:MOST])
        cuts = np.cumsum([part.shape[1] for part in parts])[:-1]
        return [
            {name: part.tolist() for name, part in zip(lists, np.split(row, cuts), strict=True)} for row in table[first]
        ], back

    def _shape(self, shape: tuple[int, ...], keeps_axis: bool = False) -> tuple[int, ...]:
        return (*shape[:-1], 1) if self.axis and not keeps_axis else shape

    def _axis_first(self, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return a view with as many axes as ``shape`` in which the axis of reductions, if any, comes first."""
        if array.ndim < len(shape):
            array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
        return array.transpose(len(shape) - 1, *range(len(shape) - 1)) if self.axis and len(shape) > 1 else array

    def _blocks(self, arrays: Arrays, shape: tuple[int, ...]) -> Iterator[tuple[Any, Arrays]]:
        """Yield the index of every block and the arguments there."""
        operands = {name: self._axis_first(np.asarray(a), shape) for name, a in arrays.items()}
        lead, length = (shape[:-1], shape[-1]) if self.axis else (shape, 1)
        if not prod(shape):
            return
        with np.errstate(all="ignore"):
            if prod(shape) <= BLOCK:
                yield ..., operands if shape else {name: a[()] for name, a in operands.items()}
                return
            whole = (slice(None),) if self.axis else ()
            for cut in blocks(lead, max(1, BLOCK // length)):
                block = (*whole, *cut)
                yield (*block, ...), {name: self._part(a, block) for name, a in operands.items()}

    def _part(self, array: np.ndarray, block: Block) -> np.ndarray:
        """Return the part of ``array`` that broadcasts onto a block; axes of length one are kept."""
        part = array[tuple(slice(None) if n == 1 else s for s, n in zip(block, array.shape, strict=True))]
        return np.ascontiguousarray(part) if self.axis and 1 < len(part) < part[0].size else part


def blocks(shape: tuple[int, ...], size: int) -> Iterator[Block]:
    """Yield index tuples that cut an array of ``shape`` into parts of at most ``size`` points, but at least one."""
    split, inner = len(shape), 1
    while split and inner * shape[split - 1] <= size:
        split -= 1
        inner *= shape[split]
    whole = (slice(None),) * (len(shape) - split)
    if split == 0:
        yield whole
        return
    step = max(1, size // inner)
    for outer in np.ndindex(shape[: split - 1]):
        head = tuple(slice(i, i + 1) for i in outer)
        for start in range(0, shape[split - 1], step):
            yield (*head, slice(start, start + step), *whole)


def _rows(table: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return the first index of each distinct row, and for every row the number of its distinct row."""
    numbers: dict[bytes, int] = {}
    back = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in table], dtype=int)
    return np.unique(back, return_index=True)[1].tolist(), back
