"""What the passes of a network are: its layers become a list of operations."""

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
CHANNELS, FEW, MANY = 32, 4, 64
"""Channels that are no longer few; samples that are few, and many: see ``PassPlan.pays``."""
TOGETHER = 512
"""Taps of all input channels that make one list: more would fill the nearest cache."""


@dataclass(frozen=True)
class Buffer:
    """Numbers ``(channels, rows, columns, width)`` in memory, with a rim of zeros round every image.

    ``row`` and ``channel`` are the numbers from one row or channel to the next, ``first`` is the place of the first
    number inside of the rim, ``shape`` is without samples.
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
        """The arguments of the operations that copy samples into a buffer and out of it."""
        return self.first, *self.shape, self.channel, self.row


class PassPlan:
    """The passes of ``layers`` on samples of one shape, for batches padded to ``width``.

    ``outputs`` takes samples in and gives outputs out; ``outputs_back`` takes the gradients of the outputs in and
    makes those of the row, ``inputs_back`` gives out those of the samples too (where ``inputs`` says so),
    ``inputs_alone`` only these; ``entropy`` is all of it with the cross-entropy between. ``size`` numbers of memory lie
    between.
    """

    def __init__(self, layers: Sequence[Layer], shape: Shape, width: int, inputs: bool = False) -> None:
        self.layers, self.width, self.inputs, self.size = layers, width, inputs, 0
        self._lines: list[tuple[int, ...]] = []
        self._taps: list[Array] = []
        self._pixels: list[Array] = []
        self.seen: list[Buffer] = []
        self.codes: dict[int, Buffer] = {}
        self._forward(shape)
        self._back()
        taps, pixels = self._taps or [np.zeros((1, 2))], self._pixels or [np.zeros((1, 4))]
        self.taps, self.pixels = (np.concatenate(lists).ravel().astype(np.int64) for lists in (taps, pixels))

    def pays(self, count: int, back: bool) -> bool:
        """Whether this takes less time than torch on a number of samples, forward and backward or forward only.

        Measured, since it concerns speed only. Batches are padded, so that few samples cost as much as many;
        and passes of many are matrix products, at which torch is good but for convolutions of few channels.
        """
        convolves = any(layer.kind == "convolution" for layer in self.layers)
        return self._narrow or (count > FEW and (count < MANY or (back and convolves)))

    @cached_property
    def _narrow(self) -> bool:
        """Whether most products are those of convolutions of few channels."""
        products = {True: 0, False: 0}
        for layer, here in zip(self.layers, self.seen[1:], strict=True):
            few = layer.kind == "convolution" and layer.inputs < CHANNELS
            products[few] += int(np.prod(here.shape)) * layer.inputs * (layer.taps if layer.outputs else 0)
        return products[True] > products[False]

    # ---- writing ----

    def _allocate(self, channels: int, rows: int = 1, columns: int = 1, rim: tuple[int, int] = (0, 0)) -> Buffer:
        """Memory for a buffer, whose rim is made zero."""
        buffer = Buffer(self.size, self.width, channels, rows, columns, rim)
        self.size = buffer.end
        if rim != (0, 0):
            self._add(ops.ZEROS, buffer.place, buffer.end)
        return buffer

    def _room(self, numbers: int) -> int:
        """Working memory for a number of floats; what follows is aligned again."""
        begin = self.size
        self.size = begin - (-numbers // WIDTH) * WIDTH
        return begin

    def _add(self, *line: int) -> None:
        self._lines.append((*line, *[0] * (1 + ops.LONGEST - len(line))))

    def _taken(self) -> Array:
        """The operations added since the last call."""
        lines, self._lines = self._lines, []
        return np.array(lines, dtype=np.int64).reshape(-1, 1 + ops.LONGEST)

    def _given(self, buffer: Buffer) -> Array:
        """Copying the samples of a buffer out."""
        self._add(ops.GIVE_OUT, *buffer.inside)
        return self._taken()

    # ---- forward ----

    def _forward(self, shape: Shape) -> None:
        flat = len(shape) == 1
        if not flat and len(shape) != 3:
            raise NotServed(f"samples of shape {shape}")
        channels, rows, columns = (*shape, 1, 1)[:3]
        here = self._allocate(channels, rows, columns, self._rim(0))
        self._add(ops.TAKE_IN, *here.inside)
        self.seen.append(here)
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
            self.seen.append(here)
        self.output = here
        self.shape: Shape = (here.channels,) if flat else here.shape
        self.forward = self._taken()
        self.outputs = np.concatenate([self.forward, self._given(here)])

    def _rim(self, number: int) -> tuple[int, int]:
        """What the next layer that does more than ReLU, from that number on, wants round its inputs."""
        return next((layer.padding for layer in self.layers[number:] if layer.kind != "none"), (0, 0))

    def _dense(self, layer: Layer, x: Buffer, y: Buffer, back: bool = False) -> None:
        """The outputs ``y`` of a dense layer, or, on the way back, the gradients ``y`` of its inputs."""
        count, apart, pitch, made = layer.inputs, 1, layer.inputs, layer.outputs
        if back:
            count, apart, pitch, made = layer.outputs, layer.inputs, 1, layer.inputs
        ends = (-1, 0) if back else (layer.bias, layer.relu)
        every = np.arange(count)
        first = _listed(self._taps, np.stack([every * self.width, every * apart], 1))
        pixel = _listed(self._pixels, np.array([[0, 0, first, first + count]]))
        self._add(
            ops.PRODUCT, y.place, self.width, x.place, 0, 1, layer.weight, pitch, 0, made, *ends, pixel, pixel + 1, -1
        )

    def _window(self, number: int, layer: Layer, before: Buffer) -> Buffer:
        """A convolution or a pooling layer: outputs where the whole window lies in the (padded) image."""
        sides = zip(before.shape[1:], layer.padding, layer.kernel, layer.stride, strict=True)
        high, wide = ((side + 2 * rim - kernel) // stride + 1 for side, rim, kernel, stride in sides)
        if high < 1 or wide < 1:
            raise NotServed(f"a window of {layer.kernel} on pictures of {before.shape[1:]}")
        here = self._allocate(layer.outputs or before.channels, high, wide, self._rim(number + 1))
        if layer.kind == "maximum":
            code = self.codes[number] = self._allocate(*here.shape)
            window = (*here.shape, *before.shape[1:], here.channel, here.row)
            self._add(ops.MAXIMA, before.place, here.first, code.place, *window, layer.relu)
            return here
        together = layer.inputs if layer.inputs * layer.taps <= TOGETHER else 1  # one loop is quicker than two
        c, i, j = _grid(together, *layer.kernel)
        taps = np.stack([c * before.channel + i * before.row + j * before.width, np.arange(len(c))], 1)
        first = _listed(self._taps, taps)
        r, v = _grid(high, wide)
        ends = np.full_like(r, first), np.full_like(r, first + len(taps))
        pixels = np.stack([_strided(r, v, layer, before), r * here.row + v * here.width, *ends], 1)
        pixel = _listed(self._pixels, pixels)
        self._add(
            ops.PRODUCT, here.first, here.channel, before.place, before.channel, layer.inputs // together,
            layer.weight, layer.inputs * layer.taps, len(taps), layer.outputs, layer.bias, layer.relu, pixel,
            pixel + len(r), self._pack(layer), len(taps),
        )  # fmt: skip
        return here

    def _pack(self, layer: Layer) -> int:
        """Memory for the weights of a convolution in another order."""
        return self._room(layer.outputs * layer.inputs * layer.taps)

    # ---- back ----

    def _back(self) -> None:
        d = self.gradient = self._allocate(*self.output.shape)
        self._add(ops.TAKE_IN, *d.inside)
        taking = self._taken()
        learning = [number for number, layer in enumerate(self.layers) if layer.outputs]
        lowest = 0 if self.inputs else learning[0] if learning else len(self.layers)
        for number in reversed(range(lowest, len(self.layers))):
            d = self._layer_back(number, d, inputs=self.inputs or number > lowest)
        back = self._taken()
        self.outputs_back = np.concatenate([taking, back])
        self.inputs_back = np.concatenate([taking, back, self._given(d)])
        self.inputs_alone = self.inputs_back[~np.isin(self.inputs_back[:, 0], ops.LEARNING)]
        self._add(ops.ENTROPY, self.output.place, self.gradient.place, self.output.channels)
        self.entropy = np.concatenate([self.forward, self._taken(), back])

    def _layer_back(self, number: int, d: Buffer, inputs: bool) -> Buffer:
        """Gradients of a layer's weights from those of its outputs; returns those of its inputs where asked for."""
        layer, before, here = self.layers[number], self.seen[number], self.seen[number + 1]
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
            code = self.codes[number].place
            self._add(ops.MAXIMA_BACK, d.place, code, to.place, *here.shape, *before.shape[1:])
        return to

    def _dense_weights(self, layer: Layer, before: Buffer, d: Buffer) -> None:
        pitch, every = -(-layer.inputs // WIDTH) * WIDTH, np.arange(self.width)
        first = _listed(self._taps, np.stack([every * pitch, every], 1))
        turned, spare = self._room(self.width * pitch), self._room(OUTPUTS * WIDTH)
        shape = (layer.weight, layer.outputs, layer.inputs)
        self._add(ops.DENSE_WEIGHTS, *shape, d.place, before.place, turned, pitch, spare, first)

    def _convolution_weights(self, layer: Layer, before: Buffer, d: Buffer) -> None:
        c, i, j = _grid(layer.inputs, *layer.kernel)
        seen = before.place + c * before.channel + i * before.row + j * before.width
        taps = _listed(self._taps, np.stack([seen, np.zeros_like(seen)], 1))
        r, v = _grid(*d.shape[1:])
        first = _listed(self._taps, np.stack([_strided(r, v, layer, before), r * d.row + v * d.width], 1))
        shape = (layer.weight, layer.outputs, len(c))
        self._add(ops.CONVOLUTION_WEIGHTS, *shape, d.place, d.channel, taps, first, first + len(r))

    def _convolution_back(self, layer: Layer, before: Buffer, d: Buffer, to: Buffer) -> None:
        """Every input pixel with the output pixels whose windows hold it: so nothing is multiplied with padding."""
        entries: list[tuple[int, int]] = []
        pixels = []
        base = sum(map(len, self._taps))
        for r, v in np.ndindex(before.shape[1:]):
            rows, columns = _windows(r, 0, layer, d.rows), _windows(v, 1, layer, d.columns)
            begin = base + len(entries)
            entries += [(a * d.row + b * d.width, i * layer.kernel[1] + j) for a, i in rows for b, j in columns]
            pixels.append((0, r * to.row + v * to.width, begin, base + len(entries)))
        _listed(self._taps, np.array(entries).reshape(-1, 2))
        pixel = _listed(self._pixels, np.array(pixels))
        self._add(
            ops.PRODUCT, to.place, to.channel, d.place, d.channel, layer.outputs, layer.weight, layer.taps,
            layer.inputs * layer.taps, layer.inputs, -1, 0, pixel, pixel + len(pixels), self._pack(layer), layer.taps,
        )  # fmt: skip


def _listed(kept: list[Array], new: Array) -> int:
    """Append a list; returns the number of its first entry."""
    kept.append(new)
    return sum(map(len, kept[:-1]))


def _grid(*shape: int) -> list[Array]:
    """The indices of all places of an array along each of its axes."""
    return [axis.ravel() for axis in np.indices(shape)]


def _strided(r: Array, v: Array, layer: Layer, before: Buffer) -> Array:
    """Where the windows of the outputs in rows ``r`` and columns ``v`` begin in the inputs."""
    return r * layer.stride[0] * before.row + v * layer.stride[1] * before.width


def _windows(place: int, axis: int, layer: Layer, outputs: int) -> list[tuple[int, int]]:
    """Along one axis: the outputs whose windows hold the input at ``place``, each with where in the kernel it is."""
    taps = range(layer.kernel[axis])
    found = ((*divmod(place + layer.padding[axis] - tap, layer.stride[axis]), tap) for tap in taps)
    return [(output, tap) for output, rest, tap in found if not rest and 0 <= output < outputs]
