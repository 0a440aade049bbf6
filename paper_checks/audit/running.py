"""The claims of all papers by name, and the audit: their checks run in parallel, each isolated from the others' errors.

``audit(claims)`` returns a ``Verdict`` per claim; ``judge(claim)`` runs one check in this process.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from enum import StrEnum

from bounds.errors import unknown
from bounds.showing.usage import to_install

from ..claims.claim import Book, Check, Claim, ClaimError, Finding, Grade, Status
from ..claims.review import Review, review
from ..claims.rows import Claims
from ..forking import spread

CLAIMS = Claims("fedals", "fedinit", "decaying_k", "fedcog", "classics")
REVIEWS: dict[str, Review] = {paper: review(paper) for paper in CLAIMS.papers}

NEEDS_EXTRA = 'pip install "fedbounds['
"""Part of the message when an optional dependency of this project is missing: then the whole audit stops."""


class Word(StrEnum):
    """The verdict that reports show: the status of the finding, or REPAIRED if it is FAILS and the repair holds."""

    HOLDS = "HOLDS"
    REPAIRED = "REPAIRED"
    FAILS = "FAILS"
    OPEN = "OPEN"


@dataclass(frozen=True)
class Verdict:
    """The findings of a claim and its repair, the bounds they looked up, CPU seconds; ``crashed``: the check raised."""

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
        """Whether the statement as printed holds or is open."""
        return self.word not in (Word.FAILS, Word.REPAIRED)

    @property
    def defect(self) -> str:
        """The declared defect of a statement that fails, such as "gap"; empty for other statements."""
        return str(self.claim.defect or "")

    @property
    def expected(self) -> bool:
        """Whether this is the audited verdict: the same status, reached in the audited way, and the repair holds."""
        repaired = self.repair is None or self.repair.status is Status.HOLDS
        return not self.crashed and self.finding.status is self.claim.known and self.finding.as_audited and repaired


def claims_of(paper: str = "", deep: bool = False) -> list[Claim]:
    """Return the claims of one paper, or of all papers; with ``deep`` also those whose checks take minutes."""
    claims = (CLAIMS[name] for name in CLAIMS if paper in ("", name.partition(".")[0]))
    return [claim for claim in claims if deep or not claim.deep]


def claim(name: str) -> Claim:
    """Return the claim of this name; raise an error that suggests the nearest names if there is none."""
    if name not in CLAIMS:
        raise unknown("claim", name, list(CLAIMS))
    return CLAIMS[name]


def judge(claim: Claim, book: Book | None = None) -> Verdict:
    """Run a claim's check and its repair's check. A check that raises an error gives OPEN, and not as audited."""
    book, began = book or Book(), time.process_time()
    before, book.requested = book.requested, set()
    try:
        finding, crashed = _run(claim.check, book), False
        repair = _run(claim.repair.check, book) if claim.repair is not None else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's check raises, the other claims are still judged
        missing = to_install(error)
        evidence = missing if NEEDS_EXTRA in missing else f"the check broke: {type(error).__name__}: {error}"
        finding, repair, crashed = Finding(Status.OPEN, Grade.READ, evidence, as_audited=False), None, True
    bounds = tuple(sorted({*book.requested, *claim.about}))
    book.requested |= before
    return Verdict(claim, finding, repair, bounds, time.process_time() - began, crashed)


def _run(check: Check, book: Book) -> Finding:
    with redirect_stdout(sys.stderr):  # standard output is for verdicts alone
        finding = check(book)
    if not isinstance(finding, Finding):
        raise ClaimError(f"a check must return a Finding; got {finding!r}")
    return finding


def audit(
    claims: Iterable[Claim], workers: int = 2, step: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """Return the verdicts in the order of the claims, computed by ``workers`` processes of one thread each.

    ``step`` is called with each verdict as it is reached. Raises ``ClaimError`` if an optional dependency is missing.
    """
    claims = list(claims)
    verdicts: dict[int, Verdict] = {}
    for place, outcome in spread(_outcome, claims, workers):
        verdict = verdicts[place] = Verdict(claims[place], *outcome)
        if verdict.crashed and NEEDS_EXTRA in verdict.finding.evidence:
            raise ClaimError(verdict.finding.evidence)
        step(verdict)
    return [verdicts[i] for i in range(len(claims))]


def _outcome(claim: Claim) -> tuple[Finding, Finding | None, tuple[str, ...], float, bool]:
    """Return the fields of a verdict without its claim, which cannot be pickled."""
    verdict = judge(claim)
    return verdict.finding, verdict.repair, verdict.bounds, verdict.seconds, verdict.crashed
