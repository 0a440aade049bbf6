"""Derive all quantities that follow from the given ones, by ``bounds.identities``, and check the given ones agree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from .errors import BoundsError, DomainError
from .identities import AT_LEAST, AT_MOST, BY_DEFAULT, EQUAL, IDENTITIES, Identity
from .quantities import CLIENTS
from .scenario_values import (
    ADMISSIBLE,
    float_or_tuple,
    format_value,
    Provenance,
    QUANTITIES,
    role_of,
    ROUNDING,
    ScenarioValue,
    widened,
    worst,
)

IDENTITY_ORDER = sorted(IDENTITIES, key=lambda identity: {EQUAL: 0, BY_DEFAULT: 2}.get(identity.relation, 1))
"""The order in which identities are applied: equalities first, defaults only if nothing else gives the quantity."""
MOST_CLIENTS = 1_000_000
"""The largest number of clients for which lists are made."""


def resolve(given: Mapping[str, ScenarioValue]) -> dict[str, ScenarioValue]:
    """Return all values that follow from the given ones, by name of quantity, with per-client numbers as tuples.

    Raises ``BoundsError`` if an equality between independently given values fails.
    """
    values = dict(given)
    _check_lengths(given)
    _derive(values)
    listed = {word: _for_all_clients(word, value, values) for word, value in values.items()}
    for identity in IDENTITY_ORDER:
        if identity.relation == EQUAL and identity.left.name in listed:
            _check_agreement(identity, listed)
    _check_order(listed)
    return listed


def _derive(values: dict[str, ScenarioValue]) -> None:
    """Add derived values to ``values``, always by the first identity in order whose inputs are known."""
    waiting = {turn: identity for turn, identity in enumerate(IDENTITY_ORDER) if identity.left.name not in values}
    while True:
        turn = next((n for n, identity in waiting.items() if all(w in values for w in identity.inputs)), None)
        if turn is None:
            return
        identity = waiting.pop(turn)
        if identity.left.name in values or not _ready(identity, values):
            continue
        derived = _derived(identity, values)
        if derived is not None:
            values[identity.left.name] = derived


def _check_lengths(given: Mapping[str, ScenarioValue]) -> None:
    """Raise if lists over the clients differ in length from each other or from the number of clients."""
    sources = {"there are": given["clients"]} if "clients" in given else {}
    for word, value in given.items():
        if np.ndim(value.value) and _per_client(word):
            sources[f"{word} lists"] = value
    counts = {text: int(np.size(v.value) if np.ndim(v.value) else v.value) for text, v in sources.items()}
    for text, count in counts.items():
        first = next(iter(counts))
        if count != counts[first]:
            raise DomainError(
                f"{first} {counts[first]} clients ({sources[first].origin}), and {text} {count} "
                f"({sources[text].origin})"
            )


def _per_client(word: str) -> bool:
    return word in QUANTITIES and QUANTITIES[word].card.axis == CLIENTS


def _for_all_clients(word: str, value: ScenarioValue, values: Mapping[str, ScenarioValue]) -> ScenarioValue:
    """Return a per-client value that was given as one number as a list over the clients, anything else unchanged."""
    if not _per_client(word) or np.ndim(value.value) or "clients" not in values:
        return value
    count = _count(values)
    numbers, low, high = ((float(end),) * count for end in (value.value, value.low, value.high))
    QUANTITIES[word].card.domain.check(word, np.asarray(numbers))
    return replace(value, value=numbers, low=low, high=high)


def _ready(identity: Identity, values: Mapping[str, ScenarioValue]) -> bool:
    """Whether an identity can be applied: its inputs are known, and lists whose entries it counts are lists."""
    if not all(word in values for word in identity.inputs):
        return False
    return not identity.counts_entries or all(np.ndim(values[word].value) for word in identity.needs)


def _derived(identity: Identity, values: Mapping[str, ScenarioValue]) -> ScenarioValue | None:
    """Return the value that an identity gives its left side, or None if an inequality gives only an infinite bound."""
    word = identity.left.name
    if identity.left.card.axis == CLIENTS:
        _count(values)
    sources = [values[w] for w in identity.needs]
    low, high = _ends(identity, [_within_domain(w, values[w]) for w in identity.needs], values)
    value = _value(identity, [s.value for s in sources], values)
    role = role_of(word)
    if role not in ADMISSIBLE and identity.relation == AT_MOST:
        value, low = high, identity.left.card.domain.low
    elif role not in ADMISSIBLE and identity.relation == AT_LEAST:
        value, high = low, identity.left.card.domain.high
    if identity.relation in (AT_MOST, AT_LEAST) and not np.all(np.isfinite(value)):
        return None
    provenance = worst(*sources, identity.provenance)
    if identity.relation in (AT_MOST, AT_LEAST) and provenance in (Provenance.EXACT, Provenance.CHOSEN):
        provenance = Provenance.PROVED
    _check_domain(identity, value, values)
    support = frozenset().union(*(s.support for s in sources))
    return ScenarioValue(value, low, high, provenance, role, identity.formula, support)


def _check_domain(identity: Identity, value: Any, values: Mapping[str, ScenarioValue]) -> None:
    """Raise if a derived value lies outside its domain, as for a runtime that is shorter than one round."""
    domain = identity.left.card.domain
    numbers = np.asarray(value, dtype=float)
    if domain.whole and np.allclose(numbers, np.rint(numbers)):
        numbers = np.rint(numbers)
    try:
        domain.check(identity.left.name, numbers)
    except DomainError as error:
        inputs = ", ".join(f"{w} = {format_value(values[w].value)}" for w in identity.needs)
        formula = f"{identity.left.name} {identity.relation} {identity.right}"
        raise DomainError(f"{error}, by {formula} with {inputs}") from None


def _count(values: Mapping[str, ScenarioValue]) -> int:
    """Return the number of clients; raise if lists of that length would not fit into memory."""
    count = int(values["clients"].value)
    if count > MOST_CLIENTS:
        raise DomainError(f"clients must be at most {MOST_CLIENTS} to be listed one by one; got {count}")
    return count


def _value(identity: Identity, numbers: Iterable[Any], values: Mapping[str, ScenarioValue]) -> Any:
    """Return the right side as a float or a tuple; integers are rounded, and per-client numbers become lists."""
    with np.errstate(all="ignore"):
        result = np.asarray(identity.value(*(np.asarray(n, dtype=float) for n in numbers)), dtype=float)
    if identity.left.card.domain.whole and np.allclose(result, np.rint(result), rtol=ROUNDING, atol=0):
        result = np.rint(result)
    if identity.left.card.axis == CLIENTS and result.ndim == 0 and "clients" in values:
        result = np.full(_count(values), float(result))
    return float_or_tuple(result)


def _ends(identity: Identity, intervals: list[tuple[Any, Any]], values: Mapping[str, ScenarioValue]) -> tuple[Any, Any]:
    """Return the range of the right side over the intervals of its inputs.

    Every right side is monotone in each input, so evaluating the corners is enough.
    """
    varied = [pair if pair[0] != pair[1] else pair[:1] for pair in intervals]
    corners = np.array([_value(identity, corner, values) for corner in product(*varied)], dtype=float)
    return float_or_tuple(np.nanmin(corners, axis=0)), float_or_tuple(np.nanmax(corners, axis=0))


def _within_domain(word: str, value: ScenarioValue) -> tuple[Any, Any]:
    """Return the interval of a value, cut to the domain of its quantity."""
    domain = QUANTITIES[word].card.domain
    ends = (np.clip(np.asarray(end, dtype=float), domain.low, domain.high) for end in (value.low, value.high))
    low, high = map(float_or_tuple, ends)
    return low, high


def _check_agreement(identity: Identity, values: Mapping[str, ScenarioValue]) -> None:
    """Raise if two sources give different values of one quantity; constants that are merely admissible may differ."""
    left = values[identity.left.name]
    sources = [values[w] for w in identity.needs if w in values]
    depends_on_left = any(identity.left.name in s.support for s in sources)
    if left.role in ADMISSIBLE or not _ready(identity, values) or depends_on_left:
        return
    if left.support <= frozenset().union(*(s.support for s in sources)) or any(s.only_estimated for s in sources):
        return
    intervals = [(widened(s.low, -1), widened(s.high, 1)) for s in sources]
    corners = np.array([_value(identity, corner, values) for corner in product(*intervals)], dtype=float)
    low, high = corners.min(axis=0), corners.max(axis=0)
    slack = ROUNDING * np.abs(np.asarray(left.value, dtype=float))
    if np.shape(left.value) == np.shape(low) and not (
        np.all(np.asarray(left.low) - slack <= high) and np.all(low <= np.asarray(left.high) + slack)
    ):
        inputs = ", ".join(f"{w} = {format_value(values[w].value)} ({values[w].origin})" for w in identity.needs)
        derived = format_value(_value(identity, [s.value for s in sources], values))
        raise BoundsError(
            f"two sources of {identity.left.name} disagree: it is {format_value(left.value)} ({left.origin}), and "
            f"{derived} by {identity.right} with {inputs}; leave one of them out"
        )


def _check_order(values: Mapping[str, ScenarioValue]) -> None:
    """Raise if a quantity exceeds its upper limit: mu and L, N and C, or ``||grad F||^2`` and ``2 L (F - F*)``."""
    for word, value in values.items():
        limit = QUANTITIES[word].card.at_most if word in QUANTITIES else None
        if limit is None or limit.name not in values:
            continue
        other = values[limit.name]
        if np.max(value.low) > np.max(other.high) * (1 + ROUNDING):
            raise DomainError(
                f"{word} must be at most {limit.name}; got {format_value(value.value)} ({value.origin}) > "
                f"{format_value(other.value)} ({other.origin})"
            )
    if {"initial_grad_norm_sq", "smoothness", "initial_gap"} <= values.keys():
        square, most = (
            values["initial_grad_norm_sq"],
            2 * np.max(values["smoothness"].high) * values["initial_gap"].high,
        )
        if square.low > most * (1 + ROUNDING):
            raise DomainError(
                f"initial_grad_norm_sq of a smooth loss is at most 2*smoothness*initial_gap = {format_value(most)}; "
                f"got {format_value(square.value)} ({square.origin})"
            )
