"""What networks are trained with: the loss of every sample and which samples come out right.

``output`` and ``targets`` have the samples first and no axis of rows; losses are ``(batch,)``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch.nn.functional as F
from torch import Tensor

IGNORED = -100  # a target that counts nowhere: torch's own convention


class Loss:
    """The loss of every sample, the mean of a batch, and how right every sample is, a number from 0 to 1."""

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
        return F.cross_entropy(output, targets.long())  # one operation instead of two, there and back

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return output.argmax(-1) == targets


@dataclass(frozen=True)
class NextToken(Loss):
    """One class per position: outputs ``(batch, length, tokens)``, targets ``(batch, length)``.

    A sample's loss is the mean over its positions whose target is not ``IGNORED``; ``correct`` is the share of these
    that are predicted right. A sample without any such position has loss 0.
    """

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        losses = F.cross_entropy(output.transpose(1, 2), targets.long(), reduction="none", ignore_index=IGNORED)
        return losses.sum(-1) / _counted(targets)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return (output.argmax(-1) == targets).sum(-1) / _counted(targets)


def _counted(targets: Tensor) -> Tensor:
    return (targets != IGNORED).sum(-1).clamp(min=1)


@dataclass(frozen=True)
class MultiLabel(Loss):
    """Any number of labels per sample: outputs and 0/1 targets ``(batch, labels)``.

    The loss is the mean over labels of the logistic loss of presence, as for FLAIR in FedCOG; ``correct`` is the share
    of labels whose presence is predicted right (at probability one half).
    """

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(output, targets.to(output.dtype), reduction="none").mean(-1)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return ((output > 0) == (targets > 0.5)).to(output.dtype).mean(-1)


LOSSES: dict[str, Loss] = {
    "cross_entropy": CrossEntropy(),
    "next_token": NextToken(),
    "multi_label": MultiLabel(),
}
