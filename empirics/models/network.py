"""Any ``torch.nn.Module`` as a model over flat rows, whose parameters are views of the row in use."""

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
from torch.nn.modules.batchnorm import _BatchNorm

from ..errors import EmpiricsError
from ..sizes import keep_freed_memory
from ..streams import stream
from .losses import CrossEntropy, Loss
from .model import Batch

Part = Callable[[Tensor], Tensor]
WHOLE = ""
"""Name of the whole network, beside its parts ``features`` and ``head``."""
STATISTICS = {
    "averaged": "the mean statistics of the last cohort, which every client begins a round with",
    "local": "the mean statistics of the last cohort; every client begins a round with its own",
    "frozen": "the statistics of the first model, means 0 and variances 1, as training is",
}
"""Treatments of batch norm's running statistics, each with the statistics that the server's model is evaluated with."""
ON_A_GPU = 2048
"""Number of samples that a network processes at once on a GPU."""
BUILDING = RLock()
"""Lock for the initialisation of modules, since all threads share torch's generator."""


def begins_layer(name: str, ndim: int) -> bool:
    """Whether a parameter begins a layer: weights do; biases, norms and shortcuts belong to the weight before them."""
    return ndim >= 2 and "shortcut" not in name


@dataclass(frozen=True, eq=False)
class Network:
    """The module that ``build`` makes, trained with ``loss``. Rows are ``(1, dim)``: one model at a time.

    Modules made of ``features`` and ``head`` offer both parts. Parameters whose name in ``layers`` begins with ``head``
    are the head of layer-wise methods. ``extractor`` moves the border of the head behind the first N layers (the L of
    FedALS, Table 3), where ``begins(name, ndim)`` says which parameters begin a layer. ``input_shape``, if given, is
    checked. Outside of autograd, inputs are processed in chunks of ``chunk`` samples. Dropout is refused, since its
    noise does not come from the seeded streams.

    Running statistics of batch norm are the columns behind the first ``trained`` ones. Local steps (``learning``)
    update them as torch does in training; other passes normalise by them. ``statistics`` is one of ``STATISTICS``.
    """

    name: str
    build: Callable[[], nn.Module]
    loss: Loss = field(default_factory=CrossEntropy)
    dtype: torch.dtype = torch.float32
    input_shape: tuple[int, ...] | None = None
    extractor: int | None = None
    begins: Callable[[str, int], bool] = begins_layer
    chunk: int = 128  # on one core 125 to 250 are quickest for the CNNs, 500 is a fifth slower
    statistics: str = "averaged"

    stacked: ClassVar[bool] = False
    compiled: ClassVar[bool] = False
    """Whether passes are compiled, so that several threads can run them, each with its own network."""
    class_axis: ClassVar[int] = 2

    def __getstate__(self) -> dict[str, Any]:
        """Pickle only the fields; the module is built again when needed."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    # ---- parameters ----

    def _fresh(self, seed: int) -> nn.Module:
        """Build a module under a seed, without changing torch's generator and hidden from torch.func's transforms."""
        with BUILDING, torch.random.fork_rng(devices=[]), torch._C._DisableFuncTorch():
            torch.default_generator.manual_seed(seed)
            return self.build().to(self.dtype)

    @cached_property
    def _own(self) -> local:
        """Attributes that each thread has separately."""
        return local()

    @property
    def work(self) -> FlatModule:
        """The module that computes with a row, one per thread."""
        if not hasattr(self._own, "work"):
            self._own.work = self._make_work()
        work: FlatModule = self._own.work
        return work

    def _make_work(self) -> FlatModule:
        keep_freed_memory()
        if self.statistics not in STATISTICS:
            raise EmpiricsError(f"statistics must be one of {', '.join(STATISTICS)}; got {self.statistics!r}")
        module = self._fresh(0)
        for name, part in module.named_modules():
            if isinstance(part, _BatchNorm) and not (part.track_running_stats and part.momentum):
                rule = "track running statistics with a momentum: set track_running_stats=True and momentum=0.1"
                raise EmpiricsError(f"{self.name}: {name} is batch norm, which must {rule}")
            if isinstance(part, nn.modules.dropout._DropoutNd) and part.p > 0:
                problem = "dropout, which the seed of a run does not control; set its p to 0"
                raise EmpiricsError(f"{self.name}: {name} is {problem}")
        return FlatModule(module)

    @cached_property
    def dim(self) -> int:
        return sum(shape.numel() for shape in self.work.shapes.values())

    def start(self, seed: int) -> Tensor:
        """Return initial parameters, which depend only on the seed, and statistics with means 0 and variances 1."""
        fresh = self._fresh(int(stream(seed, "initial model").integers(2**62)))
        tensors = {**dict(fresh.named_parameters()), **dict(fresh.named_buffers())}
        return flatten([tensors[name].detach() for name in self.work.shapes])

    @property
    def trained(self) -> int:
        """Number of columns that are parameters; running statistics follow them."""
        return self.work.trained

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Context of local steps: this thread's passes normalise by the batch and update statistics, unless frozen."""
        work = self.work
        work.learning = self.statistics != "frozen"
        try:
            yield
        except ValueError as error:  # torch's error if batch norm has one value per channel
            if "value per channel" not in str(error):
                raise
            problem = "batch norm cannot normalise a batch of 1 sample: choose another batch size"
            raise EmpiricsError(f"{self.name}: {problem}") from None
        finally:
            work.learning = False

    @cached_property
    def parameters(self) -> Mapping[str, slice]:
        """Column ranges of the row by the module's names of parameters and running statistics."""
        sizes = [shape.numel() for shape in self.work.shapes.values()]
        ends = accumulate(sizes)
        return {name: slice(end - size, end) for name, size, end in zip(self.work.shapes, sizes, ends, strict=True)}

    @cached_property
    def layers(self) -> Mapping[str, slice]:
        """Column ranges by parameter name; names begin with ``features`` or ``head`` according to ``extractor``."""
        if self.extractor is None:
            return self.parameters
        border = self.first(self.extractor).stop
        ranges = {}
        for name, columns in self.parameters.items():
            rest = name.removeprefix("features.").removeprefix("head.")
            weight = self.parameters.get(f"{name.rpartition('.')[0]}.weight", columns)  # where the name's module begins
            ranges[f"{'features' if weight.start < border else 'head'}.{rest}"] = columns
        return ranges

    @cached_property
    def weight_layers(self) -> Mapping[str, slice]:
        """Column ranges of layers, each from a parameter that begins a layer to the next, by this parameter's name."""
        begins = [name for name, shape in self.work.shapes.items() if self.begins(name, len(shape))]
        starts = [self.parameters[name].start for name in begins]
        stops = [*starts[1:], self.trained]
        return {name: slice(a, b) for name, a, b in zip(begins, [0, *starts[1:]], stops, strict=True)}

    def first(self, layers: int) -> slice:
        """Return the columns of the first ``layers`` layers."""
        ranges = list(self.weight_layers.values())
        if not 1 <= layers <= len(ranges):
            raise EmpiricsError(f"extractor must be from 1 to the {len(ranges)} layers of {self.name}; got {layers}")
        return slice(0, ranges[layers - 1].stop)

    # ---- outputs ----

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Return the outputs ``(1, batch, ...)`` of the row ``w (1, dim)`` on ``inputs (1, batch, ...)``."""
        return self.apply_part(WHOLE, w, self._checked(inputs), learns=w.requires_grad)

    def features(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Return the representations ``(1, batch, ...)`` that the head takes."""
        return self.apply_part("features", w, self._checked(inputs), learns=w.requires_grad)

    def head(self, w: Tensor, z: Tensor) -> Tensor:
        """Return the outputs ``(1, batch, ...)`` on representations, such as those of ``features``."""
        return self.apply_part("head", w, z, learns=w.requires_grad)

    def at(self, vector: Tensor) -> Frozen:
        """Return the network at fixed parameters ``(dim,)``: gradients reach its inputs, never ``vector``."""
        return Frozen(self, vector.detach())

    def apply_part(self, name: str, w: Tensor, inputs: Tensor, trained: bool = True, learns: bool = False) -> Tensor:
        """Return the outputs of ``features``, ``head`` or the ``WHOLE`` network; for the options see ``bind``."""
        self.work.bind(w.reshape(-1), trained, learns)
        part, samples, chunk = self._part(name), inputs[0], self._chunk(inputs)
        if torch.is_grad_enabled() or len(samples) <= chunk:
            return part(samples).unsqueeze(0)
        return torch.cat([part(piece) for piece in samples.split(chunk)]).unsqueeze(0)

    def _part(self, name: str) -> Part:
        part = getattr(self.work.module, name, None) if name else self.work.module
        if part is None:
            raise EmpiricsError(f"{self.name} has no {name}: its module must be made of features and head")
        return part

    def _checked(self, inputs: Tensor) -> Tensor:
        """Return inputs in the network's precision; raise if their shape is not the expected one.

        Integer inputs (codes of a text) are not checked. Flat inputs may have any shape of the expected size.
        """
        expected, shape = self.input_shape, tuple(inputs.shape[2:])
        if not inputs.is_floating_point():
            return inputs
        if expected is None or shape == expected or (len(expected) == 1 and math.prod(shape) == expected[0]):
            return inputs.to(self.dtype)
        raise EmpiricsError(f"{self.name} takes samples of shape {expected}; got {shape}")

    def _chunk(self, inputs: Tensor) -> int:
        """Number of samples per chunk when no gradient is needed: on a GPU, few samples at once would leave it idle."""
        return self.chunk if inputs.device.type == "cpu" else max(self.chunk, ON_A_GPU)

    # ---- losses ----

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every sample ``(1, batch)``."""
        return self.loss.losses(output.squeeze(0), targets[0]).unsqueeze(0)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the correctness of every sample ``(1, batch)``: a truth value, or a share of several targets."""
        return self.loss.correct(output[0], targets[0]).unsqueeze(0)

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the weighted mean loss of a batch ``(1,)``."""
        inputs, targets, weight = batch
        output = self.apply_part(WHOLE, w, self._checked(inputs), learns=True)[0]
        if weight is None:
            return self.loss.mean(output, targets[0]).view(1)
        return (self.loss.losses(output, targets[0]) * weight[0].to(output.dtype)).sum().view(1)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the gradient of ``task_loss`` ``(1, dim)``.

        Differentiating in leaves that are views of the row, and concatenating the gradients, takes 5 % less time than
        differentiating in the row, and no more than accumulating gradients in views of a flat buffer.
        """
        with torch.enable_grad():
            loss = self.task_loss(w.detach(), batch)
        gradients = torch.autograd.grad(loss, self.work.views, allow_unused=True, materialize_grads=True)
        gradient = flatten(gradients).unsqueeze(0)
        return gradient if self.trained == self.dim else F.pad(gradient, (0, self.dim - self.trained))

    @torch.no_grad()
    def evaluate(self, w: Tensor, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return ``losses`` and ``correct``, both ``(1, batch)``, with the outputs of one chunk at a time in memory."""
        self._checked(inputs)
        chunk, losses, correct = self._chunk(inputs), [], []
        for x, y in zip(inputs.split(chunk, 1), targets.split(chunk, 1), strict=True):
            output = self.output(w, x)
            losses.append(self.losses(output, y))
            correct.append(self.correct(output, y))
        return torch.cat(losses, 1), torch.cat(correct, 1)


@dataclass(frozen=True, eq=False)
class Frozen:
    """A network at fixed parameters, such as the teacher of a distillation: ``inputs`` are ``(1, batch, ...)``."""

    net: Network
    vector: Tensor

    def output(self, inputs: Tensor) -> Tensor:
        return self.net.apply_part(WHOLE, self.vector, self.net._checked(inputs), trained=False)

    def features(self, inputs: Tensor) -> Tensor:
        return self.net.apply_part("features", self.vector, self.net._checked(inputs), trained=False)

    def head(self, z: Tensor) -> Tensor:
        return self.net.apply_part("head", self.vector, z, trained=False)


# ---- modules that compute with rows ----

RUNNING = ("running_mean", "running_var")
"""Names of the running statistics of batch norm."""


class FlatModule:
    """A module that computes with any flat row of weights; ``shapes`` lists the row's parts by name, in order.

    The first ``trained`` columns are parameters (shared ones occur once); running statistics of batch norm follow.
    While ``learning``, a pass may normalise by the batch and update the statistics; otherwise it normalises by them.
    """

    def __init__(self, module: nn.Module) -> None:
        self.module, self.learning = module, False
        shapes = {name: p.shape for name, p in module.named_parameters()}
        self.trained = sum(shape.numel() for shape in shapes.values())
        norms = [(name, part) for name, part in module.named_modules() if isinstance(part, _BatchNorm)]
        shapes |= {f"{name}.{kind}": getattr(part, kind).shape for name, part in norms for kind in RUNNING}
        self._statistics = [(part, kind) for _, part in norms for kind in RUNNING]
        self.shapes: Mapping[str, torch.Size] = shapes
        self.views: list[Tensor] = []
        self._sizes = [shape.numel() for shape in self.shapes.values()]
        self._places = _places(module)
        for part in module.modules():
            if isinstance(part, nn.RNNBase):
                part.flatten_parameters = _do_nothing  # type: ignore[method-assign]

    def bind(self, row: Tensor, trained: bool = True, learns: bool = False) -> None:
        """Let the module compute with ``row (dim,)``, including later changes of the row in place.

        If the row is part of an autograd graph, its views are too. Otherwise the ``views`` are leaves, which require
        gradients unless ``trained`` is False. Nothing is copied, and older graphs stay valid, since they hold their own
        views. Only a row that ``learns`` updates its statistics in a pass; the teacher of a distillation does not.
        """
        for part, _ in self._statistics:
            part.training = learns and self.learning and torch.is_grad_enabled()
        in_graph = row.requires_grad or torch._C._are_functorch_transforms_active()
        views = [piece.view(shape) for piece, shape in zip(row.split(self._sizes), self.shapes.values(), strict=True)]
        views, statistics = views[: len(self._places)], views[len(self._places) :]
        for (part, kind), view in zip(self._statistics, statistics, strict=True):
            part._buffers[kind] = view.detach()
        if trained and not in_graph:
            for view in views:
                view.requires_grad_()
        for places, view in zip(self._places, views, strict=True):
            for parameters, key in places:
                parameters[key] = view
        self.views = views


def _do_nothing() -> None:
    """Replaces a method that, on a GPU, would move the weights of a recurrent network out of the row."""


def _places(module: nn.Module) -> list[list[tuple[dict[str, Any], str]]]:
    """Return for each parameter the submodules' dictionaries and keys that hold it, several for a shared one."""
    places: dict[int, list[tuple[dict[str, Any], str]]] = {}
    for part in module.modules():
        for key, parameter in part._parameters.items():
            if parameter is not None:
                places.setdefault(id(parameter), []).append((part._parameters, key))
    return list(places.values())
