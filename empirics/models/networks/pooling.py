"""Maximum over 2x2 squares, then bias, then ReLU, as one operation on a CPU.

Bias and ReLU are monotone, also after rounding, so that they commute with the maximum: values are those of ReLU before
pooling, at a quarter of the work. Pairwise maxima of slices are vectorised. torch's max-pooling is not, for (batch,
channel, row, column) tensors, and it writes an eight-byte index per output.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

SMALLEST = 12288  # size of the input from which pairwise maxima are faster than torch
_threshold = torch.ops.aten.threshold_backward  # (a, b, 0) -> a where b > 0, else 0, in one vectorised pass


def relu_pool(x: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return ``relu(max_pool2d(x, 2) + bias)`` for ``x (batch, channels, rows, columns)`` and ``bias (channels,)``.

    Values are exact. If a square has several largest entries, the gradient goes to one of them, not always the one that
    torch chooses. torch computes it for other devices, odd sizes, small inputs and transforms of ``torch.func``.
    """
    if not _suits(x):
        pooled = F.max_pool2d(x, 2)
        return F.relu(pooled if bias is None else pooled + bias.view(-1, 1, 1))
    if torch.is_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)):
        return _ReluPool.apply(x, bias)
    return _maxima(x, bias)[0]


def _suits(x: Tensor) -> bool:
    return (
        x.device.type == "cpu"
        and x.dtype in (torch.float32, torch.float64)
        and x.shape[-1] % 2 == 0
        and x.shape[-2] % 2 == 0
        and x.numel() >= SMALLEST
        and not torch._C._are_functorch_transforms_active()
    )


def _maxima(x: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Return the output, and the left and right columns of the maximum of every two rows."""
    rows = torch.maximum(x[:, :, 0::2], x[:, :, 1::2])
    # Copies, since the maximum of strided slices is a scalar loop: slower than two copies and a vectorised maximum.
    left, right = rows[..., 0::2].contiguous(), rows[..., 1::2].contiguous()
    out = torch.maximum(left, right)
    if bias is not None:
        out += bias.view(-1, 1, 1)
    return out.relu_(), left, right


class _ReluPool(torch.autograd.Function):
    """Saves differences instead of comparisons, since a product with truth values first converts them to floats.

    Works in place where possible, so that the arrays stay in the processor's cache.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, bias: Tensor | None) -> Tensor:
        out, left, right = _maxima(x, bias)
        ctx.save_for_backward(x[:, :, 1::2] - x[:, :, 0::2], right.sub_(left), out)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None]:
        lower, rightward, out = ctx.saved_tensors
        gradient = _threshold(gradients[0], out, 0)
        to_bias = gradient.sum((0, 2, 3)) if ctx.needs_input_grad[1] else None
        if not ctx.needs_input_grad[0]:
            return None, to_bias
        batch, channels, height, width = out.shape
        right = _threshold(gradient, rightward, 0)
        # torch.complex is the fastest way to interleave two arrays: a third of the time of strided writes.
        left = gradient.sub_(right)
        rows = torch.view_as_real(torch.complex(left, right)).view(batch, channels, height, 2 * width)
        bottom = _threshold(rows, lower, 0)
        to_x = torch.cat((rows.sub_(bottom), bottom), -1).view(batch, channels, 2 * height, 2 * width)
        return to_x, to_bias
