"""The report as Markdown: an overview and a page per paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bounds.papers import PAPERS

from ..claims.claim import Claim
from ..claims.review import Review
from .records import brief, by_owner, counts, DEFECTS, defects, papers, quoted, short, summary, WORDS
from .running import Verdict, Word

OVERVIEW, FOLDER = "REPORT.md", "reports"
UNASKED = "–"
"""Stands where a reading or regime does not concern the statement, or was not checked."""
TOLD = f"`fedbounds check NAME` shows a place again; {UNASKED}: no question to the statement there, or none asked."
ALL = "## All claims"
"""Where the first page of a paper ends."""
HOW = """Every verdict judges the statement **as printed** and can be run again with the command beside it.

- **HOLDS**: no way was found to make it false. The grade says how far that goes: *proved* (symbolically, or by going
  through all cases), *exact* (exact arithmetic at stated points or instances), *searched* (no violation in the box that
  is stated), *sampled* (with the error rate that is stated), *read*.
- **FAILS**: a witness shows it. **REPAIRED**: it fails as printed, and a corrected statement is given and checked. The
  defect says what that means: *refuted* (the conclusion is false where it is stated), *gap* (a step of the proof is
  false), *reading* (it holds in one reading and fails in another), *settings* (the experiments lie outside), *slip*.
- **OPEN**: no machine decides it, for the reason given.

A claim is a sentence of a paper, in our words; cross-checks that we added are marked *ours* and counted apart.

A verdict can be wrong where the encoding is: every formula of the catalogue is typed from the paper, compared
with independent arithmetic, and attacked by planted errors (`tests/tools/mutation`)."""


def files(
    verdicts: Sequence[Verdict], reviews: Mapping[str, Review], commands: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The report by file name: an overview, and one page per paper.

    ``commands`` has the argument of ``fedbounds check`` for claims without a name in the catalogue.
    """
    pages = {paper: page_of(paper, vs, reviews.get(paper), commands or {}) for paper, vs in papers(verdicts).items()}
    lines = ["# The audit", "", HOW, "", "## Claims by verdict and paper", "", *_tally(verdicts), ""]
    lines += ["## Paper by paper", "", *(f"- [{short(paper)}]({FOLDER}/{paper}.md)" for paper in pages)]
    found = {OVERVIEW: lines, **{f"{FOLDER}/{paper}.md": page for paper, page in pages.items()}}
    return {name: "\n".join(page) + "\n" for name, page in found.items()}


def _tally(verdicts: Sequence[Verdict]) -> list[str]:
    """A table: claims by verdict, paper and whose sentence it is."""
    rows = [["paper", "sentences", "claims", *WORDS, *DEFECTS, "holds by"]]
    for paper, claims in [*papers(verdicts).items(), ("all", verdicts)]:
        for whose, group in by_owner(claims).items():
            numbers = [len(group), *counts(group).values(), *defects(group).values()]
            grades = sorted(Counter(v.finding.grade for v in group if v.word is Word.HOLDS).items())
            holds_by = ", ".join(f"{n} {grade}" for grade, n in grades)
            rows.append([short(paper), whose, *map(str, numbers), holds_by])
    return _table(rows)


