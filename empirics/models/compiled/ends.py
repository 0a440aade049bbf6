"""Where samples come in and go out: between rows of numbers, one per sample, and the layout with samples innermost."""

from __future__ import annotations

from functools import partial
from math import factorial, log

import numba
import numpy as np

from .cache import AS_WRITTEN, kernel
from .tiles import LANES, power_of_two, tile_turned

ZERO = numba.float32(0)
LEAST = -87.0
"""Exponents below this one count as it."""
HIGH = log(2) - log(2) % 2**-12  # of so few digits that an integer times it is exact
TABLE = np.array([1 / log(2), HIGH, log(2) - HIGH, LEAST, *(1 / factorial(n) for n in range(14))], np.float32)
"""What ``exponentials`` is computed with: the last entries are the coefficients of the power series."""


@kernel
def turned(to, to0, to_pitch, x, x0, pitch, rows, columns):
    """Turn a matrix ``x (rows, columns)`` round: ``to (columns, rows)``."""
    whole_rows, whole_columns = rows // LANES * LANES, columns // LANES * LANES
    for c in range(0, whole_columns, LANES):
        for r in range(0, whole_rows, LANES):
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


@partial(kernel, flags=AS_WRITTEN)  # the parts of a logarithm must stay apart
def exponentials(x, table):
    """``exp(x)`` in place for x <= 0: two to an integer times a power series; a NaN stays.

    A library's exponential would depend, in its last bits, on which library a process happens to have loaded.
    """
    scale, high, low, least = table[0], table[1], table[2], table[3]
    one, half, a3, a4, a5, a6, a7 = table[4], table[6], table[7], table[8], table[9], table[10], table[11]
    a8, a9, a10, a11, a12, a13 = table[12], table[13], table[14], table[15], table[16], table[17]
    for t in range(len(x)):
        a = least if x[t] < least else x[t]
        k = np.floor(a * scale + half)
        r = (a - k * high) - k * low
        s = ((((a13 * r + a12) * r + a11) * r + a10) * r + a9) * r + a8
        s = ((((((s * r + a7) * r + a6) * r + a5) * r + a4) * r + a3) * r + half) * r + one
        x[t] = (s * r + one) * power_of_two(k)


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
    """Zeros, where a buffer has a rim that nobody writes."""
    for place in range(begin, end):
        memory[place] = ZERO


@kernel
def relu(memory, begin, end):
    """ReLU in place; a NaN stays."""
    for place in range(begin, end):
        memory[place] = ZERO if memory[place] < 0 else memory[place]
