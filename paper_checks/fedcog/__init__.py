"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import corollary, drift, proofs, theorem

CLAIMS: tuple[Claim, ...] = (*proofs.CLAIMS, *drift.CLAIMS, *theorem.CLAIMS, *corollary.CLAIMS)
