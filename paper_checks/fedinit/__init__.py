"""FedInit (Sun, Shen, Tao): its claims, by section."""

from __future__ import annotations

from ..claims import Claim

CLAIMS: tuple[Claim, ...] = ()
