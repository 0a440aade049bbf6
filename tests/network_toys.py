"""A network of 31 numbers and its plain-loop twin: parameters unpacked by hand, one sample after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import nn, Tensor

from empirics.algorithms import algorithm
from empirics.federation.federation import Federation
from empirics.federation.shuffles import orders
from empirics.models.network import Network
from empirics.models.networks.blocks import Split
from empirics.training.rounds import draw_cohort, rounds, shares
from empirics.training.setting import Setting

FEATURES, HIDDEN, CLASSES = 3, 4, 3


@dataclass(frozen=True)
class Toy:
    """Dense, tanh, dense."""

    def __call__(self) -> nn.Module:
        return Split(nn.Sequential(nn.Linear(FEATURES, HIDDEN), nn.Tanh()), nn.Linear(HIDDEN, CLASSES))


NET = Network("toy", Toy(), dtype=torch.float64)
LABELS = ([0, 1, 0, 0, 1, 0, 1], [2, 0, 1, 1, 2, 0, 0, 1, 2], [2] * 7 + [1] * 4 + [0], [1] * 5, [0, 2] * 5)
"""Classes of the five clients: two of the first and the last have no 2 and no 1, the second has as many of each."""
SETTING = Setting(rounds=3, cohort=3, batch=4, step_size=0.3, local_steps=4, client_weight="samples")
SEED = 4


def federation(labels: tuple[list[int], ...] = LABELS) -> Federation:
    """Clients with these classes and Gaussian inputs; some batches of every pass are short."""
    rng = np.random.default_rng(7)
    sizes = [len(part) for part in labels]
    targets = np.concatenate(labels)
    inputs = rng.normal(size=(len(targets), FEATURES)) + np.eye(CLASSES)[targets]
    return Federation.of(
        torch.tensor(inputs), torch.tensor(targets), np.split(np.arange(len(targets)), np.cumsum(sizes)[:-1])
    )


FEDERATION = federation()


def models(
    text: str, setting: Setting = SETTING, net: Any = NET, data: Federation = FEDERATION, **engine: Any
) -> Tensor:
    """The server's models after every round ``(rounds, dim)``."""
    return torch.stack([s.model for s in rounds(net, data, algorithm(text), setting, SEED, **engine)][1:])


# ---- plain loops ----


def hidden(w: Tensor, x: Tensor) -> Tensor:
    """Representation of one sample."""
    rows = [torch.tanh((w[3 * i : 3 * i + 3] * x).sum() + w[12 + i]) for i in range(HIDDEN)]
    return torch.stack(rows)


def head(w: Tensor, z: Tensor) -> Tensor:
    return torch.stack([(w[16 + 4 * c : 20 + 4 * c] * z).sum() + w[28 + c] for c in range(CLASSES)])


def logits(w: Tensor, x: Tensor) -> Tensor:
    return head(w, hidden(w, x))


def cross_entropy(output: Tensor, y: int) -> Tensor:
    return torch.log(torch.exp(output).sum()) - output[y]


def softmax(output: Tensor) -> Tensor:
    return torch.exp(output) / torch.exp(output).sum()


def kl(p: Tensor, q: Tensor) -> Tensor:
    return sum(p[c] * (torch.log(p[c]) - torch.log(q[c])) for c in range(len(p)))


def mean(values: list[Tensor]) -> Tensor:
    return sum(values) / len(values)


@dataclass
class Step:
    """What a local loss may look at."""

    client: int
    round: int
    step: int
    start: Tensor
    last: Tensor
    batch: list[tuple[Tensor, int]]
    counts: list[int]
    kept: dict[Any, Any]
    "Lives as long as the run."


def plain_loss(w: Tensor, now: Step) -> Tensor:
    return mean([cross_entropy(logits(w, x), y) for x, y in now.batch])


