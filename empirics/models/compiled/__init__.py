"""Networks of convolutions, pooling, ReLU and dense layers, and linear models, by compiled passes on a CPU.

``compiled(model)`` is the same model over flat rows, networks several times as fast; its numbers agree with torch's to
rounding. Nothing here is loaded before it is used, and without numba all runs on torch.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from threading import Timer
from typing import Any

from ...errors import EmpiricsError

ENGINES = ("torch", "compiled-2")
"""What computes, by the names that cells have in their keys. The number is raised when the last bits may change."""

SLOW = 1.0  # seconds: loading what an earlier run compiled takes a fraction of one


class NotServed(EmpiricsError):
    """Why a model cannot be compiled, in one line."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the model runs on torch alone: {why}")


def compiled(model: Any) -> Any:
    """``model`` by compiled passes; raises ``NotServed`` where they do not serve it or numba is missing."""
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
        known = isinstance(model, Network)
        raise NotServed(f"it is {type(model).__name__}" if known else "it is neither a network nor a linear model")
    from .layers import refuse_unserved

    refuse_unserved(model)
    return loaded().CompiledNetwork.of(model)


def loaded(kind: str = "network") -> Any:
    """The module of compiled networks or ``linear`` models; raises ``NotServed`` where numba is missing or broken."""
    try:
        return import_module(f".{kind}", __name__)
    except Exception as error:  # an installation may be broken in any way
        first = (str(error).splitlines() or [""])[0]
        raise NotServed(f"numba cannot be loaded: {type(error).__name__}: {first}") from None


def prepare(model: Any, slow: Callable[[], object]) -> None:
    """Compile a model's passes, or load what was compiled before; ``slow`` is called when that takes a while."""
    timer = Timer(SLOW, slow)
    timer.daemon = True
    timer.start()
    try:
        model.load()
    finally:
        timer.cancel()


def kept() -> str:
    """Where compiled code is kept between runs, in words."""
    from .cache import folder

    place = folder()
    return f"kept in {place}" if place else "kept nowhere and compiled anew by every process: no folder can be written"


def engine_of(model: Any) -> str:
    """Which of ``ENGINES`` computes for a model."""
    return ENGINES[-1] if getattr(model, "compiled", False) else ENGINES[0]
