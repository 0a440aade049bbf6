"""FedReg: local steps that do not raise the loss on data which stand for what the server's model knows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from bounds.domains import POSITIVE, SHARE, WHOLE

from ..models.model import Batch, Halved
from .algorithm import Algorithm, fedavg, GradientAt, method, Work
from .halves import floating, over, probable

HALF = 0.5
FINER = 0.01
"""Step size of the perturbed data over that of the pseudo data."""
TINY = 1e-30


@dataclass(frozen=True)
class OnMade:
    """The loss on inputs that signed gradients make of a batch, from the server's model.

    ``soft``: the labels are the server model's probabilities on the made inputs, else the true ones.
    """

    iterations: int
    step_size: float
    soft: bool
    reading: str

    def __call__(self, net: Halved, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        theirs = work.received.expand(len(w), -1)
        made = self.made(net, theirs, (floating(inputs, "fedreg"), targets, weight))
        output = net.output(w, made)
        if not self.soft:
            return over(net.losses(output, targets), weight)
        with torch.no_grad():
            labels = probable(net, net.output(theirs, made)).p
        return over(-(labels * probable(net, output).log).sum(-1), weight)

    def made(self, net: Halved, theirs: Tensor, batch: Batch) -> Tensor:
        """``x - step sign(gradient)``, kept within the range of the batch; ``code``: ``x + step sign``, unlimited."""
        inputs, targets, weight = batch
        low, high = _range(inputs, weight)
        x = inputs.detach()
        for _ in range(self.iterations):
            x.requires_grad_()
            with torch.enable_grad():
                (slope,) = torch.autograd.grad(net.losses(net.output(theirs, x), targets).sum(), x)
            x = x.detach()
            step = self.step_size * slope.sign()
            x = x + step if self.reading == "code" else (x - step).clamp(low, high)
        return x


def _range(inputs: Tensor, weight: Tensor | None) -> tuple[Tensor, Tensor]:
    """The least and the largest number of every client's batch, padding left out."""
    flat = inputs.flatten(2)
    if weight is not None:
        first = flat[:, :1]  # a batch's first sample is never padding
        flat = torch.where((weight > 0).unsqueeze(-1), flat, first)
    shape = (len(inputs),) + (1,) * (inputs.ndim - 1)
    return flat.amin((1, 2)).view(shape), flat.amax((1, 2)).view(shape)


@dataclass(frozen=True)
class Alleviated:
    """A step along the gradient at ``gamma w + (1 - gamma) w^t``, then back along two gradients of the made data.

    Both are taken halfway between the new model and the server's. What the client has moved so far goes back along
    ``g_2``, then what is left along ``g_3``, as far as it has moved up either.
    """

    gamma: float
    pseudo: OnMade
    perturbed: OnMade

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        size, begin = work.size, work.received
        first = w - size * (gradient if self.gamma == 1 else gradient_at(torch.lerp(begin.expand_as(w), w, self.gamma)))
        near = HALF * first + (1 - HALF) * begin
        moved, back = first - begin, torch.zeros_like(w)
        for objective in (self.pseudo, self.perturbed):
            slope = gradient_at(near, objective)
            up = ((moved - back) * slope).sum(-1, keepdim=True) / ((slope * slope).sum(-1, keepdim=True) + TINY)
            back = back + up.clamp(min=0) * slope
        return (w - first + back) / size


@method(gamma=SHARE, iterations=WHOLE, made_step_size=POSITIVE, reading=("intended", "code"))
def fedreg(
    gamma: float = 0.5, iterations: int = 10, made_step_size: float = 1e-3, reading: str = "intended"
) -> Algorithm:
    """FedReg (Xu et al. 2022): after every step, what raised the loss on pseudo and perturbed data is taken back.

    Pseudo data are the batch after ``iterations`` signed gradient steps of ``made_step_size`` with the server's model,
    perturbed data the same with a hundredth of it and the true labels. Made at each step, they are those that the paper
    makes at the start of a round: they depend on the server's model alone. gamma 0.5, 10 iterations and 1e-3 are those
    of FedCOG's code; the original's step is 0.01 to 0.2 by data set. The readings differ in the sign of these steps:
    ``intended`` goes down the server model's loss, so that pseudo data are what that model is surer of than of the
    batch; ``code`` goes up, away from what it knows, and leaves the range of the batch, as the official code does (it
    adds the sign, and drops what its limit to the range returns). The official code also changes its inputs in place,
    so that real, pseudo and perturbed data are one tensor where they lie on the model's device: no reading does that.

    The listing's step is plain SGD; momentum would gather both stages. Its server weights all clients equally: take
    uniform client weights.
    """
    pseudo = OnMade(iterations, made_step_size, True, reading)
    perturbed = OnMade(iterations, made_step_size * FINER, False, reading)
    return replace(fedavg, direction=Alleviated(gamma, pseudo, perturbed), reading=reading)
