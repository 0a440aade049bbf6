"""The report in the terminal: a table of all claims that were run, then what differs from the audit."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bounds.showing.terminal import COLOURS, print_lines, printable, raw

from .records import ordered, summary
from .running import Verdict

WIDTH = 160  # where stdout is no terminal


def show(verdicts: Sequence[Verdict], whole: bool = False) -> None:
    """Print the table; with ``whole``, each claim's words, evidence, witness and repair in full."""
    if whole:
        for verdict in verdicts:
            print_lines(_in_full(verdict))
    else:
        _table(verdicts)
    lines = [summary(ordered(verdicts))]
    for v in verdicts:
        if not v.expected:
            how = "" if v.finding.status is not v.claim.known else ", but in another way"
            lines.append(f"differs from the audit: {v.claim.name}: {v.finding.status}{how}, audited {v.claim.known}")
    print_lines(lines)


def _table(verdicts: Sequence[Verdict]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=raw(sys.stdout), highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    table = Table("verdict", "claim", "source", "evidence", "s", box=None, pad_edge=False)
    for v in verdicts:
        row = (v.claim.name, str(v.claim.source), v.finding.evidence, f"{v.seconds:.1f}")
        word = f"[{COLOURS[v.word]}]{v.word}[/]{'' if v.expected else ' !'}"
        table.add_row(word, *(escape(printable(cell)) for cell in row))
    console.print(table)


def _in_full(verdict: Verdict) -> list[str]:
    claim, finding = verdict.claim, verdict.finding
    defect = f", {claim.defect}" if claim.defect else ""
    whose = "  (ours)" if claim.ours else ""
    lines = [f"{verdict.word}{defect} ({finding.grade})  {claim.name}  [{claim.source}]{whose}", f"  {claim.words}"]
    lines.append(f"  evidence: {finding.evidence}")
    if finding.witness:
        lines.append(f"  witness: {', '.join(f'{k} = {v}' for k, v in finding.witness.items())}")
    if claim.repair is not None and verdict.repair is not None:
        lines.append(f"  repair {claim.repair.bound}: {claim.repair.words}: {verdict.repair.evidence}")
    return [
        *lines,
        *(f"  {word}: {text}" for word, text in (("readings", claim.damaged), ("note", claim.note)) if text),
    ]
