"""The verb ``rate``: the smallest certified contraction per round, for every number of rounds and of clients."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.showing.files import refuse_foreign
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, UsageError, writable_file
from empirics.experiments.command import path_word
from empirics.progress import progress

from .rate_words import METHODS, RATE_JSON

FINE, FINDING = 0, 1
PROOF_BEGINS = '{"kind":"rate"'
"""How the files begin that are written."""


def rate_(arguments: Sequence[str]) -> int:
    """Print the rates; 1 where a place has none."""
    try:
        args = _parser().parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if "=" in args.method.partition("(")[0] or args.method.startswith("@"):
        raise UsageError(f'rate needs a method, such as "scaffold()", before the values; got {args.method!r}')
    if args.output is not None:
        writable_file("-o", args.output, ".json")
    with progress("loading", brief=True):
        from .rate import places, rates
        from .rate_table import names
    chosen, at = places(args.method, args.words, {})
    for named in names(args.output, len(at)) if args.output is not None else ():
        for file in named.values():
            writable_file("-o", file)
            if file != args.output:  # nobody typed this name
                refuse_foreign(file, PROOF_BEGINS)
    found = rates(chosen, at)
    if args.json:
        print(found.to_json())
    else:
        print_lines([str(found)])
    if args.output is not None:
        written = found.write(args.output)
        if not args.json:
            print(f"wrote {', '.join(map(str, written))}" if written else "nothing was proved: no file is written")
    return FINE if found.found else FINDING


def _parser() -> Parser:
    parser = bare_parser("rate", METHODS, below=[RATE_JSON])
    add = parser.add_argument
    add("method", metavar="METHOD", help='the algorithm, such as "fedinit(beta=0.1)" or path/file.py:variable')
    add("words", nargs="*", default=[], metavar="quantity=value", help="numbers, ranges a:b:n, lists, @file.json")
    add(
        "-o",
        dest="output",
        type=path_word,
        metavar="FILE",
        help="write the proofs: FILE.json, FILE-least.json, FILE-rounds.json",
    )
    add("--json", action="store_true", help="print JSON, described below")
    return parser
