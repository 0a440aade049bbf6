"""Lists all cohorts that a round can draw, with their probabilities."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement
from math import comb, factorial, inf, lgamma, prod
from typing import Any, NamedTuple

from ..errors import EmpiricsError

LIMIT = 2000
"""Maximum number of cohorts listed by default."""


class Cohort(NamedTuple):
    """Clients in ascending order, how often each is drawn, and the probability that a round draws this cohort."""

    clients: tuple[int, ...]
    counts: tuple[int, ...]
    probability: Any


def cohorts(sampling: str, cohort: int, shares: Any, limit: int = LIMIT) -> tuple[Cohort, ...]:
    """Return every cohort of a round; probabilities have the number type of ``shares``, the clients' weights (C,).

    Without replacement, all subsets of size ``cohort`` are equally likely. With replacement, clients are drawn by
    share, and a multiset has its multinomial probability. Bernoulli participation gives every nonempty subset,
    conditional on at least one participant. Raises if there are more than ``limit`` cohorts.
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
    rate, listed = cohort / clients, []
    choose = combinations_with_replacement if sampling == "with_replacement" else combinations
    for size in range(1, clients + 1) if sampling == "bernoulli" else (cohort,):
        for draws in choose(range(clients), size):
            members = tuple(sorted(set(draws)))
            counts = tuple(draws.count(k) for k in members)
            if sampling == "with_replacement":
                orders = factorial(cohort) // prod(map(factorial, counts))
                probability = orders * prod((shares[k] for k in draws), start=one)
            elif sampling == "bernoulli":
                probability = rate**size * (1 - rate) ** (clients - size) / (1 - (1 - rate) ** clients)
            else:
                probability = one / comb(clients, cohort)
            if probability > 0:
                listed.append(Cohort(members, counts, probability))
    return tuple(listed)


def _choices(clients: int, cohort: int) -> float:
    """The number of subsets of size ``cohort``; infinite where it would take long to compute exactly."""
    log = lgamma(clients + 1) - lgamma(cohort + 1) - lgamma(clients - cohort + 1)
    return comb(clients, cohort) if log < 500 else inf
