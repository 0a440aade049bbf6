"""What follows from the given quantities of a scenario: ties put in one after another, and sources that must be of one
mind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from .errors import BoundsError, DomainError
from .quantities import CLIENTS
from .stated import (
    ADMISSIBLE,
    CHOSEN,
    EXACT,
    frozen,
    PROVED,
    QUANTITIES,
    role_of,
    ROUNDING,
    Stated,
    told,
    widened,
    worst,
)
from .ties import AT_LEAST, AT_MOST, EQUAL, TAKEN, Tie, TIES

IN_TURN = sorted(TIES, key=lambda tie: {EQUAL: 0, TAKEN: 2}.get(tie.relation, 1))
"""Equalities first: what a word is taken to be comes after all that is known of it."""
MOST_CLIENTS = 1_000_000
"""Clients of whom lists are made."""


class Resolved(NamedTuple):
    """What was ``given``; all words that ``follow``, a number for all clients still as one; and the same in lists."""

    given: Mapping[str, Stated]
    follow: dict[str, Stated]
    listed: dict[str, Stated]


def resolved(given: Mapping[str, Stated], before: Resolved | None = None) -> Resolved:
    """All words that follow; every equality between words that were given independently of each other is checked.

    ``before`` is what followed from values of the same words: then only what depends on one that has changed is
    computed again.
    """
    moved = None if before is None else _moved(given, before)
    kept: dict[str, Stated] = {} if moved is None or before is None else before.follow
    found = {word: stated for word, stated in kept.items() if moved is None or word not in moved} | dict(given)
    _check_lengths(given)
    _put_in(found)
    listed = found | {word: _for_all_clients(word, stated, found) for word, stated in found.items()}
    for tie in IN_TURN:
        if tie.relation == EQUAL and tie.left.name in listed and (moved is None or moved & {tie.left.name, *tie.needs}):
            _check_agreement(tie, listed)
    _check_order(listed)
    return Resolved(given, found, listed)


def _moved(given: Mapping[str, Stated], before: Resolved) -> frozenset[str] | None:
    """The words that have changed and those that may follow from them; None where other words were given."""
    if given.keys() != before.given.keys():
        return None
    changed = (word for word, stated in given.items() if stated is not before.given[word])
    return frozenset().union(*(_reach(word) for word in changed))


@cache
def _reach(word: str) -> frozenset[str]:
    """A word and all that ties lead to from it."""
    reached, new = {word}, {word}
    while new:
        new = {t.left.name for t in IN_TURN if new & set(t.asked)} - reached
        reached |= new
    return frozenset(reached)


def _put_in(found: dict[str, Stated]) -> None:
    """Put in what follows, of all ties that are ready the first one at a time."""
    waiting = {turn: tie for turn, tie in enumerate(IN_TURN) if tie.left.name not in found}
    while (turn := next((n for n, tie in waiting.items() if all(w in found for w in tie.asked)), -1)) >= 0:
        tie = waiting.pop(turn)
        if tie.left.name not in found and _ready(tie, found) and (follows := _follows(tie, found)) is not None:
            found[tie.left.name] = follows


def _check_lengths(given: Mapping[str, Stated]) -> None:
    """Lists over the clients are equally long, and as long as there are clients."""
    told = {"there are": given["clients"]} if "clients" in given else {}
    told |= {f"{word} lists": stated for word, stated in given.items() if np.ndim(stated.value) and _of_clients(word)}
    counts = {
        said: int(np.size(stated.value) if np.ndim(stated.value) else stated.value) for said, stated in told.items()
    }
    for said, count in counts.items():
        first = next(iter(counts))
        if count != counts[first]:
            raise DomainError(
                f"{first} {counts[first]} clients ({told[first].origin}), and {said} {count} ({told[said].origin})"
            )


def _of_clients(word: str) -> bool:
    return word in QUANTITIES and QUANTITIES[word].card.axis == CLIENTS


def _for_all_clients(word: str, stated: Stated, found: Mapping[str, Stated]) -> Stated:
    """A number given for all clients as the list over them."""
    if not _of_clients(word) or np.ndim(stated.value) or "clients" not in found:
        return stated
    count = _count(found)
    value, low, high = ((float(end),) * count for end in (stated.value, stated.low, stated.high))
    QUANTITIES[word].card.domain.check(word, np.asarray(value))
    return replace(stated, value=value, low=low, high=high)


def _ready(tie: Tie, found: Mapping[str, Stated]) -> bool:
    """Whether a tie gives its left word: a list over clients waits until they are counted, a number counts none."""
    return all(word in found for word in tie.asked) and (
        not tie.counts or all(np.ndim(found[word].value) for word in tie.needs)
    )


def _follows(tie: Tie, found: Mapping[str, Stated]) -> Stated | None:
    """What a tie gives; None where it says no more than that there is some number: its end is infinite."""
    word = tie.left.name
    if tie.left.card.axis == CLIENTS:
        _count(found)
    sources = [found[w] for w in tie.needs]
    low, high = _ends(tie, [_within(w, found[w]) for w in tie.needs], found)
    value = _value(tie, [s.value for s in sources], found)
    role = role_of(word)
    if role not in ADMISSIBLE and tie.relation == AT_MOST:
        value, low = high, tie.left.card.domain.low
    elif role not in ADMISSIBLE and tie.relation == AT_LEAST:
        value, high = low, tie.left.card.domain.high
    if tie.relation in (AT_MOST, AT_LEAST) and not np.all(np.isfinite(value)):
        return None
    provenance = worst(*sources, tie.provenance or EXACT)
    if tie.relation in (AT_MOST, AT_LEAST) and provenance in (EXACT, CHOSEN):
        provenance = PROVED
    _check_domain(tie, value, found)
    return Stated(value, low, high, provenance, role, tie.formula, frozenset().union(*(s.support for s in sources)))


def _check_domain(tie: Tie, value: Any, found: Mapping[str, Stated]) -> None:
    """A plan in which nothing can happen, such as a runtime of less than a round, is refused where it is made."""
    try:
        near = np.asarray(value, dtype=float)
        whole = tie.left.card.domain.whole
        tie.left.card.domain.check(tie.left.name, np.rint(near) if whole and np.allclose(near, np.rint(near)) else near)
    except DomainError as error:
        said = ", ".join(f"{w} = {told(found[w].value)}" for w in tie.needs)
        raise DomainError(f"{error}, by {tie.left.name} {tie.relation} {tie.right} with {said}") from None


def _count(found: Mapping[str, Stated]) -> int:
    """How long a list over the clients is; refused where it would not fit into memory."""
    count = int(found["clients"].value)
    if count > MOST_CLIENTS:
        raise DomainError(f"clients must be at most {MOST_CLIENTS} to be listed one by one; got {count}")
    return count


def _value(tie: Tie, numbers: Iterable[Any], found: Mapping[str, Stated]) -> Any:
    with np.errstate(all="ignore"):
        made = np.asarray(tie.value(*(np.asarray(n, dtype=float) for n in numbers)), dtype=float)
    if tie.left.card.domain.whole and np.allclose(made, np.rint(made), rtol=ROUNDING, atol=0):
        made = np.rint(made)
    if tie.left.card.axis == CLIENTS and made.ndim == 0 and "clients" in found:
        made = np.full(_count(found), float(made))
    return float(made) if made.ndim == 0 else tuple(made.tolist())


def _ends(tie: Tie, around: list[tuple[Any, Any]], found: Mapping[str, Stated]) -> tuple[Any, Any]:
    """The ends of a tie's right side: every one is monotone in each of its words, so its corners are enough."""
    varied = [pair if pair[0] != pair[1] else pair[:1] for pair in around]
    corners = np.array([_value(tie, corner, found) for corner in product(*varied)], dtype=float)
    low, high = np.nanmin(corners, axis=0), np.nanmax(corners, axis=0)
    return (low.item(), high.item()) if low.ndim == 0 else (tuple(low.tolist()), tuple(high.tolist()))


