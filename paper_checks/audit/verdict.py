"""The verb ``verdict``: what a referee would say of a paper, on one page; and the erratum that would mend it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from shlex import quote

from bounds.catalog import BOUNDS
from bounds.papers import paper as known, PAPERS
from bounds.showing.files import write_whole
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.process import remark
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, refuse_idle, writable_file
from empirics.experiments.command import path_word
from empirics.progress import progress

from ..claims.claim import Claim
from .command import COMMITTED
from .erratum import belongs, erratum
from .own import bounds_of, commands, of_file, reviews
from .records import as_json, ordered, papers
from .report import files, first_page, FOLDER
from .running import audit, CLAIMS, Verdict


def verdict(arguments: Sequence[str]) -> int:
    """Print a paper's page as it was committed; the page of a user's file, and an erratum, are made now.

    A file without a review is told claim by claim. 1 where a claim of the file has another verdict than it declares.
    """
    parser = _parser()
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return 0
    if args.output is not None:
        writable_file("-o", args.output, *((".tex",) if args.erratum else (".md", ".txt")))
    if args.json:
        refuse_idle(parser, args, ("erratum", "output"), "--json prints the records of the claims")
    own = args.paper.endswith(".py")
    paper = "" if own else known(args.paper).key
    claims = of_file(args.paper) if own else [c for c in CLAIMS.values() if c.paper == paper and not c.deep]
    again, found = commands([args.paper]), list[Verdict]()
    if args.json:
        found = ordered(_judged(claims, args))
        text = as_json(found, again)
    elif args.erratum:
        book = bounds_of(args.paper) if own else BOUNDS
        sentences = {name: said for review in reviews([args.paper]).values() for name, said in review.found.items()}
        text = erratum(_judged([c for c in claims if belongs(c, book)], args), book, again, sentences)
    elif own:
        said = reviews([args.paper])  # what is wrong with it is found before the work
        found = ordered(_judged(claims, args))
        pages = {about: files(group, said, again)[f"{FOLDER}/{about}.md"] for about, group in papers(found).items()}
        text = "\n\n".join(first_page(page) if about in said else page for about, page in pages.items())
    else:
        once_more = f"As committed; `fedbounds check --paper {paper}` judges every claim again."
        text = f"{first_page((COMMITTED.parent / FOLDER / f'{paper}.md').read_text(encoding='utf-8'))}\n\n{once_more}"
    if args.output is None:
        print_lines([text.rstrip("\n")])
    else:
        print(f"wrote {write_whole(args.output, text.rstrip(chr(10)) + chr(10))}")
    changed = [v.claim.name for v in found if not v.expected]
    remark([f"differs from the audit: {name}; see fedbounds check {quote(args.paper)}" for name in changed])
    return int(bool(changed))


def _judged(claims: Sequence[Claim], args: Namespace) -> list[Verdict]:
    with progress("checking the claims") as bar:
        bar.start(len(claims))
        return audit(claims, args.workers, lambda verdict: bar.step())


def _parser() -> Parser:
    parser = bare_parser("verdict")
    add = parser.add_argument
    add("paper", metavar="PAPER", help=f"{', '.join(PAPERS)}, or a file.py of your own that declares claims")
    add("--erratum", action="store_true", help="LaTeX: what is printed, why it fails, and what is to stand there")
    add("-o", dest="output", type=path_word, metavar="FILE", help="write it there instead of printing it")
    add("--json", action="store_true", help="print the records of the claims as JSON, as fedbounds check does")
    add("--workers", type=whole_number(1, MOST_WORKERS), default=2, metavar="N", help="processes (2)")
    return parser
