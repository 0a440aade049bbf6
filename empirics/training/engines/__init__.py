"""Engines run the local steps of a cohort: chosen by model and device, all on the same batches."""

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
    """Local steps of a cohort; all engines take the same batches, and on a CPU their numbers agree to the last bit."""

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses.

        ``work`` says who trains, from which models and for how many steps; it is left as it is.
        """
        ...


def choose(model: Trainable, device: torch.device | str = "cpu") -> Engine:
    """The engine for a model on the device its data lie on: the same numbers on a CPU, whichever it is.

    Models with closed-form gradients are stacked, compiled or not. Networks on a CPU go one client after another on
    one thread per core of this process. Networks on a GPU run as graphs.
    """
    if model.stacked:
        return Stacked()
    if torch.device(device).type != "cpu":
        from .graphs import Graphs

        return Graphs()
    return ClientLoop(threads=cores())


def device_named(name: str) -> torch.device:
    """The device called ``name``; ``auto`` is the GPU where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise EmpiricsError(f"device must be auto, cpu, cuda or cuda:NUMBER; got {name!r}") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise EmpiricsError(f"device {name} is not there: torch sees no GPU; use auto or cpu")
    if device.type == "cuda":  # read when the first product is computed: with it products repeat their bits
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    return device


__all__ = ["ClientLoop", "Engine", "Stacked", "choose", "device_named"]
