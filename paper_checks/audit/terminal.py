"""The report in the terminal: a table of all claims that were run, then what differs from the audit."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.showing.tables import aligned

from .records import ordered, summary
from .running import Verdict


def lines(verdicts: Sequence[Verdict], whole: bool = False) -> list[str]:
    """A table of the claims; with ``whole``, each claim's words, evidence, witness and repair in full."""
    if whole:
        told = [line for verdict in verdicts for line in _in_full(verdict)]
    else:
        rows = [
            [v.word + ("" if v.expected else " !"), v.claim.name, str(v.claim.source), v.finding.evidence]
            for v in verdicts
        ]
        told = aligned(rows, ["verdict", "claim", "source", "evidence"])
    told.append(summary(ordered(verdicts)))
    for v in verdicts:
        if not v.expected:
            how = "" if v.finding.status is not v.claim.known else ", but in another way"
            told.append(f"differs from the audit: {v.claim.name}: {v.finding.status}{how}, audited {v.claim.known}")
    return told


def _in_full(verdict: Verdict) -> list[str]:
    claim, finding = verdict.claim, verdict.finding
    defect = f", {claim.defect}" if claim.defect else ""
    whose = "  (ours)" if claim.ours else ""
    lines = [f"{verdict.word}{defect} ({finding.grade})  {claim.name}  [{claim.source}]{whose}", f"  {claim.words}"]
    lines.append(f"  evidence: {finding.evidence}")
    if not all(f"{name}={value}" in finding.evidence for name, value in finding.witness.items()):
        lines.append(f"  witness: {', '.join(f'{name} = {value}' for name, value in finding.witness.items())}")
    if claim.repair is not None and verdict.repair is not None:
        bound = f"repair {claim.repair.bound}".rstrip()
        lines.append(f"  {bound}: {claim.repair.words}: {verdict.repair.evidence}")
    return [
        *lines,
        *(f"  {word}: {text}" for word, text in (("readings", claim.damaged), ("note", claim.note)) if text),
    ]
