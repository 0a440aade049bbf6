"""The slow twin of every bound: the formula re-read from its paper, in plain loops over Python floats.

A twin has the name of its bound and takes a point's values by the names of quantities; those of one line stand in
``LINES``, and what begins with ``_`` is a piece that several share. Nothing comes from ``bounds``.
"""

from inspect import isfunction
from types import ModuleType

from . import classics, decaying_k, fedals, fedals_noise, fedals_one_round, fedals_participation, fedcog, fedinit


def _read(paper: str, *modules: ModuleType):
    read = {name: f for m in modules for name, f in vars(m).items() if isfunction(f) and f.__module__ == m.__name__}
    read |= {name: f for m in modules for name, f in getattr(m, "LINES", {}).items()}
    return {f"{paper}.{name}": twin for name, twin in read.items() if not name.startswith("_")}


TWINS = {
    **_read("fedals", fedals, fedals_noise, fedals_one_round, fedals_participation),
    **_read("fedinit", fedinit),
    **fedinit.COSTS,
    **_read("decaying_k", decaying_k),
    **_read("fedcog", fedcog),
    **_read("classics", classics),
}
