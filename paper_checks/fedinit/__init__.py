"""FedInit (Sun, Shen, Tao): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import (
    algorithm,
    costs,
    divergence,
    excess,
    generalization,
    instances,
    lemmas,
    optimization,
    orders,
    remarks,
    settings,
    stability,
    tables,
)

CLAIMS: tuple[Claim, ...] = (
    *lemmas.CLAIMS,
    *optimization.CLAIMS,
    *divergence.CLAIMS,
    *stability.CLAIMS,
    *generalization.CLAIMS,
    *orders.CLAIMS,
    *excess.CLAIMS,
    *tables.CLAIMS,
    *costs.CLAIMS,
    *remarks.CLAIMS,
    *settings.CLAIMS,
    *algorithm.CLAIMS,
    *instances.CLAIMS,
)
