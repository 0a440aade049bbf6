"""The report in the terminal: a table of all claims that were run, then what differs from the audit."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bounds.showing.terminal import COLOURS, print_lines, printable, raw

from ..running import Verdict
from .records import records, summary

WIDTH = 160  # where stdout is no terminal


def show(verdicts: Sequence[Verdict], whole: bool = False) -> None:
    """Print the table; with ``whole``, each claim's words, evidence, witness and repair in full."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(file=raw(sys.stdout), highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    if whole:
        for verdict in verdicts:
            _whole(console, verdict)
    else:
        table = Table("verdict", "claim", "source", "evidence", "s", box=None, pad_edge=False)
        for v in verdicts:
            row = (v.claim.name, str(v.claim.source), v.finding.evidence, f"{v.seconds:.1f}")
            table.add_row(_word(v), *(escape(printable(cell)) for cell in row))
        console.print(table)
    _closing(console, verdicts)


def _word(verdict: Verdict) -> str:
    changed = "" if verdict.expected else " !"
    return f"[{COLOURS[verdict.word]}]{verdict.word}[/]{changed}"


def _whole(console: object, verdict: Verdict) -> None:
    claim, finding = verdict.claim, verdict.finding
    defect = f", {claim.defect}" if claim.defect else ""
    whose = "  (ours)" if claim.ours else ""
    lines = [f"{verdict.word}{defect} ({finding.grade})  {claim.name}  [{claim.source}]{whose}", f"  {claim.words}"]
    lines.append(f"  evidence: {finding.evidence}")
    if finding.witness:
        lines.append(f"  witness: {', '.join(f'{k} = {v}' for k, v in finding.witness.items())}")
    if claim.repair is not None and verdict.repair is not None:
        lines.append(f"  repair {claim.repair.bound}: {claim.repair.words}: {verdict.repair.evidence}")
    lines += [f"  {word}: {text}" for word, text in (("readings", claim.damaged), ("note", claim.note)) if text]
    print_lines(lines)


def _closing(console: object, verdicts: Sequence[Verdict]) -> None:
    print_lines([summary(records(verdicts))])
    for v in verdicts:
        if not v.expected:
            how = "" if v.finding.status is not v.claim.known else ", but in another way"
            print_lines([f"differs from the audit: {v.claim.name}: {v.finding.status}{how}, audited {v.claim.known}"])
