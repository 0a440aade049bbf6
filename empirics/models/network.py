"""Any ``torch.nn.Module`` as a model over flat rows: its parameters are views of the row that is being trained."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from threading import local, RLock
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import nn, Tensor
from torch._utils import _flatten_dense_tensors as flatten

from ..errors import EmpiricsError
from ..streams import stream
from .flat import FlatModule
from .losses import CrossEntropy, Loss
from .memory import keep_freed_memory
from .model import Batch

Half = Callable[[Tensor], Tensor]
WHOLE = ""
"""The network as a whole, beside its halves."""
STATISTICS = {
    "averaged": "the mean statistics of the last cohort, which every client begins a round with",
    "local": "the mean statistics of the last cohort; every client begins a round with its own",
    "frozen": "the statistics of the first model, means 0 and variances 1, as training is",
}
"""Whose running statistics a client begins a round with: what the server's model is evaluated with."""
ON_A_GPU = 2048
"""Samples that go through a network at once on a GPU."""
BUILDING = RLock()
"""Held while modules draw their first parameters: torch's generator is one for all threads."""


def weighs(name: str, ndim: int) -> bool:
    """Whether a parameter begins a layer: weights do; biases, norms and shortcuts go with the weight before them."""
    return ndim >= 2 and "shortcut" not in name


