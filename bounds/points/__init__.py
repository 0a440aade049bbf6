"""Sample values for every bound of the catalogue: inside domain and conditions, and without 0, 1 or equal numbers.

The module of a paper has a number for every quantity (``EVERY``), and other numbers for single bounds (``POINTS``).
"""

from typing import Any

from ..catalog import BOUNDS
from ..core import Bound
from . import classics, decaying_k, fedals, fedcog, fedinit

PAPERS = {"fedals": fedals, "fedinit": fedinit, "decaying_k": decaying_k, "fedcog": fedcog, "classics": classics}


def _point(bound: Bound) -> dict[str, Any]:
    paper, needed = PAPERS[bound.source.paper], {q.name for q in bound.quantities}
    numbers = paper.EVERY | paper.POINTS.get(bound.name, {})
    return {word: number for word, number in numbers.items() if word in needed}


POINTS = {name: _point(bound) for name, bound in BOUNDS.items()}
