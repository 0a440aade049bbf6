"""Where samples come in and go out: between rows of numbers, one per sample, and the layout with samples innermost."""

from __future__ import annotations

import numba
import numpy as np

from .cache import kernel
from .exponential import EXPONENTIAL, exponentials
from .tiles import LANES, tile_turned

ZERO = numba.float32(0)
TABLE = EXPONENTIAL[np.dtype(np.float32)]


@kernel
def turned(to, to0, to_pitch, x, x0, pitch, rows, columns):
    """Turn a matrix ``x (rows, columns)`` round: ``to (columns, rows)``."""
    lanes = LANES * 4 // x.itemsize
    whole_rows, whole_columns = rows // lanes * lanes, columns // lanes * lanes
    for c in range(0, whole_columns, lanes):
        for r in range(0, whole_rows, lanes):
            tile_turned(to, to0 + c * to_pitch + r, to_pitch, x, x0 + r * pitch + c, pitch)
    for r in range(rows):
        for c in range(whole_columns if r < whole_rows else 0, columns):
            to[to0 + c * to_pitch + r] = x[x0 + r * pitch + c]


@kernel
def taken_in(memory, width, batch, source, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Copy ``source (batch, channels * rows * columns)`` to ``y``; samples that pad the batch are zero."""
    size = channels * rows * columns
    if channel_pitch == rows * row_pitch and row_pitch == columns * width:  # no rim: one long row
        channels, rows, columns = 1, 1, size
    for c in range(channels):
        for r in range(rows):
            y = y0 + c * channel_pitch + r * row_pitch
            turned(memory, y, width, source, (c * rows + r) * columns, size, batch, columns)
            for v in range(columns):
                for t in range(batch, width):
                    memory[y + v * width + t] = ZERO


@kernel
def given_out(memory, width, batch, target, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Copy ``y`` to ``target (batch, channels * rows * columns)``."""
    size = channels * rows * columns
    for c in range(channels):
        for r in range(rows):
            y = y0 + c * channel_pitch + r * row_pitch
            turned(target, (c * rows + r) * columns, size, memory, y, width, columns, batch)


@kernel
def entropy(memory, width, batch, targets, weight, z0, d0, classes):
    """Gradients ``(classes, width)`` of the weighted sum of the cross-entropies of outputs ``z``; none for padding.

    Returns whether all targets are classes.
    """
    for t in range(batch):
        if targets[t] < 0 or targets[t] >= classes:
            return False
        most = memory[z0 + t]
        for c in range(1, classes):
            a = memory[z0 + c * width + t]
            most = a if a > most or a != a else most
        for c in range(classes):
            memory[d0 + c * width + t] = memory[z0 + c * width + t] - most
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
    """Zeros, where a buffer has a rim that is never written."""
    for place in range(begin, end):
        memory[place] = ZERO


@kernel
def relu(memory, begin, end):
    """ReLU in place; a NaN stays."""
    for place in range(begin, end):
        memory[place] = ZERO if memory[place] < 0 else memory[place]
