"""Copies of samples in and out of the kernels' layout, which has samples innermost; cross-entropy, zeros, ReLU."""

from __future__ import annotations

import numba
import numpy as np

from .cache import kernel
from .exponential import EXPONENTIAL, exponentials
from .tiles import LANES, transpose_tile

ZERO = numba.float32(0)
TABLE = EXPONENTIAL[np.dtype(np.float32)]


@kernel
def transpose(to, to0, to_pitch, x, x0, pitch, rows, columns):
    """Transpose a matrix: ``to (columns, rows)`` from ``x (rows, columns)``."""
    lanes = LANES * 4 // x.itemsize
    whole_rows, whole_columns = rows // lanes * lanes, columns // lanes * lanes
    for c in range(0, whole_columns, lanes):
        for r in range(0, whole_rows, lanes):
            transpose_tile(to, to0 + c * to_pitch + r, to_pitch, x, x0 + r * pitch + c, pitch)
    for r in range(rows):
        for c in range(whole_columns if r < whole_rows else 0, columns):
            to[to0 + c * to_pitch + r] = x[x0 + r * pitch + c]


@kernel
def copy_in(memory, width, batch, source, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Copy ``source (batch, channels * rows * columns)`` to a buffer at ``y0``; samples that pad the batch are zero."""
    size = channels * rows * columns
    if channel_pitch == rows * row_pitch and row_pitch == columns * width:  # without a rim, copy one long row
        channels, rows, columns = 1, 1, size
    for c in range(channels):
        for r in range(rows):
            y = y0 + c * channel_pitch + r * row_pitch
            transpose(memory, y, width, source, (c * rows + r) * columns, size, batch, columns)
            for v in range(columns):
                for t in range(batch, width):
                    memory[y + v * width + t] = ZERO


@kernel
def copy_out(memory, width, batch, target, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Copy the buffer at ``y0`` to ``target (batch, channels * rows * columns)``."""
    size = channels * rows * columns
    for c in range(channels):
        for r in range(rows):
            y = y0 + c * channel_pitch + r * row_pitch
            transpose(target, (c * rows + r) * columns, size, memory, y, width, columns, batch)


@kernel
def entropy_gradient(memory, width, batch, targets, weight, z0, d0, classes):
    """Write the gradients ``(classes, width)`` of the weighted sum of cross-entropies of outputs at ``z0`` to ``d0``.

    Gradients of samples that pad the batch are zero. Returns whether all targets are valid class numbers.
    """
    for t in range(batch):
        if targets[t] < 0 or targets[t] >= classes:
            return False
        largest = memory[z0 + t]
        for c in range(1, classes):
            a = memory[z0 + c * width + t]
            largest = a if a > largest or a != a else largest
        for c in range(classes):
            memory[d0 + c * width + t] = memory[z0 + c * width + t] - largest
    for c in range(classes):
        exponentials(memory[d0 + c * width : d0 + c * width + batch], TABLE)
    for t in range(batch):
        total = ZERO
        for c in range(classes):
            total += memory[d0 + c * width + t]
        for c in range(classes):
            memory[d0 + c * width + t] *= weight[t] / total
        memory[d0 + targets[t] * width + t] -= weight[t]
    for c in range(classes):
        for t in range(batch, width):
            memory[d0 + c * width + t] = ZERO
    return True


@kernel
def zeros(memory, begin, end):
    """Set a range of memory to zero: a buffer with a rim, which nothing else writes."""
    for place in range(begin, end):
        memory[place] = ZERO


@kernel
def relu(memory, begin, end):
    """Apply ReLU in place; NaN is preserved."""
    for place in range(begin, end):
        memory[place] = ZERO if memory[place] < 0 else memory[place]
