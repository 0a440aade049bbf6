"""Print verdicts in the terminal: a table or each claim in full, then those that differ from the audit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bounds.showing.tables import aligned

from .records import ordered, summary
from .running import Verdict


def lines(verdicts: Sequence[Verdict], in_full: bool = False) -> list[str]:
    """Return the lines to print: a table of the claims, or each with words, evidence, witness and repair (in_full)."""
    if in_full:
        printed = [line for verdict in verdicts for line in _in_full(verdict)]
    else:
        rows = [
            [v.status + ("" if v.as_audited else " !"), v.claim.name, str(v.claim.source), v.finding.evidence]
            for v in verdicts
        ]
        printed = aligned(rows, ["verdict", "claim", "source", "evidence"])
    printed.append(summary(ordered(verdicts)))
    for v in verdicts:
        if not v.as_audited:
            how = "" if v.finding.status is not v.claim.audited else ", but in another way"
            found = f"{v.finding.status}{how}, audited {v.claim.audited}"
            printed.append(f"differs from the audit: {v.claim.name}: {found}")
    return printed


def _in_full(verdict: Verdict) -> list[str]:
    claim, finding = verdict.claim, verdict.finding
    defect = f", {claim.defect}" if claim.defect else ""
    whose = "  (ours)" if claim.ours else ""
    lines = [f"{verdict.status}{defect} ({finding.grade})  {claim.name}  [{claim.source}]{whose}", f"  {claim.words}"]
    lines.append(f"  evidence: {finding.evidence}")
    values = (re.escape(f"{name}={value}") for name, value in finding.witness.items())
    if not all(re.search(rf"(?<!\w){value}(?!\.?\w)", finding.evidence) for value in values):
        lines.append(f"  witness: {', '.join(f'{name} = {value}' for name, value in finding.witness.items())}")
    if claim.repair is not None and verdict.repair is not None:
        bound = f"repair {claim.repair.bound}".rstrip()
        lines.append(f"  {bound}: {claim.repair.words}: {verdict.repair.evidence}")
    more = {"readings": claim.damaged, "note": claim.note}
    return [*lines, *(f"  {title}: {text}" for title, text in more.items() if text)]
