"""FedALS (Gholami, Seferoglu), versions 1 and 2: its claims, by section."""

from __future__ import annotations

from ..claim import Claim
from . import (
    algorithms,
    communication,
    controls,
    definitions,
    discussion,
    inexact,
    local_steps,
    needed,
    one_round,
    one_round_proof,
    participation,
    participation_bounds,
    rounds,
    rounds_proof,
    searches,
    settings,
    splits,
    tables,
)

CLAIMS: tuple[Claim, ...] = (
    *definitions.CLAIMS,
    *one_round.CLAIMS,
    *discussion.CLAIMS,
    *one_round_proof.CLAIMS,
    *needed.CLAIMS,
    *inexact.CLAIMS,
    *rounds.CLAIMS,
    *rounds_proof.CLAIMS,
    *local_steps.CLAIMS,
    *participation.CLAIMS,
    *participation_bounds.CLAIMS,
    *searches.CLAIMS,
    *algorithms.CLAIMS,
    *controls.CLAIMS,
    *settings.CLAIMS,
    *communication.CLAIMS,
    *tables.CLAIMS,
    *splits.CLAIMS,
)