def _table(rows: list[list[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *body]


def page_of(paper: str, group: Sequence[Verdict], review: Review | None, commands: Mapping[str, str]) -> list[str]:
    """A paper's page: what a referee would say first, on one page; then all its claims, each with its evidence."""
    about = PAPERS.get(paper)
    lines = [f"# {about.short}: {about.title}" if about else f"# {paper}", ""]
    lines += [f"{', '.join(about.authors)}; read: {about.read}.", ""] if about else []
    lines += [f"{summary(group)}.", "", *(_first(review, group) if review else ()), ALL, ""]
    rows = [["claim", "verdict", "defect", "grade", "kind"]]
    for v in group:
        kind = f"{v.claim.kind}, ours" if v.claim.ours else v.claim.kind
        rows.append([_link(v.claim), v.word, v.defect, v.finding.grade, kind])
    lines += _table(rows)
    if damaged := [v for v in group if v.claim.damaged]:
        lines += ["", "### Check against the PDF", ""]
        lines.append("The text is damaged here; the readings that were considered are named.")
    for verdict in [*damaged, *(v for v in group if not v.claim.damaged)]:
        lines += ["", *_claim(verdict, commands.get(verdict.claim.name, verdict.claim.name))]
    return lines


def _first(review: Review, group: Sequence[Verdict]) -> list[str]:
    lines = [line for paragraph in quoted(review.summary, group) for line in (paragraph, "")]
    by_name = {v.claim.name: v for v in group}
    if review.theorems:
        columns = list(dict.fromkeys(reading for row in review.theorems.values() for reading in row))
        rows = [[name, *(_cell(row.get(c, ""), by_name) for c in columns)] for name, row in review.theorems.items()]
        lines += ["## Theorem by theorem", "", *_table([["theorem", *columns], *rows]), "", TOLD, ""]
    if found := [(by_name[name], said) for name, said in review.found.items() if name in by_name]:
        lines += ["## What was found", "", "The gravest first: what is claimed, and what was found.", ""]
        for i, (v, sentence) in enumerate(found, 1):
            said = quoted([sentence], group)[0] if sentence else brief(v.finding.evidence, v.finding.witness)
            whose = ", our own" if v.claim.ours else ""
            claimed = f"{i}. **{v.defect or v.word}{whose}** {_link(v.claim)}: {_plain(v.claim.words)}"
            lines.append(f"{claimed} Found: {_plain(said)}")
        lines.append("")
    for title, texts in (("What stands", review.survives), ("What to correct", review.change)):
        lines += [f"## {title}", "", *(f"- {text}" for text in quoted(texts, group)), ""] if texts else []
    return lines


def _cell(name: str, by_name: Mapping[str, Verdict]) -> str:
    """The verdict of the claim that decides a theorem in one reading."""
    if name not in by_name:
        return "not run" if name else UNASKED
    verdict = by_name[name]
    return f"[{verdict.word}, {verdict.defect or verdict.finding.grade}](#{name.replace('.', '')})"


def first_page(text: str) -> str:
    """What comes before the list of all claims on a paper's page, links as their words, letters as they are."""
    linked = text.partition(f"\n{ALL}\n")[0].rstrip()
    return re.sub(r"\\([\\*|_])", r"\1", re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", linked))


def _link(claim: Claim) -> str:
    return f"[{claim.name}](#{claim.name.replace('.', '')})"


def _claim(verdict: Verdict, name: str) -> list[str]:
    claim, finding, repair = verdict.claim, verdict.finding, verdict.claim.repair
    defect = f", {verdict.defect}" if verdict.defect else ""
    named = f" (`{repair.bound}`)" if repair and repair.bound else ""
    told = {
        "Whose": "ours, a cross-check" if claim.ours else "",
        "Source": str(claim.source),
        "Evidence": _plain(finding.evidence),
        "Witness": _plain(", ".join(f"{k} = {v}" for k, v in finding.witness.items())),
        f"Repair{named}": f"{repair.words}: {_plain(verdict.repair.evidence if verdict.repair else '')}"
        if repair
        else "",
        "Readings": claim.damaged,
        "Note": claim.note,
        "Again": f"`fedbounds check {name}`",
    }
    lines = [f"#### {claim.name}", "", f"**{verdict.word}**{defect} ({finding.grade}). {claim.words}", ""]
    return [*lines, *(f"- {title}: {text}" for title, text in told.items() if text)]


def _plain(text: str) -> str:
    """On one line, with the stars and pipes of formulas escaped for Markdown; code stays as it is."""
    text = " ".join(text.split())  # a line break would end the list
    return re.sub(r"(`[^`]*`)|([\\*|_])", lambda m: m[1] or f"\\{m[2]}", text)
