"""Running the audit on mutants: one is caught when a claim that asks for it gets another verdict than the audited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bounds.catalog import BOUNDS

from ...claims.claim import Book, Claim
from ..forking import spread
from ..running import audit, judge, Verdict
from .checks import mutant_checks
from .formulas import Mutant, mutants
from .kept import Kept
from .tally import Survivor, Tally

SLOWEST = 20.0  # seconds; slower claims are not asked


def attack_bounds(
    names: Sequence[str],
    claims: Iterable[Claim],
    workers: int = 2,
    step: Callable[[], object] = lambda: None,
    kept: Kept | None = None,
) -> list[Tally]:
    """Plant every error in each bound and run the claims that ask for it, quickest first, until one notices."""
    kept = kept or Kept()
    baseline: list[Verdict] = []
    if any(kept.get("formulas", name) is None for name in names):
        baseline = [v for v in audit(list(claims), workers) if v.expected]
    askers = {name: _askers(name, baseline) for name in names}
    return _all("formulas", {name: (name, askers[name]) for name in names}, _bound, workers, step, kept)


def _askers(name: str, verdicts: Sequence[Verdict]) -> list[Claim]:
    asking = sorted((v for v in verdicts if name in v.bounds), key=lambda v: v.seconds)
    return [v.claim for v in asking if v.seconds < SLOWEST]


def _bound(asked: tuple[str, Sequence[Claim]]) -> Tally:
    name, claims = asked
    found = list(mutants(BOUNDS[name]))
    return Tally(name, len(found), tuple(Survivor(m.name) for m in found if not _noticed(m, claims)))


def _noticed(mutant: Mutant, claims: Sequence[Claim]) -> bool:
    book = {mutant.bound.name: mutant.bound}
    return any(not judge(claim, Book(book)).expected for claim in claims)


def attack_checks(
    claims: Sequence[Claim],
    workers: int = 2,
    step: Callable[[], object] = lambda: None,
    kept: Kept | None = None,
) -> list[Tally]:
    """Plant every error in each claim's check; it is caught when the claim's verdict is no longer the audited one."""
    return _all("checks", {claim.name: claim for claim in claims}, _check, workers, step, kept or Kept())


def _all(
    attacked: str,
    items: Mapping[str, Any],
    work: Callable[[Any], Tally],
    workers: int,
    step: Callable[[], object],
    kept: Kept,
) -> list[Tally]:
    """The tallies in the order of the items: those that are kept, and the others as they are ready."""
    found = {name: tally for name in items if (tally := kept.get(attacked, name)) is not None}
    for _ in found:
        step()
    left = [name for name in items if name not in found]
    for place, tally in spread(work, [items[name] for name in left], workers):
        found[left[place]] = tally
        kept.add(attacked, tally)
        step()
    return [found[name] for name in items]


def _check(claim: Claim) -> Tally:
    found = list(mutant_checks(claim))
    return Tally(claim.name, len(found), tuple(Survivor(m.name) for m in found if judge(m.claim).expected))
