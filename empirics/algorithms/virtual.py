"""VHL: every client also trains on the same virtual samples, and aligns its representations with theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import COUNT, NONNEGATIVE, WHOLE

from ..models.model import Batch, Halved
from ..streams import stream
from .algorithm import Algorithm, fedavg, method, Work
from .halves import floating, halves, over

COARSE = 8
"""Side of the grid on which noise is drawn for images."""
SPREAD = 0.5
"""Standard deviation of a class around its mean."""
TEMPERATURE = 0.07


@lru_cache(maxsize=4)
def virtual_samples(seed: int, classes: int, per_class: int, shape: tuple[int, ...]) -> Tensor:
    """Noise ``(classes * per_class, *grid)``, class after class: a Gaussian around a mean of its own for every class.

    The grid is ``shape``; for images, whose last two axes are their height and width, at most 8 x 8.
    """
    grid = (*shape[:-2], *(min(COARSE, side) for side in shape[-2:])) if len(shape) == 3 else shape
    draws = stream(seed, "virtual samples")
    means = draws.standard_normal((classes, 1, *grid), dtype="float32")
    noise = draws.standard_normal((classes, per_class, *grid), dtype="float32")
    return torch.from_numpy((means + SPREAD * noise).reshape(-1, *grid))


PLACES, POOL = "virtual samples' numbers", "virtual samples"


@dataclass(frozen=True)
class Virtual:
    """``CE(real) + alpha CE(virtual) + weight * alignment`` with ``batch`` virtual samples a step.

    The alignment is there in a client's first ``epochs`` passes over its own samples.
    """

    alpha: float
    weight: float
    epochs: int
    batch: int
    per_class: int

    def __call__(self, net: Halved, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        if PLACES not in work.recalled:
            self.prepare(net, batch, work)
        made, labels = self.drawn(work, tuple(inputs.shape[2:]))
        z, output = halves(net, w, torch.cat([inputs, made], 1), "vhl")
        real, virtual = output.movedim(net.class_axis, -1).split([inputs.shape[1], self.batch], 1)
        own = over(net.losses(real.movedim(-1, net.class_axis), targets), weight)
        other = net.losses(virtual.movedim(-1, net.class_axis), labels).mean(-1)
        counts = torch.ones_like(z[..., 0]) if weight is None else F.pad((weight > 0).to(z), (0, self.batch), value=1.0)
        apart = contrast(z, torch.cat([targets, labels], 1), counts > 0)
        return own + self.alpha * other + self.weight * self.aligned(work, inputs.shape[1]) * apart

    def aligned(self, work: Work, batch: int) -> Tensor:
        """1 for clients that are in their first ``epochs`` passes, else 0 ``(rows,)``."""
        assert work.labels is not None  # asked for by ``needs_labels``
        passes = torch.div(work.labels.sum(-1) + batch - 1, batch, rounding_mode="floor")
        return (work.step < self.epochs * passes).to(work.starts.dtype)

    def prepare(self, net: Halved, batch: Batch, work: Work) -> None:
        """The virtual samples, and which of them are taken in every step of the round."""
        assert work.labels is not None
        classes, inputs = work.labels.shape[-1], floating(batch[0], "vhl")
        pool = virtual_samples(work.seed, classes, self.per_class, tuple(inputs.shape[2:])).to(inputs)
        work.recalled[POOL] = pool.expand(len(work.rows), *pool.shape)  # the same for all, and no copies
        work.recalled[PLACES] = self._places(work, classes).to(inputs.device)

    def drawn(self, work: Work, shape: tuple[int, ...]) -> tuple[Tensor, Tensor]:
        """The virtual samples ``(rows, batch, ...)`` and labels of this step."""
        places = work.now(PLACES)
        made = work.recalled[POOL][0].index_select(0, places.flatten())
        if made.shape[1:] != shape:
            made = F.interpolate(made, size=shape[-2:], mode="bilinear")
        return made.view(*places.shape, *shape), places // self.per_class

    def _places(self, work: Work, classes: int) -> Tensor:
        """Which virtual samples every client takes in every step ``(rows, steps, batch)``."""
        size = (len(work.sizes), self.batch)
        rows = [
            stream(work.seed, "virtual batches", round=work.state.round, client=int(k)).integers(
                classes * self.per_class, size=size
            )
            for k in work.clients
        ]
        return torch.from_numpy(np.stack(rows))


def contrast(z: Tensor, labels: Tensor, counts: Tensor) -> Tensor:
    """Supervised contrastive loss (Khosla et al. 2020) of representations ``(rows, n, d)``, mean over n ``(rows,)``.

    A sample's loss is minus the mean, over the others of its class, of their log-probability among all others; it is 0
    for the only one of a class. Samples that do not ``count (rows, n)`` are left out everywhere.
    """
    unit = F.normalize(z, dim=-1)
    alike = unit @ unit.mT / TEMPERATURE
    own = torch.eye(z.shape[1], dtype=torch.bool, device=z.device)
    others = counts.unsqueeze(1) & ~own
    log_p = alike - alike.masked_fill(~others, -torch.inf).logsumexp(-1, keepdim=True)
    same = (others & (labels.unsqueeze(1) == labels.unsqueeze(2))).to(z.dtype)
    each = -(same * log_p).sum(-1) / same.sum(-1).clamp(min=1)
    return (each * counts).sum(-1) / counts.sum(-1)


@method(alpha=NONNEGATIVE, weight=NONNEGATIVE, epochs=WHOLE, batch=COUNT, per_class=COUNT)
def vhl(alpha: float = 1.0, weight: float = 1.0, epochs: int = 5, batch: int = 128, per_class: int = 200) -> Algorithm:
    """VHL (Tang et al. 2022) on Gaussian noise: the same labelled virtual samples for all clients.

    ``weight`` 1 of the alignment and its 5 local passes are FedCOG's; ``alpha`` 1, 128 virtual samples a step and noise
    as their source are those of its code. The original has alpha 0.5, untrained StyleGAN images, and counts virtual
    classes as further ones; here they are the natural classes of the same number, as FedCOG describes it. The original
    makes 200 or 5,000 samples of a class. Class means are standard normal, 0.5 is the spread, and images are enlarged
    from 8 x 8 bilinearly, as in the original, whose further way through image files is left out.
    """
    return replace(fedavg, objective=Virtual(alpha, weight, epochs, batch, per_class), needs_labels=True)
