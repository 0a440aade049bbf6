"""A statement on federations whose clients are of few kinds: sums over clients as sums over kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.domains import COUNT
from bounds.operators import ClientSum, write_out_means
from bounds.quantities import quantity
from bounds.vocabulary import clients

MEMBERS = quantity("members", "n_k", "how many clients are of this kind", domain=COUNT, per_client=True)
EVERYBODY = quantity("everybody", "C", "number of clients, which are more than kinds", domain=COUNT)


def kinds(instance: Mapping[str, Any]) -> int:
    """How many kinds of clients a table describes: each client is one of its own by default."""
    return int(instance.get("kinds", instance["clients"]))


def counts(instance: Mapping[str, Any]) -> list[int]:
    """How many clients there are of every kind."""
    return [int(instance.get(f"count_{k}", 1)) for k in range(kinds(instance))]


def _counted(expression: Any) -> Any:
    """The expression with every sum over clients counting the members of a kind."""
    spelled = write_out_means(expression)
    counted = spelled.replace(lambda e: isinstance(e, ClientSum), lambda e: ClientSum(MEMBERS * e.args[0]))
    return counted.xreplace({clients: EVERYBODY})


@lru_cache(maxsize=256)
def by_kind(bound: Bound) -> Bound:
    """The bound as a function of one value per kind and the kinds' members; itself where none varies over clients."""
    if not bound.axis:
        return bound
    conditions = tuple(
        replace(c, relation=_counted(spelled)) if spelled is not None else c
        for c, spelled in zip(bound.conditions, _spelled(bound), strict=True)
    )
    terms = {name: _counted(term) for name, term in bound.spelled_terms.items()}
    return replace(bound, terms=terms, conditions=conditions, where={})


def _spelled(bound: Bound) -> Sequence[sp.Basic | None]:
    """The relations of all conditions, None for those in words."""
    relations = iter(bound.relations)
    return [next(relations) if c.kind == "numeric" else None for c in bound.conditions]


def of_kinds(sizes: Sequence[Any], shares: Sequence[Any]) -> Mapping[str, Any]:
    """The words that tell kinds apart: how many clients, and the weight of one of them.

    ``shares`` are the weights of whole kinds, in any kind of number.
    """
    weights = [share / size for share, size in zip(shares, sizes, strict=True)]
    total = sum(int(size) for size in sizes)
    return {"clients": total, "everybody": total, "client_weight": weights, "members": list(sizes)}
