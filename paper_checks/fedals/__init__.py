"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import one_round, splits, tables

CLAIMS: tuple[Claim, ...] = (*one_round.CLAIMS, *tables.CLAIMS, *splits.CLAIMS)
