"""Translation of a network's layers to the lists of operations of its forward and backward passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from . import NotServed, program as ops
from .layers import Layer
from .tiles import OUTPUTS, WIDTH

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
FEW_CHANNELS, FEW_SAMPLES, MANY_SAMPLES = 32, 4, 64
"""Limits of ``PassPlan.pays``."""
MOST_TAPS = 512
"""Largest number of taps of all input channels in one list: more would not fit the L1 cache."""


@dataclass(frozen=True)
class Buffer:
    """An array ``(channels, rows, columns, width)`` in memory, with a rim of zeros around every image.

    ``row`` and ``channel`` are the distances from one row or channel to the next, ``first`` is the address of the first
    number inside the rim, ``shape`` excludes samples and rim.
    """

    place: int
    width: int
    channels: int
    rows: int = 1
    columns: int = 1
    rim: tuple[int, int] = (0, 0)

    @property
    def row(self) -> int:
        return (self.columns + 2 * self.rim[1]) * self.width

    @property
    def channel(self) -> int:
        return (self.rows + 2 * self.rim[0]) * self.row

    @property
    def end(self) -> int:
        return self.place + self.channels * self.channel

    @property
    def first(self) -> int:
        return self.place + self.rim[0] * self.row + self.rim[1] * self.width

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.channels, self.rows, self.columns

    @property
    def inside(self) -> tuple[int, ...]:
        """Arguments of the operations that copy samples into a buffer and out of it."""
        return self.first, *self.shape, self.channel, self.row


class PassPlan:
    """Lists of operations for ``layers`` on samples of one shape, for batches padded to ``width``.

    ``outputs`` is the forward pass, from samples to outputs. The backward passes start from gradients of the outputs:
    ``outputs_back`` computes gradients of the row, ``inputs_back`` also those of the samples (only if ``inputs``), and
    ``inputs_alone`` only those of the samples. ``entropy`` is a forward and backward pass with the cross-entropy.
    ``size`` is the number of floats of working memory.
    """

    def __init__(self, layers: Sequence[Layer], shape: Shape, width: int, inputs: bool = False) -> None:
        self.layers, self.width, self.inputs, self.size = layers, width, inputs, 0
        self._lines: list[tuple[int, ...]] = []
        self._taps: list[Array] = []
        self._pixels: list[Array] = []
        self.buffers: list[Buffer] = []
        self.argmaxima: dict[int, Buffer] = {}
        self._forward(shape)
        self._back()
        taps, pixels = self._taps or [np.zeros((1, 2))], self._pixels or [np.zeros((1, 4))]
        self.taps, self.pixels = (np.concatenate(lists).ravel().astype(np.int64) for lists in (taps, pixels))

    def pays(self, count: int, back: bool) -> bool:
        """Whether compiled passes are faster than torch for ``count`` samples, with a backward pass or without.

        An empirical rule. Batches are padded, so that few samples cost as much as many. Passes of many samples are
        matrix products, at which torch is fast, except in convolutions of few channels.
        """
        convolves = any(layer.kind == "convolution" for layer in self.layers)
        return self._narrow or (count > FEW_SAMPLES and (count < MANY_SAMPLES or (back and convolves)))

    @cached_property
    def _narrow(self) -> bool:
        """Whether most multiplications are in convolutions of few channels."""
        products = {True: 0, False: 0}
        for layer, here in zip(self.layers, self.buffers[1:], strict=True):
            few = layer.kind == "convolution" and layer.inputs < FEW_CHANNELS
            products[few] += int(np.prod(here.shape)) * layer.inputs * (layer.taps if layer.outputs else 0)
        return products[True] > products[False]

    # ---- memory and operations ----

    def _allocate(self, channels: int, rows: int = 1, columns: int = 1, rim: tuple[int, int] = (0, 0)) -> Buffer:
        """Allocate a buffer and, if it has a rim, add the operation that sets it to zero."""
        buffer = Buffer(self.size, self.width, channels, rows, columns, rim)
        self.size = buffer.end
        if rim != (0, 0):
            self._add(ops.ZEROS, buffer.place, buffer.end)
        return buffer

    def _scratch(self, numbers: int) -> int:
        """Allocate working memory for a number of floats, rounded up to keep the alignment, and return its address."""
        begin = self.size
        self.size = begin - (-numbers // WIDTH) * WIDTH
        return begin

    def _add(self, *line: int) -> None:
        self._lines.append((*line, *[0] * (1 + ops.LONGEST - len(line))))

    def _flush(self) -> Array:
        """Return the operations that were added since the last call."""
        lines, self._lines = self._lines, []
        return np.array(lines, dtype=np.int64).reshape(-1, 1 + ops.LONGEST)

    def _flush_with_output(self, buffer: Buffer) -> Array:
        """Add the operation that copies a buffer out, and return the operations since the last call."""
        self._add(ops.COPY_OUT, *buffer.inside)
        return self._flush()

    # ---- forward ----

    def _forward(self, shape: Shape) -> None:
        flat = len(shape) == 1
        if not flat and len(shape) != 3:
            raise NotServed(f"samples of shape {shape}")
        channels, rows, columns = (*shape, 1, 1)[:3]
        here = self._allocate(channels, rows, columns, self._rim(0))
        self._add(ops.COPY_IN, *here.inside)
        self.buffers.append(here)
        for number, layer in enumerate(self.layers):
            before = here
            if layer.kind == "none":
                if layer.flat and not flat:
                    here, flat = replace(before, channels=int(np.prod(before.shape)), rows=1, columns=1), True
                if layer.relu:
                    self._add(ops.RELU, here.place, here.end)
            elif layer.kind == "dense":
                if not flat or before.channels != layer.inputs:
                    raise NotServed(f"a dense layer of {layer.inputs} inputs after samples of shape {before.shape}")
                here = self._allocate(layer.outputs)
                self._dense(layer, before, here)
            else:
                if flat or (layer.kind == "convolution" and before.channels != layer.inputs):
                    raise NotServed(f"a {layer.kind} after samples of shape {before.shape}")
                here = self._window(number, layer, before)
            self.buffers.append(here)
        self.output = here
        self.shape: Shape = (here.channels,) if flat else here.shape
        self.forward = self._flush()
        self.outputs = np.concatenate([self.forward, self._flush_with_output(here)])

    def _rim(self, number: int) -> tuple[int, int]:
        """Return the padding of the next layer, from ``number`` on, that is more than ReLU."""
        return next((layer.padding for layer in self.layers[number:] if layer.kind != "none"), (0, 0))

    def _dense(self, layer: Layer, x: Buffer, y: Buffer, back: bool = False) -> None:
        """Add the outputs ``y`` of a dense layer or, in the backward pass, the gradients ``y`` of its inputs."""
        count, step, pitch, results = layer.inputs, 1, layer.inputs, layer.outputs
        if back:
            count, step, pitch, results = layer.outputs, layer.inputs, 1, layer.inputs
        ends = (-1, 0) if back else (layer.bias, layer.relu)
        every = np.arange(count)
        first = _append(self._taps, np.stack([every * self.width, every * step], 1))
        pixel = _append(self._pixels, np.array([[0, 0, first, first + count]]))
        operands = y.place, self.width, x.place, 0, 1, layer.weight, pitch, 0
        self._add(ops.PRODUCT, *operands, results, *ends, pixel, pixel + 1, -1)

    def _window(self, number: int, layer: Layer, before: Buffer) -> Buffer:
        """Add a convolution or a pooling layer, with outputs where the window lies inside the (padded) image."""
        sides = zip(before.shape[1:], layer.padding, layer.kernel, layer.stride, strict=True)
        high, wide = ((side + 2 * rim - kernel) // stride + 1 for side, rim, kernel, stride in sides)
        if high < 1 or wide < 1:
            raise NotServed(f"a window of {layer.kernel} on pictures of {before.shape[1:]}")
        here = self._allocate(layer.outputs or before.channels, high, wide, self._rim(number + 1))
        if layer.kind == "maximum":
            argmax = self.argmaxima[number] = self._allocate(*here.shape)
            window = (*here.shape, *before.shape[1:], here.channel, here.row)
            self._add(ops.MAXIMA, before.place, here.first, argmax.place, *window, layer.relu)
            return here
        together = layer.inputs if layer.inputs * layer.taps <= MOST_TAPS else 1  # one loop is faster than two
        c, i, j = _grid(together, *layer.kernel)
        taps = np.stack([c * before.channel + i * before.row + j * before.width, np.arange(len(c))], 1)
        first = _append(self._taps, taps)
        r, v = _grid(high, wide)
        ends = np.full_like(r, first), np.full_like(r, first + len(taps))
        pixels = np.stack([_window_starts(r, v, layer, before), r * here.row + v * here.width, *ends], 1)
        pixel = _append(self._pixels, pixels)
        self._add(
            ops.PRODUCT, here.first, here.channel, before.place, before.channel, layer.inputs // together,
            layer.weight, layer.inputs * layer.taps, len(taps), layer.outputs, layer.bias, layer.relu, pixel,
            pixel + len(r), self._scratch(layer.outputs * layer.inputs * layer.taps), len(taps),
        )  # fmt: skip
        return here

    # ---- back ----

    def _back(self) -> None:
        d = self.gradient = self._allocate(*self.output.shape)
        self._add(ops.COPY_IN, *d.inside)
        copy_in = self._flush()
        weighted = [number for number, layer in enumerate(self.layers) if layer.outputs]
        lowest = 0 if self.inputs else weighted[0] if weighted else len(self.layers)
        for number in reversed(range(lowest, len(self.layers))):
            d = self._layer_back(number, d, inputs=self.inputs or number > lowest)
        back = self._flush()
        self.outputs_back = np.concatenate([copy_in, back])
        self.inputs_back = np.concatenate([copy_in, back, self._flush_with_output(d)])
        self.inputs_alone = self.inputs_back[~np.isin(self.inputs_back[:, 0], ops.LEARNING)]
        self._add(ops.ENTROPY, self.output.place, self.gradient.place, self.output.channels)
        self.entropy = np.concatenate([self.forward, self._flush(), back])

    def _layer_back(self, number: int, d: Buffer, inputs: bool) -> Buffer:
        """Add gradients of a layer's weights, from those of its outputs ``d``; return those of its inputs if needed."""
        layer, before, here = self.layers[number], self.buffers[number], self.buffers[number + 1]
        if layer.relu and layer.kind != "maximum":
            self._add(ops.CUT, d.place, here.first, *here.shape[:2], here.columns * self.width, here.channel, here.row)
        if layer.kind == "dense":
            self._dense_weights(layer, before, d)
        elif layer.kind == "convolution":
            self._convolution_weights(layer, before, d)
        if layer.bias >= 0:
            self._add(ops.BIAS, layer.bias, layer.outputs, d.place, d.channel)
        if layer.kind == "none":
            return replace(d, channels=before.channels, rows=before.rows, columns=before.columns)
        if not inputs:
            return d
        to = self._allocate(*before.shape)
        if layer.kind == "dense":
            self._dense(layer, d, to, back=True)
        elif layer.kind == "convolution":
            self._convolution_back(layer, before, d, to)
        else:
            argmax = self.argmaxima[number].place
            self._add(ops.MAXIMA_BACK, d.place, argmax, to.place, *here.shape, *before.shape[1:])
        return to

    def _dense_weights(self, layer: Layer, before: Buffer, d: Buffer) -> None:
        pitch, every = -(-layer.inputs // WIDTH) * WIDTH, np.arange(self.width)
        first = _append(self._taps, np.stack([every * pitch, every], 1))
        transposed, spare = self._scratch(self.width * pitch), self._scratch(OUTPUTS * WIDTH)
        shape = (layer.weight, layer.outputs, layer.inputs)
        self._add(ops.DENSE_WEIGHTS, *shape, d.place, before.place, transposed, pitch, spare, first)

    def _convolution_weights(self, layer: Layer, before: Buffer, d: Buffer) -> None:
        c, i, j = _grid(layer.inputs, *layer.kernel)
        inputs = before.place + c * before.channel + i * before.row + j * before.width
        taps = _append(self._taps, np.stack([inputs, np.zeros_like(inputs)], 1))
        r, v = _grid(*d.shape[1:])
        first = _append(self._taps, np.stack([_window_starts(r, v, layer, before), r * d.row + v * d.width], 1))
        shape = (layer.weight, layer.outputs, len(c))
        self._add(ops.CONVOLUTION_WEIGHTS, *shape, d.place, d.channel, taps, first, first + len(r))

    def _convolution_back(self, layer: Layer, before: Buffer, d: Buffer, to: Buffer) -> None:
        """Add the gradients of a convolution's inputs: each sums over the outputs whose windows contain the pixel."""
        entries: list[tuple[int, int]] = []
        pixels = []
        base = sum(map(len, self._taps))
        for r, v in np.ndindex(before.shape[1:]):
            rows, columns = _windows(r, 0, layer, d.rows), _windows(v, 1, layer, d.columns)
            begin = base + len(entries)
            entries += [(a * d.row + b * d.width, i * layer.kernel[1] + j) for a, i in rows for b, j in columns]
            pixels.append((0, r * to.row + v * to.width, begin, base + len(entries)))
        _append(self._taps, np.array(entries).reshape(-1, 2))
        pixel = _append(self._pixels, np.array(pixels))
        pack = self._scratch(layer.outputs * layer.inputs * layer.taps)
        self._add(
            ops.PRODUCT, to.place, to.channel, d.place, d.channel, layer.outputs, layer.weight, layer.taps,
            layer.inputs * layer.taps, layer.inputs, -1, 0, pixel, pixel + len(pixels), pack, layer.taps,
        )  # fmt: skip


def _append(arrays: list[Array], new: Array) -> int:
    """Append an array and return the number of its first entry in their concatenation."""
    arrays.append(new)
    return sum(map(len, arrays[:-1]))


def _grid(*shape: int) -> list[Array]:
    """Return the indices of all entries of an array of this shape, flat, along each axis."""
    return [axis.ravel() for axis in np.indices(shape)]


def _window_starts(r: Array, v: Array, layer: Layer, before: Buffer) -> Array:
    """Return the offsets in the inputs at which the windows of the outputs in rows ``r`` and columns ``v`` begin."""
    return r * layer.stride[0] * before.row + v * layer.stride[1] * before.width


def _windows(place: int, axis: int, layer: Layer, outputs: int) -> list[tuple[int, int]]:
    """Return the outputs along one axis whose windows contain the input at ``place``, with its index in the kernel."""
    taps = range(layer.kernel[axis])
    quotients = ((*divmod(place + layer.padding[axis] - tap, layer.stride[axis]), tap) for tap in taps)
    return [(output, tap) for output, rest, tap in quotients if not rest and 0 <= output < outputs]
