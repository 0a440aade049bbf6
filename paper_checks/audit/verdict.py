"""``fedbounds check --summary``: what a referee would say of a paper, on one page; and its erratum."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from bounds.catalog import BOUNDS
from bounds.papers import paper as known
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.usage import writable_file
from empirics.progress import progress

from ..claims.claim import Claim
from .erratum import belongs, erratum
from .own import bounds_of, commands, of_file, reviews
from .records import ordered, papers
from .report import files, first_page, FOLDER
from .running import audit, claims_of, Verdict

COMMITTED = Path(__file__).resolve().parents[1] / "REPORT.md"
"""The report of the whole audit that is kept with the code."""


def page(name: str, errors: bool, output: Path | None, workers: int) -> Report:
    """A paper's page as it was committed; the page of a user's file, and an erratum (``errors``), are made now.

    A file without a review is reported claim by claim. 1 where a claim of the file has another verdict than it
    declares.
    """
    if output is not None:
        writable_file("-o", output, *((".tex",) if errors else (".md", ".txt")))
    own = name.endswith(".py")
    paper = "" if own else known(name).key
    claims = of_file(name) if own else claims_of(paper) if errors else []
    again, found = commands([name]), list[Verdict]()
    if errors:
        book = bounds_of(name) if own else BOUNDS
        sentences = {name: said for review in reviews([name]).values() for name, said in review.found.items()}
        text = erratum(_judged([c for c in claims if belongs(c, book)], workers), book, again, sentences)
    elif own:
        said = reviews([name])  # what is wrong with it is found before the work
        found = ordered(_judged(claims, workers))
        pages = {about: files(group, said, again)[f"{FOLDER}/{about}.md"] for about, group in papers(found).items()}
        text = "\n\n".join(first_page(page) if about in said else page for about, page in pages.items())
    else:
        once_more = f"As committed; `fedbounds check --paper {paper}` judges every claim again."
        text = f"{first_page((COMMITTED.parent / FOLDER / f'{paper}.md').read_text(encoding='utf-8'))}\n\n{once_more}"
    text = text.rstrip("\n")
    changed = [v.claim.name for v in found if not v.expected]
    told = [f"differs from the audit: {each}; see fedbounds check {quote(name)}" for each in changed]
    wrote = [] if output is None else [write_whole(output, f"{text}\n")]
    lines = [text] if output is None else []
    return Report(lines, {"paper": paper or name, "text": text}, int(bool(changed)), told, wrote)


def _judged(claims: Sequence[Claim], workers: int) -> list[Verdict]:
    with progress("checking the claims") as bar:
        bar.start(len(claims))
        return audit(claims, workers, lambda verdict: bar.step())
