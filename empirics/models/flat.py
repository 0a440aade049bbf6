"""A module without parameters or running statistics of its own: they are views of whichever flat row it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn, Tensor
from torch.nn.modules.batchnorm import _BatchNorm

STATISTICS = ("running_mean", "running_var")


class FlatModule:
    """A work module; ``shapes`` gives its parameters' shapes by name in the order of a row (shared ones count once).

    Running statistics of batch norm come behind the first ``trained`` columns, those of the parameters. While
    ``learning``, a row's pass may normalise by the batch and renew the statistics; otherwise it normalises by them.
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
                part.flatten_parameters = _stay  # type: ignore[method-assign]

    def bind(self, row: Tensor, trained: bool = True, learns: bool = False) -> None:
        """Let the module compute with ``row (dim,)``; later changes of the row in place are seen as well.

        Views of a row that is part of an autograd graph are part of it too. Other views are leaves (``views``), which
        require gradients unless ``trained`` is False. Nothing is copied, and a graph made before stays valid: it holds
        the views it was made with. Only a row that ``learns`` from the pass renews its statistics: no teacher does.
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


def _stay() -> None:
    """Instead of a method that on a GPU moves the weights of a recurrent network out of the row."""


def _places(module: nn.Module) -> list[list[tuple[dict[str, Any], str]]]:
    """Where each parameter hangs: (a submodule's dictionary of parameters, key), several for a shared one."""
    places: dict[int, list[tuple[dict[str, Any], str]]] = {}
    for part in module.modules():
        for key, parameter in part._parameters.items():
            if parameter is not None:
                places.setdefault(id(parameter), []).append((part._parameters, key))
    return list(places.values())
