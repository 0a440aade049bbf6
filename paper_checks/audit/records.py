"""What all reports share: the order of verdicts, their counts, and one record of plain data for each."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bounds.papers import PAPERS

from ..claims.claim import Defect
from ..claims.review import NAMED
from .running import Verdict, Word

WORDS, DEFECTS = tuple(map(str, Word)), tuple(map(str, Defect))
GRAVEST_FIRST = (*DEFECTS, "", Word.OPEN, Word.HOLDS)
OF_PAPER, OURS = "of the paper", "of our own"
"""Whose sentences are counted: those that a paper states, and the cross-checks that were added to them."""
BRIEF = 200
"""Letters that a finding may spend on evidence, and on an instance."""


def ordered(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """By paper: damaged text first, then the gravest defects, what is open, what holds, and what is ours."""
    found = list(verdicts)
    papers = list(dict.fromkeys(v.claim.paper for v in found))
    return sorted(
        found,
        key=lambda v: (
            papers.index(v.claim.paper),
            not v.claim.damaged,
            GRAVEST_FIRST.index(v.word if v.sound else v.defect),
            v.claim.ours,
        ),
    )


def record(verdict: Verdict, commands: Mapping[str, str]) -> dict[str, Any]:
    """A verdict as plain data, without timings, so that two audits give equal records.

    ``commands`` has the argument of ``fedbounds check`` for claims without a name in the catalogue.
    """
    claim, finding, repair = verdict.claim, verdict.finding, verdict.claim.repair
    return {
        "name": claim.name,
        "paper": claim.paper,
        "kind": str(claim.kind),
        "verdict": str(verdict.word),
        "defect": verdict.defect,
        "ours": claim.ours,
        "expected": verdict.expected,
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
        "command": f"fedbounds check {commands.get(claim.name, claim.name)}",
    }


def as_json(verdicts: Iterable[Verdict], commands: Mapping[str, str]) -> str:
    """All records as a JSON list."""
    return json.dumps([record(v, commands) for v in verdicts], indent=2, ensure_ascii=False) + "\n"


def short(paper: str) -> str:
    """A paper's short name; a claim in a user's file may be about any paper."""
    return PAPERS[paper].short if paper in PAPERS else paper


def papers(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    """The verdicts by paper."""
    groups: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(verdict.claim.paper, []).append(verdict)
    return groups


def by_owner(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """The sentences of the papers, and the cross-checks that are ours; a group without claims is left out."""
    groups = {whose: [v for v in verdicts if v.claim.ours == (whose == OURS)] for whose in (OF_PAPER, OURS)}
    return {whose: group for whose, group in groups.items() if group}


def counts(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many claims have each verdict."""
    count = Counter(str(v.word) for v in verdicts)
    return {word: count[word] for word in WORDS}


def defects(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many statements that fail have each defect, the gravest first."""
    count = Counter(v.defect for v in verdicts if not v.sound)
    return {word: count[word] for word in DEFECTS}


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many claims have each verdict, in one line; the papers' sentences apart from our own."""
    owners = by_owner(verdicts)
    numbers = {w: ", ".join(f"{n} {word}" for word, n in counts(group).items() if n) for w, group in owners.items()}
    if OURS not in owners:
        return f"{len(verdicts)} claims: {', '.join(numbers.values())}"
    return f"{len(verdicts)} claims: " + ", ".join(f"{len(owners[w])} {w} ({numbers[w]})" for w in owners)


def brief(evidence: str, witness: Mapping[str, str]) -> str:
    """Evidence in a line or two, with the instance where it is short; the full text stands with the claim."""
    parts = evidence.split("; ")
    kept = [part for i, part in enumerate(parts) if i == 0 or len("; ".join(parts[: i + 1])) <= BRIEF]
    more = f" (the first of {len(parts)} parts)" if len(kept) < len(parts) else ""
    instance = ", ".join(f"{name} = {value}" for name, value in witness.items())
    seen = all(v in evidence and (name in evidence or len(v) > 3) for name, v in witness.items())  # a digit is anywhere
    return f"{'; '.join(kept)}{more}." + ("" if seen or len(instance) > BRIEF else f" There {instance}.")


def quoted(texts: Iterable[str], verdicts: Iterable[Verdict]) -> list[str]:
    """A referee's sentences; every claim they name is followed by the verdict that was reached in this run."""
    words = {v.claim.name: v.word for v in verdicts}
    return [NAMED.sub(lambda named: f"`{named[1]}` ({words.get(named[1], 'not run')})", text) for text in texts]
