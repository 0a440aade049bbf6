"""How a GPU multiplies, in training and in measuring: in float32."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch


@contextmanager
def computing(device: torch.device) -> Iterator[None]:
    """Products in float32 to the last bit, by kernels that repeat their numbers; graphs are recorded on this device."""
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = cudnn.allow_tf32, matmul.allow_tf32, cudnn.deterministic, cudnn.benchmark
    cudnn.allow_tf32 = matmul.allow_tf32 = cudnn.benchmark = False
    cudnn.deterministic = True
    try:
        with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
            yield
    finally:
        cudnn.allow_tf32, matmul.allow_tf32, cudnn.deterministic, cudnn.benchmark = before
