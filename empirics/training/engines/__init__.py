"""Engines run the local steps of a cohort: chosen by model and device, all on the same batches."""

from __future__ import annotations

import os
import sys

import torch

from ...errors import EmpiricsError
from ...models.compiled import engine_of
from ...models.model import Trainable
from ...sizes import cores
from .engine import Engine
from .loop import ClientLoop
from .stacked import Stacked
from .workers import shared_workers, Workers

PAYS = 10.0
"""Seconds that worker processes must save before they are started unasked."""


def choose(model: Trainable, device: torch.device | str = "cpu", workers: int | None = None) -> Engine:
    """The engine for a model on the device its data lie on: the same numbers on a CPU, whichever it is.

    Models with closed-form gradients are stacked, compiled or not. Networks on a CPU go one client after another: in
    this process if ``workers`` is 1, in ``workers`` processes if it is more, and by default in this process until
    the work ahead is worth one process per core. Compiled networks use as many threads. Networks on a GPU run as
    graphs.
    """
    if workers is not None and workers < 1:
        raise EmpiricsError(f"workers must be >= 1; got {workers}")
    if model.stacked:
        return Stacked()
    if torch.device(device).type != "cpu":
        from .graphs import Graphs

        return Graphs()
    if engine_of(model) != "torch":
        return ClientLoop(threads=cores() if workers is None else workers)
    if workers == 1 or cores() == 1 or sys.platform == "win32":
        return ClientLoop()
    return shared_workers(cores(), PAYS) if workers is None else shared_workers(workers)


def in_process(model: Trainable, device: torch.device | str = "cpu") -> Engine:
    """The engine of a run that is one of many: in this process, where its data lie, on one thread of a CPU.

    Compiled networks take as many threads as there are cores for this process.
    """
    if model.stacked or torch.device(device).type != "cpu":
        return choose(model, device)
    return ClientLoop(threads=1 if engine_of(model) == "torch" else cores())


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


__all__ = [
    "ClientLoop",
    "Engine",
    "Stacked",
    "Workers",
    "choose",
    "cores",
    "device_named",
    "in_process",
    "shared_workers",
]
