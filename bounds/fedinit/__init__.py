"""FedInit: every bound, order, cap and cost of the paper, collected from its theorem families."""

from __future__ import annotations

from ..core import Bound
from . import constants, costs, divergence, optimization, orders, repaired, stability

BOUNDS: tuple[Bound, ...] = (
    *constants.BOUNDS,
    *optimization.BOUNDS,
    *divergence.BOUNDS,
    *stability.BOUNDS,
    *orders.BOUNDS,
    *costs.BOUNDS,
    *repaired.BOUNDS,
)
