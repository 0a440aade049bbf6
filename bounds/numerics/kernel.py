"""Running generated code in cache-sized blocks over broadcast arrays, without copying or expanding any of them.

Callers keep the axis that reductions run over (clients, classes) last. Inside a block it comes first: points then lie
next to each other, and NumPy runs along many points instead of along a handful of clients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import sympy as sp

from .codegen import generate
from .rounding import lenient

BLOCK = 32_768
"""Numbers in an array of a block: intermediate arrays stay in the processor's cache, calls stay few."""

Arrays = dict[str, np.ndarray]
Block = tuple[Any, ...]


class Kernel:
    """Generated code for some values and relations over the same arguments, run block by block.

    With ``axis`` the last axis of every array is the one reductions run over; values drop to length one there unless
    the target itself varies (``keeps_axis``), relations must hold all along it.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        values: tuple[sp.Basic, ...],
        relations: tuple[sp.Basic, ...],
        axis: bool,
        keeps_axis: bool,
        compared: Callable[[sp.Basic], sp.Basic] = lenient,
    ) -> None:
        self.names, self.axis, self.keeps_axis = names, axis, keeps_axis
        self.count, self.relations = len(values), len(relations)
        self.code = generate(names, (*values, *relations), compared=compared)

    def shape(self, shape: tuple[int, ...], keeps_axis: bool = False) -> tuple[int, ...]:
        return (*shape[:-1], 1) if self.axis and not keeps_axis else shape

    def values(
        self, arrays: Arrays, shape: tuple[int, ...], masked: bool = True, speaks: np.ndarray | None = None
    ) -> list[np.ndarray]:
        """The values, NaN where a relation fails unless ``masked`` is off; ``speaks`` is set to False there."""
        outs = [np.empty(self.shape(shape, self.keeps_axis)) for _ in range(self.count)]
        views = [self._axis_first(out, shape) for out in outs]
        spoken = self._axis_first(speaks, shape) if speaks is not None else None
        for block, results in self._blocks(arrays, shape):
            relations = results[self.count :] if masked else []
            failed = [np.logical_not(self._along(relation)) for relation in relations]
            if spoken is not None:
                for where in failed:
                    np.copyto(spoken[(*block, ...)], False, where=where)
            for view, result in zip(views, results[: self.count], strict=True):
                place = view[(*block, ...)]  # with "...", a view even of an array without axes
                place[...] = result
                for where in failed:
                    np.copyto(place, np.nan, where=where)
        return outs

    def met(self, arrays: Arrays, shape: tuple[int, ...]) -> list[np.ndarray]:
        """Where each relation holds."""
        outs = [np.empty(self.shape(shape), dtype=bool) for _ in range(self.relations)]
        views = [self._axis_first(out, shape) for out in outs]
        for block, results in self._blocks(arrays, shape):
            for view, relation in zip(views, results[self.count :], strict=True):
                view[(*block, ...)] = self._along(relation)
        return outs

    def _along(self, relation: Any) -> Any:
        return np.all(relation, axis=0, keepdims=True) if self.axis and np.ndim(relation) else relation

    def _axis_first(self, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """A view with as many axes as ``shape`` and, where the bound has an axis, that one first."""
        full = array.reshape((1,) * (len(shape) - array.ndim) + array.shape)
        return np.moveaxis(full, -1, 0) if self.axis else full

    def _blocks(self, arrays: Arrays, shape: tuple[int, ...]) -> Iterator[tuple[Block, Sequence[Any]]]:
        operands = [self._axis_first(np.asarray(arrays[n]), shape) for n in self.names]
        lead, length = (shape[:-1], shape[-1]) if self.axis else (shape, 1)
        whole = (slice(None),) if self.axis else ()
        with np.errstate(all="ignore"):
            for cut in blocks(lead, max(1, BLOCK // length)):
                block = (*whole, *cut)
                yield block, self.code(*(self._part(a, block) for a in operands))

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
