"""The audit: every claim of the papers by name, and running checks, in parallel, without one hurting another."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from enum import StrEnum

from bounds.errors import unknown
from bounds.showing.extras import to_install

from ..claims.claim import Book, Check, Claim, ClaimError, Finding, Grade, Status
from ..claims.review import Review, review
from ..claims.rows import Claims
from ..forking import spread

CLAIMS = Claims("fedals", "fedinit", "decaying_k", "fedcog", "classics")
REVIEWS: dict[str, Review] = {paper: review(paper) for paper in CLAIMS.papers}

NEEDS_EXTRA = 'pip install "fedbounds['
"""What says that a check needs an extra of this project: no claim can then be judged."""


class Word(StrEnum):
    """The verdict of a report: REPAIRED where the print fails and its repair holds."""

    HOLDS = "HOLDS"
    REPAIRED = "REPAIRED"
    FAILS = "FAILS"
    OPEN = "OPEN"


@dataclass(frozen=True)
class Verdict:
    """A claim with the findings of its check and its repair, the bounds they looked up, and the CPU seconds."""

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
    def sound(self) -> bool:
        """Whether nothing was found against the statement as printed."""
        return self.word not in (Word.FAILS, Word.REPAIRED)

    @property
    def defect(self) -> str:
        """What is wrong with a statement that fails; empty for others."""
        return str(self.claim.defect or "")

    @property
    def expected(self) -> bool:
        """Whether this is the audited verdict: the same status, reached in the audited way, the repair holding."""
        repaired = self.repair is None or self.repair.status is Status.HOLDS
        return not self.crashed and self.finding.status is self.claim.known and self.finding.as_audited and repaired


def claims_of(paper: str = "", deep: bool = False) -> list[Claim]:
    """The claims of a paper, or of all; those that take minutes only if they are asked for."""
    found = (CLAIMS[name] for name in CLAIMS if paper in ("", name.partition(".")[0]))
    return [claim for claim in found if deep or not claim.deep]


def claim(name: str) -> Claim:
    """The claim of this name; an unknown one is refused with the nearest names."""
    if name not in CLAIMS:
        raise unknown("claim", name, list(CLAIMS))
    return CLAIMS[name]


def judge(claim: Claim, book: Book | None = None) -> Verdict:
    """Run one claim's check and its repair's. A check that raises is a finding too: OPEN, and not as audited."""
    book, began = book or Book(), time.process_time()
    before, book.asked = book.asked, set()
    try:
        finding, crashed = _found(claim.check, book), False
        repair = _found(claim.repair.check, book) if claim.repair is not None else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also what a check of a user raises: the other claims are still to be judged
        missing = to_install(error)
        said = missing if NEEDS_EXTRA in missing else f"the check broke: {type(error).__name__}: {error}"
        finding, repair, crashed = Finding(Status.OPEN, Grade.READ, said, as_audited=False), None, True
    asked = tuple(sorted({*book.asked, *claim.about}))
    book.asked |= before
    return Verdict(claim, finding, repair, asked, time.process_time() - began, crashed)


def _found(check: Check, book: Book) -> Finding:
    with redirect_stdout(sys.stderr):  # which is for verdicts alone
        finding = check(book)
    if not isinstance(finding, Finding):
        raise ClaimError(f"a check must return a Finding; got {finding!r}")
    return finding


def audit(
    claims: Iterable[Claim], workers: int = 2, step: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """The verdicts in the order of the claims; ``step`` is called as each is reached. One thread per worker."""
    wanted = list(claims)
    found: dict[int, Verdict] = {}
    for place, outcome in spread(_outcome, wanted, workers):
        found[place] = Verdict(wanted[place], *outcome)
        if found[place].crashed and NEEDS_EXTRA in found[place].finding.evidence:
            raise ClaimError(found[place].finding.evidence)
        step(found[place])
    return [found[i] for i in range(len(wanted))]


def _outcome(claim: Claim) -> tuple[Finding, Finding | None, tuple[str, ...], float, bool]:
    """A verdict without its claim, which does not pickle."""
    verdict = judge(claim)
    return verdict.finding, verdict.repair, verdict.bounds, verdict.seconds, verdict.crashed
