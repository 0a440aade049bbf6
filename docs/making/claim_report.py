"""Read the committed report of the audit claim by claim, and distribute the claims over pages of the site.

A test compares the committed report with a new audit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import paper_checks
from bounds.papers import PAPERS
from paper_checks.audit.report import ALL, FOLDER, OVERVIEW
from paper_checks.claims.rows import module, sections

from .text import slug

PLACE = Path(paper_checks.__file__ or "").parent
ROW = re.compile(r"^\| \[([a-z0-9_.]+)\]\(#\w+\) \| (\w+) \| (\w*) \| (\w+) \| ([\w ,]+) \|$", re.MULTILINE)
"""A line in the list of all claims: name, verdict, defect, grade, kind."""
NAMED = re.compile(r"`([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)` \((?=[A-Z]+\))")
LONGEST = 5_000
"""Maximum characters of a page; a longer section is split into several pages."""


@dataclass(frozen=True)
class Entry:
    """A claim in the report; ``markdown`` is the text below the heading with its name."""

    name: str
    verdict: str
    defect: str
    grade: str
    kind: str
    markdown: str

    @property
    def words(self) -> str:
        """The claimed sentence, as Markdown."""
        return self.markdown.partition("\n")[0].partition("). ")[2]

    @property
    def ours(self) -> bool:
        """Whether the claim is our own cross-check, not a sentence of the paper."""
        return self.kind.endswith(", ours")

    @property
    def judged(self) -> str:
        """The verdict with the defect or, without one, with how it was reached."""
        return f"{self.verdict}, {self.defect or self.grade}"


def _report(paper: str) -> str:
    return (PLACE / FOLDER / f"{paper}.md").read_text(encoding="utf-8")


@cache
def claim_entries(paper: str) -> Mapping[str, Entry]:
    """The claims on a paper by name, in the order of the report: the most serious first."""
    texts: dict[str, str] = {}
    for part in re.split(r"^#### ", _report(paper), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        texts[name] = re.split(r"^### ", rest, flags=re.MULTILINE)[0].strip()
    entries = {}
    for row in ROW.finditer(_report(paper)):
        name, verdict, defect, grade, kind = row.groups()
        entries[name] = Entry(name, verdict, defect, grade, kind, texts[name])
    return entries


def tally() -> list[dict[str, str]]:
    """The rows of the table of claims by verdict and paper, as dictionaries by column."""
    lines = (PLACE / OVERVIEW).read_text(encoding="utf-8").splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    return [dict(zip(head, row, strict=True)) for row in rows]


@cache
def groups(paper: str) -> Mapping[str, tuple[str, list[Entry]]]:
    """By name of the page: its title, from the docstring of the section's module, and its claims."""
    pages: dict[str, tuple[str, list[Entry]]] = {}
    for section, names in sections(paper).items():
        title = (module(paper, section).__doc__ or section).partition("\n")[0].partition(":")[0].rstrip(".")
        parts: list[list[Entry]] = [[]]
        for entry in (entry for name, entry in claim_entries(paper).items() if name in names):
            if parts[-1] and sum(len(e.markdown) for e in (*parts[-1], entry)) > LONGEST:
                parts.append([])
            parts[-1].append(entry)
        for i, part in enumerate(parts if parts[0] else [], start=1):
            file = section + (f"_{i}" if i > 1 else "")
            pages[file] = (f"{title} ({i} of {len(parts)})" if len(parts) > 1 else title, part)
    return pages


@cache
def homes() -> Mapping[str, str]:
    """By claim: its page, as a path from the folder of the claims."""
    return {
        entry.name: f"{paper}/{file}.md"
        for paper in PAPERS
        for file, (_, entries) in groups(paper).items()
        for entry in entries
    }


def place(name: str) -> str:
    """The link to a claim, from the folder of the claims."""
    return f"{homes()[name]}#{slug(name)}"


def review(paper: str) -> str:
    """The review of a paper, which begins its report, with links to this site; its list of findings is collapsed."""
    text = _report(paper).partition(f"\n{ALL}\n")[0].partition("\n")[2].strip()
    anchors = {name.replace(".", ""): place(name) for name in claim_entries(paper)}
    text = re.sub(r"\]\(#(\w+)\)", lambda m: f"]({anchors[m[1]]})", text)
    text = NAMED.sub(lambda m: f"[{m[1]}]({place(m[1])}) (", text)
    before, findings, after = re.split(
        r"^(## What was found\n.*?)(?=^## )", text, maxsplit=1, flags=re.MULTILINE | re.DOTALL
    )
    title, _, body = findings.partition("\n")
    count = len(re.findall(r"^\d+\. ", body, re.MULTILINE))
    return f"{before}{title}\n\n<details><summary>{count} findings</summary>\n{body.rstrip()}\n\n</details>\n\n{after}"
