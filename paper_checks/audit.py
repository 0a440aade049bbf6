"""The audit: every claim of the papers by name, and running checks, in parallel, without one hurting another."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import as_completed, ProcessPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from bounds.errors import unknown

from . import decaying_k, fedals, fedcog, fedinit
from .claims import Book, Claim, Finding, Grade, registry, Status

CLAIMS: dict[str, Claim] = registry(fedals.CLAIMS, fedinit.CLAIMS, decaying_k.CLAIMS, fedcog.CLAIMS)


class Word(StrEnum):
    """The verdict of a report: REPAIRED where the print fails and its repair holds."""

    HOLDS = "HOLDS"
    REPAIRED = "REPAIRED"
    FAILS = "FAILS"
    OPEN = "OPEN"


@dataclass(frozen=True)
class Verdict:
    """A claim after its check: what was found, what of its repair, the bounds that were asked for, and the seconds."""

    claim: Claim
    finding: Finding
    repair: Finding | None
    bounds: tuple[str, ...]
    seconds: float
    crashed: bool = False

    @property
    def word(self) -> Word:
        if self.finding.status is Status.FAILS and self.repair is not None and self.repair.status is Status.HOLDS:
            return Word.REPAIRED
        return Word(self.finding.status)

    @property
    def expected(self) -> bool:
        """Whether this is the audited verdict: the same status, reached in the audited way, the repair holding."""
        repaired = self.repair is None or self.repair.status is Status.HOLDS
        return not self.crashed and self.finding.status is self.claim.known and self.finding.as_audited and repaired


def claim(name: str) -> Claim:
    """The claim of this name; an unknown one is refused with the nearest names."""
    if name not in CLAIMS:
        raise unknown("claim", name, list(CLAIMS))
    return CLAIMS[name]


def judge(claim: Claim, book: Book | None = None) -> Verdict:
    """Run one claim's check and its repair's. A check that raises is a finding too: OPEN, and not as audited."""
    book, began = book or Book(), time.perf_counter()
    try:
        finding, crashed = claim.check(book), False
        repair = claim.repair.check(book) if claim.repair is not None else None
    except Exception as error:  # the other claims are still to be judged
        said = f"the check broke: {type(error).__name__}: {error}"
        finding, repair, crashed = Finding(Status.OPEN, Grade.READ, said, as_audited=False), None, True
    asked = tuple(sorted({*book.asked, *claim.about}))
    return Verdict(claim, finding, repair, asked, time.perf_counter() - began, crashed)


def audit(
    claims: Iterable[Claim], workers: int = 2, step: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """The verdicts in the order of the claims; ``step`` is called as each is reached. One thread per worker."""
    wanted = list(claims)
    found: dict[str, Verdict] = {}
    for verdict in _judged(wanted, workers):
        found[verdict.claim.name] = verdict
        step(verdict)
    return [found[c.name] for c in wanted]


def _judged(claims: list[Claim], workers: int) -> Iterator[Verdict]:
    if workers <= 1 or len(claims) < 2 or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(judge, claims)
        return
    # Forked, since checks hold functions that do not pickle: a worker finds its claim by its place in the list.
    global _FORKED
    _FORKED = claims
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_one_thread) as pool:
        futures = {pool.submit(_judge_at, i): i for i in range(len(claims))}
        for future in as_completed(futures):
            finding, repair, bounds, seconds, crashed = future.result()
            yield Verdict(claims[futures[future]], finding, repair, bounds, seconds, crashed)


_FORKED: list[Claim] = []


def _one_thread() -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


def _judge_at(place: int) -> tuple[Finding, Finding | None, tuple[str, ...], float, bool]:
    verdict = judge(_FORKED[place])
    return verdict.finding, verdict.repair, verdict.bounds, verdict.seconds, verdict.crashed
