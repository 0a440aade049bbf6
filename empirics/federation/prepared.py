"""Federations whose pool stays small integers: batches become model inputs when they are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from ..data.resident import Pixels
from ..models.linear import with_intercept
from .augment import CropFlip, noise
from .federation import Batches, Federation


@dataclass(frozen=True)
class Recipe:
    """How a batch of the pool becomes model inputs: convert, augment (in training), flatten, append a constant."""

    convert: Callable[[Tensor], Tensor] | None = None
    augment: CropFlip | None = None
    flat: bool = False
    intercept: bool = False
    dtype: torch.dtype | None = None

    def train(self, batch: Tensor, drawn: Tensor) -> Tensor:
        """Model inputs of a batch ``(rows, b, ...)`` in training, augmented by the words ``drawn``."""
        assert self.augment is not None
        if self.augment.pad_prepared:
            return self._shaped(self.augment(self._converted(batch), drawn), 2)
        return self._shaped(self._converted(self.augment(batch, drawn)), 2)

    def test(self, batch: Tensor, axes: int = 1) -> Tensor:
        """Model inputs of samples, without chance; the first ``axes`` axes count samples."""
        inputs = self._converted(batch if self.augment is None else self.augment.centre(batch))
        return self._shaped(inputs, axes)

    def warm(self, device: torch.device) -> None:
        """Put constants on the device before a recording of local steps, which may not move them."""
        if isinstance(self.convert, Pixels):
            self.convert.warm(device)

    def _converted(self, batch: Tensor) -> Tensor:
        converted = batch if self.convert is None else self.convert(batch)
        return converted if self.dtype is None or not converted.is_floating_point() else converted.to(self.dtype)

    def _shaped(self, inputs: Tensor, axes: int) -> Tensor:
        if self.flat:
            inputs = inputs.flatten(axes)
        return with_intercept(inputs) if self.intercept else inputs


@dataclass(frozen=True, eq=False)
class PreparedBatches(Batches):
    """Minibatches that are prepared as they are taken; ``words (rows, steps, batch, ...)`` drive the augmentation."""

    recipe: Recipe
    words: Tensor | None

    @property
    def along(self) -> dict[str, Tensor]:
        return super().along | ({} if self.words is None else {"words": self.words})

    def at(self, active: int, step: int) -> tuple[Tensor, Tensor, Tensor | None]:
        raw, targets, weight = super().at(active, step)
        if self.words is None:
            return self.recipe.test(raw, 2), targets, weight
        return self.recipe.train(raw, self.words[:active, step]), targets, weight


@dataclass(frozen=True, eq=False)
class PreparedFederation(Federation):
    """A federation whose ``inputs`` lie in memory as they came; ``recipe`` makes model inputs of every batch.

    ``samples`` and ``draw`` give model inputs; only ``inputs`` itself is raw.
    """

    recipe: Recipe

    def samples(self, client: int) -> tuple[Tensor, Tensor]:
        raw, targets = super().samples(client)
        return self.recipe.test(raw), targets

    def to(self, device: torch.device | str) -> PreparedFederation:
        inputs, targets, members = (t.to(device) for t in (self.inputs, self.targets, self.members))
        return replace(self, inputs=inputs, targets=targets, members=members)

    def draw(self, seed: int, round_: int, clients: np.ndarray, steps: np.ndarray, batch: int) -> PreparedBatches:
        self.recipe.warm(self.inputs.device)
        plain = super().draw(seed, round_, clients, steps, batch)
        words = None
        if self.recipe.augment is not None:
            words = noise(seed, round_, clients, plain.index.shape[1], batch).to(self.inputs.device)
        return PreparedBatches(plain.inputs, plain.targets, plain.index, plain.weight, self.recipe, words)
