"""Decaying-K (Mills, Hu, Min): its claims, by section."""

from __future__ import annotations

from ..claim import Claim
from . import (
    assumptions,
    derivatives,
    lemma_1,
    lemma_2,
    optima,
    practice,
    proofs,
    remarks,
    remarks_optima,
    runtime,
    settings,
    setup,
    step_size,
    table_3,
    table_4,
    tables,
    theorem,
    worst_cases,
)

CLAIMS: tuple[Claim, ...] = (
    *setup.CLAIMS,
    *runtime.CLAIMS,
    *assumptions.CLAIMS,
    *theorem.CLAIMS,
    *remarks.CLAIMS,
    *optima.CLAIMS,
    *step_size.CLAIMS,
    *remarks_optima.CLAIMS,
    *practice.CLAIMS,
    *table_3.CLAIMS,
    *tables.CLAIMS,
    *table_4.CLAIMS,
    *settings.CLAIMS,
    *lemma_1.CLAIMS,
    *lemma_2.CLAIMS,
    *proofs.CLAIMS,
    *derivatives.CLAIMS,
    *worst_cases.CLAIMS,
)
