"""A network whose passes are compiled: the same model over flat rows, its numbers by other code than torch's."""

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
from .program import carry_out, LONGEST
from .tiles import WIDTH

Array = np.ndarray[Any, Any]
NO_FLOATS, NO_TARGETS = np.zeros(1, np.float32), np.zeros(1, np.int64)


@dataclass(frozen=True, eq=False)
class CompiledNetwork(Network):
    """``Network`` by compiled passes on a CPU: outputs, both halves, gradients in the row and in the inputs.

    Numbers agree with torch's to rounding, not to the last bit. What compiled passes do not do (other devices,
    transforms of ``torch.func``, second derivatives, samples of a shape that the layers do not take) is done by torch
    as before.
    """

    compiled: ClassVar[bool] = True

    @classmethod
    def of(cls, network: Network) -> CompiledNetwork:
        """The same network, one that is served, by compiled passes."""
        return cls(**{field.name: getattr(network, field.name) for field in fields(Network)})

    def load(self) -> None:
        """Compile the passes, or load what was compiled before."""
        carry_out(
            np.zeros((0, 1 + LONGEST), np.int64), NO_TARGETS, NO_TARGETS, WIDTH, 0, *[NO_FLOATS] * 5, NO_TARGETS,
            NO_FLOATS,
        )  # fmt: skip

    # ---- passes ----

    @cached_property
    def _plans(self) -> dict[Any, PassPlan | None]:
        return {}

    def _plan(self, half: str, samples: Tensor, inputs: bool = False) -> PassPlan | None:
        """The passes for these samples; None where they are torch's."""
        if not _readable(samples) or len(samples) == 0 or torch._C._are_functorch_transforms_active():
            return None
        width = -(-len(samples) // WIDTH) * WIDTH
        key = half, samples.shape[1:], width, inputs
        if key not in self._plans:
            module = self._half(half)
            assert isinstance(module, nn.Module)
            try:
                found = layers(module, self.parameters, half)
                self._plans[key] = PassPlan(found, tuple(samples.shape[1:]), width, inputs)
            except NotServed:
                self._plans[key] = None
        return self._plans[key]

    def _takes(self, row: Tensor) -> bool:
        """Whether a row is one that compiled passes can read: nothing in them looks where an array ends."""
        return _readable(row) and row.shape == (self.dim,)

    def _memory(self, plan: PassPlan) -> Tensor:
        """Memory of passes without a backward pass, one for every thread."""
        kept: Tensor | None = getattr(self._own, "memory", None)
        if kept is None or kept.numel() < plan.size:
            kept = self._own.memory = torch.empty(plan.size)
        return kept

    # ---- outputs and gradients ----

    def made(self, half: str, w: Tensor, inputs: Tensor, trained: bool = True, learns: bool = False) -> Tensor:
        """What a half of the network makes of inputs by compiled passes, with a way back where one is asked for."""
        found = self._passed(half, w.reshape(-1), inputs[0])
        return super().made(half, w, inputs, trained, learns) if found is None else found.unsqueeze(0)

    def _passed(self, half: str, row: Tensor, samples: Tensor) -> Tensor | None:
        back = torch.is_grad_enabled() and (row.requires_grad or samples.requires_grad)
        whole = None if half == "head" else self._plan(WHOLE, samples[: self.chunk])
        if (whole is not None and not whole.pays(len(samples), back)) or not self._takes(row):
            return None
        found = []
        for part in [samples] if back else samples.split(self.chunk):
            plan = self._plan(half, part, samples.requires_grad)
            if plan is None:
                return None
            if back:
                found.append(_Passes.apply(row, part, plan, self, half))
            else:
                found.append(_forward(plan, row, part, self._memory(plan)))
        return found[0] if len(found) == 1 else torch.cat(found)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` ``(1, dim)``, chunk by chunk."""
        if type(self.loss) is CrossEntropy:
            found = self._entropy_gradient(w.detach().reshape(-1), batch)
            if found is not None:
                return found.unsqueeze(0)
        with torch.enable_grad():
            row = w.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.task_loss(row, batch), row)
        return gradient

    def _entropy_gradient(self, row: Tensor, batch: Batch) -> Tensor | None:
        """Gradient ``(dim,)`` of the cross-entropy, outputs never leaving the passes; None where torch has to do it."""
        inputs, targets, weight = batch
        samples, wanted = self._checked(inputs)[0], targets[0]
        count = len(samples)
        if wanted.shape != (count,) or (weight is not None and weight.shape[1:] != (count,)) or not self._takes(row):
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
                _flat(samples[chunk]), targets=_flat(wanted[chunk].long()), weights=weights[chunk],
            )  # fmt: skip
            if not valid:  # a target is not a class: torch raises an error that names it, or ignores it
                return None
            total = gradient if total is None else total.add_(gradient)
        return total


@lru_cache(maxsize=64)
def _even(count: int) -> Array:
    """Equal weights, 1/n each, of ``n`` samples."""
    return np.full(count, 1 / count, np.float32)


def _readable(tensor: Tensor) -> bool:
    """Whether compiled passes read such numbers."""
    return tensor.dtype == torch.float32 and tensor.device.type == "cpu"


def _flat(tensor: Tensor) -> Array:
    """The numbers of a tensor one after another, where they lie if they lie so."""
    array: Array = tensor.detach().contiguous().view(-1).numpy()
    return array


def _run(
    plan: PassPlan, lines: Array, count: int, memory: Tensor, row: Tensor, g: Array = NO_FLOATS,
    source: Array = NO_FLOATS, target: Array = NO_FLOATS, targets: Array = NO_TARGETS, weights: Array = NO_FLOATS,
) -> bool:  # fmt: skip
    """Carry out some operations of a plan on a number of samples."""
    arrays = memory.numpy(), _flat(row), g, source, target, targets, weights
    return bool(carry_out(lines, plan.taps, plan.pixels, plan.width, count, *arrays))


def _forward(plan: PassPlan, row: Tensor, samples: Tensor, memory: Tensor) -> Tensor:
    output = torch.empty(len(samples), *plan.shape)
    _run(plan, plan.outputs, len(samples), memory, row, source=_flat(samples), target=output.view(-1).numpy())
    return output


class _Passes(torch.autograd.Function):
    """Outputs by compiled passes, with a way back to the row and to the samples; a second derivative is torch's."""

    @staticmethod
    def forward(ctx: Any, row: Tensor, samples: Tensor, plan: PassPlan, net: CompiledNetwork, half: str) -> Tensor:
        ctx.plan, ctx.net, ctx.half, ctx.memory = plan, net, half, torch.empty(plan.size)
        ctx.save_for_backward(row, samples)
        return _forward(plan, row, samples, ctx.memory)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None, None]:
        row, samples = ctx.saved_tensors
        plan, wanted = ctx.plan, ctx.needs_input_grad[:2]
        if torch.is_grad_enabled():  # with create_graph
            parts = [part for part, asked in zip((row, samples), wanted, strict=True) if asked]
            output = Network.made(ctx.net, ctx.half, row, samples.unsqueeze(0), learns=row.requires_grad)[0]
            found = iter(torch.autograd.grad(output, parts, gradients[0], create_graph=True))
            to_row, to_samples = (next(found) if asked else None for asked in wanted)
            return to_row, to_samples, None, None, None
        g = torch.zeros_like(row) if wanted[0] else None
        to = torch.empty(samples.shape) if wanted[1] else None
        lines = plan.outputs_back if to is None else plan.inputs_back if wanted[0] else plan.inputs_alone
        g_array, to_array = (NO_FLOATS if made is None else made.view(-1).numpy() for made in (g, to))
        _run(plan, lines, len(samples), ctx.memory, row, g_array, _flat(gradients[0]), to_array)
        return g, to, None, None, None
