"""One more round from one state, by one method or another: the runs and numbers that Figure 2 and Table 4 share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from empirics.experiments import Cell

from ..comparing import Pair
from ..runs import Runs
from .grid import generation, PLANS, run, seeds
from .reading import mean_over_clients
from .settings import FEDCOG, METHODS

MEASURES = {
    "client_distance_sq": "distance of local models",
    "local_accuracy_common": "local accuracy, all classes (%)",
    "local_accuracy_own": "local accuracy, own classes (%)",
}
"""What the panels of Figure 2 show."""
FACTORS = {"client_distance_sq": 1.0, "local_accuracy_common": 100.0, "local_accuracy_own": 100.0}


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, "FedAvg"):  # longer runs that were looked at here too
        return [run(scale, method, seed) for seed in seeds(scale)]
    return [run(scale, method, seed, first="FedAvg", rounds=PLANS[scale].first + 1) for seed in seeds(scale)]


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is no square."""
    read = partial(_one, runs, scale, quantity)
    return [read(cell) for cell in runs_of(scale, method)]


def _one(runs: Runs, scale: str, quantity: str, cell: Cell) -> float:
    value = mean_over_clients(runs, cell, quantity, PLANS[scale].first + 1)
    return value**0.5 if quantity == "client_distance_sq" else FACTORS[quantity] * value


def times(scale: str, methods: Sequence[str]) -> list[Cell]:
    """The cell in which these methods take turns."""
    from .grid import consensus

    texts = {m: consensus(scale) if m == FEDCOG else METHODS[m] for m in methods}
    return (
        [generation(scale, "generation_round_seconds", algorithms=texts, repeats=PLANS[scale].repeats)]
        if seeds(scale)
        else []
    )


def ahead(runs: Runs, scale: str, quantity: str, others: Sequence[str], lower: bool = False) -> list[Pair]:
    """The claims that FedCOG has more of a quantity than each other method (``lower``: less)."""
    ours = measured(runs, scale, FEDCOG, quantity)
    pairs = []
    for other in others:
        both = (ours, measured(runs, scale, other, quantity))
        high, low = reversed(both) if lower else both
        pairs.append(Pair(f"{other} over FedCOG" if lower else f"FedCOG over {other}", high, low))
    return pairs
