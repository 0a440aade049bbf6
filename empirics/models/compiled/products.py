"""Dense layers and convolutions, forward and backward: sums of weights times inputs over lists of taps.

A tap is a pair in ``taps``: an offset in the input and one in the weights. ``pixels`` holds four numbers for every
output pixel: the offset of its window in the input, its offset in the output, its first tap, and the end of its taps.
Padding, stride and gradients of the inputs only change these lists; a dense layer is one pixel with a tap per input.
"""

from __future__ import annotations

from typing import Any

import numba

from .cache import kernel
from .tiles import BLOCKS, ROWS, sums, TAPS, weight_sums, WIDTH
from .transfer import transpose


def _blocks(sizes: tuple[int, ...]) -> Any:
    """Return a kernel that computes the largest of ``sizes`` <= n outputs of one pixel and returns their number."""
    size, make = sizes[0], sums(sizes[0])
    if size == 1:

        def block(n, y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu):
            make(y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu)
            return 1
    else:
        smaller = _blocks(sizes[1:])

        def block(n, y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu):
            if n < size:
                return smaller(n, y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu)
            make(y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu)
            return size

    return kernel(block, inline=True)


block = _blocks(BLOCKS)


@kernel
def block_size(left):
    """Return how many of the remaining outputs ``block`` computes."""
    for size in BLOCKS:
        if left >= size:
            return size
    return 1


@kernel
def pack_weights(memory, w, to, w0, ws, wc, outputs, channels, size):
    """Reorder weights as blocks of outputs read them: ``(block, channel, tap, output of the block)``.

    A convolution reads its weights again for every pixel; reordered, they are one contiguous stream.
    """
    o = 0
    while o < outputs:
        n = block_size(outputs - o)
        for c in range(channels):
            for t in range(size):
                for i in range(n):
                    memory[to + i] = w[w0 + (o + i) * ws + c * wc + t]
                to += n
        o += n


@kernel
def product(
    memory, w, taps, pixels, width, y0, ys, x0, xc, channels, w0, ws, wc, outputs, b0, relu, first, last, pack, size
):
    """Write the outputs ``(outputs, pixels, width)`` of a layer, or the gradients of its inputs.

    The outermost loop is over pixels: their windows overlap, so that the inputs of a pixel are in the L1 cache from the
    previous one and stay there for all outputs. ``pack`` is the address for reordered weights of a kernel with ``size``
    taps, or -1 for a dense layer, which reads its weights once.
    """
    if pack >= 0:
        pack_weights(memory, w, pack, w0, ws, wc, outputs, channels, size)
    weights = memory if pack >= 0 else w
    for p in range(first, last):
        xp, yp = x0 + pixels[4 * p], y0 + pixels[4 * p + 1]
        begin, end = pixels[4 * p + 2], pixels[4 * p + 3]
        for lane in range(0, width, WIDTH):
            o = 0
            while o < outputs:
                bias = b0 + o if b0 >= 0 else -1
                start, pitch, channel_pitch, scale = w0 + o * ws, ws, wc, 1
                if pack >= 0:
                    scale = block_size(outputs - o)
                    start, pitch, channel_pitch = pack + o * channels * size, 1, size * scale
                o += block(
                    outputs - o, memory, yp + o * ys + lane, ys, memory, xp + lane, xc, weights, start, pitch,
                    channel_pitch, scale, taps, begin, end, channels, w, bias, relu,
                )  # fmt: skip


@kernel
def convolution_weights(memory, g, taps, width, g0, outputs, count, d0, ds, t0, first, last):
    """Write the gradients ``(outputs, count)`` of a convolution's weights, with the taps of all channels in one list.

    The outer loops are over blocks of outputs and taps, each of which reads all pixels and samples once.
    """
    for o in range(0, outputs, ROWS):
        for t in range(0, count, TAPS):
            weight_sums(
                g, g0 + o * count + t, count, memory, d0 + o * ds, ds, memory, taps, t0 + t, taps, first, last, width,
                outputs - o, count - t,
            )  # fmt: skip


@kernel
def dense_weights(memory, g, taps, width, batch, g0, outputs, inputs, d0, x0, copy, pitch, spare, first):
    """Write the gradients ``(outputs, inputs)`` of a dense layer's weights.

    The sum is over samples, the innermost axis. Instead of a sum over vector lanes for every weight, the inputs are
    transposed once, to ``copy (batch, pitch)``, and vectors run along the inputs.
    """
    transpose(memory, copy, pitch, memory, x0, width, inputs, batch)
    along_rows(g, g0, outputs, inputs, memory, d0, width, memory, copy, taps, first, batch, memory, spare)


@kernel
def along_rows(g, g0, outputs, inputs, d, d0, width, x, x0, taps, first, batch, spare, spare0):
    """Write ``g[o, k] = sum over samples t of d[o, t] x[t, k]``; taps are the offsets of t in ``x`` and ``d[o]``."""
    lanes = WIDTH * 4 // g.itemsize
    for k in range(0, inputs, lanes):
        whole = k + lanes <= inputs
        target = g if whole else spare  # an incomplete vector at the end of a row is computed in spare memory
        o = 0
        while o < outputs:
            count = block(
                outputs - o, target, g0 + o * inputs + k if whole else spare0, inputs if whole else lanes, x, x0 + k, 0,
                d, d0 + o * width, width, 0, 1, taps, first, first + batch, 1, x, -1, 0,
            )  # fmt: skip
            if not whole:
                for row in range(count):
                    for rest in range(inputs - k):
                        g[g0 + (o + row) * inputs + k + rest] = spare[spare0 + row * lanes + rest]
            o += count


@kernel
def bias(memory, g, g0, outputs, d0, ds):
    """Write the gradients of biases: sums over pixels and samples, which are contiguous."""
    for o in range(outputs):
        total = numba.float32(0)
        d = memory[d0 + o * ds : d0 + (o + 1) * ds]
        for place in range(len(d)):
            total += d[place]
        g[g0 + o] = total


@kernel
def cut(memory, d0, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Backward pass of ReLU: set gradients ``(channels, rows, columns)`` to zero where the output at ``y0`` is zero.

    The output may have a rim, hence its pitches. ``columns`` and pitches count samples.
    """
    for c in range(channels):
        for r in range(rows):
            at, y = d0 + (c * rows + r) * columns, y0 + c * channel_pitch + r * row_pitch
            d, output = memory[at : at + columns], memory[y : y + columns]
            for t in range(columns):
                d[t] = d[t] if output[t] > 0 else numba.float32(0)
