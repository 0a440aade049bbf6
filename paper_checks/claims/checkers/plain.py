"""Checks made of others: all of several, readings of one text, the opposite of a statement; and open claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..claim import Book, Check, ClaimError, Finding, Grade, judged, Status

WEAKEST = (Grade.READ, Grade.SAMPLED, Grade.SEARCHED, Grade.EXACT, Grade.PROVED)


def _run(checks: Mapping[str, Check], book: Book, named: tuple[str, ...]) -> dict[str, Finding]:
    if not checks:
        raise ClaimError("no checks are given: nothing is decided")
    if odd := set(named) - set(checks):
        raise ClaimError(f"there is no check {', '.join(sorted(odd))}; checks: {', '.join(checks)}")
    return {name: check(book) for name, check in checks.items()}


def _weakest(found: Mapping[str, Finding]) -> Grade:
    return min((f.grade for f in found.values()), key=WEAKEST.index)


def _with(found: Mapping[str, Finding], status: Status) -> set[str]:
    return {name for name, f in found.items() if f.status is status}


@dataclass(frozen=True)
class All:
    """Every one of the named checks must hold; the finding is that of the first that does not.

    ``wrong`` are the checks audited as failing: with it, another set of failing checks is another way of failing.
    """

    checks: Mapping[str, Check]
    wrong: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        found = _run(self.checks, book, self.wrong)
        audited = all(f.as_audited for f in found.values())
        failing = _with(found, Status.FAILS)
        for status in (Status.FAILS, Status.OPEN):
            for name, finding in found.items():
                if finding.status is status:
                    others = f"; {', '.join(sorted(failing - {name}))} too" if failing - {name} else ""
                    audited &= not self.wrong or failing == set(self.wrong)
                    return Finding(
                        status, finding.grade, f"{name}: {finding.evidence}{others}", finding.witness, audited
                    )
        evidence = "; ".join(f"{name}: {f.evidence}" for name, f in found.items())
        return Finding(Status.HOLDS, _weakest(found), evidence, as_audited=audited)


@dataclass(frozen=True)
class Readings:
    """A text that can be read in several ways: it fails only if every reading fails, and holds if all of them do.

    Where readings disagree it is open; ``holding`` are then the readings audited as holding.
    """

    readings: Mapping[str, Check]
    holding: tuple[str, ...] = ()

    def __call__(self, book: Book) -> Finding:
        found = _run(self.readings, book, self.holding)
        first = next((f for f in found.values() if f.witness), next(iter(found.values())))
        evidence = "; ".join(f"read as '{name}': {f.status}, {_beside(f, first)}" for name, f in found.items())
        statuses = {f.status for f in found.values()}
        status = statuses.pop() if len(statuses) == 1 else Status.OPEN
        audited = all(f.as_audited for f in found.values())
        audited &= not self.holding or _with(found, Status.HOLDS) == set(self.holding)
        return Finding(status, _weakest(found), evidence, first.witness, audited)


def _beside(finding: Finding, first: Finding) -> str:
    """The evidence of a reading; the witness that is shown is that of the ``first``."""
    alike = finding.witness == first.witness
    return finding.evidence if alike else finding.evidence.replace("at the witness", "at a point of its own")


@dataclass(frozen=True)
class Refuted:
    """The opposite of what ``check`` states: HOLDS where it fails in the audited way, and fails where it holds.

    For what is ours to state: that a sentence which a paper does not say is false.
    """

    check: Check

    def __call__(self, book: Book) -> Finding:
        found = self.check(book)
        turned = {Status.FAILS: Status.HOLDS, Status.HOLDS: Status.FAILS, Status.OPEN: Status.OPEN}
        said = "the contrary fails" if found.status is Status.FAILS else "the contrary"
        evidence = f"{said}: {found.evidence}"
        return Finding(turned[found.status], found.grade, evidence, found.witness, found.as_audited)


@dataclass(frozen=True)
class Open:
    """No machine decides this, for the reason given."""

    reason: str

    def __call__(self, book: Book) -> Finding:
        return Finding(Status.OPEN, Grade.READ, self.reason)


def agreed(pairs: Mapping[str, tuple[Any, Any]], digits: int = 12) -> Finding:
    """Whether pairs of computed numbers, (found, wanted) by name, agree to this many digits."""
    off = {
        name: f"{float(found):.9g} against {float(wanted):.9g}"
        for name, (found, wanted) in pairs.items()
        if not abs(float(found) - float(wanted)) <= 10.0**-digits * max(1.0, abs(float(wanted)))
    }
    said = "; ".join(f"{k}: {v}" for k, v in off.items()) or f"{len(pairs)} numbers agree to {digits} digits"
    return judged(not off, said, off)
