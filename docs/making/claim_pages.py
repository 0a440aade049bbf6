"""The reference of claims: a page for every section of a paper, with each verdict and its evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module

from bounds.core import declared
from bounds.papers import Paper, PAPERS
from figures.explorer import verdicts
from paper_checks.audit.records import OF_PAPER, OURS
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Claim

from . import committed
from .committed import Entry
from .text import alone, page, slug, table

LONGEST = 7_500
"""Letters of a page; a section whose claims have more goes on at a page of its own."""
NAMED = re.compile(r"`([a-z][a-z0-9_]*(?:\.[a-z0-9_]+)+)` \((?=[A-Z]+\))")


@cache
def groups(paper: str) -> Mapping[str, tuple[str, tuple[Entry, ...]]]:
    """By the name of the page: its title, from the docstring of the section's module, and its claims."""
    kept = committed.entries(paper)
    found: dict[str, tuple[str, tuple[Entry, ...]]] = {}
    for section in import_module(f"paper_checks.claims.{paper}").SECTIONS:
        module = import_module(f"paper_checks.claims.{paper}.{section}")
        title = (module.__doc__ or section).partition("\n")[0].partition(":")[0].rstrip(".")
        names = {claim.name for claim in declared(Claim, module)}
        parts = list(_pages([entry for name, entry in kept.items() if name in names]))
        for i, part in enumerate(parts, start=1):
            file = section + (f"_{i}" if i > 1 else "")
            found[file] = (f"{title} ({i} of {len(parts)})" if len(parts) > 1 else title, part)
    return found


def _pages(entries: list[Entry]) -> Iterator[tuple[Entry, ...]]:
    held: list[Entry] = []
    for entry in entries:
        if held and sum(len(e.told) for e in (*held, entry)) > LONGEST:
            yield tuple(held)
            held = []
        held.append(entry)
    if held:
        yield tuple(held)


@cache
def homes() -> Mapping[str, str]:
    """Every claim's page, named from the folder of the claims."""
    return {
        entry.name: f"{paper}/{file}.md"
        for paper in PAPERS
        for file, (_, entries) in groups(paper).items()
        for entry in entries
    }


def of_paper(paper: Paper) -> str:
    """The list of the pages with a paper's claims."""
    rows = (
        [f"[{title}]({paper.key}/{file}.md)", *map(_counted, _by_owner(entries))]
        for file, (title, entries) in groups(paper.key).items()
    )
    listed = table(["section", OF_PAPER, OURS], rows)
    first = f"[What a referee would say first]({paper.key}_review.md)"
    return page(f"# Claims of {paper.short}", f"*{paper.title}*", first, "## All claims, section by section", listed)


def review_of(paper: Paper) -> str:
    """What a referee would say of a paper first."""
    told = committed.first_page(paper.key)
    told = re.sub(r"\]\(#(\w+)\)", lambda m: f"]({committed.anchors(paper.key, homes())[m[1]]})", told)
    told = NAMED.sub(lambda m: f"[{m[1]}]({place(m[1])}) (", told)
    up = f"[Claims](index.md) / [{paper.short}]({paper.key}.md)"
    return alone(f"# {paper.short}: what a referee would say first", up, told)


def place(name: str) -> str:
    return f"{homes()[name]}#{slug(name)}"


def _by_owner(entries: tuple[Entry, ...]) -> tuple[list[Entry], list[Entry]]:
    """The sentences of the paper, and the cross-checks that are our own."""
    return [e for e in entries if not e.ours], [e for e in entries if e.ours]


def _counted(entries: list[Entry]) -> str:
    words = [entry.verdict for entry in entries]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(sorted(words)))


def of_group(paper: Paper, file: str) -> str:
    """The page of one section."""
    title, entries = groups(paper.key)[file]
    up = f"[Claims](../index.md) / [{paper.short}](../{paper.key}.md)"
    return alone(f"# {paper.short}, {title}", up, *(part for entry in entries for part in _claim(entry)))


def _claim(entry: Entry) -> Iterator[str]:
    yield f"## {entry.name}"
    yield entry.told
    bounds = sorted(verdicts.about(CLAIMS[entry.name]))
    if bounds:
        links = (f"[{name}](../../bounds/{name.replace('.', '/', 1)}.md)" for name in bounds)
        yield f"Bounds it looks up: {', '.join(links)}"


def overview() -> list[str]:
    """Claims by verdict and paper."""
    head, *rows = committed.tally()
    return table(head, rows)
