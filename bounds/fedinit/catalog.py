"""``BOUNDS``: every bound of FedInit, by theorem family in the order of the paper."""

from __future__ import annotations

from ..core import Bound, declared
from . import constants, costs, divergence, optimization, orders, repaired, sharp, stability

BOUNDS = declared(Bound, constants, optimization, divergence, stability, orders, costs, repaired, sharp)
