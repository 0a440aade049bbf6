"""A device that only pretends to be foreign, so that code for GPUs can be tested on a CPU.

Its tensors hold CPU numbers and report another device. As on a GPU, an operation that is given tensors of both devices
fails, unless one of them is a single number on the CPU, and so does reading numbers without bringing them back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import return_and_correct_aliasing, TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

PRETENDED = torch.device("meta")
"""The one foreign device type with which every build of torch computes gradients."""
CROSSING = ("aten::_to_copy", "aten::copy_", "aten::index", "aten::index_put_")
"""Operations that may see tensors of both devices: copies, and indexing by numbers that lie on the CPU."""
READING = ("aten::_local_scalar_dense", "aten::equal", "aten::is_nonzero")
"""Operations that bring a number back."""


class Pretended(Tensor):
    """A tensor of the pretended device; ``held`` is what it holds."""

    held: Tensor

    @staticmethod
    def __new__(cls, held: Tensor) -> Pretended:
        made: Pretended = torch.Tensor._make_wrapper_subclass(
            cls, held.size(), strides=held.stride(), storage_offset=held.storage_offset(),
            dtype=held.dtype, layout=held.layout, device=PRETENDED,
        )  # fmt: skip
        made.held = held
        return made

    def __init__(self, held: Tensor) -> None:
        pass

    def __repr__(self) -> str:
        return f"Pretended({self.held!r})"

    def data_ptr(self) -> int:
        return self.held.data_ptr()

    # torch reads single numbers past the dispatcher, with a guard for a device that is not there.

    def __float__(self) -> float:
        return float(read(self))

    def __int__(self) -> int:
        return int(read(self))

    def __bool__(self) -> bool:
        return bool(read(self))

    def __index__(self) -> int:
        return read(self).__index__()

    def item(self) -> Any:
        return read(self).item()

    def tolist(self) -> Any:
        return read(self).tolist()

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return run(function, args, kwargs or {})


def run(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The operation on what the tensors hold; the result lies where theirs do, or where it is asked for."""
    flat = tree_flatten((args, kwargs))[0]
    tensors = [each for each in flat if isinstance(each, Tensor)]
    there = [each for each in tensors if isinstance(each, Pretended)]
    name = function._schema.name
    asked = kwargs.get("device")
    if name in READING:
        return function(*held(args), **held(kwargs))
    if there and name not in CROSSING:
        mixed = [each for each in tensors if not isinstance(each, Pretended) and each.ndim]
        if mixed:
            shapes = [tuple(each.shape) for each in mixed]
            raise RuntimeError(f"{name}: tensors of the device and CPU tensors of shapes {shapes} are mixed")
    foreign = bool(there) if asked is None else torch.device(asked).type == PRETENDED.type
    if name == "aten::copy_":
        foreign = isinstance(args[0], Pretended)
    inside = dict(kwargs)
    if asked is not None:
        inside["device"] = torch.device("cpu")
    found = function(*held(args), **held(inside))
    if not foreign:
        return found
    if name == "aten::_to_copy" and not there:
        found = tree_map(lambda x: x.clone() if isinstance(x, Tensor) else x, found)  # never shared with the CPU's
    made = tree_map(lambda x: Pretended(x) if isinstance(x, Tensor) and not isinstance(x, Pretended) else x, found)
    return return_and_correct_aliasing(function, args, kwargs, made) if there else made


def read(tensor: Tensor) -> Tensor:
    """The numbers of a tensor on the CPU, for Python to look at."""
    torch.ops.aten._local_scalar_dense(torch.zeros(()))  # a rehearsal of a recording must see that they are looked at
    return tensor.held if isinstance(tensor, Pretended) else tensor


def held(tree: Any) -> Any:
    return tree_map(lambda x: x.held if isinstance(x, Pretended) else x, tree)


class Interception(TorchDispatchMode):
    """Catches what asks for the pretended device without a tensor that lies there."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        asked = kwargs.get("device")
        if any(isinstance(each, Pretended) for each in tree_flatten((args, kwargs))[0]) or (
            asked is not None and torch.device(asked).type == PRETENDED.type
        ):
            return run(function, args, kwargs)
        return function(*args, **kwargs)


class MadeHere(TorchFunctionMode):
    """Has tensors of Python's numbers made on the CPU and brought to the device, past which torch would make them."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        asked = kwargs.get("device")
        made = function in (torch.tensor, torch.as_tensor, torch.asarray)
        if function is torch.Tensor.new_tensor and isinstance(args[0], Pretended):
            return torch.tensor(args[1], **{"dtype": args[0].dtype} | kwargs).to(PRETENDED)
        if made and asked is not None and torch.device(asked).type == PRETENDED.type:
            del kwargs["device"]
            return function(*args, **kwargs).to(PRETENDED)
        return function(*args, **kwargs)


@contextmanager
def pretended() -> Iterator[torch.device]:
    """The device, there while the context lasts."""
    with MadeHere(), Interception():
        yield PRETENDED
