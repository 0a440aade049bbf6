"""FedInit once more, read off the paper in plain arithmetic: nothing here comes from ``bounds``."""

import math
from collections.abc import Callable

from .fedinit_divergence import TWINS as DIVERGENCE
from .fedinit_optimization import TWINS as OPTIMIZATION
from .fedinit_orders import TWINS as ORDERS
from .fedinit_repaired import TWINS as REPAIRED
from .fedinit_stability import TWINS as STABILITY

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


def _communication(times: int) -> Callable[..., float]:
    """Table 8, first column: every participant's vectors, one participant after another."""

    def twin(cohort: int, parameters: int) -> float:
        return sum(times * parameters for _ in range(cohort))

    return twin


def _gradients(times: int) -> Callable[..., float]:
    """Table 8, second column: every participant's gradients, step by step."""

    def twin(cohort: int, local_steps: int, parameters: int) -> float:
        return sum(times * parameters for _ in range(cohort) for _ in range(local_steps))

    return twin


def _storage(times: int) -> Callable[..., float]:
    """Table 8, third column: every client's vectors, participating or not."""

    def twin(clients: int, parameters: int) -> float:
        return sum(times * parameters for _ in range(clients))

    return twin


def excess_risk_split(generalization_gap: float, optimality_gap: float) -> float:
    """Eq. (3), as printed: the two errors alone."""
    return math.fsum((generalization_gap, optimality_gap))


COSTS: dict[str, Callable[..., float]] = {}
for _method, (_sent, _computed, _kept) in _TABLE_8.items():
    COSTS[f"fedinit.cost_communication_{_method}"] = _communication(_sent)
    COSTS[f"fedinit.cost_gradients_{_method}"] = _gradients(_computed)
    COSTS[f"fedinit.cost_storage_{_method}"] = _storage(_kept)

TWINS: dict[str, Callable[..., float]] = {
    "fedinit.excess_risk_split": excess_risk_split,
    **OPTIMIZATION,
    **DIVERGENCE,
    **STABILITY,
    **ORDERS,
    **REPAIRED,
    **COSTS,
}
