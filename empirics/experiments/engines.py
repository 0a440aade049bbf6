"""What computes the training of a run: by these names in its key, each where a process has it."""

from __future__ import annotations

from collections.abc import Collection

from ..models.compiled import ENGINES, load_module, NotServed

GPU = "cuda"
"""The engine of runs whose networks are on a GPU."""
CELL_ENGINES = (*ENGINES, GPU)


def lacking(engines: Collection[str]) -> str:
    """Why this process cannot compute by one of these engines; empty where it can by all."""
    if GPU in engines:
        import torch

        if not torch.cuda.is_available():
            return "torch sees no GPU, which engine cuda needs: take engine torch for all runs"
    if set(engines) - {"torch", GPU}:
        try:
            load_module("network")
        except NotServed as reason:
            return f"{reason}: take engine torch for all runs"
    return ""
