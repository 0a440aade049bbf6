"""How a GPU multiplies, in training and in measuring: in float32 by default."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch


def on(device: torch.device) -> AbstractContextManager[Any]:
    """A context in which this GPU, of several, is the current one: graphs are recorded on the current one."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


@contextmanager
def computing(precision: str, device: torch.device) -> Iterator[None]:
    """Products in float32 to the last bit, or in TF32 or bfloat16 by choice; kernels that repeat their numbers."""
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = cudnn.allow_tf32, matmul.allow_tf32, cudnn.deterministic, cudnn.benchmark
    cudnn.allow_tf32 = matmul.allow_tf32 = precision == "tf32"
    cudnn.deterministic, cudnn.benchmark = True, False
    half = precision == "bf16"
    try:
        with torch.autocast(device.type, torch.bfloat16, cache_enabled=False) if half else nullcontext():
            yield
    finally:
        cudnn.allow_tf32, matmul.allow_tf32, cudnn.deterministic, cudnn.benchmark = before
