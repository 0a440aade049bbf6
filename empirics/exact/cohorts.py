"""All cohorts a round can draw, each with its probability."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb, factorial, inf, lgamma, prod
from typing import Any, NamedTuple

from ..errors import EmpiricsError

LIMIT = 2000
"""Cohorts enumerated by default."""


class Cohort(NamedTuple):
    """Clients in ascending order, how often each counts, and the probability that a round draws them."""

    clients: tuple[int, ...]
    counts: tuple[int, ...]
    probability: Any


def cohorts(sampling: str, cohort: int, shares: Any, limit: int = LIMIT) -> tuple[Cohort, ...]:
    """Every cohort of a round; probabilities are of the kind of number that ``shares`` are, by which clients are drawn.

    Without replacement all subsets of the cohort's size are equally likely; with replacement a multiset has its
    multinomial probability; Bernoulli participation leaves every nonempty subset, given that somebody takes part.
    Refuses to list more than ``limit``.
    """
    clients, one = len(shares), 0 * shares[0] + 1
    if cohort > clients and sampling != "with_replacement":
        raise EmpiricsError(f"cohort must be <= clients; got {cohort} > {clients}")
    number = {
        "without_replacement": _choices(clients, cohort),
        "with_replacement": _choices(clients + cohort - 1, cohort),
        "bernoulli": 2.0 ** min(clients, 1000) - 1,
    }[sampling]
    if number > limit:
        many = f"{number:,.0f} of them here, " if number < 1e15 else ""
        raise EmpiricsError(
            f"exact moments need all cohorts: {many}more than the limit of {limit:,}; "
            "take fewer clients, a cohort closer to 1 or to all, or a higher limit"
        )
    chance, found = cohort / clients, []
    choose = combinations_with_replacement if sampling == "with_replacement" else combinations
    for size in range(1, clients + 1) if sampling == "bernoulli" else (cohort,):
        for drawn in choose(range(clients), size):
            chosen = tuple(sorted(set(drawn)))
            counts = tuple(drawn.count(k) for k in chosen)
            if sampling == "with_replacement":
                orders = factorial(cohort) // prod(map(factorial, counts))
                probability = orders * prod((shares[k] for k in drawn), start=one)
            elif sampling == "bernoulli":
                probability = chance**size * (1 - chance) ** (clients - size) / (1 - (1 - chance) ** clients)
            else:
                probability = one / comb(clients, cohort)
            if probability > 0:
                found.append(Cohort(chosen, counts, probability))
    return tuple(found)


def _choices(clients: int, cohort: int) -> float:
    """How many subsets there are, exactly where they could be listed; infinite where even their logarithm is large."""
    log = lgamma(clients + 1) - lgamma(cohort + 1) - lgamma(clients - cohort + 1)
    return comb(clients, cohort) if log < 500 else inf
