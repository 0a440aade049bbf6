"""A network of 31 numbers, and five clients with data for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn, Tensor

from empirics.algorithms import algorithm
from empirics.federation.federation import Federation
from empirics.models.network import Network
from empirics.models.networks.blocks import Split
from empirics.training.rounds import rounds
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


def samples(net: Any, batch: int, seed: int = 5) -> Tensor:
    """Random inputs ``(1, batch, ...)`` of the right kind for a network of the papers."""
    generator = torch.Generator().manual_seed(seed)
    shape = net.input_shape
    if any(word in net.name for word in ("gru", "opt")):
        return torch.randint(0, net.build.classes, (1, batch, *shape), generator=generator)
    return torch.randn(1, batch, *shape, generator=generator, dtype=net.dtype)
