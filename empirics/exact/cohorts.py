"""All cohorts a round can draw, each with its probability."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement
from math import comb, factorial, inf, lgamma, prod
from typing import NamedTuple

import numpy as np

from ..errors import EmpiricsError
from ..training.setting import Setting

LIMIT = 2000
"""Cohorts enumerated unless told otherwise."""


class Cohort(NamedTuple):
    """Clients in ascending order, how often each counts, and the probability that a round draws them."""

    clients: tuple[int, ...]
    counts: tuple[int, ...]
    probability: float


def cohorts(setting: Setting, shares: np.ndarray, limit: int = LIMIT) -> tuple[Cohort, ...]:
    """Every cohort of a round under the setting's sampling; ``shares`` are the client weights that Case I draws by.

    Without replacement all subsets of the cohort's size are equally likely; with replacement a multiset has its
    multinomial probability; Bernoulli participation leaves every nonempty subset, given that somebody takes part.
    Refuses to list more than ``limit``.
    """
    clients, cohort = len(shares), setting.cohort
    if cohort > clients:
        raise EmpiricsError(f"cohort must be <= clients; got {cohort} > {clients}")
    number = {
        "without_replacement": _choices(clients, cohort),
        "with_replacement": _choices(clients + cohort - 1, cohort),
        "bernoulli": 2.0 ** min(clients, 1000) - 1,
    }[setting.sampling]
    if number > limit:
        many = f"{number:,.0f} of them here, " if number < 1e15 else ""
        raise EmpiricsError(
            f"exact moments need all cohorts: {many}more than the limit of {limit:,}; "
            "take fewer clients, a cohort closer to 1 or to all, or a higher limit"
        )
    listed = {
        "without_replacement": _subsets_of_one_size,
        "with_replacement": _multisets,
        "bernoulli": _subsets,
    }[setting.sampling]
    return tuple(c for c in listed(shares, cohort) if c.probability > 0)


def _choices(clients: int, cohort: int) -> float:
    """How many subsets there are, exactly where they could be listed; infinite where even their logarithm is large."""
    log = lgamma(clients + 1) - lgamma(cohort + 1) - lgamma(clients - cohort + 1)
    return comb(clients, cohort) if log < 500 else inf


def _subsets_of_one_size(shares: np.ndarray, cohort: int) -> Iterator[Cohort]:
    chance = 1 / comb(len(shares), cohort)
    for drawn in combinations(range(len(shares)), cohort):
        yield Cohort(drawn, (1,) * cohort, chance)


def _multisets(shares: np.ndarray, cohort: int) -> Iterator[Cohort]:
    for drawn in combinations_with_replacement(range(len(shares)), cohort):
        chosen = tuple(sorted(set(drawn)))
        counts = tuple(drawn.count(k) for k in chosen)
        orders = factorial(cohort) // prod(map(factorial, counts))
        yield Cohort(chosen, counts, orders * prod(float(shares[k]) for k in drawn))


def _subsets(shares: np.ndarray, cohort: int) -> Iterator[Cohort]:
    clients = len(shares)
    chance = cohort / clients
    somebody = 1 - (1 - chance) ** clients
    for size in range(1, clients + 1):
        for drawn in combinations(range(clients), size):
            yield Cohort(drawn, (1,) * size, chance**size * (1 - chance) ** (clients - size) / somebody)
