"""FedInit once more, read off the paper in plain arithmetic: nothing here comes from ``bounds``."""

import math
from collections.abc import Callable

# Table 8: how often N d, N K d and C d a method sends, computes and stores.
_TABLE_8 = {
    "fedavg": (1, 1, 1),
    "fedadam": (1, 1, 1),
    "fedsam": (1, 2, 2),
    "scaffold": (2, 1, 3),
    "feddyn": (1, 1, 3),
    "fedcm": (2, 1, 2),
    "fedinit": (1, 1, 1),
}


def _communication(times: int):
    """Table 8, first column: every participant's vectors, one participant after another."""
    return lambda v: sum(times * v.parameters for _ in range(v.cohort))


def _gradients(times: int):
    """Table 8, second column: every participant's gradients, step by step."""
    return lambda v: sum(times * v.parameters for _ in range(v.cohort) for _ in range(v.local_steps))


def _storage(times: int):
    """Table 8, third column: every client's vectors, participating or not."""
    return lambda v: sum(times * v.parameters for _ in range(v.clients))


def excess_risk_split(v):
    """Eq. (3), as printed: the two errors alone."""
    return math.fsum((v.generalization_gap, v.optimality_gap))


COSTS: dict[str, Callable[..., float]] = {}
for _method, (_sent, _computed, _kept) in _TABLE_8.items():
    COSTS[f"fedinit.cost_communication_{_method}"] = _communication(_sent)
    COSTS[f"fedinit.cost_gradients_{_method}"] = _gradients(_computed)
    COSTS[f"fedinit.cost_storage_{_method}"] = _storage(_kept)
