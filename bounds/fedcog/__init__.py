"""FedCOG: the steps of the proof (``proof``), the method with its theorem (``method``), labels in whole numbers."""

from __future__ import annotations

from ..core import Bound, declared
from . import method, proof

BOUNDS = declared(Bound, proof, method)
