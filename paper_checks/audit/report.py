"""Verdicts as text: ``lines`` for the terminal, ``files`` for the report in Markdown with a page per paper."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from bounds.papers import PAPERS
from bounds.showing.tables import aligned

from ..claims.claim import Claim, Status
from ..claims.review import Review
from .records import brief, by_owner, counts, DEFECTS, defects, ordered, papers, quoted, short, STATUSES, summary
from .running import Verdict

OVERVIEW, FOLDER = "REPORT.md", "reports"
NOT_CHECKED = "–"
"""Entry of the table of theorems where a reading or regime does not concern the statement, or was not checked."""
LEGEND = (
    f"`fedbounds check NAME` checks an entry again. {NOT_CHECKED}: the column does not concern the statement, or was "
    "not checked."
)
ALL = "## All claims"
"""The heading that ends the first page of a paper."""
HOW = """Every verdict judges the statement **as printed**. The command beside it runs the check again.

- **HOLDS**: no counterexample was found. The grade says how strong the evidence is: *proved* (symbolically, or by
  going through all cases), *exact* (exact arithmetic at stated points or instances), *searched* (no violation in the
  stated box), *sampled* (with the stated error rate), *read*.
- **FAILS**: a counterexample (witness) shows it. **REPAIRED**: it fails as printed, and a corrected statement is given
  and checked. The defect says what is wrong: *refuted* (the conclusion is false in its stated setting), *gap* (a step
  of the proof is false), *reading* (it holds in one reading and fails in another), *settings* (the experiments lie
  outside the conditions), *slip* (an index, a sign, a rounding, notation).
- **OPEN**: the machine cannot decide it, for the given reason.

A claim is a sentence of a paper, in our words; cross-checks that we added are marked *ours* and counted apart.

A verdict can be wrong if a formula is encoded wrongly. Every formula of the catalogue is therefore typed from the
paper, compared with independent arithmetic, and tested with planted errors (`tests/tools/mutation`)."""


# ---- the terminal ----


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
    texts = [f"{verdict.status}{defect} ({finding.grade})  {claim.name}  [{claim.source}]{whose}", f"  {claim.words}"]
    texts.append(f"  evidence: {finding.evidence}")
    values = (re.escape(f"{name}={value}") for name, value in finding.witness.items())
    if not all(re.search(rf"(?<!\w){value}(?!\.?\w)", finding.evidence) for value in values):
        texts.append(f"  witness: {', '.join(f'{name} = {value}' for name, value in finding.witness.items())}")
    if claim.repair is not None and verdict.repair is not None:
        bound = f"repair {claim.repair.bound}".rstrip()
        texts.append(f"  {bound}: {claim.repair.words}: {verdict.repair.evidence}")
    more = {"readings": claim.damaged, "note": claim.note}
    return [*texts, *(f"  {title}: {text}" for title, text in more.items() if text)]


# ---- Markdown ----


def files(verdicts: Sequence[Verdict], reviews: Mapping[str, Review]) -> dict[str, str]:
    """Return the texts of the report by file name: an overview, and one page per paper."""
    pages = {paper: page_of(paper, group, reviews.get(paper)) for paper, group in papers(verdicts).items()}
    overview = ["# The audit", "", HOW, "", "## Claims by verdict and paper", "", *_tally(verdicts), ""]
    overview += ["## Paper by paper", "", *(f"- [{short(paper)}]({FOLDER}/{paper}.md)" for paper in pages)]
    all_pages = {OVERVIEW: overview, **{f"{FOLDER}/{paper}.md": page for paper, page in pages.items()}}
    return {name: "\n".join(lines) + "\n" for name, lines in all_pages.items()}


def _tally(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a table that counts claims by verdict and defect, a row for each paper and each owner of the sentences."""
    rows = [["paper", "sentences", "claims", *STATUSES, *DEFECTS, "holds by"]]
    for paper, claims in [*papers(verdicts).items(), ("all", verdicts)]:
        for whose, group in by_owner(claims).items():
            numbers = [len(group), *counts(group).values(), *defects(group).values()]
            grades = sorted(Counter(v.finding.grade for v in group if v.status is Status.HOLDS).items())
            holds_by = ", ".join(f"{n} {grade}" for grade, n in grades)
            rows.append([short(paper), whose, *map(str, numbers), holds_by])
    return _table(rows)


