"""VHL: every client also trains on the same virtual samples and aligns the representations of both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import COUNT, NONNEGATIVE, WHOLE

from ..models.model import Batch, SplitModel
from ..streams import stream
from .algorithm import Algorithm, fedavg, method, Work
from .network_methods import batch_mean, real_inputs, representation_and_output

NOISE_SIDE = 8
"""Side of the grid on which noise for images is drawn."""
SPREAD = 0.5
"""Standard deviation of a class around its mean."""
TEMPERATURE = 0.07


@lru_cache(maxsize=4)
def virtual_samples(seed: int, classes: int, per_class: int, shape: tuple[int, ...]) -> Tensor:
    """Return noise ``(classes * per_class, *grid)``, class after class, each class Gaussian around its own random mean.

    The grid is ``shape``, except that height and width of images are at most 8.
    """
    grid = (*shape[:-2], *(min(NOISE_SIDE, side) for side in shape[-2:])) if len(shape) == 3 else shape
    draws = stream(seed, "virtual samples")
    means = draws.standard_normal((classes, 1, *grid), dtype="float32")
    noise = draws.standard_normal((classes, per_class, *grid), dtype="float32")
    return torch.from_numpy((means + SPREAD * noise).reshape(-1, *grid))


INDEX, POOL = "virtual samples' numbers", "virtual samples"
"""Names of tensors in ``Work.recalled``."""


@dataclass(frozen=True)
class VirtualLoss:
    """Objective ``CE(real) + alpha CE(virtual) + weight * alignment`` with ``batch`` virtual samples per step.

    The alignment is part of it during a client's first ``epochs`` passes over its own samples in a round.
    """

    alpha: float
    weight: float
    epochs: int
    batch: int
    per_class: int

    def __call__(self, net: SplitModel, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        if INDEX not in work.recalled:
            self.prepare(net, batch, work)
        virtual_inputs, labels = self.step_samples(work, tuple(inputs.shape[2:]))
        z, output = representation_and_output(net, w, torch.cat([inputs, virtual_inputs], 1), "vhl")
        real, virtual = output.movedim(net.class_axis, -1).split([inputs.shape[1], self.batch], 1)
        real_loss = batch_mean(net.losses(real.movedim(-1, net.class_axis), targets), weight)
        virtual_loss = net.losses(virtual.movedim(-1, net.class_axis), labels).mean(-1)
        valid = torch.ones_like(z[..., 0]) if weight is None else F.pad((weight > 0).to(z), (0, self.batch), value=1.0)
        alignment = contrastive_loss(z, torch.cat([targets, labels], 1), valid > 0)
        return real_loss + self.alpha * virtual_loss + self.weight * self.aligns(work, inputs.shape[1]) * alignment

    def aligns(self, work: Work, batch: int) -> Tensor:
        """Return 1 for clients in their first ``epochs`` passes of the round, else 0 ``(rows,)``."""
        assert work.labels is not None  # the algorithm has ``needs_labels``
        steps_per_pass = torch.div(work.labels.sum(-1) + batch - 1, batch, rounding_mode="floor")
        return (work.step < self.epochs * steps_per_pass).to(work.starts.dtype)

    def prepare(self, net: SplitModel, batch: Batch, work: Work) -> None:
        """Store the virtual samples and the numbers of those that each step of the round uses."""
        assert work.labels is not None
        classes, inputs = work.labels.shape[-1], real_inputs(batch[0], "vhl")
        pool = virtual_samples(work.seed, classes, self.per_class, tuple(inputs.shape[2:])).to(inputs)
        work.recalled[POOL] = pool.expand(len(work.client_index), *pool.shape)  # one copy that all rows share
        rows = []
        for client in work.clients:
            draws = stream(work.seed, "virtual batches", round=work.state.round, client=int(client))
            rows.append(draws.integers(len(pool), size=(len(work.step_sizes), self.batch)))
        work.recalled[INDEX] = torch.from_numpy(np.stack(rows)).to(inputs.device)

    def step_samples(self, work: Work, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """Return the virtual samples ``(rows, batch, *shape)`` and labels ``(rows, batch)`` of the current step."""
        index = work.now(INDEX)
        samples = work.recalled[POOL][0].index_select(0, index.flatten())
        if samples.shape[1:] != shape:
            samples = F.interpolate(samples, size=shape[-2:], mode="bilinear")
        return samples.view(*index.shape, *shape), index // self.per_class


def contrastive_loss(z: Tensor, labels: Tensor, valid: Tensor) -> Tensor:
    """Return the supervised contrastive loss (Khosla et al. 2020) of ``z (rows, n, d)``, mean over n ``(rows,)``.

    A sample's loss is minus the mean, over the other samples of its class, of their log-probability among all other
    samples; it is 0 for the only sample of a class. Samples that are not ``valid (rows, n)`` are ignored.
    """
    unit = F.normalize(z, dim=-1)
    similarity = unit @ unit.mT / TEMPERATURE
    diagonal = torch.eye(z.shape[1], dtype=torch.bool, device=z.device)
    others = valid.unsqueeze(1) & ~diagonal
    log_p = similarity - similarity.masked_fill(~others, -torch.inf).logsumexp(-1, keepdim=True)
    same_class = (others & (labels.unsqueeze(1) == labels.unsqueeze(2))).to(z.dtype)
    losses = -(same_class * log_p).sum(-1) / same_class.sum(-1).clamp(min=1)
    return (losses * valid).sum(-1) / valid.sum(-1)


@method(alpha=NONNEGATIVE, weight=NONNEGATIVE, epochs=WHOLE, batch=COUNT, per_class=COUNT)
def vhl(alpha: float = 1.0, weight: float = 1.0, epochs: int = 5, batch: int = 128, per_class: int = 200) -> Algorithm:
    """VHL (Tang et al. 2022) on Gaussian noise: all clients use the same labelled virtual samples.

    ``weight`` (of the alignment) and ``epochs`` default to FedCOG's values; ``alpha``, ``batch`` and noise as the
    source of samples are those of its code. The original uses alpha 0.5 and untrained StyleGAN images, and adds the
    virtual classes as further classes; here they are the natural classes of the same number, as FedCOG describes it.
    The original generates 200 or 5,000 samples per class. As in the original, class means are standard normal,
    samples have deviation 0.5 around them, and images are enlarged from 8 x 8 bilinearly; its conversion to image files
    is omitted.
    """
    return replace(fedavg, objective=VirtualLoss(alpha, weight, epochs, batch, per_class), needs_labels=True)
