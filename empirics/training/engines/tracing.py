"""Checks whether local work can be recorded once and replayed, by a rehearsal.

A recording repeats the same operations on the same places in memory. It would be wrong if Python used a number that
changes from round to round, and is impossible if the device must wait for the host. The rehearsal makes such numbers
unreadable and refuses such operations.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

REFUSED = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape, torch.Tag.nondeterministic_seeded)
DROPOUT = ("dropout", "dropout_p")
INDEXING = ("aten::index", "aten::index_put_", "aten::index_put")  # of dynamic shape for masks alone


class Untraceable(Exception):
    """Local work that cannot be recorded; the message is the reason."""


class Unreadable:
    """Replaces a value that differs from round to round; it may be sliced and passed on, but not used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, part: slice) -> Unreadable:
        return self

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Untraceable(f"{self.name} is used in local steps")

    __array__ = __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __floordiv__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = _refuse


class ActiveRows:
    """Replaces the memory of all clients by the active clients' rows, which only ``Work.recall`` can read."""

    def __init__(self, name: str, rows: Tensor, active: Tensor) -> None:
        self.name, self.rows, self.active = name, rows, active

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, Tensor) and index.data_ptr() == self.active.data_ptr():
            return self.rows[: len(index)]
        raise Untraceable(f"all clients' {self.name} is used in local steps")

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"all clients' {self.name} is used in local steps")


class FixedState:
    """A state whose tensors stay at the same place in memory while their values change."""

    def __init__(self, model: Tensor, memory: Mapping[str, Any], server: Mapping[str, Tensor]) -> None:
        self.model, self.memory, self.server = model, memory, server
        self.round, self.losses = Unreadable("the round"), Unreadable("the losses so far")


class Rehearsal(TorchDispatchMode):
    """Raises ``Untraceable`` at operations that give values to Python, draw random numbers, or change the device."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = function._schema.name
        if name in INDEXING:
            refused = any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
        else:
            refused = any(tag in function.tags for tag in REFUSED) and not has_no_dropout(function, args, kwargs)
        if refused or _changes_device(args, kwargs):
            raise Untraceable(f"{name} in local steps")
        return function(*args, **kwargs)


def has_no_dropout(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether a function draws random numbers only for dropout, and its dropout is 0 (recurrent layers, attention)."""
    parameters = function._schema.arguments
    values = {one.name: one.default_value for one in parameters if one.has_default_value()}
    values |= {one.name: value for one, value in zip(parameters, args, strict=False)} | kwargs
    tags = set(function.tags) & set(REFUSED)
    return tags == {torch.Tag.nondeterministic_seeded} and any(values.get(name) == 0 for name in DROPOUT)


def _changes_device(args: Any, kwargs: Any) -> bool:
    """Whether tensors are copied to another device; numbers wrapped into tensors do not count."""
    devices = {value.device.type for value in args if isinstance(value, Tensor) and value.ndim}
    if isinstance(kwargs.get("device"), torch.device) and devices:
        devices.add(kwargs["device"].type)
    return len(devices) > 1
