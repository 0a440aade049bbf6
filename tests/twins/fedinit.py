"""FedInit once more, read off the paper in plain arithmetic: nothing here comes from ``bounds``."""

import math

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


def excess_risk_split(v):
    """Eq. (3), as printed: the two errors alone."""
    return math.fsum((v.generalization_gap, v.optimality_gap))


COSTS = {}
for _method, (_sent, _computed, _kept) in _TABLE_8.items():  # vector by vector, one participant or client after another
    COSTS[f"fedinit.cost_communication_{_method}"] = lambda v, n=_sent: sum(n * v.parameters for _ in range(v.cohort))
    COSTS[f"fedinit.cost_gradients_{_method}"] = lambda v, n=_computed: sum(
        n * v.parameters for _ in range(v.cohort) for _ in range(v.local_steps)
    )
    COSTS[f"fedinit.cost_storage_{_method}"] = lambda v, n=_kept: sum(n * v.parameters for _ in range(v.clients))
