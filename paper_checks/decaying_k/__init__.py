"""Decaying-K (Mills, Hu, Min): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import assumptions, derivatives, optima, practice, proofs, remarks, runtime, settings, setup, tables, theorem

CLAIMS: tuple[Claim, ...] = (
    *setup.CLAIMS,
    *runtime.CLAIMS,
    *assumptions.CLAIMS,
    *theorem.CLAIMS,
    *optima.CLAIMS,
    *remarks.CLAIMS,
    *practice.CLAIMS,
    *tables.CLAIMS,
    *settings.CLAIMS,
    *proofs.CLAIMS,
    *derivatives.CLAIMS,
)
