"""The two innermost loops, written in LLVM's intermediate code: blocks of sums of products kept in vector registers.

All multiplications of a network are done by one of them. Arrays are flat and float32 (or float64 for linear models),
with the samples of a batch innermost: a vector holds the same entry of ``LANES`` neighbouring samples (half as many in
float64), so that layers of few channels are vectorised too. Numba's loops would store each sum in memory; here a block
of sums stays in registers, and every number that is loaded is used for several of them.

Each sum adds its products in the order of its list, so that it does not depend on the grouping of sums into blocks, on
the processor's registers or on other threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WIDE_VECTORS = bool(llvm.get_host_cpu_features().get("avx512f"))
LANES = 16 if WIDE_VECTORS else 8
"""Number of samples in a vector."""
VECTORS = 2
WIDTH = VECTORS * LANES
"""Number of samples in a block of sums; batches are padded to a multiple of it."""
BLOCKS = (8, 6, 4, 2, 1) if WIDE_VECTORS else (6, 4, 2, 1)
"""Numbers of outputs of a block, with ``VECTORS`` sums each; the registers hold the largest block and its factors.

Six, since that number of channels is common, and two smaller blocks would have too few independent sums each."""
OUTPUTS = BLOCKS[0]
ROWS, TAPS = (4, 6) if WIDE_VECTORS else (3, 4)
"""Outputs and taps in a block of weight gradients, one vector each."""

INDEX, LANE = ir.IntType(64), ir.IntType(32)
FAST = ("contract",)  # fused multiply-add where the processor has it; no flag that hides NaN


class Code:
    """Helpers over llvmlite's builder: addresses in flat arrays, vectors, and loops with sums in registers.

    The type of numbers is that of the first array in the signature.
    """

    def __init__(self, context: Any, builder: Any, signature: Any, values: Sequence[Any]) -> None:
        self.builder = builder
        kind = signature.args[0].dtype
        self.float, self.bytes = context.get_value_type(kind), kind.bitwidth // 8
        self.lanes = LANES * 4 // self.bytes
        self.vectors = ir.VectorType(self.float, self.lanes)
        module = builder.module
        # LLVM expects a distinct first node. Unrolling these loops further only takes longer to compile.
        nodes = [module.add_metadata([name]) for name in ("fedbounds loop", "llvm.loop.unroll.disable")]
        self.as_written = module.add_metadata(nodes)
        self.values = [
            context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
            for kind, value in zip(signature.args, values, strict=True)
        ]

    def plus(self, *terms: Any) -> Any:
        return reduce(self.builder.add, terms)

    def times(self, a: Any, b: Any) -> Any:
        return self.builder.mul(a, b if isinstance(b, ir.Value) else INDEX(b))

    def number(self, array: Any, place: Any) -> Any:
        return self.builder.load(self.builder.gep(array, [place]))

    def vector(self, array: Any, place: Any) -> Any:
        return self.builder.load(self._vectors_at(array, place), align=self.bytes)

    def _vectors_at(self, array: Any, place: Any) -> Any:
        return self.builder.bitcast(self.builder.gep(array, [place]), self.vectors.as_pointer())

    def spread(self, number: Any) -> Any:
        """Return a vector with the number in every lane."""
        nothing = ir.Constant(self.vectors, ir.Undefined)
        one = self.builder.insert_element(nothing, number, LANE(0))
        return self.builder.shuffle_vector(one, nothing, self.mask([0] * self.lanes))

    def mask(self, lanes: Sequence[int]) -> Any:
        """Return the mask of a shuffle that selects these lanes of two vectors."""
        return ir.Constant(ir.VectorType(LANE, len(lanes)), [*lanes])

    def write(self, array: Any, place: Any, vector: Any) -> None:
        self.builder.store(vector, self._vectors_at(array, place), align=self.bytes)

    def lanes_summed(self, vector: Any) -> Any:
        """Return the sum over the lanes, by adding halves to halves."""
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            half = self.mask([*range(lanes, 2 * lanes)] + [0] * (self.lanes - lanes))
            upper = self.builder.shuffle_vector(vector, ir.Constant(self.vectors, ir.Undefined), half)
            vector = self.builder.fadd(vector, upper)
        return self.builder.extract_element(vector, LANE(0))

    def cut_below(self, relu: Any) -> Any:
        """Return the limit below which numbers become zero: 0 for ReLU, else minus infinity; NaN is never below."""
        has_relu = self.builder.icmp_signed("!=", relu, INDEX(0))
        return self.spread(self.builder.select(has_relu, self.float(0.0), self.float(float("-inf"))))

    def product_added(self, total: Any, a: Any, b: Any) -> Any:
        return self.builder.fadd(total, self.builder.fmul(a, b, flags=FAST), flags=FAST)

    def loop(self, begin: Any, end: Any, totals: Sequence[Any], step: Any, body: Any) -> list[Any]:
        """Emit ``totals = body(place, totals)`` for place = begin, begin + step, ... < end; return the last totals."""
        builder = self.builder
        before = builder.block
        head, inside = builder.append_basic_block("head"), builder.append_basic_block("body")
        after = builder.append_basic_block("after")
        builder.branch(head)
        builder.position_at_end(head)
        place = builder.phi(INDEX)
        place.add_incoming(begin, before)
        sums = [builder.phi(total.type) for total in totals]
        for phi, total in zip(sums, totals, strict=True):
            phi.add_incoming(total, before)
        builder.cbranch(builder.icmp_signed("<", place, end), inside, after)
        builder.position_at_end(inside)
        updated = body(place, sums)
        last = builder.block
        place.add_incoming(builder.add(place, step), last)
        for phi, total in zip(sums, updated, strict=True):
            phi.add_incoming(total, last)
        back = builder.branch(head)
        back.set_metadata("llvm.loop", self.as_written)
        builder.position_at_end(after)
        return list(sums)


INDICES = types.Array(types.int64, 1, "C")


def sums(outputs: int) -> Any:
    """Return an intrinsic that computes ``outputs`` sums of products for ``WIDTH`` samples each.

    ``y[y0 + o ys + lane] = b[b0 + o] + sum over c, t of w[w0 + o ws + c wc + wt wm] x[x0 + c xc + xt + lane]``
    with ``c`` from 0 to ``channels``, ``t`` from ``first`` to ``last`` and ``(xt, wt) = taps[2t], taps[2t + 1]``,
    without the bias if ``b0 < 0``. If ``relu``, negative results become zero.
    """

    @intrinsic
    def block(
        typing: Any, y: Any, y0: Any, ys: Any, x: Any, x0: Any, xc: Any, w: Any, w0: Any, ws: Any, wc: Any,
        wm: Any, taps: Any, first: Any, last: Any, channels: Any, b: Any, b0: Any, relu: Any,
    ) -> Any:  # fmt: skip
        place = types.int64
        signature = types.void(
            y, place, place, y, place, place, y, place, place, place, place,
            INDICES, place, place, place, y, place, place,
        )  # fmt: skip

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            code = Code(context, builder, signature, given)
            y, y0, ys, x, x0, xc, w, w0, ws, wc, wm, taps, first, last, channels, b, b0, relu = code.values
            one, zero = INDEX(1), ir.Constant(code.vectors, None)
            has = builder.icmp_signed(">=", b0, INDEX(0))
            start = []
            for o in range(outputs):
                bias = code.number(b, builder.select(has, code.plus(b0, INDEX(o)), INDEX(0)))
                start.append(code.spread(builder.select(has, bias, code.float(0.0))))
            totals = [start[o] for o in range(outputs) for _ in range(VECTORS)]

            def channel(c: Any, totals: Any) -> Any:
                xs, at = code.plus(x0, code.times(c, xc)), code.plus(w0, code.times(c, wc))

                def tap(t: Any, totals: Any) -> Any:
                    pair = code.times(t, 2)
                    xt, wt = code.number(taps, pair), code.number(taps, code.plus(pair, one))
                    here, updated = code.plus(xs, xt), []
                    inputs = [code.vector(x, code.plus(here, INDEX(v * code.lanes))) for v in range(VECTORS)]
                    weight = code.plus(at, code.times(wt, wm))
                    for o in range(outputs):
                        factor = code.spread(code.number(w, code.plus(weight, code.times(ws, o))))
                        for v in range(VECTORS):
                            updated.append(code.product_added(totals[o * VECTORS + v], factor, inputs[v]))
                    return updated

                return code.loop(first, last, totals, one, tap)

            totals = code.loop(INDEX(0), channels, totals, one, channel)
            border = code.cut_below(relu)
            for place, total in enumerate(totals):
                o, v = divmod(place, VECTORS)
                result = builder.select(builder.fcmp_ordered("<", total, border), zero, total)
                code.write(y, code.plus(y0, code.times(ys, o), INDEX(v * code.lanes)), result)
            return context.get_dummy_value()

        return signature, generate

    return block


@intrinsic
def weight_sums(
    typing: Any, g: Any, g0: Any, gs: Any, d: Any, d0: Any, ds: Any, x: Any, taps: Any, t0: Any, places: Any,
    first: Any, last: Any, width: Any, outputs: Any, count: Any,
) -> Any:  # fmt: skip
    """Compute the gradients of ``ROWS x TAPS`` weights from gradients ``d`` of the outputs and inputs ``x``.

    ``g[g0 + o gs + t] = sum over p, lane of d[d0 + o ds + dp + lane] x[xp + taps[2 (t0 + t)] + lane]`` with ``p`` from
    ``first`` to ``last``, ``(xp, dp) = places[2p], places[2p + 1]`` and ``lane`` below ``width``. If fewer ``outputs``
    or taps (``count``) remain, the last ones are computed repeatedly.
    """
    place = types.int64
    signature = types.void(
        g, place, place, g, place, place, g, INDICES, place, INDICES, place, place, place, place, place,
    )  # fmt: skip

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = Code(context, builder, signature, given)
        g, g0, gs, d, d0, ds, x, taps, t0, places, first, last, width, outputs, count = code.values
        one = INDEX(1)

        def clipped(number: int, limit: Any) -> Any:
            end = builder.sub(limit, one)
            return builder.select(builder.icmp_signed("<", INDEX(number), end), INDEX(number), end)

        rows = [code.times(clipped(o, outputs), ds) for o in range(ROWS)]
        columns = [clipped(t, count) for t in range(TAPS)]
        offsets = [code.number(taps, code.times(code.plus(t0, t), 2)) for t in columns]

        def pixel(p: Any, totals: Any) -> Any:
            pair = code.times(p, 2)
            xp, dp = code.number(places, pair), code.plus(d0, code.number(places, code.plus(pair, one)))

            def vector(lane: Any, totals: Any) -> Any:
                slopes = [code.vector(d, code.plus(dp, row, lane)) for row in rows]
                updated = [*totals]
                for t, offset in enumerate(offsets):  # one input at a time, since no more registers are free
                    inputs = code.vector(x, code.plus(xp, offset, lane))
                    for o in range(ROWS):
                        updated[o * TAPS + t] = code.product_added(totals[o * TAPS + t], slopes[o], inputs)
                return updated

            return code.loop(INDEX(0), width, totals, INDEX(code.lanes), vector)

        totals = code.loop(first, last, [ir.Constant(code.vectors, None)] * (ROWS * TAPS), one, pixel)
        for place, total in enumerate(totals):
            o, t = divmod(place, TAPS)
            where = code.plus(g0, code.times(clipped(o, outputs), gs), columns[t])
            builder.store(code.lanes_summed(total), builder.gep(g, [where]))
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def transpose_tile(typing: Any, to: Any, to0: Any, to_pitch: Any, x: Any, x0: Any, pitch: Any) -> Any:
    """Transpose a square of ``LANES`` rows in registers: ``to[to0 + c to_pitch + r] = x[x0 + r pitch + c]``."""
    place = types.int64
    signature = types.void(to, place, place, to, place, place)

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = Code(context, builder, signature, given)
        to, to0, to_pitch, x, x0, pitch = code.values
        lanes = code.lanes
        rows = [code.vector(x, code.plus(x0, code.times(pitch, r))) for r in range(lanes)]
        step = 1
        while step < lanes:  # exchange the squares of this size above and below the diagonal
            upper = [lane if not lane & step else lanes + lane - step for lane in range(lanes)]
            lower = [lane + step if not lane & step else lanes + lane for lane in range(lanes)]
            masks = [code.mask(lanes_) for lanes_ in (upper, lower)]
            for r in (r for r in range(lanes) if not r & step):
                a, b = rows[r], rows[r + step]
                rows[r], rows[r + step] = (builder.shuffle_vector(a, b, mask) for mask in masks)
            step *= 2
        for c, row in enumerate(rows):
            code.write(to, code.plus(to0, code.times(to_pitch, c)), row)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def power_of_two(typing: Any, exponent: Any) -> Any:
    """Return two to an integer power by setting the bits of a float; the result for NaN is arbitrary."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = signature.args[0]
        bits, bias, mantissa = (32, 127, 23) if kind.bitwidth == 32 else (64, 1023, 52)
        whole = ir.IntType(bits)
        shifted = builder.shl(builder.add(builder.fptosi(given[0], whole), whole(bias)), whole(mantissa))
        return builder.bitcast(shifted, context.get_value_type(kind))

    return exponent(exponent), generate
