"""The interface of models: flat weights in rows, losses and gradients on batches, outputs and their correctness."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from torch import Tensor

Batch = tuple[Tensor, Tensor, Tensor | None]
"""Inputs and targets ``(rows, batch, ...)``, and weights ``(rows, batch)`` that sum to 1 per row (None: equal)."""


class Trainable(Protocol):
    """A model that local steps can train.

    ``dim`` is the number of weights and ``layers`` names ranges of them. A ``stacked`` model processes many rows
    together, others a single row at a time. Losses (in nats, or squared units of the targets) do not include the
    setting's weight decay.
    """

    @property
    def dim(self) -> int: ...

    @property
    def stacked(self) -> bool: ...

    @property
    def layers(self) -> Mapping[str, slice]: ...

    def start(self, seed: int) -> Tensor:
        """Return the initial model ``(dim,)``, which depends only on the seed."""
        ...

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the weighted mean loss ``(rows,)`` of the models ``w (rows, dim)`` on their batches."""
        ...

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the gradient of ``task_loss`` for every row ``(rows, dim)``."""
        ...


class Model(Trainable, Protocol):
    """A model with outputs for samples; classes are on the axis ``class_axis`` of the outputs."""

    @property
    def class_axis(self) -> int: ...

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Return the outputs of the models ``w (rows, dim)`` on ``inputs (rows, batch, ...)``."""
        ...

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every sample ``(rows, batch)``, without a penalty on the weights."""
        ...

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the correctness of every sample ``(rows, batch)``: a truth value, or a share from 0 to 1."""
        ...

    def evaluate(self, w: Tensor, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss, including a penalty, and the correctness of every sample, both ``(rows, batch)``."""
        ...


class SplitModel(Model, Protocol):
    """A model with two parts: ``output(w, x)`` is ``head(w, features(w, x))``."""

    def features(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Return the representations ``(rows, batch, ...)`` of ``inputs (rows, batch, ...)``."""
        ...

    def head(self, w: Tensor, z: Tensor) -> Tensor:
        """Return the outputs of the heads of ``w (rows, dim)`` on representations."""
        ...
