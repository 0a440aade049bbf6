"""FedInit (Sun, Shen, Tao): its claims, by section."""

from __future__ import annotations

from ..claim import Claim
from . import (
    algorithm,
    assumptions,
    costs,
    divergence,
    excess,
    generalization,
    instances,
    lemmas,
    optimization,
    orders,
    remarks,
    samples_and_steps,
    separation,
    settings,
    stability,
    tables,
    theorem_2,
    theorem_5,
    times,
    worst_cases,
)

CLAIMS: tuple[Claim, ...] = (
    *assumptions.CLAIMS,
    *algorithm.CLAIMS,
    *lemmas.CLAIMS,
    *optimization.CLAIMS,
    *theorem_2.CLAIMS,
    *divergence.CLAIMS,
    *theorem_5.CLAIMS,
    *stability.CLAIMS,
    *separation.CLAIMS,
    *generalization.CLAIMS,
    *samples_and_steps.CLAIMS,
    *orders.CLAIMS,
    *excess.CLAIMS,
    *remarks.CLAIMS,
    *instances.CLAIMS,
    *worst_cases.CLAIMS,
    *tables.CLAIMS,
    *costs.CLAIMS,
    *times.CLAIMS,
    *settings.CLAIMS,
)
