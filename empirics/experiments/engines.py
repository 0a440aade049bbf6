"""The engines that compute training runs, by the names that are part of a run's key, and whether they are available."""

from __future__ import annotations

from collections.abc import Collection

from ..models.compiled import ENGINES, load_module, NotServed

GPU = "cuda"
"""The engine of runs whose networks are on a GPU."""
CELL_ENGINES = (*ENGINES, GPU)


def lacking(engines: Collection[str]) -> str:
    """The reason why this process cannot use one of these engines; empty if it can use all."""
    if GPU in engines:
        import torch

        if not torch.cuda.is_available():
            return "torch finds no GPU, which engine cuda needs: use engine torch for all runs"
    if set(engines) - {"torch", GPU}:
        try:
            load_module("network")
        except NotServed as reason:
            return f"{reason}: use engine torch for all runs"
    return ""
