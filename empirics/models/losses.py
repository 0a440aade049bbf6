"""Losses of networks, and the correctness of their outputs.

The first axis of ``output`` and ``targets`` is the batch: they belong to a single model. Losses are ``(batch,)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

IGNORED = -100  # target of positions that are ignored, torch's default


class Loss:
    """Interface of losses: ``correct`` is a truth value or a share from 0 to 1 for every sample."""

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        raise NotImplementedError

    def mean(self, output: Tensor, targets: Tensor) -> Tensor:
        return self.losses(output, targets).mean()

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        raise NotImplementedError


@dataclass(frozen=True)
class CrossEntropy(Loss):
    """One class per sample: outputs ``(batch, classes)``, targets are class numbers ``(batch,)``."""

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(output, targets.long(), reduction="none")

    def mean(self, output: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(output, targets.long())  # faster than the mean of ``losses``

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return output.argmax(-1) == targets


@dataclass(frozen=True)
class NextToken(Loss):
    """One class per position: outputs ``(batch, length, tokens)``, targets ``(batch, length)``.

    A sample's loss is the mean over its positions whose target is not ``IGNORED``; ``correct`` is the share of these
    positions that are predicted correctly. A sample without such positions has loss 0.
    """

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        losses = F.cross_entropy(output.transpose(1, 2), targets.long(), reduction="none", ignore_index=IGNORED)
        return losses.sum(-1) / self._positions(targets)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return (output.argmax(-1) == targets).sum(-1) / self._positions(targets)

    @staticmethod
    def _positions(targets: Tensor) -> Tensor:
        return (targets != IGNORED).sum(-1).clamp(min=1)


@dataclass(frozen=True)
class MultiLabel(Loss):
    """Any number of labels per sample: outputs and 0/1 targets ``(batch, labels)``.

    The loss is the mean over labels of the logistic loss, as for FLAIR in FedCOG; ``correct`` is the share of labels
    whose presence is predicted correctly (at probability one half).
    """

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(output, targets.to(output.dtype), reduction="none").mean(-1)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return ((output > 0) == (targets > 0.5)).to(output.dtype).mean(-1)


LOSSES: dict[str, Loss] = {"cross_entropy": CrossEntropy(), "next_token": NextToken(), "multi_label": MultiLabel()}
