"""``BOUNDS``: every bound of Decaying-K, by theorem family in the order of the paper."""

from __future__ import annotations

from ..core import Bound, declared
from . import convergence, derivatives, optima, practice, repairs, runtime, schedules, sharp

BOUNDS = declared(Bound, runtime, convergence, repairs, sharp, optima, derivatives, practice, schedules)
