"""The committed report of the audit, read claim by claim; a test holds it against an audit made anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import paper_checks
from paper_checks.audit.report import ALL, FOLDER, OVERVIEW

from .text import slug

PLACE = Path(paper_checks.__file__ or "").parent
ROW = re.compile(r"^\| \[([a-z0-9_.]+)\]\(#\w+\) \| (\w+) \| (\w*) \| (\w+) \| ([\w ,]+) \|$", re.MULTILINE)
"""A line of the list of all claims: name, verdict, defect, grade, kind."""


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


@cache
def page(paper: str, place: Path = PLACE) -> str:
    """The report on one paper."""
    return (place / FOLDER / f"{paper}.md").read_text(encoding="utf-8")


@cache
def entries(paper: str, place: Path = PLACE) -> Mapping[str, Entry]:
    """Every claim on a paper by name, in the order of the report: the gravest first."""
    told: dict[str, str] = {}
    for part in re.split(r"^#### ", page(paper, place), flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        told[name] = re.split(r"^### ", rest, flags=re.MULTILINE)[0].strip()
    rows = ROW.finditer(page(paper, place))
    return {row[1]: Entry(row[1], row[2], row[3], row[4], row[5], told[row[1]]) for row in rows}


def first_page(paper: str, place: Path = PLACE) -> str:
    """What a referee would say first, without its heading."""
    return page(paper, place).partition(f"\n{ALL}\n")[0].partition("\n")[2].strip()


def tally(place: Path = PLACE) -> list[list[str]]:
    """The cells of the table of claims by verdict and paper, its header first."""
    lines = (place / OVERVIEW).read_text(encoding="utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return [row for row in rows if not set(row[0]) <= {"-"}]


def anchors(paper: str, homes: Mapping[str, str], place: Path = PLACE) -> dict[str, str]:
    """Where the report's own links lead on this site: by the anchor that it uses, the page's path with its own."""
    return {name.replace(".", ""): f"{homes[name]}#{slug(name)}" for name in entries(paper, place)}
