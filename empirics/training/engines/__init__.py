"""Engines, which run the local steps of a cohort; ``choose`` returns the one for a model and a device.

``Stacked`` steps all clients at once by closed-form gradients (linear models), ``ClientLoop`` trains networks client by
client on a CPU, and ``Graphs`` records the steps of networks on a GPU as CUDA graphs.
"""

from __future__ import annotations

import os
from typing import Protocol

import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, Work
from ...errors import EmpiricsError
from ...federation.federation import Source
from ...models.model import Trainable
from ...sizes import cores
from ..setting import Setting
from .loop import ClientLoop
from .stacked import Stacked


class Engine(Protocol):
    """Runs the local steps of a cohort. All engines use the same batches; on a CPU their results are bitwise equal."""

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """Return the clients' models after their local steps ``(rows, dim)``, and their losses before the first step.

        The losses are None if the algorithm does not need them. ``work`` has the clients, their start models and
        numbers of steps; it is not changed.
        """
        ...


def choose(model: Trainable, device: torch.device | str = "cpu") -> Engine:
    """Return the engine for a model and the device of its data."""
    if model.stacked:
        return Stacked()
    if torch.device(device).type != "cpu":
        from .graphs import Graphs

        return Graphs()
    return ClientLoop(threads=cores())


def device_named(name: str) -> torch.device:
    """Return the device called ``name``; ``auto`` is the GPU if there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EmpiricsError(f"device must be auto, cpu, cuda or cuda:NUMBER; got {name!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EmpiricsError(f"device {name} is not available: torch finds no GPU; use auto or cpu")
    if device.type == "cuda":  # makes products deterministic; read when the first one is computed
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    return device


__all__ = ["ClientLoop", "Engine", "Stacked", "choose", "device_named"]
