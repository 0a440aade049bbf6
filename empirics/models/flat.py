"""A module whose parameters and running statistics are views of a flat row that can be exchanged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn, Tensor
from torch.nn.modules.batchnorm import _BatchNorm

STATISTICS = ("running_mean", "running_var")


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
        shapes |= {f"{name}.{kind}": getattr(part, kind).shape for name, part in norms for kind in STATISTICS}
        self._statistics = [(part, kind) for _, part in norms for kind in STATISTICS]
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
