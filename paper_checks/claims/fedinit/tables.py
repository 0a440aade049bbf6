"""Tables 1, 2 and 3, and the sentences that quote them, as printed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...reported import table
from ..checkers import exact, mean
from ..checkers.tables import Cell

METHODS = ("FedAvg", "FedAdam", "FedSAM", "SCAFFOLD", "FedDyn", "FedCM", "FedInit")
FEW, FEWER = "CIFAR-10/10%-100/Dir-0.1", "CIFAR-10/5%-200/Dir-0.1"
ONE: dict[str, Cell] = {
    f"{row.replace('/', f' {setup} ')}": cell for (row, setup), cell in table("fedinit", "Table 1").items()
}
"""Table 1 by network, setup and method; three runs each. Tables 2, 3, 8, 10 and 11 print no deviations."""
RESNET = {key.removeprefix("ResNet-18-GN "): cell for key, cell in ONE.items() if key.startswith("ResNet")}
TWO = {
    f"{method} CIFAR-10/{setup.partition('/')[2]} {column}": cell.value
    for (row, setup), cell in table("fedinit", "Table 2").items()
    for method, _, column in [row.partition("/")]
}
"""Table 2 by method, setup, and vanilla or +RI."""
MEASURED = {key: RESNET[" ".join(key.split()[1::-1])] if key.endswith("vanilla") else cell for key, cell in TWO.items()}
"""Table 2 with the deviations that Table 1 prints for the vanilla runs."""
THREE = {f"{row} {column}": cell.value for (row, column), cell in table("fedinit", "Table 3").items()}
GAINS = {
    key.removesuffix(" +RI"): exact(cell) - exact(TWO[key.replace("+RI", "vanilla")])
    for key, cell in TWO.items()
    if key.endswith("+RI")
}
LIMITS = {points: exact(points) - Fraction(1, 100) for points in ("3", "2", "1.90")}
"""Limits that gains exceed according to the text, reduced by possible rounding."""
ACCURACY, DIVERGENCE = (
    {key.removeprefix("beta=").removesuffix(f" {column}"): v for key, v in THREE.items() if key.endswith(column)}
    for column in ("accuracy", "Delta^T")
)

NUMBERS: dict[str, Mapping[str, Cell]] = {
    "tables": {**ONE, **RESNET, **TWO, **THREE},
    "drops": {m: mean(RESNET[f"{FEW} {m}"]).less(mean(RESNET[f"{FEWER} {m}"])) for m in METHODS},
    "table_2": MEASURED,
    "gains": {**GAINS, **LIMITS},
    "accuracies": {**ACCURACY, "0": RESNET[f"{FEW} FedAvg"], "0.1": RESNET[f"{FEW} FedInit"]},
    "divergences": DIVERGENCE,
    "tracks": ACCURACY,
}
