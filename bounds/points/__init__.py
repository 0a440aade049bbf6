"""A generic point for every bound of the catalogue: inside domain and conditions, no 0, no 1, no equal inputs.

A paper has one number for every quantity, and other ones for the bounds whose conditions they would not meet.
"""

from typing import Any

from ..catalog import BOUNDS
from . import classics, decaying_k, fedals, fedcog, fedinit

_PAPERS = {"classics": classics, "decaying_k": decaying_k, "fedals": fedals, "fedcog": fedcog, "fedinit": fedinit}


def _point(name: str) -> dict[str, Any]:
    paper = _PAPERS[name.partition(".")[0]]
    numbers = {**paper.EVERY, **paper.SPECIAL.get(name, {})}
    return {q.name: numbers[q.name] for q in BOUNDS[name].quantities}


POINTS = {name: _point(name) for name in BOUNDS}
