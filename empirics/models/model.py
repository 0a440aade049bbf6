"""What a model is to the rest: rows of flat weights, a loss on batches, and how right its outputs are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor

Batch = tuple[Tensor, Tensor, Tensor | None]
"""Inputs and targets ``(rows, batch, ...)`` and weights ``(rows, batch)`` that sum to 1 in a row; None: equal ones."""


class Trainable(Protocol):
    """What local steps and measurements of the weights need.

    ``dim`` numbers make a model; ``layers`` names ranges of them. ``stacked`` says whether many rows go together, or a
    single one at a time. Losses are in the units of the loss (nats, squared targets), without the setting's weight
    decay.
    """

    @property
    def dim(self) -> int: ...

    @property
    def stacked(self) -> bool: ...

    @property
    def layers(self) -> Mapping[str, slice]: ...

    def start(self, seed: int) -> Tensor:
        """The first model ``(dim,)``, the same for the same seed."""
        ...

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """The weighted mean loss ``(rows,)`` of the models ``w (rows, dim)`` on their batches."""
        ...

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """The gradient of ``task_loss`` in every row ``(rows, dim)``."""
        ...


class Model(Trainable, Protocol):
    """A model that predicts something of samples: its outputs have their classes on the axis ``class_axis``."""

    @property
    def class_axis(self) -> int: ...

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Outputs of the models ``w (rows, dim)`` on ``inputs (rows, batch, ...)``."""
        ...

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """The loss of every sample ``(rows, batch)``, without a penalty of the weights."""
        ...

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """How right every sample is ``(rows, batch)``."""
        ...

    def evaluate(self, w: Tensor, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of every sample, penalty included, and how right it is, both ``(rows, batch)``."""
        ...


class SplitModel(Model, Protocol):
    """A model in two halves, of which ``output(w, x)`` is ``head(w, features(w, x))``."""

    def features(self, w: Tensor, inputs: Tensor) -> Tensor:
        """What the head sees of ``inputs (rows, batch, ...)``: representations ``(rows, batch, ...)``."""
        ...

    def head(self, w: Tensor, z: Tensor) -> Tensor:
        """Outputs of the heads of ``w (rows, dim)`` from representations."""
        ...
