"""Dense layers and convolutions, forward and back to their inputs: sums of weights times inputs over lists of taps.

A layer's output pixel sees some input pixels, each through one place of the kernel. ``pixels`` holds four numbers for
every pixel that is written: where its window begins in the input, where it goes in the output, and its first and last
tap. A tap is a pair in ``taps``: how far into the input, how far into the weights. Padding, stride and the gradient's
way back are nothing but other lists; a dense layer is one pixel with a tap for every input.
"""

from __future__ import annotations

from typing import Any

import numba

from .cache import kernel
from .ends import turned
from .tiles import BLOCKS, ROWS, sums, TAPS, weight_sums, WIDTH


def _blocks(sizes: tuple[int, ...]) -> Any:
    """A kernel that makes as many outputs of one pixel as one of ``sizes``, at most ``n``; it returns how many."""
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
def blocked(left):
    """How many of the remaining outputs ``block`` makes."""
    for size in BLOCKS:
        if left >= size:
            return size
    return 1


@kernel
def packed(memory, w, to, w0, ws, wc, outputs, channels, size):
    """Weights in the order in which blocks of outputs take them, ``(block, channel, tap, output of the block)``.

    A convolution's are taken anew for every pixel: they then come in one stream, not in one for each output.
    """
    o = 0
    while o < outputs:
        n = blocked(outputs - o)
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
    """Outputs ``(outputs, pixels, width)`` of a layer, or the gradients of its inputs.

    Pixels outermost: their windows overlap, so that what one pixel reads the next finds in the nearest cache, and a
    window stays there while all outputs take from it. ``pack`` is the place for the weights of a kernel of that many
    taps, or -1: those of a dense layer are taken once.
    """
    if pack >= 0:
        packed(memory, w, pack, w0, ws, wc, outputs, channels, size)
    weights = memory if pack >= 0 else w
    for p in range(first, last):
        xp, yp = x0 + pixels[4 * p], y0 + pixels[4 * p + 1]
        begin, end = pixels[4 * p + 2], pixels[4 * p + 3]
        for lane in range(0, width, WIDTH):
            o = 0
            while o < outputs:
                bias = b0 + o if b0 >= 0 else -1
                at, apart, on, times = w0 + o * ws, ws, wc, 1
                if pack >= 0:
                    times = blocked(outputs - o)
                    at, apart, on = pack + o * channels * size, 1, size * times
                o += block(
                    outputs - o, memory, yp + o * ys + lane, ys, memory, xp + lane, xc, weights, at, apart, on, times,
                    taps, begin, end, channels, w, bias, relu,
                )  # fmt: skip


@kernel
def convolution_weights(memory, g, taps, width, g0, outputs, count, d0, ds, t0, first, last):
    """Gradients ``(outputs, count)`` of a convolution's weights, all input channels' taps in one list.

    Blocks of outputs and taps, pixels and samples innermost: what is summed over goes by once for every block.
    """
    for o in range(0, outputs, ROWS):
        for t in range(0, count, TAPS):
            weight_sums(
                g, g0 + o * count + t, count, memory, d0 + o * ds, ds, memory, taps, t0 + t, taps, first, last, width,
                outputs - o, count - t,
            )  # fmt: skip


@kernel
def dense_weights(memory, g, taps, width, batch, g0, outputs, inputs, d0, x0, copy, pitch, spare, first):
    """Gradients ``(outputs, inputs)`` of a dense layer's weights.

    The sum is over the samples, which lie innermost: instead of summing over the lanes of vectors for every weight, the
    inputs are turned round once, ``copy (batch, pitch)``, and vectors go along them.
    """
    turned(memory, copy, pitch, memory, x0, width, inputs, batch)
    along_rows(g, g0, outputs, inputs, memory, d0, width, memory, copy, taps, first, batch, memory, spare)


@kernel
def along_rows(g, g0, outputs, inputs, d, d0, width, x, x0, taps, first, batch, spare, spare0):
    """``g[o, k] = sum over samples t of d[o, t] x[t, k]``; taps say where t is in ``x`` and in a row of ``d``."""
    lanes = WIDTH * 4 // g.itemsize
    for k in range(0, inputs, lanes):
        whole = k + lanes <= inputs
        target = g if whole else spare  # what is left over at the end of a row is made apart and copied
        o = 0
        while o < outputs:
            made = block(
                outputs - o, target, g0 + o * inputs + k if whole else spare0, inputs if whole else lanes, x, x0 + k, 0,
                d, d0 + o * width, width, 0, 1, taps, first, first + batch, 1, x, -1, 0,
            )  # fmt: skip
            if not whole:
                for row in range(made):
                    for rest in range(inputs - k):
                        g[g0 + (o + row) * inputs + k + rest] = spare[spare0 + row * lanes + rest]
            o += made


@kernel
def bias(memory, g, g0, outputs, d0, ds):
    """Gradients of biases: the sum over pixels and samples, which lie one after another."""
    for o in range(outputs):
        total = numba.float32(0)
        d = memory[d0 + o * ds : d0 + (o + 1) * ds]
        for place in range(len(d)):
            total += d[place]
        g[g0 + o] = total


@kernel
def cut(memory, d0, y0, channels, rows, columns, channel_pitch, row_pitch):
    """Back through ReLU: gradients ``(channels, rows, columns)`` vanish where the output, which may have a rim, does.

    ``columns`` and pitches count samples, so that the innermost loop runs over whole rows.
    """
    for c in range(channels):
        for r in range(rows):
            at, y = d0 + (c * rows + r) * columns, y0 + c * channel_pitch + r * row_pitch
            d, output = memory[at : at + columns], memory[y : y + columns]
            for t in range(columns):
                d[t] = d[t] if output[t] > 0 else numba.float32(0)
