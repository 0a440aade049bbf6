"""FedReg: local steps that do not increase the loss on synthetic data which represent the server model's knowledge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bounds.domains import POSITIVE, SHARE, WHOLE

from ..models.model import Batch, SplitModel
from .algorithm import Algorithm, fedavg, GradientAt, method, Work
from .network_methods import batch_mean, class_probabilities, real_inputs

HALF = 0.5
PERTURBED_RATIO = 0.01
"""Step size of the perturbed data divided by that of the pseudo data."""
TINY = 1e-30


@dataclass(frozen=True)
class SyntheticLoss:
    """The loss on a batch whose inputs were moved by signed gradients of the server model's loss.

    Labels are the server model's probabilities on the moved inputs if ``soft``, else the true labels.
    """

    iterations: int
    step_size: float
    soft: bool
    reading: str

    def __call__(self, net: SplitModel, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        server = work.received.expand(len(w), -1)
        moved = self.move(net, server, (real_inputs(inputs, "fedreg"), targets, weight))
        output = net.output(w, moved)
        if not self.soft:
            return batch_mean(net.losses(output, targets), weight)
        with torch.no_grad():
            labels = class_probabilities(net, net.output(server, moved)).p
        return batch_mean(-(labels * class_probabilities(net, output).log).sum(-1), weight)

    def move(self, net: SplitModel, server: Tensor, batch: Batch) -> Tensor:
        """Return the batch's inputs after ``iterations`` steps ``x - step sign(gradient)``, clamped to their range.

        With the reading ``code``, steps are ``x + step sign(gradient)`` and not clamped.
        """
        inputs, targets, weight = batch
        low, high = _range(inputs, weight)
        x = inputs.detach()
        for _ in range(self.iterations):
            x.requires_grad_()
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(net.losses(net.output(server, x), targets).sum(), x)
            x = x.detach()
            step = self.step_size * slope.sign()
            x = x + step if self.reading == "code" else (x - step).clamp(low, high)
        return x


def _range(inputs: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the smallest and the largest entry of every client's batch, without padding."""
    flat = inputs.flatten(2)
    if weight is not None:
        first = flat[:, :1]  # a batch's first sample is never padding
        flat = torch.where((weight > 0).unsqueeze(-1), flat, first)
    shape = (len(inputs),) + (1,) * (inputs.ndim - 1)
    return flat.amin((1, 2)).view(shape), flat.amax((1, 2)).view(shape)


@dataclass(frozen=True)
class ForgettingCorrection:
    """Step along the gradient at ``gamma w + (1 - gamma) w^t``, corrected by the gradients of two synthetic losses.

    The gradients g_2 (pseudo data) and g_3 (perturbed data) are evaluated halfway between the new model and the
    server's. If the client's total move from the server's model increases a synthetic loss, its component along that
    gradient is removed, first for g_2, then for g_3.
    """

    gamma: float
    pseudo: SyntheticLoss
    perturbed: SyntheticLoss

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        size, server = work.current_step_size, work.received
        if self.gamma != 1:
            gradient = gradient_at(torch.lerp(server.expand_as(w), w, self.gamma))
        stepped = w - size * gradient
        halfway = HALF * stepped + (1 - HALF) * server
        move, correction = stepped - server, torch.zeros_like(w)
        for objective in (self.pseudo, self.perturbed):
            slope = gradient_at(halfway, objective)
            rise = ((move - correction) * slope).sum(-1, keepdim=True) / ((slope * slope).sum(-1, keepdim=True) + TINY)
            correction = correction + rise.clamp(min=0) * slope
        return (w - stepped + correction) / size


@method(gamma=SHARE, iterations=WHOLE, made_step_size=POSITIVE, reading=("intended", "code"))
def fedreg(
    gamma: float = 0.5, iterations: int = 10, made_step_size: float = 1e-3, reading: str = "intended"
) -> Algorithm:
    """FedReg (Xu et al. 2022): after every step, undo what increased the loss on pseudo and perturbed data.

    Pseudo data are the batch after ``iterations`` signed gradient steps of size ``made_step_size`` with the server's
    model; perturbed data use a hundredth of that step and the true labels. The paper generates both at the start of a
    round; generating them in every step gives the same data, since they depend only on the server's model. The defaults
    are those of FedCOG's code; the original's step is 0.01 to 0.2, depending on the data set.

    The readings differ in the sign of the signed gradient steps. ``intended`` decreases the server model's loss, so
    that this model is surer of the pseudo data than of the batch. ``code`` increases it and leaves the range of the
    batch, as the official code does (it adds the sign and discards the clamped value). The official code also changes
    its inputs in place, so that real, pseudo and perturbed data are one tensor when they are already on the model's
    device; no reading reproduces that.

    The listing uses plain SGD; momentum would accumulate both stages. Its server weights all clients equally: use
    uniform client weights.
    """
    pseudo = SyntheticLoss(iterations, made_step_size, True, reading)
    perturbed = SyntheticLoss(iterations, made_step_size * PERTURBED_RATIO, False, reading)
    return replace(fedavg, direction=ForgettingCorrection(gamma, pseudo, perturbed), reading=reading)
