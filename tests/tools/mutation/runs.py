"""Running the audit on mutants: one is caught when a claim that asks for it gets another verdict than the audited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from bounds.catalog import BOUNDS
from paper_checks.audit.running import audit, Verdict, verdict_of
from paper_checks.claims.checkers import All
from paper_checks.claims.claim import Book, Claim, Status
from paper_checks.forking import forked_map

from .checks import mutant_checks, MutantCheck
from .formulas import Mutant, mutants
from .patience import judged_within, patience
from .tally import tallied, Tally

SLOWEST = 20.0  # seconds; slower claims are not asked


def attack_bounds(
    names: Sequence[str],
    claims: Iterable[Claim],
    workers: int = 2,
    step: Callable[[], object] = lambda: None,
) -> list[Tally]:
    """Plant every error in each bound and run the claims that ask for it, quickest first, until one notices."""
    baseline = [v for v in audit(list(claims), workers) if v.as_audited]
    return _all([(name, _askers(name, baseline)) for name in names], _bound, workers, step)


def _askers(name: str, verdicts: Sequence[Verdict]) -> list[tuple[Claim, float]]:
    """The claims that ask for a bound, quickest first, each with the CPU seconds after which it is given up."""
    asking = sorted((v for v in verdicts if name in v.bounds), key=lambda v: v.seconds)
    return [(v.claim, patience(v.seconds)) for v in asking if v.seconds < SLOWEST]


def _bound(asked: tuple[str, Sequence[tuple[Claim, float]]]) -> Tally:
    name, claims = asked
    return tallied(name, ((m.name, _noticed(m, claims)) for m in mutants(BOUNDS[name])))


def _noticed(mutant: Mutant, claims: Sequence[tuple[Claim, float]]) -> bool | None:
    """Whether a claim notices; None where none does and one was given up."""
    book, late = {mutant.bound.name: mutant.bound}, False
    for claim, seconds in claims:
        verdict = judged_within(seconds, claim, Book(book))
        late |= verdict is None
        asked = [verdict] if verdict is not None else (judged_within(seconds, p, Book(book)) for p in _parts(claim))
        if any(v is not None and not v.as_audited for v in asked):
            return True
    return None if late else False


def _parts(claim: Claim) -> Iterator[Claim]:
    """Each check without which the verdict would be another, as a claim of its own: one may decide what all cannot."""
    plain = replace(claim, audited=Status.HOLDS, repair=None, defect=None)
    needed = [claim.check] if claim.audited is Status.HOLDS else []
    for check in (*needed, *([claim.repair.check] if claim.repair is not None else [])):
        if isinstance(check, All):
            yield from (replace(plain, check=part) for part in check.checks.values())


def attack_checks(
    claims: Sequence[Claim],
    workers: int = 2,
    step: Callable[[], object] = lambda: None,
) -> list[Tally]:
    """Plant every error in each claim's check; it is caught when the claim's verdict is no longer the audited one."""
    return _all(claims, _check, workers, step)


def _all(items: Sequence[Any], work: Callable[[Any], Tally], workers: int, step: Callable[[], object]) -> list[Tally]:
    """The tallies in the order of the items."""
    found = {}
    for place, tally in forked_map(work, items, workers):
        found[place] = tally
        step()
    return [found[place] for place in range(len(items))]


def _check(claim: Claim) -> Tally:
    found = list(mutant_checks(claim))
    seconds = patience(verdict_of(replace(claim, repair=None)).seconds if found else 0.0)
    return tallied(claim.name, ((m.name, _refuted(m, seconds)) for m in found))


def _refuted(mutant: MutantCheck, seconds: float) -> bool | None:
    """Whether the verdict is another than the audited one; None where it was given up."""
    verdict = judged_within(seconds, mutant.claim)
    return None if verdict is None else not verdict.as_audited
