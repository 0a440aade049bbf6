"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import corollary, drift, generation, labels, proofs, theorem

CLAIMS: tuple[Claim, ...] = (
    *generation.CLAIMS,
    *labels.CLAIMS,
    *proofs.CLAIMS,
    *drift.CLAIMS,
    *theorem.CLAIMS,
    *corollary.CLAIMS,
)
