"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import algorithm, corollary, drift, generation, labels, proofs, tables, theorem

SECTIONS = (generation, labels, algorithm, proofs, drift, theorem, corollary, tables)
CLAIMS: tuple[Claim, ...] = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
