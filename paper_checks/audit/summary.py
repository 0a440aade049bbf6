"""``fedbounds check --summary`` and ``--erratum``: one page on a paper, and its corrections in LaTeX."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

from bounds.catalog import BOUNDS
from bounds.papers import paper as known
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.usage import writable_file

from .erratum import belongs, erratum
from .own import bounds_of, of_file, reviews
from .records import ordered, papers
from .report import files, first_page, FOLDER
from .running import audit, claims_of, Verdict

COMMITTED = Path(__file__).resolve().parents[1] / "REPORT.md"
"""The report of the whole audit, committed with the code."""


def page(name: str, errors: bool, output: Path | None, workers: int) -> Report:
    """Return the summary of a paper or of a user's file (``name``), or its erratum (``errors``), or write it to a file.

    The summary of a paper is read from the committed report; an erratum and the page of a user's file are computed now.
    A file without a review is reported claim by claim. The exit status is 1 if a claim of the file has another verdict
    than it declares.
    """
    if output is not None:
        writable_file("-o", output, *((".tex",) if errors else (".md", ".txt")))
    own = name.endswith(".py")
    paper = "" if own else known(name).key
    claims = of_file(name) if own else claims_of(paper) if errors else []
    verdicts = list[Verdict]()
    if errors:
        book = bounds_of(name) if own else BOUNDS
        sentences = {claim: text for review in reviews([name]).values() for claim, text in review.sentences.items()}
        text = erratum(audit([c for c in claims if belongs(c, book)], workers), book, sentences)
    elif own:
        with_review = reviews([name])  # raises what is wrong with a review before the claims are judged
        verdicts = ordered(audit(claims, workers))
        texts = []
        for about, group in papers(verdicts).items():
            whole = files(group, with_review)[f"{FOLDER}/{about}.md"]
            texts.append(first_page(whole) if about in with_review else whole)
        text = "\n\n".join(texts)
    else:
        committed = (COMMITTED.parent / FOLDER / f"{paper}.md").read_text(encoding="utf-8")
        text = f"{first_page(committed)}\n\nAs committed; `fedbounds check --paper {paper}` judges every claim again."
    text = text.rstrip("\n")
    changed = [v.claim.name for v in verdicts if not v.as_audited]
    warnings = [f"differs from the audit: {claim}; see fedbounds check {quote(name)}" for claim in changed]
    wrote = [] if output is None else [write_whole(output, f"{text}\n")]
    lines = [text] if output is None else []
    return Report(lines, {"paper": paper or name, "text": text}, int(bool(changed)), warnings, wrote)
