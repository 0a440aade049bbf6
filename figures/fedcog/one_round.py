"""One more round from one state, by one method or another: the runs and numbers that Figure 2 and Table 4 share."""

from __future__ import annotations

from collections.abc import Sequence

from empirics.experiments import Cell

from ..comparing import Pair
from ..runs import Runs
from . import grid
from .grid import PLANS
from .reading import mean_over_clients
from .settings import FEDCOG, METHODS

MEASURES = {
    "client_distance_sq": "distance of local models",
    "local_accuracy_common": "local accuracy, all classes (%)",
    "local_accuracy_own": "local accuracy, own classes (%)",
}
"""What the panels of Figure 2 show."""


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, "FedAvg"):  # longer runs that were looked at here too
        return grid.runs(scale, method)
    return grid.runs(scale, method, first="FedAvg", rounds=PLANS[scale].counts["first"] + 1)


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is no square."""
    at = PLANS[scale].counts["first"] + 1
    means = [mean_over_clients(runs, cell, quantity, at) for cell in runs_of(scale, method)]
    return [mean**0.5 if quantity == "client_distance_sq" else 100 * mean for mean in means]


def times(scale: str, methods: Sequence[str]) -> list[Cell]:
    """The cell in which these methods take turns."""
    texts = {m: grid.consensus(scale) if m == FEDCOG else METHODS[m] for m in methods}
    repeats = PLANS[scale].counts["repeats"]
    return grid.generation(scale, "generation_round_seconds", algorithms=texts, repeats=repeats)


def ahead(runs: Runs, scale: str, quantity: str, others: Sequence[str], lower: bool = False) -> list[Pair]:
    """The claims that FedCOG has more of a quantity than each other method (``lower``: less)."""
    ours = measured(runs, scale, FEDCOG, quantity)
    pairs = []
    for other in others:
        both = (ours, measured(runs, scale, other, quantity))
        high, low = reversed(both) if lower else both
        pairs.append(Pair(f"{other} over FedCOG" if lower else f"FedCOG over {other}", high, low))
    return pairs
