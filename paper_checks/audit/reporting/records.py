"""What a report says of each claim, as plain data: the one source of every format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bounds.papers import PAPERS

from ...claims.claim import Defect
from ...claims.review import NAMED
from ..running import Verdict, Word

WORDS = tuple(str(w) for w in Word)
DEFECTS = tuple(str(d) for d in Defect)
OF_PAPER, OURS = "of the paper", "of our own"
"""Whose sentences are counted: those that a paper states, and the cross-checks that were added to them."""
BRIEF = 200
"""Letters that a finding may spend on evidence, and on an instance."""


@dataclass(frozen=True)
class Record:
    """One claim and its verdict in words; no timings, so that a committed report can be compared."""

    name: str
    paper: str
    kind: str
    verdict: str
    defect: str
    ours: bool
    expected: bool
    grade: str
    words: str
    source: str
    evidence: str
    witness: Mapping[str, str]
    note: str
    repair: str
    repair_bound: str
    repair_evidence: str
    damaged: str
    bounds: tuple[str, ...]
    command: str

    @property
    def sound(self) -> bool:
        """Whether nothing was found against the statement as printed."""
        return self.verdict not in (Word.FAILS, Word.REPAIRED)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def records(verdicts: Iterable[Verdict], again: Mapping[str, str] | None = None) -> list[Record]:
    """Records by paper: damaged text first, then the gravest defects, what is open, what holds, and what is ours.

    ``again`` holds what runs a claim once more, for those that have no name in the catalogue.
    """
    found = [_record(v, (again or {}).get(v.claim.name, v.claim.name)) for v in verdicts]
    order = {paper: i for i, paper in enumerate(dict.fromkeys(r.paper for r in found))}
    return sorted(found, key=lambda r: (order[r.paper], not r.damaged, _weight(r), r.ours))


def as_json(found: Sequence[Record]) -> str:
    """The records as ``report.json`` holds them."""
    return json.dumps([record.as_json() for record in found], indent=2, ensure_ascii=False) + "\n"


def _weight(record: Record) -> int:
    """The place of a verdict among verdicts: by defect, then failing without one, open, holding."""
    order = (*DEFECTS, "", Word.OPEN, Word.HOLDS)
    return order.index(record.verdict if record.sound else record.defect)


def _record(verdict: Verdict, again: str) -> Record:
    claim, finding, repair = verdict.claim, verdict.finding, verdict.claim.repair
    return Record(
        name=claim.name,
        paper=claim.paper,
        kind=str(claim.kind),
        verdict=str(verdict.word),
        defect=str(claim.defect or ""),
        ours=claim.ours,
        expected=verdict.expected,
        grade=str(finding.grade),
        words=claim.words,
        source=str(claim.source),
        evidence=finding.evidence,
        witness=dict(finding.witness),
        note=claim.note,
        repair=repair.words if repair else "",
        repair_bound=repair.bound if repair else "",
        repair_evidence=verdict.repair.evidence if verdict.repair else "",
        damaged=claim.damaged,
        bounds=verdict.bounds,
        command=f"fedbounds check {again}",
    )


def short(paper: str) -> str:
    """A paper's short name; a claim of one's own may be about any."""
    return PAPERS[paper].short if paper in PAPERS else paper


def papers(found: Sequence[Record]) -> dict[str, list[Record]]:
    """The records by paper."""
    groups: dict[str, list[Record]] = {}
    for record in found:
        groups.setdefault(record.paper, []).append(record)
    return groups


def by_owner(found: Iterable[Record]) -> dict[str, list[Record]]:
    """The sentences of the papers, and the cross-checks that are ours; a group without claims is left out."""
    groups: dict[str, list[Record]] = {OF_PAPER: [], OURS: []}
    for record in found:
        groups[OURS if record.ours else OF_PAPER].append(record)
    return {whose: group for whose, group in groups.items() if group}


def summary(found: Sequence[Record]) -> str:
    """How many claims have each verdict, in one line; the papers' sentences apart from our own."""
    owners = by_owner(found)
    verdicts = {w: ", ".join(f"{n} {word}" for word, n in counts(group).items() if n) for w, group in owners.items()}
    if OURS not in owners:
        return f"{len(found)} claims: {', '.join(verdicts.values())}"
    return f"{len(found)} claims: " + ", ".join(f"{len(owners[w])} {w} ({verdicts[w]})" for w in owners)


def counts(found: Iterable[Record]) -> dict[str, int]:
    """How many claims have each verdict, in the order of the words."""
    count = Counter(r.verdict for r in found)
    return {word: count[word] for word in WORDS}


def defects(found: Iterable[Record]) -> dict[str, int]:
    """How many statements that fail have each defect, the gravest first."""
    count = Counter(r.defect for r in found if not r.sound)
    return {word: count[word] for word in DEFECTS}


def grades(found: Iterable[Record]) -> dict[str, int]:
    """How the claims that hold were decided."""
    return dict(Counter(r.grade for r in found if r.verdict == Word.HOLDS))


def told(evidence: str, witness: Mapping[str, str]) -> str:
    """Evidence in a line or two, with the instance where it is short; the whole stands with the claim."""
    parts = evidence.split("; ")
    kept = [part for i, part in enumerate(parts) if i == 0 or len("; ".join(parts[: i + 1])) <= BRIEF]
    more = f" (the first of {len(parts)} parts)" if len(kept) < len(parts) else ""
    instance = ", ".join(f"{name} = {value}" for name, value in witness.items())
    seen = all(v in evidence and (name in evidence or len(v) > 3) for name, v in witness.items())  # a digit is anywhere
    return f"{'; '.join(kept)}{more}." + ("" if seen or len(instance) > BRIEF else f" There {instance}.")


def quoted(texts: Iterable[str], found: Sequence[Record]) -> list[str]:
    """A referee's sentences; every claim they name is followed by the verdict that was reached in this run."""
    verdicts = {r.name: r.verdict for r in found}
    return [NAMED.sub(lambda named: f"`{named[1]}` ({verdicts.get(named[1], 'not run')})", text) for text in texts]
