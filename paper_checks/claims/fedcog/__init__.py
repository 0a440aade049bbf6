"""FedCOG (Ye, Du, Ni, Chen, Wang): its claims, by section."""

from __future__ import annotations

from ..claim import Claim
from . import (
    ablations,
    algorithm,
    corollary,
    costs,
    drift,
    generation,
    instances,
    labels,
    proofs,
    settings,
    tables,
    theorem,
    worst_cases,
)

SECTIONS = (
    generation,
    labels,
    algorithm,
    proofs,
    drift,
    theorem,
    corollary,
    instances,
    worst_cases,
    tables,
    ablations,
    costs,
    settings,
)
CLAIMS: tuple[Claim, ...] = tuple(claim for section in SECTIONS for claim in section.CLAIMS)
