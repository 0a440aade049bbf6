"""Networks whose forward and backward passes are computed by compiled code instead of torch."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn, Tensor

from ..losses import CrossEntropy
from ..model import Batch
from ..network import Network, WHOLE
from . import NotServed
from .layers import layers
from .plan import PassPlan
from .program import execute, LONGEST
from .tiles import WIDTH

Array = np.ndarray[Any, Any]
NO_FLOATS, NO_TARGETS = np.zeros(1, np.float32), np.zeros(1, np.int64)


@dataclass(frozen=True, eq=False)
class CompiledNetwork(Network):
    """``Network`` with compiled passes on a CPU: outputs of the whole and its parts, gradients in row and inputs.

    Numbers agree with torch's to rounding, not to the last bit. torch still computes what compiled passes do not
    support: other devices, transforms of ``torch.func``, second derivatives, and samples of unexpected shapes.
    """

    compiled: ClassVar[bool] = True

    @classmethod
    def of(cls, network: Network) -> CompiledNetwork:
        """Return the compiled version of a supported network."""
        return cls(**{field.name: getattr(network, field.name) for field in fields(Network)})

    def load(self) -> None:
        """Compile the passes, or load them from the cache."""
        execute(
            np.zeros((0, 1 + LONGEST), np.int64), NO_TARGETS, NO_TARGETS, WIDTH, 0, *[NO_FLOATS] * 5, NO_TARGETS,
            NO_FLOATS,
        )  # fmt: skip

    # ---- passes ----

    @cached_property
    def _plans(self) -> dict[Any, PassPlan | None]:
        return {}

    def _plan(self, part: str, samples: Tensor, inputs: bool = False) -> PassPlan | None:
        """Return the passes of a part of the network for samples of this shape, or None if torch must compute them."""
        if not _readable(samples) or len(samples) == 0 or torch._C._are_functorch_transforms_active():
            return None
        width = -(-len(samples) // WIDTH) * WIDTH
        key = part, samples.shape[1:], width, inputs
        if key not in self._plans:
            module = self._part(part)
            assert isinstance(module, nn.Module)
            try:
                part_layers = layers(module, self.parameters, part)
                self._plans[key] = PassPlan(part_layers, tuple(samples.shape[1:]), width, inputs)
            except NotServed:
                self._plans[key] = None
        return self._plans[key]

    def _accepts(self, row: Tensor) -> bool:
        """Whether compiled passes can read a row; they do not check where an array ends."""
        return _readable(row) and row.shape == (self.dim,)

    def _memory(self, plan: PassPlan) -> Tensor:
        """Return working memory for passes without autograd, which each thread reuses."""
        memory: Tensor | None = getattr(self._own, "memory", None)
        if memory is None or memory.numel() < plan.size:
            memory = self._own.memory = torch.empty(plan.size)
        return memory

    # ---- outputs and gradients ----

    def apply_part(self, name: str, w: Tensor, inputs: Tensor, trained: bool = True, learns: bool = False) -> Tensor:
        """As ``Network.apply_part``, by compiled passes if possible."""
        output = self._run_passes(name, w.reshape(-1), inputs[0])
        return super().apply_part(name, w, inputs, trained, learns) if output is None else output.unsqueeze(0)

    def _run_passes(self, part: str, row: Tensor, samples: Tensor) -> Tensor | None:
        """Return the outputs of a part of the network, or None if torch must compute them or is faster."""
        back = torch.is_grad_enabled() and (row.requires_grad or samples.requires_grad)
        whole = None if part == "head" else self._plan(WHOLE, samples[: self.chunk])
        if (whole is not None and not whole.pays(len(samples), back)) or not self._accepts(row):
            return None
        outputs = []
        for chunk in [samples] if back else samples.split(self.chunk):
            plan = self._plan(part, chunk, samples.requires_grad)
            if plan is None:
                return None
            if back:
                outputs.append(_Passes.apply(row, chunk, plan, self, part))
            else:
                outputs.append(_forward(plan, row, chunk, self._memory(plan)))
        return outputs[0] if len(outputs) == 1 else torch.cat(outputs)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the gradient of ``task_loss`` ``(1, dim)``."""
        if type(self.loss) is CrossEntropy:
            gradient = self._entropy_gradient(w.detach().reshape(-1), batch)
            if gradient is not None:
                return gradient.unsqueeze(0)
        with torch.enable_grad():
            row = w.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.task_loss(row, batch), row)
        return gradient

    def _entropy_gradient(self, row: Tensor, batch: Batch) -> Tensor | None:
        """Return the gradient ``(dim,)`` of the cross-entropy in one compiled call per chunk, or None if impossible."""
        inputs, targets, weight = batch
        samples, labels = self._checked(inputs)[0], targets[0]
        count = len(samples)
        if labels.shape != (count,) or (weight is not None and weight.shape[1:] != (count,)) or not self._accepts(row):
            return None
        plan = self._plan(WHOLE, samples[: self.chunk])
        if plan is None or len(plan.shape) != 1 or not plan.pays(count, back=True):
            return None
        weights = _even(count) if weight is None else weight[0].to(torch.float32).contiguous().numpy()
        total = None
        for begin in range(0, count, self.chunk):
            chunk = slice(begin, begin + self.chunk)
            plan = self._plan(WHOLE, samples[chunk])
            if plan is None:
                return None
            gradient = torch.empty(self.dim)  # every parameter belongs to a layer, which writes its gradient
            valid = _run(
                plan, plan.entropy, len(samples[chunk]), self._memory(plan), row, gradient.numpy(),
                _flat(samples[chunk]), targets=_flat(labels[chunk].long()), weights=weights[chunk],
            )  # fmt: skip
            if not valid:  # a target is not a class: torch raises an error that names it, or ignores it
                return None
            total = gradient if total is None else total.add_(gradient)
        return total


