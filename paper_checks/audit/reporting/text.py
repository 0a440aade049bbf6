"""The report as Markdown: what ``REPORT.md`` holds. No timings: made again, it is the same file."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.papers import PAPERS

from .records import counts, DEFECTS, defects, grades, papers, Record, short, summary, WORDS

HOW = """Every verdict judges the statement **as printed** and can be run again with the command beside it.

- **HOLDS**: no way was found to make it false. The grade says how far that goes: *proved* (symbolically, or by going
  through all cases), *exact* (exact arithmetic at stated points or instances), *searched* (no violation in the box that
  is stated), *sampled* (with the error rate that is stated), *read*.
- **FAILS**: a witness shows it. **REPAIRED**: it fails as printed, and a corrected statement is given and checked. The
  defect says what that means: *refuted* (the conclusion is false where it is stated), *gap* (a step of the proof is
  false), *reading* (it holds in one reading and fails in another), *settings* (the experiments lie outside), *slip*.
- **OPEN**: no machine decides it, for the reason given.

Sentences are the papers', in our words; cross-checks of our own are marked and counted apart.

A verdict can be wrong where the encoding is: every formula of the catalogue is typed from the paper by hand, compared
with independent arithmetic, and attacked by planted errors (`fedbounds check --mutate`)."""


def markdown(found: Sequence[Record]) -> str:
    """The whole report."""
    lines = ["# The audit", "", HOW, "", "## Claims by verdict and paper", "", *tally(found)]
    for paper, group in papers(found).items():
        lines += ["", *chapter(paper, group)]
    return "\n".join(lines) + "\n"


def tally(found: Sequence[Record]) -> list[str]:
    """A table: claims by verdict and paper."""
    rows = [["paper", "claims", "ours", *WORDS, *DEFECTS, "holds by"]]
    for paper, group in [*papers(found).items(), ("all", found)]:
        numbers = [len(group), sum(r.ours for r in group), *counts(group).values(), *defects(group).values()]
        rows.append([short(paper), *map(str, numbers), _grades(group)])
    return _table(rows)


def _grades(group: Sequence[Record]) -> str:
    return ", ".join(f"{n} {grade}" for grade, n in sorted(grades(group).items()))


def _table(rows: list[list[str]]) -> list[str]:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return [head, "|" + " --- |" * len(rows[0]), *body]


def chapter(paper: str, group: Sequence[Record]) -> list[str]:
    """What is said of one paper: the summary, the list of its claims, each with its evidence."""
    about = PAPERS.get(paper)
    lines = [f"## {about.short}: {about.title}" if about else f"## {paper}", ""]
    lines += [f"{', '.join(about.authors)}; read: {about.read}.", ""] if about else []
    for paragraph in summary(paper, group):
        lines += [paragraph, ""]
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
    """Stars and pipes of formulas kept from being read as Markdown, on one line."""
    text = " ".join(text.split())  # a line break would end the list
    return text.replace("\\", "\\\\").replace("*", "\\*").replace("|", "\\|").replace("_", "\\_")