@dataclass(frozen=True, eq=False)
class Network:
    """The module that ``build`` makes, trained with ``loss``. Rows are ``(1, dim)``: one model at a time.

    Modules made of ``features`` and ``head`` offer both halves. Parameters whose name in ``layers`` begins with
    ``head`` are the head of layer-wise methods; ``extractor`` moves that border behind the first layers (the L
    of FedALS, Table 3), where ``begins(name, ndim)`` says which parameters begin a layer. ``input_shape`` is checked
    where it is given. Outside of autograd, inputs go through in chunks of ``chunk`` samples. Dropout is refused: noise
    outside of the seeded streams.

    Running statistics of batch norm are columns behind the first ``trained`` ones: local steps (``learning``)
    renew them as torch does in training, all other passes normalise by them. ``statistics``: one of ``STATISTICS``.
    """

    name: str
    build: Callable[[], nn.Module]
    loss: Loss = field(default_factory=CrossEntropy)
    dtype: torch.dtype = torch.float32
    input_shape: tuple[int, ...] | None = None
    extractor: int | None = None
    begins: Callable[[str, int], bool] = weighs
    chunk: int = 128  # on one core 125 to 250 are quickest for the CNNs, 500 is a fifth slower
    statistics: str = "averaged"

    stacked: ClassVar[bool] = False
    compiled: ClassVar[bool] = False
    """Whether passes are compiled: several threads may then work beside each other, each with a network of its own."""
    class_axis: ClassVar[int] = 2

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: a work module is made anew where it is needed."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    # ---- parameters ----

    def _fresh(self, seed: int) -> nn.Module:
        """A module as ``build`` makes it under a seed; no other draw is moved, no transform of torch.func sees it."""
        with BUILDING, torch.random.fork_rng(devices=[]), torch._C._DisableFuncTorch():
            torch.default_generator.manual_seed(seed)
            return self.build().to(self.dtype)

    @cached_property
    def _own(self) -> local:
        """What each thread has for itself."""
        return local()

    @property
    def work(self) -> FlatModule:
        """The module that computes, on whichever row it is given: one for every thread."""
        if not hasattr(self._own, "work"):
            self._own.work = self._made_work()
        work: FlatModule = self._own.work
        return work

    def _made_work(self) -> FlatModule:
        keep_freed_memory()
        if self.statistics not in STATISTICS:
            raise EmpiricsError(f"statistics must be one of {', '.join(STATISTICS)}; got {self.statistics!r}")
        module = self._fresh(0)
        for name, part in module.named_modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and not (part.track_running_stats and part.momentum):
                rule = "keep running statistics by a momentum: others are not renewed from batch to batch alone"
                raise EmpiricsError(f"{self.name}: {name} is batch norm, which must {rule}")
            if isinstance(part, nn.modules.dropout._DropoutNd) and part.p > 0:
                raise EmpiricsError(f"{self.name}: {name} is dropout, which no seed of a run reaches; set its p to 0")
        return FlatModule(module)

    @cached_property
    def dim(self) -> int:
        return sum(shape.numel() for shape in self.work.shapes.values())

    def start(self, seed: int) -> Tensor:
        """Freshly initialised parameters, the same for the same seed, and statistics of means 0 and variances 1."""
        fresh = self._fresh(int(stream(seed, "initial model").integers(2**62)))
        found = {**dict(fresh.named_parameters()), **dict(fresh.named_buffers())}
        return flatten([found[name].detach() for name in self.work.shapes])

    @property
    def trained(self) -> int:
        """How many columns training moves: all but the running statistics behind them."""
        return self.work.trained

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Local steps: passes of this thread normalise by their batch and renew the statistics, unless frozen."""
        work = self.work
        work.learning = self.statistics != "frozen"
        try:
            yield
        except ValueError as error:  # torch's, of a single sample where batch norm sees no pixels
            if "value per channel" not in str(error):
                raise
            problem = "batch norm has nothing to compare a batch of 1 sample with: take another batch size"
            raise EmpiricsError(f"{self.name}: {problem}") from None
        finally:
            work.learning = False

    @cached_property
    def parameters(self) -> Mapping[str, slice]:
        """Column ranges of the row by the module's own names of parameters and running statistics."""
        sizes = [shape.numel() for shape in self.work.shapes.values()]
        ends = accumulate(sizes)
        return {name: slice(end - size, end) for name, size, end in zip(self.work.shapes, sizes, ends, strict=True)}

    @cached_property
    def layers(self) -> Mapping[str, slice]:
        """Column ranges by parameter name, in which ``features`` or ``head`` comes first as ``extractor`` says."""
        if self.extractor is None:
            return self.parameters
        border = self.first(self.extractor).stop
        named = {}
        for name, columns in self.parameters.items():
            rest = name.removeprefix("features.").removeprefix("head.")
            of_part = self.parameters.get(f"{name.rpartition('.')[0]}.weight", columns)  # statistics go with its norm
            named[f"{'features' if of_part.start < border else 'head'}.{rest}"] = columns
        return named

    @cached_property
    def weight_layers(self) -> Mapping[str, slice]:
        """Column ranges of whole layers, from one parameter that begins a layer to the next, by the first's name."""
        begins = [name for name, shape in self.work.shapes.items() if self.begins(name, len(shape))]
        starts = [self.parameters[name].start for name in begins]
        stops = [*starts[1:], self.trained]
        return {name: slice(a, b) for name, a, b in zip(begins, [0, *starts[1:]], stops, strict=True)}

    def first(self, layers: int) -> slice:
        """The columns of the first ``layers`` layers."""
        ranges = list(self.weight_layers.values())
        if not 1 <= layers <= len(ranges):
            raise EmpiricsError(f"extractor must be from 1 to the {len(ranges)} layers of {self.name}; got {layers}")
        return slice(0, ranges[layers - 1].stop)

    # ---- outputs ----

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Outputs ``(1, batch, ...)`` of the single row ``w (1, dim)`` on ``inputs (1, batch, ...)``."""
        return self.made(WHOLE, w, self._checked(inputs), learns=w.requires_grad)

    def features(self, w: Tensor, inputs: Tensor) -> Tensor:
        """What the head sees: representations ``(1, batch, ...)``."""
        return self.made("features", w, self._checked(inputs), learns=w.requires_grad)

    def head(self, w: Tensor, z: Tensor) -> Tensor:
        """Outputs ``(1, batch, ...)`` from representations: ``output(w, x)`` is ``head(w, features(w, x))``."""
        return self.made("head", w, z, learns=w.requires_grad)

    def at(self, vector: Tensor) -> Frozen:
        """The network at fixed parameters ``(dim,)``: gradients reach its inputs, never ``vector``."""
        return Frozen(self, vector.detach())

    def made(self, half: str, w: Tensor, inputs: Tensor, trained: bool = True, learns: bool = False) -> Tensor:
        """What a half of the network, or the ``WHOLE``, makes of inputs; see ``FlatModule.bind`` for the options.

        Outside of autograd, in pieces: on a GPU, few samples at once would leave it idle.
        """
        self.work.bind(w.reshape(-1), trained, learns)
        part, samples = self._half(half), inputs[0]
        if torch.is_grad_enabled() or len(samples) <= self._chunk(inputs):
            return part(samples).unsqueeze(0)
        return torch.cat([part(some) for some in samples.split(self._chunk(inputs))]).unsqueeze(0)

    def _half(self, name: str) -> Half:
        half = getattr(self.work.module, name, None) if name else self.work.module
        if half is None:
            raise EmpiricsError(f"{self.name} has no {name}: its module must be made of features and head")
        return half

    def _checked(self, inputs: Tensor) -> Tensor:
        """Inputs of the expected shape in the network's precision; codes of a text stay as they are.

        Token sequences may have any length, flat inputs any shape of that size.
        """
        expected, given = self.input_shape, tuple(inputs.shape[2:])
        if not inputs.is_floating_point():
            return inputs
        if expected is None or given == expected or (len(expected) == 1 and math.prod(given) == expected[0]):
            return inputs.to(self.dtype)
        raise EmpiricsError(f"{self.name} takes samples of shape {expected}; got {given}")

    def _chunk(self, inputs: Tensor) -> int:
        """Samples that go through at once where no gradient is taken."""
        return self.chunk if inputs.device.type == "cpu" else max(self.chunk, ON_A_GPU)

    # ---- losses ----

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Loss of every sample ``(1, batch)``."""
        return self.loss.losses(output.squeeze(0), targets[0]).unsqueeze(0)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """How right every sample is ``(1, batch)``: true or false, or a share where a sample has several targets."""
        return self.loss.correct(output[0], targets[0]).unsqueeze(0)

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Weighted mean of the losses of a batch ``(1,)``."""
        inputs, targets, weight = batch
        output = self.made(WHOLE, w, self._checked(inputs), learns=True)[0]
        if weight is None:
            return self.loss.mean(output, targets[0]).view(1)
        return (self.loss.losses(output, targets[0]) * weight[0].to(output.dtype)).sum().view(1)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Gradient of ``task_loss`` ``(1, dim)`` by one backward pass.

        Leaves that are views of the row, and one concatenation of their gradients, take 5 % less time than
        differentiating in the row itself, and no more than gradients accumulated in views of a flat buffer.
        """
        with torch.enable_grad():
            loss = self.task_loss(w.detach(), batch)
        gradients = torch.autograd.grad(loss, self.work.views, allow_unused=True, materialize_grads=True)
        found = flatten(gradients).unsqueeze(0)
        return found if self.trained == self.dim else F.pad(found, (0, self.dim - self.trained))

    @torch.no_grad()
    def evaluate(self, w: Tensor, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """``losses`` and ``correct`` ``(1, batch)``, chunk by chunk: outputs of one chunk at a time are in memory."""
        self._checked(inputs)
        found = []
        for part, wanted in zip(*(held.split(self._chunk(inputs), 1) for held in (inputs, targets)), strict=True):
            output = self.output(w, part)
            found.append((self.losses(output, wanted), self.correct(output, wanted)))
        losses, correct = (torch.cat(parts, 1) for parts in zip(*found, strict=True))
        return losses, correct


@dataclass(frozen=True, eq=False)
class Frozen:
    """A network at fixed parameters, such as the teacher of a distillation: ``inputs`` are ``(1, batch, ...)``."""

    net: Network
    vector: Tensor

    def output(self, inputs: Tensor) -> Tensor:
        return self.net.made(WHOLE, self.vector, self.net._checked(inputs), trained=False)

    def features(self, inputs: Tensor) -> Tensor:
        return self.net.made("features", self.vector, self.net._checked(inputs), trained=False)

    def head(self, z: Tensor) -> Tensor:
        return self.net.made("head", self.vector, z, trained=False)
