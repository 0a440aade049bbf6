"""FedInit (Sun, Shen, Tao): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import costs, divergence, excess, generalization, lemmas, optimization, orders, stability, tables

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
)
