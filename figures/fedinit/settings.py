"""Tables 6 and 7 as data: what the paper runs, and the coefficients it chose; the grids are built from these."""

from __future__ import annotations

import json

from paper_checks.reported import table

METHODS = {
    "FedAvg": "fedavg()",
    "FedAdam": "fedadam(server_step_size=0.1)",
    "FedSAM": "fedsam(rho=0.1)",
    "SCAFFOLD": "scaffold()",
    "FedDyn": "feddyn(alpha=0.1)",
    "FedCM": "fedcm(alpha=0.1)",
    "FedInit": "fedinit(beta=0.1)",
}
"""The compared methods in the order of Table 1, with the coefficients of Table 7."""

SETUPS = {"10%-100": (100, 10), "5%-200": (200, 10)}
"""Clients in all and per round."""


def listed(row: str) -> list[float]:
    """A row of Table 6 that holds several values to choose from."""
    return [float(x) for x in json.loads(table("fedinit", "Table 6")[row, "selection"].value)]
