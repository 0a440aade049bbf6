"""The words of ``fedbounds falsify``, without what searches: ``--help`` is there at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bounds.showing.numbers import positive, whole_number
from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.experiments.command import path_word
from empirics.progress import progress

NONE = 0
EVALUATIONS = 4000
"""The usual budget of a search."""
MOST = 10**9
"""Evaluations of one search: beyond that it takes weeks."""
FAMILIES = {
    "quadratics": "local SGD on quadratic clients in 1 or 2 dimensions, expectations over noise and cohorts exact",
    "curves": "gradient steps on smooth functions of one variable, convex or not, all cohorts followed",
    "atoms": "quadratic losses of few samples from two-point distributions, expectations over all data sets exact",
}
"""The families of instances, in words."""
FALSIFY_JSON = """\
--json prints one object: bound, violated, ratio and score (of the worst instance), instance (its numbers as text),
witness (null, or what -o writes), evaluations, admissible, seconds, families, refusals, visited, unconfirmed,
undecided, interrupted; with --replay: measured, bound, ratio, violated, arithmetic, digits, conditions, failed,
undecided, differs."""


def main(arguments: Sequence[str]) -> int:
    """Run one command line; 0: no violation found, 1: violated (2, mistakes, are errors that the caller shows)."""
    try:
        options = parser().parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return NONE
    if options.replay is None and options.name is None:
        raise UsageError("falsify needs the name of a bound, or --replay FILE")
    if options.replay is not None:
        searching, why = ("evaluations", "minutes", "seed", "family", "output"), "--replay recomputes a witness"
        refuse_idle(parser(), options, searching, f"{why} and searches nothing")
        if options.words:
            raise UsageError(f"{why} and searches nothing: leave out {' '.join(options.words)}")
    with progress("loading", brief=True):
        from .falsifier.command import run

    return run(options)


def parser() -> Parser:
    families = "\n".join(f"  {name:<12} {words}" for name, words in FAMILIES.items())
    status = "exit status: 0 no violation found (which proves nothing); 1 violated; 2 a mistake, or no family serves"
    found = bare_parser("falsify", f"families of instances:\n{families}", below=[FALSIFY_JSON], status=status)
    add = found.add_argument
    add("name", nargs="?", metavar="NAME", help="a bound of the list, or path/file.py:variable")
    held = "hold a number of the instances, such as clients=2; @file.json holds those that it has"
    add("words", nargs="*", default=[], metavar="quantity=value", help=held)
    add(
        "--evaluations",
        type=whole_number(1, MOST),
        default=EVALUATIONS,
        metavar="N",
        help=f"the budget ({EVALUATIONS})",
    )
    add("--minutes", type=positive, metavar="M", help="stop after this time, whatever is left of the budget")
    add("--seed", type=whole_number(0), default=0, metavar="N", help="the same seed gives the same search (0)")
    add("--family", metavar="F", help="search one family of instances only")
    add(
        "-o",
        dest="output",
        type=path_word,
        metavar="FILE",
        help="write the witness here, if one is found (JSON); a file that is there must be one of the same statement",
    )
    add("--json", action="store_true", help="print JSON, described below")
    add("--replay", type=Path, metavar="FILE", help="recompute a witness exactly instead of searching")
    return found
