"""Checks that are no formula: a computation of its own, several readings of one text, and what no machine decides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..claims import Book, Check, Finding, Grade, Status


@dataclass(frozen=True)
class Computed:
    """A computation written for one claim: ``run(book)`` returns the finding, ``takes`` says what it does."""

    takes: str
    run: Callable[[Book], Finding]

    def __call__(self, book: Book) -> Finding:
        return self.run(book)


@dataclass(frozen=True)
class All:
    """Every one of the named checks must hold; the first that does not speaks for all."""

    checks: Mapping[str, Check]

    def __call__(self, book: Book) -> Finding:
        found = {name: check(book) for name, check in self.checks.items()}
        evidence = "; ".join(f"{name}: {f.evidence}" for name, f in found.items())
        for status in (Status.FAILS, Status.OPEN):
            for name, finding in found.items():
                if finding.status is status:
                    audited = all(f.as_audited for f in found.values())
                    return Finding(status, finding.grade, f"{name}: {finding.evidence}", finding.witness, audited)
        grades = {f.grade for f in found.values()}
        grade = next(g for g in (Grade.SAMPLED, Grade.READ, Grade.EXACT, Grade.PROVED) if g in grades)
        return Finding(Status.HOLDS, grade, evidence)


@dataclass(frozen=True)
class Readings:
    """A text that can be read in several ways: it fails only if every reading fails, and holds if all of them do."""

    readings: Mapping[str, Check]

    def __call__(self, book: Book) -> Finding:
        found = {name: check(book) for name, check in self.readings.items()}
        evidence = "; ".join(f"read as '{name}': {f.status}, {f.evidence}" for name, f in found.items())
        statuses = {f.status for f in found.values()}
        status = statuses.pop() if len(statuses) == 1 else Status.OPEN
        first = next(iter(found.values()))
        return Finding(status, first.grade, evidence, first.witness, all(f.as_audited for f in found.values()))


@dataclass(frozen=True)
class Open:
    """No machine decides this, for the reason given."""

    reason: str

    def __call__(self, book: Book) -> Finding:
        return Finding(Status.OPEN, Grade.READ, self.reason)
