"""Bounds for federations of many clients in few groups (``kinds``): sums over clients become sums over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from bounds.core import Bound
from bounds.domains import COUNT
from bounds.operators import ClientSum, write_out_means
from bounds.quantities import quantity
from bounds.vocabulary import clients
from empirics.exact import cohorts

Array = np.ndarray[Any, Any]
MEMBERS = quantity("members", "n_k", "number of clients in this group", domain=COUNT, per_client=True)
EVERYBODY = quantity("everybody", "C", "number of clients in all groups", domain=COUNT)


def kinds(instance: Mapping[str, Any]) -> int:
    """Return the number of client groups of an instance; by default each client is its own group."""
    return int(instance.get("kinds", instance["clients"]))


def counts(instance: Mapping[str, Any]) -> list[int]:
    """Return the number of clients of every group."""
    return [int(instance.get(f"count_{k}", 1)) for k in range(kinds(instance))]


def _over_groups(expression: Any) -> Any:
    """Return the expression with sums over clients as sums over groups, weighted with their numbers of clients."""
    spelled = write_out_means(expression)
    weighted = spelled.replace(lambda e: isinstance(e, ClientSum), lambda e: ClientSum(MEMBERS * e.args[0]))
    return weighted.xreplace({clients: EVERYBODY})


@lru_cache(maxsize=256)
def by_group(bound: Bound) -> Bound:
    """Return the bound as a function of one value per group; the bound itself if no quantity varies over clients."""
    if not bound.axis:
        return bound
    conditions = tuple(
        replace(c, relation=_over_groups(spelled)) if spelled is not None else c
        for c, spelled in zip(bound.conditions, _spelled(bound), strict=True)
    )
    terms = {name: _over_groups(term) for name, term in bound.spelled_terms.items()}
    return replace(bound, terms=terms, conditions=conditions, where={})


def _spelled(bound: Bound) -> Sequence[sp.Basic | None]:
    """Return the relations of all conditions, None for those in words."""
    relations = iter(bound.relations)
    return [next(relations) if c.kind == "numeric" else None for c in bound.conditions]


def of_groups(sizes: Sequence[Any], shares: Sequence[Any]) -> Mapping[str, Any]:
    """Return the quantities that depend on the groups: numbers of clients and the weight of a client of each group.
    ``sizes`` are the numbers of clients of the groups and ``shares`` their total weights, in any number type."""
    weights = [share / size for share, size in zip(shares, sizes, strict=True)]
    total = sum(int(size) for size in sizes)
    return {"clients": total, "everybody": total, "client_weight": weights, "members": list(sizes)}


def cohort_weights(sampling: str, cohort: int, shares: Array) -> list[tuple[Any, Array]]:
    """Return every cohort of a round: its probability, and the weights of all clients in the average (0: not drawn).
    ``sampling`` is that of ``cohorts``, or ``all``; without replacement, a client's weight is its share over the
    probability that it is drawn, so that the average is unbiased."""
    one = 0 * shares[0] + 1
    if sampling == "all":
        return [(one, shares)]
    weighted = []
    for drawn in cohorts(sampling, cohort, shares):
        weights, who = 0 * shares, list(drawn.clients)
        if sampling == "with_replacement":
            weights[who] = [count * one / cohort for count in drawn.counts]
        else:
            weights[who] = shares[who] * len(shares) / cohort
        weighted.append((drawn.probability, weights))
    return weighted
