"""How long a table takes, and which one is too large: said before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb, prod

from bounds.core import Bound
from empirics.progress import lasting

from .cohort_tree import starting_models
from .grid_point import Place, question
from .program import solver, WorstCaseError
from .solve import estimated, taking

MOST = 10_000
"""Places of one table."""


def refuse_many(spans: Mapping[str, Sequence[float]]) -> None:
    """Refuse a grid of more places than anybody waits for, before its places are made."""
    if (count := prod(len(values) for values in spans.values())) > MOST:
        least = count * taking(2, 1)
        raise WorstCaseError(
            f"the grid has {count} places, which would take at least {lasting(least)} of one core; "
            f"at most {MOST} at once: give fewer values"
        )


def expected(bound: Bound, at: Sequence[Place], patience: float) -> float:
    """About how many seconds of one core all places take; refuses one that alone takes more than ``patience``.

    The largest place is stated, and the others are taken to be to it as their numbers of gradients say.
    """
    if not patience > 0:
        raise WorstCaseError(f"patience must be > 0 seconds; got {patience:g}")
    solver()
    largest = max(at, key=least_time)
    least = least_time(largest)  # without stating it
    seconds = least if least > patience else estimated(question(bound, largest))
    if seconds > patience:
        raise WorstCaseError(
            f"too large: rounds={largest.rounds} local_steps={largest.local_steps} would take about "
            f"{lasting(seconds)}, more than {lasting(patience)}; take fewer, or raise --patience"
        )
    return sum(seconds * least_time(place) / least for place in at)


def least_time(place: Place) -> float:
    """Seconds below which no place of so many gradients is solved."""
    gradients = place.rounds * place.local_steps
    if place.cohort:  # one of every client at every model that a round begins with, more where it goes on from there
        others = comb(place.clients - 1, place.cohort - 1)
        gradients = starting_models(place.rounds, place.cohort, place.clients) * (1 + (place.local_steps - 1) * others)
    return taking(gradients + 1, gradients)


def proof_time(gradients: int) -> float:
    """About how many seconds a proof of a worst case of so many gradients of a client takes, on one core."""
    return 0.2 + 2.5 * taking(gradients + 1, gradients)
