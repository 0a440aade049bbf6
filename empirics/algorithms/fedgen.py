"""FedGen: the server learns, from the clients' heads, to generate representations, which clients then train on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, Tensor

from bounds.domains import COUNT, NONNEGATIVE, POSITIVE

from ..errors import EmpiricsError
from ..models.model import Batch, Halved, Trainable
from ..models.network import Network
from ..streams import stream
from .algorithm import Algorithm, fedavg, method, Work
from .halves import adam, generator, over, probable
from .state import Remembered

SERVER, MOMENTS = "generator", "generator's moments"
DECAY = 0.98
"""Of the generator's step size and of the weight of its samples, a round."""
RIDGE = 1e-2


@dataclass(frozen=True)
class Layers:
    """Noise and a one-hot label to a representation: dense, group norm of one group, ReLU, dense."""

    inputs: int
    hidden: int
    width: int

    def __call__(self) -> nn.Module:
        first = [nn.Linear(self.inputs, self.hidden), nn.GroupNorm(1, self.hidden), nn.ReLU()]
        return nn.Sequential(*first, nn.Linear(self.hidden, self.width))


@dataclass(frozen=True)
class Latent:
    """Generated representations: the sizes of the generator and how its inputs are drawn."""

    noise: int = 32
    hidden: int = 256

    def network(self, net: Trainable | None, classes: int, dtype: torch.dtype) -> Network:
        """The generator for the representations that ``net``'s dense head takes."""
        shapes = net.work.shapes if isinstance(net, Network) else {}
        heads = [shape for name, shape in shapes.items() if name.startswith("head") and name.endswith("weight")]
        if not heads or len(heads[0]) != 2:
            raise EmpiricsError("fedgen needs a network whose head begins with a dense layer")
        return generator(Layers(self.noise + classes, self.hidden, int(heads[0][1])), dtype)

    def __call__(self, network: Network, parameters: Tensor, noise: Tensor, labels: Tensor) -> Tensor:
        """Representations ``(..., width)`` from noise ``(..., noise)`` and labels ``(...)``."""
        hot = F.one_hot(labels, network.build.inputs - self.noise).to(noise)  # type: ignore[attr-defined]
        flat = torch.cat([noise, hot], -1).flatten(0, -2).unsqueeze(0)
        return network.output(parameters.unsqueeze(0), flat).view(*labels.shape, -1)


# ---- the server ----


@dataclass(frozen=True)
class GeneratorTraining:
    """The generator: after every round the server trains it for ``steps`` Adam steps on ``batch`` labels.

    It minimises ``sum_k share_{k,y} CE(head_k(G(noise, y)), y)``, mean over the batch, plus ``diversity``; a client's
    share of a label is among the active clients, and labels that none of them holds are not drawn.
    """

    latent: Latent
    steps: int
    batch: int
    step_size: float

    def begin(self, model: Tensor, clients: int) -> Remembered:
        return Remembered({}, {})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        assert work.labels is not None  # asked for by ``needs_labels``
        counts = work.labels.to(ends.dtype)
        shares = counts / counts.sum(0).clamp(min=1)
        network = self.latent.network(work.net, counts.shape[1], ends.dtype)
        assert isinstance(work.net, Network)  # others have been refused
        server = work.state.server
        if SERVER in server:
            vector, moments = server[SERVER].clone(), server[MOMENTS].clone()
        else:
            vector = network.start(work.seed).to(work.starts)
            moments = torch.zeros(2, len(vector)).to(work.starts)
        draws = stream(work.seed, "generator", round=work.state.round)
        held = np.flatnonzero(counts.sum(0).cpu().numpy())
        size = self.step_size * DECAY**work.state.round
        for step in range(self.steps):
            labels = torch.from_numpy(held[draws.integers(len(held), size=self.batch)]).to(ends.device)
            noise = torch.from_numpy(draws.random((self.batch, self.latent.noise))).to(ends)
            with torch.enable_grad():
                point = vector.detach().requires_grad_()
                z = self.latent(network, point, noise, labels)
                loss = self.teaching(work.net, ends, z, labels, shares) + diversity(noise, z)
                (gradient,) = torch.autograd.grad(loss, point)
            count = work.state.round * self.steps + step + 1
            adam(vector, gradient + RIDGE * vector, moments, count, size, 0.9)
        return {SERVER: vector, MOMENTS: moments}

    @staticmethod
    def teaching(net: Network, ends: Tensor, z: Tensor, labels: Tensor, shares: Tensor) -> Tensor:
        """What the clients' heads say about generated representations, each where it has seen the label."""
        total = z.new_zeros(())
        for end, share in zip(ends, shares, strict=True):
            output = net.at(end).head(z.unsqueeze(0))
            total = total + (net.losses(output, labels.unsqueeze(0))[0] * share[labels]).mean()
        return total


