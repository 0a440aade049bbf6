"""``BOUNDS``: every bound of FedCOG, by theorem family in the order of the paper."""

from __future__ import annotations

from ..core import Bound, declared
from . import method, proof

BOUNDS = declared(Bound, proof, method)
