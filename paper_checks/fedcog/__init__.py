"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import proofs

CLAIMS: tuple[Claim, ...] = (*proofs.CLAIMS,)
