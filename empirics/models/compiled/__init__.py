"""Compiled forward and backward passes on CPUs, for linear models and networks of convolutions and dense layers.

``compiled(model)`` returns the same model over flat rows, several times as fast for networks; its numbers agree with
torch's to rounding. Everything is imported on first use, and without numba torch computes instead. Start with the
models, ``network.py`` and ``linear.py``; ``docs/explanation/compiled.md`` explains the design.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from threading import Timer
from typing import Any

from ...errors import EmpiricsError

ENGINES = ("torch", "compiled-2")
"""Names of the two implementations in the keys of runs. The number increases whenever last bits may change."""

SLOW = 1.0  # seconds; loading cached code takes less


class NotServed(EmpiricsError):
    """A model cannot be compiled; the message is the reason in one line."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the model runs on torch alone: {reason}")


def compiled(model: Any) -> Any:
    """Return ``model`` with compiled passes; raise ``NotServed`` if it is not supported or numba is missing."""
    from ..linear import Linear
    from ..network import Network

    if engine_of(model) != "torch":
        return model
    if isinstance(model, Linear):
        linear = load_module("linear")
        if type(model) not in linear.SERVED:
            raise NotServed(f"it is {type(model).__name__}")
        return linear.of(model)
    if type(model) is not Network:  # a subclass may override methods
        network = isinstance(model, Network)
        raise NotServed(f"it is {type(model).__name__}" if network else "it is neither a network nor a linear model")
    from .layers import refuse_unserved

    refuse_unserved(model)
    return load_module("network").CompiledNetwork.of(model)


def load_module(name: str) -> Any:
    """Import the module ``network`` or ``linear``; raise ``NotServed`` if numba is missing or broken."""
    try:
        return import_module(f".{name}", __name__)
    except Exception as error:  # a broken installation can raise anything
        first = (str(error).splitlines() or [""])[0]
        raise NotServed(f"numba cannot be loaded: {type(error).__name__}: {first}") from None


def prepare(model: Any, slow: Callable[[], object]) -> None:
    """Compile a model's passes or load them from the cache; call ``slow`` if this takes more than a second."""
    timer = Timer(SLOW, slow)
    timer.daemon = True
    timer.start()
    try:
        model.load()
    finally:
        timer.cancel()


def engine_of(model: Any) -> str:
    """Return which of ``ENGINES`` computes for a model."""
    return ENGINES[-1] if getattr(model, "compiled", False) else ENGINES[0]
