"""What FedCOG optimises: the generated inputs themselves, or noise and a generator that makes images of it (A.4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from ..errors import EmpiricsError
from ..models.network import Network
from ..models.networks.generator import Generator
from ..streams import stream
from .algorithm import Work

Picture = Callable[..., Tensor]


@dataclass(frozen=True)
class Pixels:
    """The inputs are the variables, from standard normal noise; ``shared``: the same for all clients."""

    shared: bool = False

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], Picture]:
        """The variables, with a row for every client, and what makes inputs ``(rows, samples, *shape)`` of them."""
        return [noise(work, self.shared, (samples, *shape))], _as_they_are


@dataclass(frozen=True)
class LearnedGenerator:
    """Every client's own generator, started afresh in every round, and its noise are the variables.

    Pixels are from 0 to 1, whatever the range of the client's own inputs, as in the released code.
    """

    shared: bool = False
    noise: int = 256
    maps: int = 64
    groups: int = 2

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], Picture]:
        """Noise ``(rows, samples, noise)``, parameters ``(rows, dim)`` and what makes inputs of them."""
        if len(shape) != 3 or shape[1] != shape[2]:
            raise EmpiricsError(f"fedcog's generator makes square images (channels, side, side); inputs are {shape}")
        made = network(Generator(shape[0], shape[1], self.noise, self.maps, self.groups), work.starts.dtype)
        starts = [
            made.start(int(_stream(work, "image generator", k, self.shared).integers(2**62))) for k in work.clients
        ]
        drawn = noise(work, self.shared, (samples, self.noise))

        def pictures(z: Tensor, parameters: Tensor) -> Tensor:
            rows = range(len(z))
            return torch.cat([made.output(parameters[k : k + 1], z[k : k + 1]) for k in rows])

        return [drawn, torch.stack(starts).to(work.starts)], pictures


@lru_cache(maxsize=8)
def network(generator: Generator, dtype: torch.dtype) -> Network:
    """The generator as a model over flat rows, made once."""
    return Network("fedcog's generator", generator, dtype=dtype)


def noise(work: Work, shared: bool, shape: tuple[int, ...]) -> Tensor:
    """Standard normal numbers ``(rows, *shape)``, keyed by round and client (``shared``: the same for all)."""
    draws = [_stream(work, "generated inputs", k, shared).standard_normal(shape, dtype="float32") for k in work.clients]
    return torch.from_numpy(np.stack(draws)).to(work.starts)


def _stream(work: Work, purpose: str, client: int, shared: bool) -> np.random.Generator:
    return stream(work.seed, purpose, round=work.state.round, client=0 if shared else int(client))


def _as_they_are(inputs: Tensor) -> Tensor:
    return inputs