def _table(rows: list[list[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *body]


def page_of(paper: str, group: Sequence[Verdict], review: Review | None) -> list[str]:
    """Return the lines of a paper's page: its review, then all its claims, each with its evidence."""
    about = PAPERS.get(paper)
    lines = [f"# {about.short}: {about.title}" if about else f"# {paper}", ""]
    lines += [f"{', '.join(about.authors)}; read: {about.read}.", ""] if about else []
    lines += [f"{summary(group)}.", "", *(_first(review, group) if review else ()), ALL, ""]
    rows = [["claim", "verdict", "defect", "grade", "kind"]]
    for v in group:
        kind = f"{v.claim.kind}, ours" if v.claim.ours else v.claim.kind
        rows.append([_link(v.claim), v.status, v.defect, v.finding.grade, kind])
    lines += _table(rows)
    if damaged := [v for v in group if v.claim.damaged]:
        lines += ["", "### Check against the PDF", ""]
        lines.append("The text is damaged here; each claim names the readings that were considered.")
    for verdict in [*damaged, *(v for v in group if not v.claim.damaged)]:
        lines += ["", *_claim(verdict)]
    return lines


def _first(review: Review, group: Sequence[Verdict]) -> list[str]:
    """Return the lines of a review: summary, table of theorems, findings, what stands, what to correct."""
    lines = [line for paragraph in quoted(review.summary, group) for line in (paragraph, "")]
    by_name = {v.claim.name: v for v in group}
    if review.theorems:
        columns = list(dict.fromkeys(reading for row in review.theorems.values() for reading in row))
        rows = [[name, *(_cell(row.get(c, ""), by_name) for c in columns)] for name, row in review.theorems.items()]
        lines += ["## Theorem by theorem", "", *_table([["theorem", *columns], *rows]), "", LEGEND, ""]
    if findings := [(by_name[name], sentence) for name, sentence in review.sentences.items() if name in by_name]:
        lines += ["## What was found", "", "The gravest first: what is claimed, and what was found.", ""]
        for i, (v, sentence) in enumerate(findings, 1):
            evidence = quoted([sentence], group)[0] if sentence else brief(v.finding.evidence, v.finding.witness)
            whose = ", our own" if v.claim.ours else ""
            claimed = f"{i}. **{v.defect or v.status}{whose}** {_link(v.claim)}: {_escaped(v.claim.words)}"
            lines.append(f"{claimed} Found: {_escaped(evidence)}")
        lines.append("")
    for title, texts in (("What stands", review.survives), ("What to correct", review.change)):
        lines += [f"## {title}", "", *(f"- {text}" for text in quoted(texts, group)), ""] if texts else []
    return lines


def _cell(name: str, by_name: Mapping[str, Verdict]) -> str:
    """Return an entry of the table of theorems: the verdict of the claim ``name``, with a link to it."""
    if name not in by_name:
        return "not run" if name else NOT_CHECKED
    verdict = by_name[name]
    return f"[{verdict.status}, {verdict.defect or verdict.finding.grade}](#{name.replace('.', '')})"


def first_page(text: str) -> str:
    """Return the part of a paper's page before the list of all claims, without links and Markdown escapes."""
    linked = text.partition(f"\n{ALL}\n")[0].rstrip()
    return re.sub(r"\\([\\*|_])", r"\1", re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", linked))


def _link(claim: Claim) -> str:
    return f"[{claim.name}](#{claim.name.replace('.', '')})"


def _claim(verdict: Verdict) -> list[str]:
    claim, finding, repair = verdict.claim, verdict.finding, verdict.claim.repair
    defect = f", {verdict.defect}" if verdict.defect else ""
    entries = {
        "Whose": "ours, a cross-check" if claim.ours else "",
        "Source": str(claim.source),
        "Evidence": _escaped(finding.evidence),
        "Witness": _escaped(", ".join(f"{k} = {v}" for k, v in finding.witness.items())),
    }
    if repair:
        bound = f" (`{repair.bound}`)" if repair.bound else ""
        entries[f"Repair{bound}"] = f"{repair.words}: {_escaped(verdict.repair.evidence if verdict.repair else '')}"
    entries |= {"Readings": claim.damaged, "Note": claim.note, "Again": f"`fedbounds check {claim.command}`"}
    lines = [f"#### {claim.name}", "", f"**{verdict.status}**{defect} ({finding.grade}). {claim.words}", ""]
    return [*lines, *(f"- {title}: {text}" for title, text in entries.items() if text)]


def _escaped(text: str) -> str:
    """Return a text on one line, with stars, pipes and underscores escaped for Markdown except in code."""
    text = " ".join(text.split())  # a line break would end the list
    return re.sub(r"(`[^`]*`)|([\\*|_])", lambda m: m[1] or f"\\{m[2]}", text)