def _within(word: str, stated: Stated) -> tuple[Any, Any]:
    """The ends of a word inside of its domain: of a positive number without a lower end that is 0."""
    domain = QUANTITIES[word].card.domain
    return tuple(frozen(word, np.clip(np.asarray(end), domain.low, domain.high)) for end in (stated.low, stated.high))


def _check_agreement(tie: Tie, found: Mapping[str, Stated]) -> None:
    """Two sources of one word must be of one mind; constants that are only admissible may differ."""
    left = found[tie.left.name]
    sources = [found[w] for w in tie.needs if w in found]
    if left.role in ADMISSIBLE or not _ready(tie, found) or any(tie.left.name in s.support for s in sources):
        return
    if left.support <= frozenset().union(*(s.support for s in sources)) or any(s.floor for s in sources):
        return
    near = [(widened(s.low, -1), widened(s.high, 1)) for s in sources]
    corners = np.array([_value(tie, corner, found) for corner in product(*near)], dtype=float)
    low, high = corners.min(axis=0), corners.max(axis=0)
    slack = ROUNDING * np.abs(np.asarray(left.value, dtype=float))
    if np.shape(left.value) == np.shape(low) and not (
        np.all(np.asarray(left.low) - slack <= high) and np.all(low <= np.asarray(left.high) + slack)
    ):
        said = ", ".join(f"{w} = {told(found[w].value)} ({found[w].origin})" for w in tie.needs)
        made = told(_value(tie, [s.value for s in sources], found))
        raise BoundsError(
            f"two sources of {tie.left.name} disagree: it is {told(left.value)} ({left.origin}), and {made} by "
            f"{tie.right} with {said}; leave one of them out"
        )


def _check_order(found: Mapping[str, Stated]) -> None:
    """A word that can never exceed another one (mu and L, N and C) must not, nor ||grad F||^2 exceed 2 L (F - F*)."""
    for word, stated in found.items():
        limit = QUANTITIES[word].card.at_most if word in QUANTITIES else None
        if limit is not None and limit.name in found:
            least, most = np.max(stated.low), np.max(found[limit.name].high)
            if least > most * (1 + ROUNDING):
                other = found[limit.name]
                raise DomainError(
                    f"{word} must be at most {limit.name}; got {told(stated.value)} ({stated.origin}) > "
                    f"{told(other.value)} ({other.origin})"
                )
    if {"initial_grad_norm_sq", "smoothness", "initial_gap"} <= found.keys():
        square, most = found["initial_grad_norm_sq"], 2 * np.max(found["smoothness"].high) * found["initial_gap"].high
        if square.low > most * (1 + ROUNDING):
            raise DomainError(
                f"initial_grad_norm_sq of a smooth loss is at most 2*smoothness*initial_gap = {told(most)}; got "
                f"{told(square.value)} ({square.origin})"
            )