def diversity(noise: Tensor, z: Tensor) -> Tensor:
    """``exp(-mean_ij d_ij e_ij)`` with mean squared differences d of the noise and mean absolute differences e of z."""
    far = (noise.unsqueeze(0) - noise.unsqueeze(1)).square().mean(-1)
    apart = (z.unsqueeze(0) - z.unsqueeze(1)).abs().mean(-1)
    return torch.exp(-(far * apart).mean())


# ---- the clients ----

COUNTS = ("batch", "noise", "hidden", "generator_steps")
NOISE, LABELS, WEIGHT = "latent noise", "latent labels", "latent weight"


@dataclass(frozen=True)
class GeneratorLoss:
    """``CE(x, y) + a b_g/b CE(head(G(y')), y') + a KL(p(head(G(y))) || p(x))``, a decaying round by round.

    From the second round on: before, there is no generator. y' are ``batch`` uniformly drawn labels; the first
    argument of the divergence is fixed. b is the planned batch size.
    """

    latent: Latent
    weight: float
    batch: int

    def __call__(self, net: Halved, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        output = net.output(w, inputs)
        own = over(net.losses(output, targets), weight)
        if SERVER not in work.state.server:
            return own
        if NOISE not in work.recalled:
            self.prepare(net, batch, work)
        real, other, labels = self.made(net, work, targets)
        with torch.no_grad():
            wanted = probable(net, net.head(w.detach(), real))
        latent = over(wanted.divergence(probable(net, output).log), weight)
        taught = net.losses(net.head(w, other), labels).mean(-1)
        return own + work.recalled[WEIGHT] * (self.batch / inputs.shape[1] * taught + latent)

    def made(self, net: Halved, work: Work, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Representations for the batch's labels and for drawn ones, and the drawn labels, of this step."""
        assert work.labels is not None  # asked for by ``needs_labels``
        classes, b = work.labels.shape[-1], targets.shape[1]
        noise, labels = work.now(NOISE).to(work.starts), work.now(LABELS)
        network = self.latent.network(net, classes, work.starts.dtype)
        with torch.no_grad():
            z = self.latent(network, work.state.server[SERVER], noise, torch.cat([targets.long(), labels], 1))
        return z[:, :b], z[:, b:], labels

    def prepare(self, net: Halved, batch: Batch, work: Work) -> None:
        """Noise and labels of all steps of a round, and what the two losses on them weigh in it."""
        if SERVER not in work.state.server:
            return
        assert work.labels is not None
        classes, b, device = work.labels.shape[-1], batch[1].shape[1], work.starts.device
        steps, noise, labels = len(work.sizes), [], []
        for k in work.clients:
            draws = stream(work.seed, "generated representations", round=work.state.round, client=int(k))
            labels.append(draws.integers(classes, size=(steps, self.batch)))
            noise.append(draws.random((steps, b + self.batch, self.latent.noise), dtype="float32"))
        work.recalled[NOISE] = torch.from_numpy(np.stack(noise)).to(device)
        work.recalled[LABELS] = torch.from_numpy(np.stack(labels)).to(device)
        work.recalled[WEIGHT] = torch.full_like(work.weights, self.weight * DECAY**work.state.round)


@method(weight=NONNEGATIVE, generator_step_size=POSITIVE, **dict.fromkeys(COUNTS, COUNT))
def fedgen(
    weight: float = 10.0,
    batch: int = 32,
    noise: int = 32,
    hidden: int = 256,
    generator_steps: int = 50,
    generator_step_size: float = 3e-4,
) -> Algorithm:
    """FedGen (Zhu et al. 2021): data-free distillation through a generator of representations.

    FedCOG states no values; these are the official code's for MNIST: ``weight`` (of both losses on generated
    representations, times 0.98 a round), noise and hidden width, 32 generated samples a step, 50 Adam steps of the
    generator a round with weight decay 0.01 and a step size that loses 2 % a round. Noise is uniform on [0, 1), as
    there; its batch norm is group norm here. Clients also receive the generator, and the server needs their single
    models; ``downloads`` counts the model alone, since the generator's size depends on the network.
    """
    latent = Latent(noise, hidden)
    return replace(
        fedavg,
        objective=GeneratorLoss(latent, weight, batch),
        remember=(GeneratorTraining(latent, generator_steps, batch, generator_step_size),),
        needs_labels=True,
    )
