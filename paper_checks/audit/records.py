"""Order, group and count verdicts, and turn each into a record of plain data: the basis of all reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bounds.papers import PAPERS

from ..claims.claim import Defect, Status
from ..claims.review import NAMED
from .running import Verdict

STATUSES, DEFECTS = tuple(map(str, Status)), tuple(map(str, Defect))
GRAVEST_FIRST = (*DEFECTS, "", Status.OPEN, Status.HOLDS)
OF_PAPER, OURS = "of the paper", "of our own"
"""The two groups that are counted apart: sentences that a paper states, and cross-checks that we added."""
BRIEF = 200
"""Largest number of characters of brief evidence, and of the instance beside it."""


def ordered(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Sort by paper: damaged text first, then the gravest defects, open claims, those that hold; cross-checks last."""
    verdicts = list(verdicts)
    papers = list(dict.fromkeys(v.claim.paper for v in verdicts))

    def key(v: Verdict) -> tuple[int, bool, int, bool]:
        gravity = GRAVEST_FIRST.index(v.status if v.sound else v.defect)
        return papers.index(v.claim.paper), not v.claim.damaged, gravity, v.claim.ours

    return sorted(verdicts, key=key)


def record(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as plain data, without timings, so that two audits give equal records."""
    claim, finding, repair = verdict.claim, verdict.finding, verdict.claim.repair
    return {
        "name": claim.name,
        "paper": claim.paper,
        "kind": str(claim.kind),
        "verdict": str(verdict.status),
        "defect": verdict.defect,
        "ours": claim.ours,
        "expected": verdict.as_audited,
        "grade": str(finding.grade),
        "words": claim.words,
        "source": str(claim.source),
        "evidence": finding.evidence,
        "witness": dict(finding.witness),
        "note": claim.note,
        "repair": repair.words if repair else "",
        "repair_bound": repair.bound if repair else "",
        "repair_evidence": verdict.repair.evidence if verdict.repair else "",
        "damaged": claim.damaged,
        "bounds": list(verdict.bounds),
        "command": f"fedbounds check {claim.command}",
    }


def as_json(verdicts: Iterable[Verdict]) -> str:
    """Return the records of all verdicts as a JSON list."""
    return json.dumps([record(v) for v in verdicts], indent=2, ensure_ascii=False) + "\n"


def short(paper: str) -> str:
    """Return a paper's short name, or ``paper`` itself if the catalogue does not have it (claims of a user's file)."""
    return PAPERS[paper].short if paper in PAPERS else paper


def papers(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """Group the verdicts by paper."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.claim.paper, []).append(verdict)
    return groups


def by_owner(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Group the verdicts into sentences of the papers and cross-checks of ours; empty groups are left out."""
    groups = {whose: [v for v in verdicts if v.claim.ours == (whose == OURS)] for whose in (OF_PAPER, OURS)}
    return {whose: group for whose, group in groups.items() if group}


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count the claims by verdict."""
    count = Counter(str(v.status) for v in verdicts)
    return {word: count[word] for word in STATUSES}


def defects(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """Count the failing statements by defect, the gravest first."""
    count = Counter(v.defect for v in verdicts if not v.sound)
    return {word: count[word] for word in DEFECTS}


def summary(verdicts: Sequence[Verdict]) -> str:
    """Count the claims by verdict, in one line; the papers' sentences apart from our own."""
    parts = []
    groups = by_owner(verdicts)
    for whose, group in groups.items():
        numbers = ", ".join(f"{n} {word}" for word, n in counts(group).items() if n)
        parts.append(f"{len(group)} {whose} ({numbers})" if OURS in groups else numbers)
    return f"{len(verdicts)} {'claim' if len(verdicts) == 1 else 'claims'}: {', '.join(parts)}"


def brief(evidence: str, witness: Mapping[str, str]) -> str:
    """Shorten evidence to a line or two, and add the witness if it is short and the evidence does not show it."""
    parts = evidence.split("; ")
    first = [part for i, part in enumerate(parts) if i == 0 or len("; ".join(parts[: i + 1])) <= BRIEF]
    more = f" (the first of {len(parts)} parts)" if len(first) < len(parts) else ""
    instance = ", ".join(f"{name} = {value}" for name, value in witness.items())
    # A short value such as "2" occurs in the evidence by accident: its name must occur as well.
    repeated = all(v in evidence and (name in evidence or len(v) > 3) for name, v in witness.items())
    return f"{'; '.join(first)}{more}." + ("" if repeated or len(instance) > BRIEF else f" There {instance}.")


def quoted(texts: Iterable[str], verdicts: Iterable[Verdict]) -> list[str]:
    """Return a review's sentences with the verdict of this run after every claim that they name in brackets."""
    words = {v.claim.name: v.status for v in verdicts}
    return [NAMED.sub(lambda named: f"`{named[1]}` ({words.get(named[1], 'not run')})", text) for text in texts]
