"""The committed report of the audit, read claim by claim, and the pages that its claims stand on.

A test compares the report with a new audit.
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
"""A line of the list of all claims: name, verdict, defect, grade, kind."""
NAMED = re.compile(r"`([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)` \((?=[A-Z]+\))")
LONGEST = 7_500
"""Letters of a page; a section whose claims have more goes on at a page of its own."""


@dataclass(frozen=True)
class Entry:
    """A claim as the report tells it: ``told`` is its Markdown below the heading that names it."""

    name: str
    verdict: str
    defect: str
    grade: str
    kind: str
    told: str

    @property
    def words(self) -> str:
        """The sentence that is claimed, as Markdown."""
        return self.told.partition("\n")[0].partition("). ")[2]

    @property
    def ours(self) -> bool:
        """Whether it is a cross-check of our own."""
        return self.kind.endswith(", ours")

    @property
    def judged(self) -> str:
        """The verdict with what is wrong, or with how it was reached."""
        return f"{self.verdict}, {self.defect or self.grade}"


def _report(paper: str) -> str:
    return (PLACE / FOLDER / f"{paper}.md").read_text(encoding="utf-8")


@cache
def claim_entries(paper: str) -> Mapping[str, Entry]:
    """Every claim on a paper by name, in the order of the report: the gravest first."""
    told: dict[str, str] = {}
    for part in re.split(r"^#### ", _report(paper), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        told[name] = re.split(r"^### ", rest, flags=re.MULTILINE)[0].strip()
    return {row[1]: Entry(row[1], row[2], row[3], row[4], row[5], told[row[1]]) for row in ROW.finditer(_report(paper))}


def tally() -> list[dict[str, str]]:
    """The rows of the table of claims by verdict and paper, by the names of its columns."""
    lines = (PLACE / OVERVIEW).read_text(encoding="utf-8").splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|"))
    return [dict(zip(head, row, strict=True)) for row in rows]


@cache
def groups(paper: str) -> Mapping[str, tuple[str, list[Entry]]]:
    """By the name of the page: its title, from the docstring of the section's module, and its claims."""
    found: dict[str, tuple[str, list[Entry]]] = {}
    for section, names in sections(paper).items():
        title = (module(paper, section).__doc__ or section).partition("\n")[0].partition(":")[0].rstrip(".")
        parts: list[list[Entry]] = [[]]
        for entry in (entry for name, entry in claim_entries(paper).items() if name in names):
            if parts[-1] and sum(len(e.told) for e in (*parts[-1], entry)) > LONGEST:
                parts.append([])
            parts[-1].append(entry)
        for i, part in enumerate(parts if parts[0] else [], start=1):
            file = section + (f"_{i}" if i > 1 else "")
            found[file] = (f"{title} ({i} of {len(parts)})" if len(parts) > 1 else title, part)
    return found


@cache
def homes() -> Mapping[str, str]:
    """Every claim's page, named from the folder of the claims."""
    return {
        entry.name: f"{paper}/{file}.md"
        for paper in PAPERS
        for file, (_, entries) in groups(paper).items()
        for entry in entries
    }


def place(name: str) -> str:
    """Where a claim stands, from the folder of the claims."""
    return f"{homes()[name]}#{slug(name)}"


def review(paper: str) -> str:
    """What a referee would say of a paper first, with links to this site."""
    told = _report(paper).partition(f"\n{ALL}\n")[0].partition("\n")[2].strip()
    anchors = {name.replace(".", ""): place(name) for name in claim_entries(paper)}
    told = re.sub(r"\]\(#(\w+)\)", lambda m: f"]({anchors[m[1]]})", told)
    return NAMED.sub(lambda m: f"[{m[1]}]({place(m[1])}) (", told)
