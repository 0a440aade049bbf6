"""Maxima over squares of 2 x 2 of arrays ``(channel, row, column, sample)``, written in LLVM's intermediate code."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .cache import kernel
from .tiles import Code, INDEX

ZERO = numba.float32(0)
QUARTERS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@intrinsic
def squares(typing: Any, memory: Any, x0: Any, below: Any, y0: Any, code0: Any, width: Any, relu: Any) -> Any:
    """Write maxima and codes of one 2 x 2 square of ``width`` samples; ``below`` is the offset of the next row."""
    place = types.int64

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = Code(context, builder, signature, given)
        memory, x0, below, y0, code0, width, relu = code.values
        zero = ir.Constant(code.vectors, None)
        border = code.cut_below(relu)

        def vector(lane: Any, _: Any) -> list[Any]:
            best = which = zero
            for number, (i, j) in enumerate(QUARTERS):
                here = code.plus(x0, lane, code.times(below, i), code.times(width, j))
                a = code.vector(memory, here)
                if number:
                    better = builder.or_(builder.fcmp_ordered(">", a, best), builder.fcmp_unordered("uno", a, a))
                    which = builder.select(better, code.spread(code.float(float(number))), which)
                    a = builder.select(better, a, best)
                best = a
            lost = builder.fcmp_ordered("<=", best, border)
            code.write(memory, code.plus(y0, lane), builder.select(lost, code.spread(code.float(0.0)), best))
            code.write(memory, code.plus(code0, lane), builder.select(lost, code.spread(code.float(-1.0)), which))
            return []

        code.loop(INDEX(0), width, [], INDEX(code.lanes), vector)
        return context.get_dummy_value()

    return types.void(memory, place, place, place, place, place, place), generate


@intrinsic
def squares_back(typing: Any, memory: Any, d0: Any, code0: Any, x0: Any, below: Any, width: Any) -> Any:
    """Write a square's gradient to the entry of its maximum (its ``code``), and zero to the other three."""
    place = types.int64

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = Code(context, builder, signature, given)
        memory, d0, code0, x0, below, width = code.values

        def vector(lane: Any, _: Any) -> list[Any]:
            d, which = code.vector(memory, code.plus(d0, lane)), code.vector(memory, code.plus(code0, lane))
            for number, (i, j) in enumerate(QUARTERS):
                this = builder.fcmp_ordered("==", which, code.spread(code.float(float(number))))
                here = code.plus(x0, lane, code.times(below, i), code.times(width, j))
                code.write(memory, here, builder.select(this, d, ir.Constant(code.vectors, None)))
            return []

        code.loop(INDEX(0), width, [], INDEX(code.lanes), vector)
        return context.get_dummy_value()

    return types.void(memory, place, place, place, place, place), generate


@kernel
def maxima(memory, width, x0, y0, code0, channels, rows, columns, high, wide, channel_pitch, row_pitch, relu):
    """Write the maxima ``(channels, rows, columns)`` of the squares of inputs ``(channels, high, wide)``.

    The codes are the entries of the maxima in their squares, for the backward pass, or -1 where ReLU made it zero. The
    first of equal entries counts, and NaN is larger than any number, as in torch.
    """
    for c in range(channels):
        for r in range(rows):
            for v in range(columns):
                x = x0 + ((c * high + 2 * r) * wide + 2 * v) * width
                y = y0 + c * channel_pitch + r * row_pitch + v * width
                code = code0 + ((c * rows + r) * columns + v) * width
                squares(memory, x, wide * width, y, code, width, relu)


@kernel
def maxima_back(memory, width, d0, code0, to0, channels, rows, columns, high, wide):
    """Write the gradients ``(channels, high, wide)`` of the inputs, with each square's at the entry of its maximum."""
    if 2 * rows < high or 2 * columns < wide:  # the last entries of an odd side are in no square
        for place in range(to0, to0 + channels * high * wide * width):
            memory[place] = ZERO
    for c in range(channels):
        for r in range(rows):
            for v in range(columns):
                x = to0 + ((c * high + 2 * r) * wide + 2 * v) * width
                here = ((c * rows + r) * columns + v) * width
                squares_back(memory, d0 + here, code0 + here, x, wide * width, width)
