"""FedCOG: the steps of the proof (``proof``), the method with its theorem (``method``), labels in whole numbers."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """``BOUNDS``, all of this paper, when they are asked for: training needs a schedule, and loads no theorem."""
    if name != "BOUNDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ..core import Bound, declared
    from . import method, proof

    found = globals()["BOUNDS"] = declared(Bound, proof, method)
    return found
