"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from __future__ import annotations

from ..claims import Claim

CLAIMS: tuple[Claim, ...] = ()
