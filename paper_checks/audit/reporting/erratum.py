"""A short LaTeX note of what a paper prints, why it fails, and the corrected statement with what supports it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing.printing import escaped

from ...claims.claim import Claim, Kind
from ..running import Verdict, Word

HEAD = r"""\documentclass{article}
\usepackage{amsmath, amssymb}
\allowdisplaybreaks
"""
STATEMENTS = (Kind.THEOREM, Kind.ASSUMPTION, Kind.DEFINITION, Kind.ALGORITHM)
"""What a reader builds upon: its correction stands in the note even where words say it and no bound does."""


def belongs(claim: Claim, book: Mapping[str, Bound]) -> bool:
    """Whether the correction of a claim, if it is found to hold, is one for the note."""
    if claim.repair is None:
        return False
    return claim.repair.bound in book or (claim.passage.kind in STATEMENTS and not claim.ours)


def erratum(verdicts: Sequence[Verdict], book: Mapping[str, Bound], again: Mapping[str, str]) -> str:
    """The note of claims that belong in it; only those whose correction was found to hold stand there.

    ``again`` holds what runs a claim once more, for those that have no name in the catalogue.
    """
    mended = [v for v in verdicts if v.word is Word.REPAIRED]
    papers = list(dict.fromkeys(v.claim.paper for v in mended))
    titles = [f"{PAPERS[p].title} ({', '.join(PAPERS[p].authors)})" if p in PAPERS else p for p in papers]
    lines = [rf"\title{{Corrections to: {escaped('; '.join(titles))}}}", r"\date{}", r"\begin{document}", r"\maketitle"]
    if not mended:
        lines.append("No statement that fails has a correction.")
    for verdict in mended:
        lines += ["", *_entry(verdict, book, again.get(verdict.claim.name, verdict.claim.name))]
    return HEAD + "\n".join([*lines, r"\end{document}"]) + "\n"


def _entry(verdict: Verdict, book: Mapping[str, Bound], again: str) -> list[str]:
    claim, repair = verdict.claim, verdict.claim.repair
    assert repair is not None  # REPAIRED
    corrected = book.get(repair.bound)
    stem = corrected.name.rpartition("_")[0] if corrected else ""
    printed = [book[name] for name in verdict.bounds if name in book and name != repair.bound]
    defect = f" ({claim.defect})" if claim.defect else ""
    lines = [rf"\paragraph{{{escaped(claim.passage.place)}}} {escaped(claim.words)} This fails{defect}: "]
    lines.append(escaped(verdict.finding.evidence) + ".")
    for bound in printed:
        if bound.source.paper == claim.paper and bound.name.startswith(stem):
            lines += [f"Printed, {escaped(bound.source.place)}:", *_display(bound)]
    if corrected:
        lines += [f"Corrected, {escaped(repair.words)}:", *_display(corrected)]
        words = [escaped(c.words) for c in corrected.conditions]
        lines += [f"Conditions: {'; '.join(words)}."] if words else []
    else:
        lines.append(f"Corrected: {escaped(repair.words)}.")
    held = verdict.repair
    assert held is not None  # REPAIRED
    lines.append(f"Support ({held.grade}): {escaped(held.evidence)} (\\texttt{{fedbounds check {escaped(again)}}}).")
    return lines


def _display(bound: Bound) -> list[str]:
    """Term under term, so that long bounds fit; names of terms and abbreviations as the card has them."""
    return [r"\[", f"  {bound.latex()}", r"\]"]
