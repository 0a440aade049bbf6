"""Networks of convolutions, pooling, ReLU and dense layers by compiled passes on a CPU.

``compiled(network)`` is the same model over flat rows, several times as fast; its numbers agree with torch's to
rounding. Nothing here is loaded before it is asked for, and without numba all runs on torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ...errors import EmpiricsError

ENGINES = ("torch", "compiled-1")
"""What computes, by the names that cells have in their keys. The number is raised when the last bits may change."""


class NotServed(EmpiricsError):
    """Why a model cannot be compiled, in one line."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the model runs on torch alone: {why}")


def compiled(model: Any) -> Any:
    """``model`` by compiled passes; raises ``NotServed`` where it is no network of their layers or numba is missing."""
    from ..linear import Linear
    from ..network import Network

    if engine_of(model) != "torch":
        return model
    if isinstance(model, Linear):
        linear = loaded("linear")
        if type(model) not in linear.SERVED:
            raise NotServed(f"it is {type(model).__name__}")
        return linear.of(model)
    if type(model) is not Network:  # a subclass may compute something else
        raise NotServed("it is no network" if not isinstance(model, Network) else f"it is {type(model).__name__}")
    from .layers import refuse_unserved

    refuse_unserved(model)
    return loaded().CompiledNetwork.of(model)


def loaded(kind: str = "network") -> Any:
    """The module of compiled networks, or of ``linear`` models; raises ``NotServed`` where numba is missing or broken."""
    try:
        module = import_module(f".{kind}", __name__)
    except Exception as error:  # an installation may be broken in any way
        first = (str(error).splitlines() or [""])[0]
        raise NotServed(f"numba cannot be loaded: {type(error).__name__}: {first}") from None
    return module


def engine_of(model: Any) -> str:
    """Which of ``ENGINES`` computes for a model."""
    return ENGINES[-1] if getattr(model, "compiled", False) else ENGINES[0]
