"""Checks that combine others: readings of an unclear text, a negation; and open claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..claim import Book, Check, Finding, finding, Grade, run_checks, Status, weakest, with_status


@dataclass(frozen=True)
class Readings:
    """States a text that can be read in several ways: it holds or fails if all readings do, and is open otherwise.

    ``holding`` are the readings audited as holding where they disagree.
    """

    readings: Mapping[str, Check]
    holding: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        findings = run_checks(self.readings, book, self.holding)
        first = next((f for f in findings.values() if f.witness), next(iter(findings.values())))
        texts = []
        for name, found in findings.items():
            evidence = found.evidence
            if found.witness != first.witness:  # only the first witness is shown
                evidence = evidence.replace("at the witness", "at another point")
            texts.append(f"read as '{name}': {found.status}, {evidence}")
        statuses = {f.status for f in findings.values()}
        status = statuses.pop() if len(statuses) == 1 else Status.OPEN
        as_audited = all(f.as_audited for f in findings.values())
        as_audited &= not self.holding or with_status(findings, Status.HOLDS) == set(self.holding)
        return Finding(status, weakest(findings), "; ".join(texts), first.witness, as_audited)


@dataclass(frozen=True)
class Refuted:
    """States the negation of ``check``: HOLDS if it fails in the audited way, and FAILS if it holds.

    For claims of our own that a sentence which no paper states is false.
    """

    check: Check

    def __call__(self, book: Book) -> Finding:
        found = self.check(book)
        negated = {Status.FAILS: Status.HOLDS, Status.HOLDS: Status.FAILS, Status.OPEN: Status.OPEN}
        contrary = "the contrary fails" if found.status is Status.FAILS else "the contrary"
        evidence = f"{contrary}: {found.evidence}"
        return Finding(negated[found.status], found.grade, evidence, found.witness, found.as_audited)


@dataclass(frozen=True)
class Open:
    """States that the machine cannot decide a sentence, for the given reason."""

    reason: str

    def __call__(self, book: Book) -> Finding:
        return Finding(Status.OPEN, Grade.READ, self.reason)


def agree(pairs: Mapping[str, tuple[Any, Any]], digits: int = 12) -> Finding:
    """Return HOLDS if the pairs of numbers (computed, expected), by name, agree to this many digits, else FAILS."""
    differing = {}
    for name, pair in pairs.items():
        computed, expected = map(float, pair)
        if not abs(computed - expected) <= 10.0**-digits * max(1.0, abs(expected)):
            differing[name] = f"{computed:.9g} against {expected:.9g}"
    evidence = "; ".join(f"{k}: {v}" for k, v in differing.items()) or f"{len(pairs)} numbers agree to {digits} digits"
    return finding(not differing, evidence, differing)
