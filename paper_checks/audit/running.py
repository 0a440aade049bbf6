"""Run the checks of claims: ``verdict_of`` runs those of one claim, ``audit`` those of many in parallel processes.

``CLAIMS`` are the claims of all papers by name.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass

from bounds.showing.usage import to_install
from empirics.progress import progress

from ..claims.claim import Book, Check, Claim, ClaimError, Finding, Grade, Status
from ..claims.review import Review, review
from ..claims.rows import Claims
from ..forking import forked_map

CLAIMS = Claims("fedals", "fedinit", "decaying_k", "fedcog", "classics")
REVIEWS: dict[str, Review] = {paper: review(paper) for paper in CLAIMS.papers}


@dataclass(frozen=True)
class Verdict:
    """The findings on a claim and on its repair, the bounds looked up, CPU seconds; ``crashed``: a check raised."""

    claim: Claim
    finding: Finding
    repair: Finding | None
    bounds: tuple[str, ...]
    seconds: float
    crashed: bool = False

    @property
    def status(self) -> Status:
        """The status of the finding, or REPAIRED if it is FAILS and the repair holds."""
        if self.finding.status is Status.FAILS and self.repair is not None and self.repair.status is Status.HOLDS:
            return Status.REPAIRED
        return self.finding.status

    @property
    def sound(self) -> bool:
        """Whether the statement as printed holds or is open."""
        return self.status not in (Status.FAILS, Status.REPAIRED)

    @property
    def defect(self) -> str:
        """The declared defect of a statement that fails, such as "gap"; empty for other statements."""
        return str(self.claim.defect or "")

    @property
    def as_audited(self) -> bool:
        """Whether the finding has the audited status, is reached in the audited way, and the repair holds."""
        repaired = self.repair is None or self.repair.status is Status.HOLDS
        return not self.crashed and self.finding.status is self.claim.audited and self.finding.as_audited and repaired


def claims_of(paper: str = "") -> list[Claim]:
    """Return the claims of one paper, or of all papers."""
    return [CLAIMS[name] for name in CLAIMS if paper in ("", name.partition(".")[0])]


def verdict_of(claim: Claim, book: Book | None = None) -> Verdict:
    """Run a claim's check and its repair's check. A check that raises an error gives OPEN, and not as audited."""
    book, began = book or Book(), time.process_time()
    before, book.requested = book.requested, set()
    try:
        finding, crashed = _finding(claim.check, book), False
        repair = _finding(claim.repair.check, book) if claim.repair is not None else None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's check raises, the other claims are still checked
        if "fedbounds[" in (missing := to_install(error)):  # an optional dependency of this project
            raise ClaimError(missing) from None
        evidence = f"the check broke: {type(error).__name__}: {error}"
        finding, repair, crashed = Finding(Status.OPEN, Grade.READ, evidence, as_audited=False), None, True
    bounds = tuple(sorted({*book.requested, *claim.about}))
    book.requested |= before
    return Verdict(claim, finding, repair, bounds, time.process_time() - began, crashed)


def _finding(check: Check, book: Book) -> Finding:
    with redirect_stdout(sys.stderr):  # standard output is for verdicts alone
        finding = check(book)
    if not isinstance(finding, Finding):
        raise ClaimError(f"a check must return a Finding; got {finding!r}")
    return finding


def audit(
    claims: Iterable[Claim], workers: int = 2, step: Callable[[Verdict], object] = lambda verdict: None
) -> list[Verdict]:
    """Return the verdicts in the order of the claims, computed by ``workers`` processes of one thread each.

    Progress is shown, and ``step`` is called with each verdict as it is reached. Raises ``ClaimError`` if an optional
    dependency is missing.
    """
    claims = list(claims)
    verdicts: dict[int, Verdict] = {}
    with progress("checking the claims") as bar:
        bar.start(len(claims))
        for place, outcome in forked_map(_outcome, claims, workers):
            verdict = verdicts[place] = Verdict(claims[place], *outcome)
            step(verdict)
            bar.doing(verdict.claim.name)
            bar.step()
    return [verdicts[i] for i in range(len(claims))]


def _outcome(claim: Claim) -> tuple[Finding, Finding | None, tuple[str, ...], float, bool]:
    """Return the fields of a verdict without its claim, which cannot be pickled."""
    verdict = verdict_of(claim)
    return verdict.finding, verdict.repair, verdict.bounds, verdict.seconds, verdict.crashed
