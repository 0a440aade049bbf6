"""FedInit, Table 8: communication, gradients and storage of a round of each method.

All costs are counted in numbers, in multiples of the model's d parameters. The table prints ``Nd``, ``NKd`` and ``Cd``
for FedAvg and multiples of them for the others.
"""

from __future__ import annotations

from ..core import About, Statistic
from ..vocabulary import round_communication, round_gradients, storage
from .common import fedinit_bound, of
from .letters import C, d, K, N

FEDAVG_COSTS = {
    "communication": (round_communication, N * d),
    "gradients": (round_gradients, N * K * d),
    "storage": (storage, C * d),
}

MULTIPLES = {
    #            communication, gradients, storage
    "fedavg":   (1, 1, 1),
    "fedadam":  (1, 1, 1),
    "fedsam":   (1, 2, 2),
    "scaffold": (2, 1, 3),
    "feddyn":   (1, 1, 3),
    "fedcm":    (2, 1, 2),
    "fedinit":  (1, 1, 1),
}  # fmt: skip
"""Table 8: the multiples of FedAvg's costs in the printed expressions."""

NOTES = {("storage", "fedcm"): "The expression is printed 2Cd; the ratio beside it is printed 3x."}

COSTS = tuple(
    fedinit_bound(
        **of(f"cost_{cost}_{method}", target, f"Table 8, {cost} of {method}", About(method)),
        relation="=",
        terms={cost: multiple * expression},
        statistic=Statistic("every", "rounds"),
        note=NOTES.get((cost, method), ""),
    )
    for method, multiples in MULTIPLES.items()
    for (cost, (target, expression)), multiple in zip(FEDAVG_COSTS.items(), multiples, strict=True)
)
