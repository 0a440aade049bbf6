"""Methods that regularise representations: MOON contrasts those of three models, FedDecorr decorrelates features."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import NONNEGATIVE, POSITIVE

from ..models.model import Batch, SplitModel
from .algorithm import Algorithm, fedavg, method, Rows, Work
from .network_methods import batch_mean, representation, representation_and_output


@dataclass(frozen=True)
class Contrast:
    """Objective of MOON: task loss plus ``mu`` times the contrast of representations, mean over the batch.

    With cosines c to the server's model and c' to the client's last one, a sample's contrast is
    ``-log(e^(c/T) / (e^(c/T) + e^(c'/T)))``, written as ``log(1 + e^((c' - c)/T))``.
    """

    mu: float
    temperature: float

    def __call__(self, net: SplitModel, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        z, output = representation_and_output(net, w, inputs, "moon")
        server_z = self._frozen(net, work.received.expand(len(w), -1), inputs)
        last_z = self._frozen(net, work.recall("last"), inputs)
        difference = F.cosine_similarity(z, last_z, -1) - F.cosine_similarity(z, server_z, -1)
        return batch_mean(net.losses(output, targets) + self.mu * F.softplus(difference / self.temperature), weight)

    @staticmethod
    def _frozen(net: SplitModel, w: Tensor, inputs: Tensor) -> Tensor:
        with torch.no_grad():
            return representation(net, w, inputs, "moon").flatten(2)


@method(mu=NONNEGATIVE, temperature=POSITIVE)
def moon(mu: float = 0.01, temperature: float = 0.5) -> Algorithm:
    """MOON (Li et al. 2021a): pull representations to the server model's and away from the last local model's.

    ``mu`` defaults to FedCOG's 0.01 (the original uses 1 to 10, depending on the data set), ``temperature`` to the
    original's 0.5. The representation is the input of the network's head, as in FedCOG's code; the original inserts a
    projection of two layers and 256 features, which would be part of the network. A client that has never trained
    contrasts with the initial model.
    """
    return replace(fedavg, objective=Contrast(mu, temperature), remember=(Rows("last"),))


# ---- FedDecorr ----


@dataclass(frozen=True)
class Decorrelated:
    """Objective of FedDecorr: task loss plus ``beta`` times the correlation of a batch's representations."""

    beta: float
    reading: str
    epsilon: float = 1e-8

    def __call__(self, net: SplitModel, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        z, output = representation_and_output(net, w, inputs, "feddecorr")
        return batch_mean(net.losses(output, targets), weight) + self.beta * self.correlation(z, weight)

    def correlation(self, z: Tensor, weight: Tensor | None) -> Tensor:
        """Return ``||R||_F^2 / d^2`` ``(rows,)``; reading ``code``: the mean of ``((N - 1) R_ij)^2 / N`` over i != j.

        R is the correlation matrix of ``z (rows, batch, d)`` over the N samples that are not padding. ``epsilon`` is
        added to the unbiased variances, so that a constant column has correlation 0. A single sample has R = 0.
        """
        batch, d = z.shape[1:]
        real = z.new_ones(z.shape[:2]) if weight is None else (weight > 0).to(z.dtype)
        count = real.sum(-1)
        shares = (real / count.unsqueeze(-1)).unsqueeze(-1)
        freedom = (count - 1).clamp(min=1)
        centred = (z - (z * shares).sum(1, keepdim=True)) * real.unsqueeze(-1)
        variance = (centred * centred).sum(1, keepdim=True) / freedom.view(-1, 1, 1)
        standard = centred / (variance + self.epsilon).sqrt()
        gram = standard.mT @ standard if d <= batch else standard @ standard.mT  # both have the same Frobenius norm
        squared_norm = (gram * gram).sum((1, 2)) / freedom**2
        if self.reading == "intended":
            return squared_norm / d**2
        diagonal = ((standard * standard).sum(1) / freedom.unsqueeze(-1)).square().sum(-1)
        return (squared_norm - diagonal) * freedom**2 / (count * max(d * (d - 1), 1))


@method(beta=NONNEGATIVE, reading=("intended", "code"))
def feddecorr(beta: float = 0.01, reading: str = "intended") -> Algorithm:
    """FedDecorr (Shi et al. 2022): penalise the correlation of representations to prevent their collapse.

    ``beta`` defaults to FedCOG's 0.01 (0.1 in the original and in FedCOG's code). The paper penalises the squared norm
    of the correlation matrix divided by d^2. The official code (``reading="code"``) omits the diagonal and does not
    divide the sums by N - 1, which makes the penalty about N times as strong for a batch of N.
    """
    return replace(fedavg, objective=Decorrelated(beta, reading), reading=reading)
