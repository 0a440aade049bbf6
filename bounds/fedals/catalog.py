"""``BOUNDS``: every bound of FedALS, by theorem family in the order of the paper."""

from __future__ import annotations

from ..core import Bound, declared
from . import inexact, noise, one_round, participation, quadratic, rounds

BOUNDS = declared(Bound, one_round, inexact, participation, rounds, noise, quadratic)
