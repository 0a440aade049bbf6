"""Decaying-K (Mills, Hu, Min): how many local steps, for how long; every statement of the paper, by theorem family.

The runtime model is in ``runtime``, Theorem 1 and the bound per second (8) in ``convergence``
(repaired in ``repairs``, sharpened in ``sharp``), the best K and eta in ``optima`` and the derivatives in
``derivatives``, the loss estimate in ``practice`` and the schedules of Table 3 in ``schedules``. The import block of
each is its notation table.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """``BOUNDS``, all of this paper, when they are asked for: training needs a schedule, and loads no theorem."""
    if name != "BOUNDS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ..core import Bound, declared
    from . import convergence, derivatives, optima, practice, repairs, runtime, schedules, sharp

    found = globals()["BOUNDS"] = declared(
        Bound, runtime, convergence, repairs, sharp, optima, derivatives, practice, schedules
    )
    return found
