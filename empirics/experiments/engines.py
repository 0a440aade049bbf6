"""What computes the runs of a cell: by these names in its key, each where a process has it."""

from __future__ import annotations

from ..models.compiled import ENGINES, loaded, NotServed

GPU = "cuda"
"""The engine of cells whose networks run on a GPU."""
CELL_ENGINES = (*ENGINES, GPU)


def lacking(engine: str) -> str:
    """Why an engine cannot compute in this process; empty where it can."""
    if engine == GPU:
        import torch

        return "" if torch.cuda.is_available() else "torch sees no GPU"
    try:
        loaded()
    except NotServed as reason:
        return str(reason)
    return ""
