"""What the passes of a network are: its layers become a list of operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    """Numbers ``(channels, rows, columns, width)`` in memory, with a rim of zeros round every image."""

    place: int
    width: int
    channels: int
    rows: int = 1
    columns: int = 1
    rim: tuple[int, int] = (0, 0)

    @property
    def row(self) -> int:
        """Numbers from one row to the next."""
        return (self.columns + 2 * self.rim[1]) * self.width

    @property
    def channel(self) -> int:
        """Numbers from one channel to the next."""
        return (self.rows + 2 * self.rim[0]) * self.row

    @property
    def end(self) -> int:
        return self.place + self.channels * self.channel

    @property
    def first(self) -> int:
        """The place of the first number inside of the rim."""
        return self.place + self.rim[0] * self.row + self.rim[1] * self.width

    @property
    def shape(self) -> tuple[int, int, int]:
        return self.channels, self.rows, self.columns

    @property
    def size(self) -> int:
        return self.channels * self.rows * self.columns


@dataclass
class Passes:
    """The operations of a network's passes while they are written, their lists, and the memory that they take."""

    width: int
    size: int = 0
    lines: list[tuple[int, ...]] = field(default_factory=list)
    taps: list[Array] = field(default_factory=list)
    pixels: list[Array] = field(default_factory=list)

    def allocate(self, channels: int, rows: int = 1, columns: int = 1, rim: tuple[int, int] = (0, 0)) -> Buffer:
        buffer = Buffer(self.size, self.width, channels, rows, columns, rim)
        self.size = buffer.end
        return buffer

    def allocate_numbers(self, numbers: int) -> int:
        """Working memory for a number of floats; what follows is aligned again."""
        begin = self.size
        self.size = begin - (-numbers // WIDTH) * WIDTH
        return begin

    def add(self, *line: int) -> None:
        self.lines.append((*line, *[0] * (1 + ops.LONGEST - len(line))))

    def listed(self, kept: list[Array], new: Array) -> int:
        """Append a list; returns the number of its first entry."""
        begin = sum(len(part) for part in kept)
        kept.append(new)
        return begin

    def taken(self) -> Array:
        """The operations added since the last call."""
        lines, self.lines = self.lines, []
        return np.array(lines, dtype=np.int64).reshape(-1, 1 + ops.LONGEST)


class PassPlan:
    """The passes of ``layers`` on samples of one shape, for batches padded to ``width``.

    ``outputs`` takes samples in and gives outputs out; ``outputs_back`` takes the gradients of the outputs in and
    makes those of the row, ``inputs_back`` gives out those of the samples too (where ``inputs`` says so),
    ``inputs_alone`` only these; ``entropy`` is all of it with the cross-entropy between. ``size`` numbers of memory lie
    between.
    """

    def __init__(self, layers: Sequence[Layer], shape: Shape, width: int, inputs: bool = False) -> None:
        self.inputs, self.made = inputs, (made := Passes(width))
        self.seen: list[Buffer] = []
        self.codes: dict[int, Buffer] = {}
        self.layers = layers
        self._forward(shape)
        self._back()
        taps = np.concatenate(made.taps) if made.taps else np.zeros((1, 2))
        pixels = np.concatenate(made.pixels) if made.pixels else np.zeros((1, 4))
        self.taps, self.pixels = (np.ascontiguousarray(a.ravel(), dtype=np.int64) for a in (taps, pixels))
        self.size = made.size

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
            kernel = layer.kernel[0] * layer.kernel[1]
            few = layer.kind == "convolution" and layer.inputs < CHANNELS
            products[few] += here.size * layer.inputs * (kernel if layer.outputs else 0)
        return products[True] > products[False]

    # ---- forward ----

    def _forward(self, shape: Shape) -> None:
        made = self.made
        flat = len(shape) == 1
        if not flat and len(shape) != 3:
            raise NotServed(f"samples of shape {shape}")
        channels, rows, columns = (*shape, 1, 1)[:3]
        here = made.allocate(channels, rows, columns, self._rim(0))
        if here.rim != (0, 0):
            made.add(ops.ZEROS, here.place, here.end)
        made.add(ops.TAKE_IN, here.first, *here.shape, here.channel, here.row)
        self.seen.append(here)
        for number, layer in enumerate(self.layers):
            before, rim = here, self._rim(number + 1)
            if layer.kind == "none":
                if layer.flat and not flat:
                    here, flat = replace(before, channels=before.size, rows=1, columns=1), True
                if layer.relu:
                    made.add(ops.RELU, here.place, here.end)
            elif layer.kind == "dense":
                if not flat or before.channels != layer.inputs:
                    raise NotServed(f"a dense layer of {layer.inputs} inputs after samples of shape {before.shape}")
                here = made.allocate(layer.outputs)
                self._dense(layer, before, here)
            else:
                if flat or (layer.kind == "convolution" and before.channels != layer.inputs):
                    raise NotServed(f"a {layer.kind} after samples of shape {before.shape}")
                here = self._window(number, layer, before, rim)
            self.seen.append(here)
        self.output = here
        self.shape: Shape = (here.channels,) if flat else here.shape
        self.forward = made.taken()
        self.outputs = np.concatenate([self.forward, self._given(here)])

    def _rim(self, number: int) -> tuple[int, int]:
        """What the next layer that does more than ReLU, from that number on, wants round its inputs."""
        return next((layer.padding for layer in self.layers[number:] if layer.kind != "none"), (0, 0))

    def _given(self, buffer: Buffer) -> Array:
        """Copying the samples of a buffer out."""
        self.made.add(ops.GIVE_OUT, buffer.first, *buffer.shape, buffer.channel, buffer.row)
        return self.made.taken()

    def _dense(self, layer: Layer, before: Buffer, here: Buffer) -> None:
        made, every = self.made, np.arange(layer.inputs)
        first = made.listed(made.taps, np.stack([every * made.width, every], 1))
        pixel = made.listed(made.pixels, np.array([[0, 0, first, first + layer.inputs]]))
        made.add(
            ops.PRODUCT, here.place, made.width, before.place, 0, 1, layer.weight, layer.inputs, 0, layer.outputs,
            layer.bias, layer.relu, pixel, pixel + 1, -1,
        )  # fmt: skip

    def _window(self, number: int, layer: Layer, before: Buffer, rim: tuple[int, int]) -> Buffer:
        """A convolution or a pooling layer: outputs where the whole window lies in the (padded) image."""
        made = self.made
        high, wide = (
            (side + 2 * rim - kernel) // stride + 1
            for side, rim, kernel, stride in zip(
                before.shape[1:], layer.padding, layer.kernel, layer.stride, strict=True
            )
        )
        if high < 1 or wide < 1:
            raise NotServed(f"a window of {layer.kernel} on pictures of {before.shape[1:]}")
        outputs = layer.outputs or before.channels
        here = made.allocate(outputs, high, wide, rim)
        if rim != (0, 0):
            made.add(ops.ZEROS, here.place, here.end)
        if layer.kind == "convolution":
            size = layer.kernel[0] * layer.kernel[1]
            together = layer.inputs if layer.inputs * size <= TOGETHER else 1  # one loop is quicker than two
            c, i, j = (a.ravel() for a in np.indices((together, *layer.kernel)))
            taps = np.stack([c * before.channel + i * before.row + j * before.width, np.arange(len(c))], 1)
            first = made.listed(made.taps, taps)
            r, v = (a.ravel() for a in np.indices((high, wide)))
            seen = r * layer.stride[0] * before.row + v * layer.stride[1] * before.width
            to = r * here.row + v * here.width
            ends = np.full_like(r, first), np.full_like(r, first + len(taps))
            pixel = made.listed(made.pixels, np.stack([seen, to, *ends], 1))
            made.add(
                ops.PRODUCT, here.first, here.channel, before.place, before.channel, layer.inputs // together,
                layer.weight, layer.inputs * size, len(taps), outputs, layer.bias, layer.relu, pixel, pixel + len(r),
                self._pack(layer), len(taps),
            )  # fmt: skip
            return here
        code = self.codes[number] = made.allocate(*here.shape)
        window = (*here.shape, *before.shape[1:], here.channel, here.row)
        made.add(ops.MAXIMA, before.place, here.first, code.place, *window, layer.relu)
        return here

    def _pack(self, layer: Layer) -> int:
        """Memory for the weights of a convolution in another order."""
        return self.made.allocate_numbers(layer.outputs * layer.inputs * layer.kernel[0] * layer.kernel[1])

    # ---- back ----

    def _back(self) -> None:
        made = self.made
        self.gradient = made.allocate(*self.output.shape)
        made.add(ops.TAKE_IN, self.gradient.first, *self.gradient.shape, self.gradient.channel, self.gradient.row)
        taking = made.taken()
        learning = [number for number, layer in enumerate(self.layers) if layer.outputs]
        lowest = 0 if self.inputs else learning[0] if learning else len(self.layers)
        d = self.gradient
        for number in reversed(range(lowest, len(self.layers))):
            d = self._layer_back(number, d, inputs=self.inputs or number > lowest)
        back = made.taken()
        self.outputs_back = np.concatenate([taking, back])
        self.inputs_back = np.concatenate([taking, back, self._given(d)])
        self.inputs_alone = self.inputs_back[~np.isin(self.inputs_back[:, 0], ops.LEARNING)]
        made.add(ops.ENTROPY, self.output.place, self.gradient.place, self.output.channels)
        self.entropy = np.concatenate([self.forward, made.taken(), back])

    def _layer_back(self, number: int, d: Buffer, inputs: bool) -> Buffer:
        """Gradients of a layer's weights from those of its outputs; returns those of its inputs where asked for."""
        made, layer, before, here = self.made, self.layers[number], self.seen[number], self.seen[number + 1]
        if layer.relu and layer.kind != "maximum":
            made.add(ops.CUT, d.place, here.first, *here.shape[:2], here.columns * made.width, here.channel, here.row)
        if layer.outputs:
            if layer.kind == "dense":
                self._dense_weights(layer, before, d)
            else:
                self._convolution_weights(layer, before, here, d)
            if layer.bias >= 0:
                made.add(ops.BIAS, layer.bias, layer.outputs, d.place, d.channel)
        if layer.kind == "none":
            return replace(d, channels=before.channels, rows=before.rows, columns=before.columns)
        if not inputs:
            return d
        to = made.allocate(*before.shape)
        if layer.kind == "dense":
            every = np.arange(layer.outputs)
            first = made.listed(made.taps, np.stack([every * made.width, every * layer.inputs], 1))
            pixel = made.listed(made.pixels, np.array([[0, 0, first, first + layer.outputs]]))
            made.add(
                ops.PRODUCT, to.place, made.width, d.place, 0, 1, layer.weight, 1, 0, layer.inputs, -1, 0, pixel,
                pixel + 1, -1,
            )  # fmt: skip
        elif layer.kind == "convolution":
            self._convolution_back(layer, before, d, to)
        else:
            window = (*here.shape, *before.shape[1:])
            made.add(ops.MAXIMA_BACK, d.place, self.codes[number].place, to.place, *window)
        return to

    def _dense_weights(self, layer: Layer, before: Buffer, d: Buffer) -> None:
        made, pitch, every = self.made, -(-layer.inputs // WIDTH) * WIDTH, np.arange(self.made.width)
        first = made.listed(made.taps, np.stack([every * pitch, every], 1))
        turned, spare = made.allocate_numbers(made.width * pitch), made.allocate_numbers(OUTPUTS * WIDTH)
        made.add(
            ops.DENSE_WEIGHTS, layer.weight, layer.outputs, layer.inputs, d.place, before.place, turned, pitch, spare,
            first,
        )  # fmt: skip

    def _convolution_weights(self, layer: Layer, before: Buffer, here: Buffer, d: Buffer) -> None:
        made = self.made
        c, i, j = (a.ravel() for a in np.indices((layer.inputs, *layer.kernel)))
        seen = before.place + c * before.channel + i * before.row + j * before.width
        taps = made.listed(made.taps, np.stack([seen, np.zeros_like(seen)], 1))
        r, v = (a.ravel() for a in np.indices(here.shape[1:]))
        pairs = np.stack(
            [r * layer.stride[0] * before.row + v * layer.stride[1] * before.width, r * d.row + v * d.width], 1
        )
        places = made.listed(made.taps, pairs)
        made.add(
            ops.CONVOLUTION_WEIGHTS, layer.weight, layer.outputs, len(c), d.place, d.channel, taps, places,
            places + len(pairs),
        )  # fmt: skip

    def _convolution_back(self, layer: Layer, before: Buffer, d: Buffer, to: Buffer) -> None:
        """Every input pixel with the output pixels whose windows hold it: so nothing is multiplied with padding."""
        made = self.made
        size = layer.kernel[0] * layer.kernel[1]
        entries, pixels = [], []
        base, count = sum(len(part) for part in made.taps), 0
        for r in range(before.rows):
            rows = _windows(r, 0, layer, d.rows)
            for v in range(before.columns):
                columns = _windows(v, 1, layer, d.columns)
                seen = [(a * d.row + b * d.width, i * layer.kernel[1] + j) for a, i in rows for b, j in columns]
                pixels.append((0, r * to.row + v * to.width, base + count, base + count + len(seen)))
                entries += seen
                count += len(seen)
        made.listed(made.taps, np.array(entries).reshape(-1, 2))
        pixel = made.listed(made.pixels, np.array(pixels))
        made.add(
            ops.PRODUCT, to.place, to.channel, d.place, d.channel, layer.outputs, layer.weight, size,
            layer.inputs * size, layer.inputs, -1, 0, pixel, pixel + len(pixels), self._pack(layer), size,
        )  # fmt: skip


def _windows(place: int, axis: int, layer: Layer, outputs: int) -> list[tuple[int, int]]:
    """Along one axis: the outputs whose windows hold the input at ``place``, each with where in the kernel it is."""
    found = []
    for tap in range(layer.kernel[axis]):
        output, rest = divmod(place + layer.padding[axis] - tap, layer.stride[axis])
        if not rest and 0 <= output < outputs:
            found.append((output, tap))
    return found
