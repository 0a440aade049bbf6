"""FedGen: the server trains a generator of representations on the clients' heads, and clients train on its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn, Tensor

from bounds.domains import COUNT, NONNEGATIVE, POSITIVE

from ..errors import EmpiricsError
from ..models.model import Batch, SplitModel, Trainable
from ..models.network import Network
from ..streams import stream
from .algorithm import Algorithm, fedavg, method, Work
from .network_methods import adam, batch_mean, class_probabilities, generator
from .state import Remembered

SERVER, MOMENTS = "generator", "generator's moments"
DECAY = 0.98
"""Factor per round of the generator's step size and of the weight of its samples."""
WEIGHT_DECAY = 1e-2


@dataclass(frozen=True)
class Layers:
    """Builds the generator from noise and a one-hot label to a representation: dense, group norm, ReLU, dense."""

    inputs: int
    hidden: int
    width: int

    def __call__(self) -> nn.Module:
        first = [nn.Linear(self.inputs, self.hidden), nn.GroupNorm(1, self.hidden), nn.ReLU()]
        return nn.Sequential(*first, nn.Linear(self.hidden, self.width))


@dataclass(frozen=True)
class Latent:
    """Generates representations; ``noise`` and ``hidden`` are the widths of the generator's input and hidden layer."""

    noise: int = 32
    hidden: int = 256

    def network(self, net: Trainable | None, classes: int, dtype: torch.dtype) -> Network:
        """Return the generator of representations of the size that the dense head of ``net`` takes."""
        shapes = net.work.shapes if isinstance(net, Network) else {}
        heads = [shape for name, shape in shapes.items() if name.startswith("head") and name.endswith("weight")]
        if not heads or len(heads[0]) != 2:
            raise EmpiricsError("fedgen needs a network whose head begins with a dense layer")
        return generator(Layers(self.noise + classes, self.hidden, int(heads[0][1])), dtype)

    def __call__(self, network: Network, parameters: Tensor, noise: Tensor, labels: Tensor) -> Tensor:
        """Return representations ``(..., width)`` generated from noise ``(..., noise)`` and labels ``(...)``."""
        one_hot = F.one_hot(labels, network.build.inputs - self.noise).to(noise)  # type: ignore[attr-defined]
        flat = torch.cat([noise, one_hot], -1).flatten(0, -2).unsqueeze(0)
        return network.output(parameters.unsqueeze(0), flat).view(*labels.shape, -1)


# ---- the server ----


@dataclass(frozen=True)
class GeneratorTraining:
    """Memory that holds the generator; after every round the server trains it by ``steps`` Adam steps.

    A step draws ``batch`` labels y and minimises the mean of ``sum_k share_{k,y} CE(head_k(G(noise, y)), y)`` plus
    ``diversity``. ``share_{k,y}`` is client k's share of the active clients' samples of label y; labels without samples
    are not drawn.
    """

    latent: Latent
    steps: int
    batch: int
    step_size: float

    def begin(self, model: Tensor, clients: int) -> Remembered:
        return Remembered({}, {})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        assert work.labels is not None  # the algorithm has ``needs_labels``
        counts = work.labels.to(ends.dtype)
        shares = counts / counts.sum(0).clamp(min=1)
        network = self.latent.network(work.net, counts.shape[1], ends.dtype)
        assert isinstance(work.net, Network)  # ``latent.network`` raises for other models
        server = work.state.server
        if SERVER in server:
            vector, moments = server[SERVER].clone(), server[MOMENTS].clone()
        else:
            vector = network.start(work.seed).to(work.starts)
            moments = torch.zeros(2, len(vector)).to(work.starts)
        draws = stream(work.seed, "generator", round=work.state.round)
        present = np.flatnonzero(counts.sum(0).cpu().numpy())
        size = self.step_size * DECAY**work.state.round
        for step in range(self.steps):
            labels = torch.from_numpy(present[draws.integers(len(present), size=self.batch)]).to(ends.device)
            noise = torch.from_numpy(draws.random((self.batch, self.latent.noise))).to(ends)
            with torch.enable_grad():
                point = vector.detach().requires_grad_()
                z = self.latent(network, point, noise, labels)
                loss = self.classification_loss(work.net, ends, z, labels, shares) + diversity(noise, z)
                (gradient,) = torch.autograd.grad(loss, point)
            count = work.state.round * self.steps + step + 1
            adam(vector, gradient + WEIGHT_DECAY * vector, moments, count, size, 0.9)
        return {SERVER: vector, MOMENTS: moments}

    @staticmethod
    def classification_loss(net: Network, ends: Tensor, z: Tensor, labels: Tensor, shares: Tensor) -> Tensor:
        """Return the clients' losses on the representations ``z``, weighted by their shares of the labels."""
        total = z.new_zeros(())
        for end, share in zip(ends, shares, strict=True):
            output = net.at(end).head(z.unsqueeze(0))
            total = total + (net.losses(output, labels.unsqueeze(0))[0] * share[labels]).mean()
        return total


