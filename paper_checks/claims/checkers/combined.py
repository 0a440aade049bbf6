"""Checks that combine others: all of several, readings of an unclear text, a negation; and open claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..claim import Book, Check, ClaimError, Finding, finding, Grade, Status

WEAKEST = (Grade.READ, Grade.SAMPLED, Grade.SEARCHED, Grade.EXACT, Grade.PROVED)


def _run(checks: Mapping[str, Check], book: Book, names: tuple[str, ...]) -> dict[str, Finding]:
    """Run the checks; raise if there are none, or if ``names`` has others."""
    if not checks:
        raise ClaimError("no checks are given")
    if unknown := set(names) - set(checks):
        raise ClaimError(f"there is no check {', '.join(sorted(unknown))}; checks: {', '.join(checks)}")
    return {name: check(book) for name, check in checks.items()}


def _weakest(findings: Mapping[str, Finding]) -> Grade:
    return min((f.grade for f in findings.values()), key=WEAKEST.index)


def _with_status(findings: Mapping[str, Finding], status: Status) -> set[str]:
    return {name for name, f in findings.items() if f.status is status}


@dataclass(frozen=True)
class All:
    """States that every one of the named checks holds; if not, the finding is that of the first that does not.

    ``wrong`` are the checks audited as failing; if given, another set of failing checks is not as audited.
    """

    checks: Mapping[str, Check]
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        findings = _run(self.checks, book, self.wrong)
        as_audited = all(f.as_audited for f in findings.values())
        failing = _with_status(findings, Status.FAILS)
        for status in (Status.FAILS, Status.OPEN):
            for name, found in findings.items():
                if found.status is status:
                    others = f"; {', '.join(sorted(failing - {name}))} too" if failing - {name} else ""
                    as_audited &= not self.wrong or failing == set(self.wrong)
                    evidence = f"{name}: {found.evidence}{others}"
                    return Finding(status, found.grade, evidence, found.witness, as_audited)
        evidence = "; ".join(f"{name}: {f.evidence}" for name, f in findings.items())
        return Finding(Status.HOLDS, _weakest(findings), evidence, as_audited=as_audited)


@dataclass(frozen=True)
class Readings:
    """States a text that can be read in several ways: it holds or fails if all readings do, and is open otherwise.

    ``holding`` are the readings audited as holding where they disagree.
    """

    readings: Mapping[str, Check]
    holding: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        findings = _run(self.readings, book, self.holding)
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
        as_audited &= not self.holding or _with_status(findings, Status.HOLDS) == set(self.holding)
        return Finding(status, _weakest(findings), "; ".join(texts), first.witness, as_audited)


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