def slope(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Gradient of a function of one tensor."""
    point = at.detach().clone().requires_grad_()
    return torch.autograd.grad(function(point), point)[0]


def plain_step(loss: Callable[[Tensor, Step], Tensor], w: Tensor, now: Step, eta: float) -> Tensor:
    return w - eta * slope(lambda p: loss(p, now), w)


@dataclass
class Twin:
    """FedAvg with a local loss, or a local step, and something for the server to do with the clients' ends."""

    loss: Callable[[Tensor, Step], Tensor] = plain_loss
    take: Callable[..., Tensor] = plain_step
    serve: Callable[..., None] = field(default=lambda *_: None)
    setting: Setting = SETTING

    def path(self) -> Tensor:
        """The server's models after every round."""
        setting, data = self.setting, [FEDERATION.samples(k) for k in range(FEDERATION.clients)]
        weights = shares(setting, FEDERATION)
        server = NET.start(SEED)
        last, kept, path = [server] * FEDERATION.clients, {}, []
        for r in range(setting.rounds):
            cohort = [int(k) for k in draw_cohort(setting, FEDERATION, SEED, r)[0]]
            ends = []
            for k in cohort:
                w = server
                for s, chosen in enumerate(self.batches(k, r, len(data[k][1]))):
                    batch = [(data[k][0][i], int(data[k][1][i])) for i in chosen]
                    counts = [int((data[k][1] == c).sum()) for c in range(CLASSES)]
                    now = Step(k, r, s, server, last[k], batch, counts, kept)
                    w = self.take(self.loss, w, now, setting.step_size)
                ends.append(w)
            self.serve(r, cohort, ends, kept)
            for k, end in zip(cohort, ends, strict=True):
                last[k] = end
            total = sum(weights[k] for k in cohort)
            server = sum(weights[k] / total * end for k, end in zip(cohort, ends, strict=True))
            path.append(server)
        return torch.stack(path)

    def batches(self, k: int, round_: int, size: int) -> list[list[int]]:
        order = orders(SEED, round_, np.array([k]), np.array([size]), self.setting.steps)[0]
        b = self.setting.batch
        return [list(p[i : i + b]) for p in order for i in range(0, size, b)][: self.setting.steps]


class Adam:
    """Adam on one tensor, number by number."""

    def __init__(self, eta: float, beta1: float, ridge: float = 0.0) -> None:
        self.eta, self.beta1, self.ridge, self.count = eta, beta1, ridge, 0
        self.first: list[float] = []
        self.second: list[float] = []

    def __call__(self, x: Tensor, gradient: Tensor) -> Tensor:
        self.count += 1
        flat, slopes = x.flatten().tolist(), gradient.flatten().tolist()
        self.first, self.second = self.first or [0.0] * len(flat), self.second or [0.0] * len(flat)
        for i, value in enumerate(flat):
            g = slopes[i] + self.ridge * value
            self.first[i] = self.beta1 * self.first[i] + (1 - self.beta1) * g
            self.second[i] = 0.999 * self.second[i] + 0.001 * g * g
            m, v = self.first[i] / (1 - self.beta1**self.count), self.second[i] / (1 - 0.999**self.count)
            flat[i] = value - self.eta * m / (v**0.5 + 1e-8)
        return torch.tensor(flat, dtype=x.dtype).view(x.shape)


def agree(text: str, twin: Twin, least: float = 1e-4) -> None:
    """The method equals its twin, and is not FedAvg."""
    found, expected = models(text, twin.setting), twin.path()
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
    assert (found - models("fedavg()", twin.setting)).abs().max() > least


def samples(net: Any, batch: int, seed: int = 5) -> Tensor:
    """Random inputs ``(1, batch, ...)`` of the right kind for a network of the papers."""
    generator = torch.Generator().manual_seed(seed)
    shape = net.input_shape
    if any(word in net.name for word in ("gru", "opt")):
        return torch.randint(0, net.build.classes, (1, batch, *shape), generator=generator)
    return torch.randn(1, batch, *shape, generator=generator, dtype=net.dtype)
