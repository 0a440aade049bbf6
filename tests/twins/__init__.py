"""The slow twin of every bound: the formula re-read from its paper, in plain loops over Python floats.

A twin has the name of its bound and takes a point's values by the names of quantities; those of one line stand in
``LINES``, and what begins with ``_`` is a piece that several share. Nothing comes from ``bounds``.
"""

from inspect import isfunction
from types import ModuleType

from . import classics, decaying_k, fedals, fedcog, fedinit


def _read(paper: str, module: ModuleType):
    read = {name: f for name, f in vars(module).items() if isfunction(f) and f.__module__ == module.__name__}
    read |= module.LINES
    return {f"{paper}.{name}": twin for name, twin in read.items() if not name.startswith("_")}


TWINS = {
    **_read("fedals", fedals),
    **_read("fedinit", fedinit),
    **fedinit.COSTS,
    **_read("decaying_k", decaying_k),
    **_read("fedcog", fedcog),
    **_read("classics", classics),
}
