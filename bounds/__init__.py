"""What the papers say: every bound as a frozen object that can be evaluated, minimised and printed.

Names are loaded when they are first asked for: reading the list of bounds then needs neither SymPy nor NumPy.
"""

from importlib import import_module
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from .assumptions import Assumption, ASSUMPTIONS
    from .catalog import BOUNDS, get
    from .core import About, Bound, Condition, Statistic
    from .operators import ClassMax, ClassSum, ClientMax, ClientMean, ClientSum
    from .papers import Paper, PAPERS, Source
    from .quantities import Quantity, quantity

_HOMES = {
    "assumptions": ("ASSUMPTIONS", "Assumption"),
    "catalog": ("BOUNDS", "get"),
    "core": ("About", "Bound", "Condition", "Statistic"),
    "operators": ("ClassMax", "ClassSum", "ClientMax", "ClientMean", "ClientSum"),
    "papers": ("PAPERS", "Paper", "Source"),
    "quantities": ("Quantity", "quantity"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f".{module}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


__all__ = [
    "ASSUMPTIONS",
    "BOUNDS",
    "PAPERS",
    "About",
    "Assumption",
    "Bound",
    "ClassMax",
    "ClassSum",
    "ClientMax",
    "ClientMean",
    "ClientSum",
    "Condition",
    "Paper",
    "Quantity",
    "Source",
    "Statistic",
    "get",
    "quantity",
]
