"""Values and conditions of formulas over broadcast arrays: floats, checked, and computed again where they may be wrong.

Blocks of points run through ``Approximations``; what their error bounds do not clear is evaluated again with ``balls``,
every distinct point once. Callers keep the axis that reductions run over (clients, classes) last; inside a block it
comes first.
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

BLOCK = 32_768
"""Numbers in an array of a block: intermediate arrays stay in the processor's cache, calls stay few."""
CLOSE = 1e-10
"""The relative error up to which a float is as good as its formula."""
MOST = 20_000
"""Points computed again in one call: some seconds."""
NUMBERS = 2**24
"""Given numbers of points that are rechecked: 128 MiB."""
TINY = float(np.finfo(float).tiny)
Arrays = dict[str, np.ndarray]
Block = tuple[Any, ...]


class Checked(NamedTuple):
    """The values, NaN where a relation fails; where each relation holds, and all do; whether a value is too small for
    all the digits of a float, and at how many points floating point was left to decide although it may be wrong."""

    values: list[np.ndarray]
    met: list[np.ndarray]
    applies: np.ndarray
    tiny: bool = False
    unsettled: int = 0


class Formulas:
    """Some values and relations over the same quantities.

    With ``axis`` the last axis of every array is the one reductions run over; values drop to length one there unless
    the target itself varies (``keeps_axis``), relations must hold all along it.
    """

    def __init__(self, values: Sequence[sp.Expr], relations: Sequence[sp.Basic], axis: bool, keeps_axis: bool) -> None:
        self.axis, self.keeps_axis = axis, keeps_axis
        self.expressions, self.conditions = tuple(values), tuple(relations)

    @cached_property
    def joint(self) -> Tape:
        """Values and relations together, so that what they share is computed once."""
        return Tape((*self.expressions, *self.conditions))

    @cached_property
    def value_tape(self) -> Tape:
        return Tape(self.expressions)

    @cached_property
    def tapes(self) -> list[Tape]:
        """One for each relation."""
        return [Tape((relation,)) for relation in self.conditions]

    def plain(self, arrays: Arrays, shape: tuple[int, ...]) -> list[np.ndarray]:
        """The values in plain floating point, NaN where a relation fails."""
        outs = [np.empty(self._shape(shape, self.keeps_axis)) for _ in self.expressions]
        for block, inside in self._blocks(arrays, shape):
            held = self.joint.run(Floats(shape[-1] if self.axis else 1), inside)
            found = [held[slot] for slot in self.joint.outputs]
            applies = reduce(np.logical_and, (self._along(np.all, r) for r in found[len(outs) :]), np.True_)
            one_or_nan = 1.0 if applies.all() else np.divide(applies, applies)  # 0/0: faster than a masked copy
            for out, value in zip(outs, found, strict=False):
                np.multiply(value, one_or_nan, out=self._axis_first(out, shape)[block])
        return outs

    def checked(self, arrays: Arrays, shape: tuple[int, ...], wanted: np.ndarray | None = None) -> Checked:
        """Values and relations, as ``balls`` decide them where floats may be wrong; no value is computed again where it
        is not ``wanted``."""
        outs = [np.empty(self._shape(shape, self.keeps_axis)) for _ in self.expressions]
        met = [np.empty(self._shape(shape), dtype=bool) for _ in self.conditions]
        near, open_ = np.zeros(self._shape(shape), dtype=bool), [np.zeros_like(holds) for holds in met]
        for block, inside in self._blocks(arrays, shape):

            def put(whole: np.ndarray, part: Any, block: Block = block) -> None:
                self._axis_first(whole, shape)[block] = part

            given = {
                q.name: Approximate(inside[q.name], 0.0 if q.card.domain.whole else ROUNDING)
                for q in self.joint.leaves.values()
            }
            held = self.joint.run(Approximations(shape[-1] if self.axis else 1), given)
            found = [held[slot] for slot in self.joint.outputs]
            doubt: Any = False
            for out, number in zip(outs, found, strict=False):
                put(out, number.value)
                if not number.worst <= CLOSE:
                    doubt = doubt | self._along(np.any, ~(np.asarray(number.error) <= CLOSE))
            put(near, doubt)
            for holds, unclear, truth in zip(met, open_, found[len(outs) :], strict=True):
                put(holds, self._along(np.all, truth.holds))
                put(unclear, self._along(np.any, truth.open))
        left, tiny = 0, False
        for holds, unclear, tape in zip(met, open_, self.tapes, strict=True):
            if unclear.any():
                points, (truths,), more = self._answers(
                    tape, unclear, arrays, shape, lambda point: [[all(point.holds())]]
                )
                holds.reshape(-1, 1)[points] = truths
                left += more
        applies = np.logical_and.reduce(met) if met else np.ones(self._shape(shape), dtype=bool)
        near = near & applies if wanted is None else near & applies & wanted
        if near.any():
            points, answers, more = self._answers(self.value_tape, near, arrays, shape, Point.values)
            for out, numbers in zip(outs, answers, strict=True):
                out.reshape(-1, out.shape[-1] if self.axis else 1)[points] = numbers
                tiny |= bool(((numbers != 0) & (np.abs(numbers) < TINY)).any())
            left += more
        if met:
            for out in outs:
                np.copyto(out, np.nan, where=~applies)
        return Checked(outs, met, applies, tiny, left)

    def _answers(
        self, tape: Tape, doubt: np.ndarray, arrays: Arrays, shape: tuple[int, ...], ask: Callable[[Point], Any]
    ) -> tuple[np.ndarray, list[np.ndarray], int]:
        """The points in doubt that are rechecked, what ``balls`` say of every output there, and how many are left."""
        points = np.flatnonzero(doubt)
        rows, back = self._distinct(tape, arrays, shape, points)
        answers = [ask(Point(tape, row, shape[-1] if self.axis else 1)) for row in rows]
        found = [np.array(column)[back] for column in zip(*answers, strict=True)]
        return points[: len(back)], found, len(points) - len(back)

    # ---- blocks and points ----

    def _along(self, reduction: Any, truth: Any) -> Any:
        """What is true of all, or of any, along the axis of reductions."""
        return reduction(truth, axis=0, keepdims=True) if self.axis and np.ndim(truth) else truth

    def _distinct(
        self, tape: Tape, arrays: Arrays, shape: tuple[int, ...], points: np.ndarray
    ) -> tuple[list[dict[str, list[float]]], np.ndarray]:
        """The different points among the first ``MOST`` ones, and for each of these which one it is."""
        lead = (shape[:-1] if self.axis else shape) or (1,)
        held = {q.name: np.asarray(arrays[q.name]) for q in tape.leaves.values()}
        lists = {name: a if self.axis else a[..., None] for name, a in held.items()}
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
        """A view with as many axes as ``shape`` and, where there is an axis of reductions, that one first."""
        if array.ndim < len(shape):
            array = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
        return array.transpose(len(shape) - 1, *range(len(shape) - 1)) if self.axis and len(shape) > 1 else array

    def _blocks(self, arrays: Arrays, shape: tuple[int, ...]) -> Iterator[tuple[Any, Arrays]]:
        """The index of every block, and what is given there."""
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
        """The part of ``array`` that broadcasts onto a block: axes of length one stay as they are."""
        part = array[tuple(slice(None) if n == 1 else s for s, n in zip(block, array.shape, strict=True))]
        return np.ascontiguousarray(part) if self.axis and 1 < len(part) < part[0].size else part


def blocks(shape: tuple[int, ...], size: int) -> Iterator[Block]:
    """Cut an array of ``shape`` into index tuples of at most ``size`` points each (one point at least)."""
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
    """Where each different row is first, and for every row which of these it is."""
    known: dict[bytes, int] = {}
    back = np.array([known.setdefault(row.tobytes(), len(known)) for row in table], dtype=int)
    return np.unique(back, return_index=True)[1].tolist(), back
