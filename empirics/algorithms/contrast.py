"""Methods on representations: MOON contrasts those of three models, FedDecorr decorrelates their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import NONNEGATIVE, POSITIVE

from ..models.model import Batch, Halved
from .algorithm import Algorithm, fedavg, method, Rows, Work
from .halves import halves, over, represented


@dataclass(frozen=True)
class Contrast:
    """Task loss plus ``mu`` times the contrast of representations, mean over the batch.

    With cosines c to the server's model and c' to the client's last one, a sample's contrast is
    ``-log(e^(c/T) / (e^(c/T) + e^(c'/T)))``, written as ``log(1 + e^((c' - c)/T))``.
    """

    mu: float
    temperature: float

    def __call__(self, net: Halved, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        z, output = halves(net, w, inputs, "moon")
        theirs = self._frozen(net, work.received.expand(len(w), -1), inputs)
        last = self._frozen(net, work.recall("last"), inputs)
        nearer = F.cosine_similarity(z, last, -1) - F.cosine_similarity(z, theirs, -1)
        return over(net.losses(output, targets) + self.mu * F.softplus(nearer / self.temperature), weight)

    @staticmethod
    def _frozen(net: Halved, w: Tensor, inputs: Tensor) -> Tensor:
        with torch.no_grad():
            return represented(net, w, inputs, "moon").flatten(2)


@method(mu=NONNEGATIVE, temperature=POSITIVE)
def moon(mu: float = 0.01, temperature: float = 0.5) -> Algorithm:
    """MOON (Li et al. 2021a): local representations are drawn to the server model's, away from the last local model's.

    ``mu`` is FedCOG's 0.01 (the original: 1 to 10 by data set), the temperature the original's 0.5. The representation
    is what the network's head sees, as in FedCOG's code; the original puts a projection of two layers and 256 numbers
    between, which belongs to the network. A client that has never trained contrasts with the first model.
    """
    return replace(fedavg, objective=Contrast(mu, temperature), remember=(Rows("last"),))


# ---- FedDecorr ----


@dataclass(frozen=True)
class Decorrelated:
    """Task loss plus ``beta`` times how correlated the columns of the batch's representations are."""

    beta: float
    reading: str
    epsilon: float = 1e-8

    def __call__(self, net: Halved, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        z, output = halves(net, w, inputs, "feddecorr")
        return over(net.losses(output, targets), weight) + self.beta * self.correlation(z, weight)

    def correlation(self, z: Tensor, weight: Tensor | None) -> Tensor:
        """``||R||_F^2 / d^2``; ``code``: the mean of ``((N - 1) R_ij)^2 / N`` over ``i != j`` ``(rows,)``.

        R is the correlation matrix of ``z (rows, batch, d)`` over the N real samples; ``epsilon`` is added to the
        unbiased variances, so that a column that never changes correlates with nothing. One sample alone has R = 0.
        """
        batch, d = z.shape[1:]
        real = z.new_ones(z.shape[:2]) if weight is None else (weight > 0).to(z.dtype)
        number = real.sum(-1)
        shares = (real / number.unsqueeze(-1)).unsqueeze(-1)
        others = (number - 1).clamp(min=1)
        centred = (z - (z * shares).sum(1, keepdim=True)) * real.unsqueeze(-1)
        variance = (centred * centred).sum(1, keepdim=True) / others.view(-1, 1, 1)
        standard = centred / (variance + self.epsilon).sqrt()
        gram = standard.mT @ standard if d <= batch else standard @ standard.mT  # of one Frobenius norm
        whole = (gram * gram).sum((1, 2)) / others**2
        if self.reading == "intended":
            return whole / d**2
        own = ((standard * standard).sum(1) / others.unsqueeze(-1)).square().sum(-1)
        return (whole - own) * others**2 / (number * max(d * (d - 1), 1))


@method(beta=NONNEGATIVE, reading=("intended", "code"))
def feddecorr(beta: float = 0.01, reading: str = "intended") -> Algorithm:
    """FedDecorr (Shi et al. 2022): a penalty on the correlation of representations, against their collapse.

    ``beta`` is FedCOG's 0.01 (0.1 in the original and in FedCOG's code). The paper penalises the squared norm of the
    correlation matrix over d^2; the official code (``reading="code"``) leaves out the diagonal and does not divide the
    sums by N - 1, which makes it about N times as strong for a batch of N.
    """
    return replace(fedavg, objective=Decorrelated(beta, reading), reading=reading)
