"""Whether local work can be recorded once and replayed: rehearsed with what must not be baked in made unreadable.

A recording repeats the same operations on the same places in memory. It is wrong wherever Python saw a number that
changes from round to round, and impossible where the device must wait for the host. Both are refused in a rehearsal.
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
    """Local work that has to run anew every time, and why."""


class Unseen:
    """Stands for a value that differs from round to round: it may be sliced and passed on, not used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, chosen: slice) -> Unseen:
        return self

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise Untraceable(f"{self.name} is used in local steps")

    __array__ = __index__ = __int__ = __float__ = __bool__ = __len__ = __iter__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __truediv__ = __floordiv__ = _refuse
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = _refuse


class ActiveRows:
    """The active clients' rows in the place of a whole memory, which only ``Work.recall`` knows how to read."""

    def __init__(self, name: str, rows: Tensor, active: Tensor) -> None:
        self.name, self.rows, self.active = name, rows, active

    def __getitem__(self, index: Any) -> Tensor:
        if isinstance(index, Tensor) and index.data_ptr() == self.active.data_ptr():
            return self.rows[: len(index)]
        raise Untraceable(f"all clients' {self.name} is used in local steps")

    def __getattr__(self, name: str) -> Any:
        raise Untraceable(f"all clients' {self.name} is used in local steps")


class StillState:
    """A state whose tensors stay where they are while their values change."""

    def __init__(self, model: Tensor, memory: Mapping[str, Any], server: Mapping[str, Tensor]) -> None:
        self.model, self.memory, self.server = model, memory, server
        self.round, self.losses = Unseen("the round"), Unseen("the losses so far")


class Rehearsal(TorchDispatchMode):
    """Raises ``Untraceable`` at operations that depend on values in Python, draw random numbers, or change devices."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = function._schema.name
        if name in INDEXING:
            masks = [i for i in args[1] if i is not None and i.dtype in (torch.bool, torch.uint8)]
            refused = bool(masks)
        else:
            refused = any(tag in function.tags for tag in REFUSED) and not draws_nothing(function, args, kwargs)
        if refused or _moves(args, kwargs):
            raise Untraceable(f"{name} in local steps")
        return function(*args, **kwargs)


def draws_nothing(function: Any, args: Any, kwargs: Any) -> bool:
    """Whether it would draw numbers for dropout alone, of which there is none: recurrent layers, attention."""
    declared = function._schema.arguments
    given = {one.name: one.default_value for one in declared if one.has_default_value()}  # defaults are left out
    given |= {one.name: value for one, value in zip(declared, args, strict=False)} | kwargs
    tags = set(function.tags) & set(REFUSED)
    return tags == {torch.Tag.nondeterministic_seeded} and any(given.get(name) == 0 for name in DROPOUT)


def _moves(args: Any, kwargs: Any) -> bool:
    """Whether tensors of one device become tensors of another; numbers wrapped into tensors do not count."""
    devices = {value.device.type for value in args if isinstance(value, Tensor) and value.ndim}
    if isinstance(kwargs.get("device"), torch.device) and devices:
        devices.add(kwargs["device"].type)
    return len(devices) > 1
