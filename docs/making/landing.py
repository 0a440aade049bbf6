"""What the first page takes from the committed reports: numbers and findings, none of them typed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bounds.catalog import BOUNDS
from bounds.papers import PAPERS
from figures.catalogue import artefact
from paper_checks.audit.running import REVIEWS

from . import claim_pages, committed
from .figure_pages import MADE, shelf_of
from .text import page, table

FINDINGS = 2
"""Of each paper, as many as a first page bears: those that its review puts first."""
SHELF = ("ours.tightness", "ours.relaxation", "ours.vacuity")


def parts() -> dict[str, str]:
    """The pieces by file; links in them are named from the first page."""
    return {"counted.md": counted(), "found.md": found(), "shelf.md": shelf()}


def counted() -> str:
    """How many bounds there are, and how many claims of each verdict; the papers' sentences apart from our own."""
    head, *rows = committed.tally()
    papers, ours = (dict(zip(head, row, strict=True)) for row in rows[-2:])
    said = (
        f"{len(BOUNDS)} bounds of {sum(not p.works for p in PAPERS.values())} papers and "
        f"{sum(len(p.works) for p in PAPERS.values())} classics can be evaluated, and {papers['claims']} sentences of "
        f"these papers are audited by machine: {_judged(papers)}. Of {ours['claims']} cross-checks of our own "
        f"{_judged(ours)}."
    )
    return page(said)


def _judged(row: Mapping[str, str]) -> str:
    return f"{row['HOLDS']} hold, {row['REPAIRED']} fail and are repaired, {row['FAILS']} fail, {row['OPEN']} are open"


def found() -> str:
    """The findings that each review puts first, and a table of all verdicts."""
    keys = {paper.short: key for key, paper in PAPERS.items()}
    head, *rows = committed.tally()
    wanted = [head.index(word) for word in ("paper", "sentences", "claims", "HOLDS", "REPAIRED", "FAILS", "OPEN")]
    linked = (
        [f"[{row[0]}](reference/claims/{keys[row[0]]}.md)" if row[0] in keys else row[0], *row[1:]] for row in rows
    )
    return page(list(_findings()), table([head[i] for i in wanted], ([row[i] for i in wanted] for row in linked)))


def _findings() -> Iterator[str]:
    for key, paper in PAPERS.items():
        if not paper.works:
            for name in list(REVIEWS[key].found)[:FINDINGS]:
                entry = committed.entries(key)[name]
                home = f"reference/claims/{claim_pages.place(name)}"
                yield f"- {paper.short}: “{entry.words}” [{entry.judged}]({home})"


def shelf() -> str:
    """Some more, small."""
    return page(*shelf_of([artefact(name) for name in SHELF], MADE, up="reference/figures/"))
