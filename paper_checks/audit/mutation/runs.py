"""Running the audit on mutants: one is caught when a claim that asks for it gets another verdict than the audited."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bounds.catalog import BOUNDS

from ...claims.claim import Book, Claim
from ..forking import spread
from ..running import audit, judge, Verdict
from .checks import mutant_checks
from .explained import EXPLAINED, PATTERNS
from .formulas import Mutant, mutants

SLOWEST = 20.0  # seconds; slower claims are not asked


@dataclass(frozen=True)
class Survivor:
    """A planted error that no claim notices, and why that is no hole (empty: it is one)."""

    name: str
    reason: str


@dataclass(frozen=True)
class Tally:
    """How many errors were planted in something, and which of them survived."""

    name: str
    planted: int
    survivors: tuple[Survivor, ...]

    @property
    def caught(self) -> int:
        return self.planted - len(self.survivors)


def reason(name: str) -> str:
    """Why a survivor is none to worry about, where somebody has said so."""
    named = (why for start, why in EXPLAINED.items() if name.startswith(start))
    sorts = (why for pattern, why in PATTERNS.items() if re.search(pattern, name))
    return next(named, next(sorts, ""))


def attack_bounds(
    names: Sequence[str], claims: Iterable[Claim], workers: int = 2, step: Callable[[], object] = lambda: None
) -> list[Tally]:
    """Plant every error in each bound and run the claims that ask for it, quickest first, until one notices."""
    baseline = [v for v in audit(list(claims), workers) if v.expected]
    askers = {name: _askers(name, baseline) for name in names}
    return _all(lambda name: _bound(name, askers[name]), names, workers, step)


def _askers(name: str, verdicts: Sequence[Verdict]) -> list[Claim]:
    asking = sorted((v for v in verdicts if name in v.bounds), key=lambda v: v.seconds)
    return [v.claim for v in asking if v.seconds < SLOWEST]


def _bound(name: str, claims: Sequence[Claim]) -> Tally:
    found = list(mutants(BOUNDS[name]))
    survivors = [Survivor(m.name, reason(m.name)) for m in found if not _noticed(m, claims)]
    return Tally(name, len(found), tuple(survivors))


def _noticed(mutant: Mutant, claims: Sequence[Claim]) -> bool:
    book = {mutant.bound.name: mutant.bound}
    return any(not judge(claim, Book(book)).expected for claim in claims)


def attack_checks(claims: Sequence[Claim], workers: int = 2, step: Callable[[], object] = lambda: None) -> list[Tally]:
    """Plant every error in each claim's check; it is caught when the claim's verdict is no longer the audited one."""
    return _all(_check, claims, workers, step)


def _all(work: Callable[[Any], Tally], items: Sequence[Any], workers: int, step: Callable[[], object]) -> list[Tally]:
    """The tallies in the order of the items."""
    found = {}
    for place, tally in spread(work, items, workers):
        found[place] = tally
        step()
    return [found[i] for i in range(len(items))]


def _check(claim: Claim) -> Tally:
    found = list(mutant_checks(claim))
    survivors = [Survivor(m.name, reason(m.name)) for m in found if judge(m.claim).expected]
    return Tally(claim.name, len(found), tuple(survivors))