@lru_cache(maxsize=64)
def _even(count: int) -> Array:
    """Return equal weights, one over ``count`` each."""
    return np.full(count, 1 / count, np.float32)


def _readable(tensor: Tensor) -> bool:
    """Whether compiled passes can read a tensor of this type and device."""
    return tensor.dtype == torch.float32 and tensor.device.type == "cpu"


def _flat(tensor: Tensor) -> Array:
    """Return the numbers of a tensor as a flat array, without a copy if it is contiguous."""
    array: Array = tensor.detach().contiguous().view(-1).numpy()
    return array


def _run(
    plan: PassPlan, lines: Array, count: int, memory: Tensor, row: Tensor, g: Array = NO_FLOATS,
    source: Array = NO_FLOATS, target: Array = NO_FLOATS, targets: Array = NO_TARGETS, weights: Array = NO_FLOATS,
) -> bool:  # fmt: skip
    """Execute some operations of a plan on ``count`` samples; return whether all targets were class numbers."""
    arrays = memory.numpy(), _flat(row), g, source, target, targets, weights
    return bool(execute(lines, plan.taps, plan.pixels, plan.width, count, *arrays))


def _forward(plan: PassPlan, row: Tensor, samples: Tensor, memory: Tensor) -> Tensor:
    output = torch.empty(len(samples), *plan.shape)
    _run(plan, plan.outputs, len(samples), memory, row, source=_flat(samples), target=output.view(-1).numpy())
    return output


class _Passes(torch.autograd.Function):
    """Outputs by compiled passes, differentiable in the row and the samples; torch computes second derivatives."""

    @staticmethod
    def forward(ctx: Any, row: Tensor, samples: Tensor, plan: PassPlan, net: CompiledNetwork, part: str) -> Tensor:
        ctx.plan, ctx.net, ctx.part, ctx.memory = plan, net, part, torch.empty(plan.size)
        ctx.save_for_backward(row, samples)
        return _forward(plan, row, samples, ctx.memory)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        row, samples = ctx.saved_tensors
        plan, (needs_row, needs_samples) = ctx.plan, ctx.needs_input_grad[:2]
        if torch.is_grad_enabled():  # with create_graph
            variables = [row] * needs_row + [samples] * needs_samples
            output = Network.apply_part(ctx.net, ctx.part, row, samples.unsqueeze(0), learns=row.requires_grad)[0]
            derivatives = list(torch.autograd.grad(output, variables, gradients[0], create_graph=True))
            to_samples = derivatives.pop() if needs_samples else None
            return derivatives[0] if needs_row else None, to_samples, None, None, None
        g = torch.zeros_like(row) if needs_row else None
        to = torch.empty(samples.shape) if needs_samples else None
        lines = plan.outputs_back if to is None else plan.inputs_back if needs_row else plan.inputs_alone
        g_array, to_array = (NO_FLOATS if tensor is None else tensor.view(-1).numpy() for tensor in (g, to))
        _run(plan, lines, len(samples), ctx.memory, row, g_array, _flat(gradients[0]), to_array)
        return g, to, None, None, None
