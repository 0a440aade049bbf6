"""FedInit: every bound, order, cap and cost of the paper, collected from its theorem families."""

from __future__ import annotations

from ..core import Bound, declared
from . import constants, costs, divergence, optimization, orders, repaired, sharp, stability

BOUNDS = declared(Bound, constants, optimization, divergence, stability, orders, costs, repaired, sharp)
