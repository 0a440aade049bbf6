"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import one_round

CLAIMS: tuple[Claim, ...] = one_round.CLAIMS