def diversity(noise: Tensor, z: Tensor) -> Tensor:
    """Return ``exp(-mean_ij d_ij e_ij)``: mean squared differences d of noises and mean absolute differences e of z."""
    d = (noise.unsqueeze(0) - noise.unsqueeze(1)).square().mean(-1)
    e = (z.unsqueeze(0) - z.unsqueeze(1)).abs().mean(-1)
    return torch.exp(-(d * e).mean())


# ---- the clients ----

COUNTS = ("batch", "noise", "hidden", "generator_steps")
NOISE, LABELS, WEIGHT = "latent noise", "latent labels", "latent weight"


@dataclass(frozen=True)
class GeneratorLoss:
    """Objective ``CE(x, y) + a b_g/b CE(head(G(y')), y') + a KL(p(head(G(y))) || p(x))``.

    The factor a starts at ``weight`` and decays with the rounds; y' are ``batch`` uniformly drawn labels (b_g of them,
    with b the planned batch size). No gradient flows through the first argument of KL. In the first round there is no
    generator yet, and the objective is ``CE(x, y)``.
    """

    latent: Latent
    weight: float
    batch: int

    def __call__(self, net: SplitModel, w: Tensor, batch: Batch, work: Work) -> Tensor:
        inputs, targets, weight = batch
        output = net.output(w, inputs)
        own = batch_mean(net.losses(output, targets), weight)
        if SERVER not in work.state.server:
            return own
        if NOISE not in work.recalled:
            self.prepare(net, batch, work)
        z_of_targets, z_of_drawn, drawn_labels = self.generate(net, work, targets)
        with torch.no_grad():
            teacher = class_probabilities(net, net.head(w.detach(), z_of_targets))
        distillation = batch_mean(teacher.divergence(class_probabilities(net, output).log), weight)
        generated = net.losses(net.head(w, z_of_drawn), drawn_labels).mean(-1)
        return own + work.recalled[WEIGHT] * (self.batch / inputs.shape[1] * generated + distillation)

    def generate(self, net: SplitModel, work: Work, targets: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return this step's representations for the batch's labels and for drawn labels, and the drawn labels."""
        assert work.labels is not None  # the algorithm has ``needs_labels``
        classes, b = work.labels.shape[-1], targets.shape[1]
        noise, labels = work.now(NOISE).to(work.starts), work.now(LABELS)
        network = self.latent.network(net, classes, work.starts.dtype)
        with torch.no_grad():
            z = self.latent(network, work.state.server[SERVER], noise, torch.cat([targets.long(), labels], 1))
        return z[:, :b], z[:, b:], labels

    def prepare(self, net: SplitModel, batch: Batch, work: Work) -> None:
        """Store the noise and the labels of all steps of the round, and the weight of the two losses on them."""
        if SERVER not in work.state.server:
            return
        assert work.labels is not None
        classes, b, device = work.labels.shape[-1], batch[1].shape[1], work.starts.device
        steps, noise, labels = len(work.step_sizes), [], []
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

    FedCOG states no values; the defaults are those of the official code for MNIST. ``weight`` applies to both losses on
    generated representations and is multiplied by 0.98 per round. The generator takes 50 Adam steps per round with
    weight decay 0.01 and a step size that shrinks by 2 % per round. Noise is uniform on [0, 1) as in that code; its
    batch norm is group norm here. Clients also receive the generator, and the server needs the individual models of the
    clients; ``downloads`` counts the model only, since the generator's size depends on the network.
    """
    latent = Latent(noise, hidden)
    return replace(
        fedavg,
        objective=GeneratorLoss(latent, weight, batch),
        remember=(GeneratorTraining(latent, generator_steps, batch, generator_step_size),),
        needs_labels=True,
    )
