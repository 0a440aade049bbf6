"""The report as Markdown: an overview and a page per paper. No timings: made again, the files are the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from bounds.papers import PAPERS

from ...claims.review import Review
from .records import by_owner, counts, DEFECTS, defects, grades, papers, quoted, Record, short, summary, told, WORDS

OVERVIEW, FOLDER = "REPORT.md", "reports"
UNASKED = "–"
"""In a place where a reading or regime is no question to the statement, or none that was asked."""
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

A verdict can be wrong where the encoding is: every formula of the catalogue is typed from the paper by hand, compared
with independent arithmetic, and attacked by planted errors (`tests/tools/mutation`)."""


def files(found: Sequence[Record], reviews: Mapping[str, Review]) -> dict[str, str]:
    """The whole report, file by file: an overview, and one page per paper."""
    pages = {paper: page_of(paper, group, reviews.get(paper)) for paper, group in papers(found).items()}
    lines = ["# The audit", "", HOW, "", "## Claims by verdict and paper", "", *tally(found), ""]
    lines += ["## Paper by paper", "", *(f"- [{short(paper)}]({FOLDER}/{paper}.md)" for paper in pages)]
    return {OVERVIEW: _text(lines), **{f"{FOLDER}/{paper}.md": _text(page) for paper, page in pages.items()}}


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def tally(found: Sequence[Record]) -> list[str]:
    """A table: claims by verdict, paper and whose sentence it is."""
    rows = [["paper", "sentences", "claims", *WORDS, *DEFECTS, "holds by"]]
    for paper, claims in [*papers(found).items(), ("all", found)]:
        for whose, group in by_owner(claims).items():
            numbers = [len(group), *counts(group).values(), *defects(group).values()]
            rows.append([short(paper), whose, *map(str, numbers), _grades(group)])
    return _table(rows)


def _grades(group: Sequence[Record]) -> str:
    return ", ".join(f"{n} {grade}" for grade, n in sorted(grades(group).items()))


def _table(rows: list[list[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *body]


def page_of(paper: str, group: Sequence[Record], review: Review | None) -> list[str]:
    """A paper's page: what a referee would say first, on one page; then all its claims, each with its evidence."""
    about = PAPERS.get(paper)
    lines = [f"# {about.short}: {about.title}" if about else f"# {paper}", ""]
    lines += [f"{', '.join(about.authors)}; read: {about.read}.", ""] if about else []
    lines += [f"{summary(group)}.", "", *(_first(review, group) if review else ()), ALL, ""]
    head = ["claim", "verdict", "defect", "grade", "kind"]
    lines += _table([head, *([_link(r), r.verdict, r.defect, r.grade, _kind(r)] for r in group)])
    for title, part in (
        ("Check against the PDF", [r for r in group if r.damaged]),
        ("", [r for r in group if not r.damaged]),
    ):
        if part and title:
            lines += ["", f"### {title}", "", "The text is damaged here; the readings that were considered are named."]
        for record in part:
            lines += ["", *_claim(record)]
    return lines


def _first(review: Review, group: Sequence[Record]) -> list[str]:
    lines = [line for paragraph in quoted(review.summary, group) for line in (paragraph, "")]
    by_name = {r.name: r for r in group}
    if review.theorems:
        lines += ["## Theorem by theorem", "", *_readings(review.theorems, by_name), "", TOLD, ""]
    if found := [(by_name[name], said) for name, said in review.found.items() if name in by_name]:
        lines += ["## What was found", "", "The gravest first: what is claimed, and what was found.", ""]
        lines += [f"{i}. {_finding(record, *quoted([said], group))}" for i, (record, said) in enumerate(found, 1)]
        lines.append("")
    for title, texts in (("What stands", review.survives), ("What to correct", review.change)):
        lines += [f"## {title}", "", *(f"- {text}" for text in quoted(texts, group)), ""] if texts else []
    return lines


def _readings(theorems: Mapping[str, Mapping[str, str]], by_name: Mapping[str, Record]) -> list[str]:
    """A table: theorems by reading or regime, each with the verdict of the claim that decides it."""
    columns = list(dict.fromkeys(reading for row in theorems.values() for reading in row))
    rows = [[name, *(_cell(row.get(c, ""), by_name) for c in columns)] for name, row in theorems.items()]
    return _table([["theorem", *columns], *rows])


def _cell(name: str, by_name: Mapping[str, Record]) -> str:
    if name not in by_name:
        return "not run" if name else UNASKED
    record = by_name[name]
    return f"[{record.verdict}, {record.defect or record.grade}](#{name.replace('.', '')})"


def _finding(record: Record, said: str) -> str:
    """What is claimed, and what is wrong with it: a sentence of the review, or the evidence with a short instance."""
    whose = ", our own" if record.ours else ""
    claimed = f"**{record.defect or record.verdict}{whose}** {_link(record)}: {_plain(record.words)}"
    return f"{claimed} Found: {_plain(said or told(record.evidence, record.witness))}"


def first_page(text: str) -> str:
    """What comes before the list of all claims on a paper's page, links as their words, letters as they are."""
    linked = text.partition(f"\n{ALL}\n")[0].rstrip()
    return re.sub(r"\\([\\*|_])", r"\1", re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", linked))


def _kind(record: Record) -> str:
    return f"{record.kind}, ours" if record.ours else record.kind


def _link(record: Record) -> str:
    return f"[{record.name}](#{record.name.replace('.', '')})"


def _claim(record: Record) -> list[str]:
    defect = f", {record.defect}" if record.defect else ""
    lines = [f"#### {record.name}", "", f"**{record.verdict}**{defect} ({record.grade}). {record.words}", ""]
    lines += ["- Whose: ours, a cross-check"] if record.ours else []
    lines.append(f"- Source: {record.source}")
    lines.append(f"- Evidence: {_plain(record.evidence)}")
    if record.witness:
        lines.append(f"- Witness: {_plain(', '.join(f'{k} = {v}' for k, v in record.witness.items()))}")
    if record.repair:
        named = f" (`{record.repair_bound}`)" if record.repair_bound else ""
        lines.append(f"- Repair{named}: {record.repair}: {_plain(record.repair_evidence)}")
    if record.damaged:
        lines.append(f"- Readings: {record.damaged}")
    if record.note:
        lines.append(f"- Note: {record.note}")
    lines.append(f"- Again: `{record.command}`")
    return lines


def _plain(text: str) -> str:
    """Stars and pipes of formulas kept from being read as Markdown, on one line; code stays as it is."""
    text = " ".join(text.split())  # a line break would end the list
    return re.sub(r"(`[^`]*`)|([\\*|_])", lambda m: m[1] or f"\\{m[2]}", text)
