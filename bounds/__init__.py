"""The theorems of the papers as objects that can be evaluated, minimised, solved for a quantity, and printed.

Start with ``get("fedals.one_round")`` or the mapping ``BOUNDS``; ``core.Bound`` lists what a bound can do, and
``statement.Statement`` what it consists of. To read one theorem, open its paper's folder: ``fedals``, ``fedinit``,
``decaying_k``, ``fedcog``, and ``classics`` for the theorems of other papers. ``vocabulary`` declares all quantities,
``assumptions`` all named assumptions. ``scenario`` describes a federation once, so that every bound can be evaluated
there; ``bounded_quantity`` says which bounds may be compared. ``numerics`` evaluates formulas and ``showing`` prints
them and reads the command line.

Names are imported on first use, so that listing the bounds needs neither SymPy nor NumPy.
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
    "ASSUMPTIONS", "BOUNDS", "PAPERS", "About", "Assumption", "Bound", "ClassMax", "ClassSum", "ClientMax",
    "ClientMean", "ClientSum", "Condition", "Paper", "Quantity", "Source", "Statistic", "get", "quantity",
]  # fmt: skip
