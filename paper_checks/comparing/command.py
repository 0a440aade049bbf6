"""The verb ``compare``: what every bound says of one federation and one plan, side by side."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Sequence

from bounds.showing.numbers import real_word
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.numbers import check_words
from empirics.problems.own_problem import OWN, spelled_out

from .asked import compare
from .compare_table import COMPARE_JSON, Compared
from .problem_options import add_problem, PROBLEM

FINE, FINDING = 0, 1
LONGEST = 86_400
"""Seconds that worst cases may be solved for."""
VALUES = """\
quantity=value: one number (0.5, 1e-3, 1/3), or a list 1,2,3 where it varies over clients; client_weight=uniform;
@file.json brings constants (fedbounds constants writes them), and quantity=value goes before it. What follows from
other words is left out: iterations from local_steps and rounds, rounds from runtime and the times, initial_gap from
two losses. sampling=with_replacement draws clients by their weights; relaxation=0.1 makes the method FedInit, which is
FedAvg otherwise, and algorithm=scaffold SCAFFOLD, whose controls begin at zero.
Rows are ranked by "to", the number with which the theorem holds; "from" is what it would be with every uncertain
constant at its other end, "via" how the theorem leads to the class, "x here" is "to" over the value at the start."""


def compare_(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where something that was computed or measured exceeds a row."""
    parser = _parser()
    try:
        args = parser.parse_intermixed_args(spelled_out("compare", arguments))
    except SystemExit:  # --help
        return FINE
    if "=" in args.target or args.target.startswith("@"):
        raise UsageError(f"compare needs what is bounded, such as grad_norm_sq, before the values; got {args.target!r}")
    if args.problem is None:
        refuse_idle(parser, args, PROBLEM, "without --problem nothing is trained and there is no twin")
    check_words(Namespace(**{name: getattr(args, name) for name in ("clients", "batch")}))
    taken = ("own", "of", "exact", "worst_case", "problem", *PROBLEM, "batch")
    table = compare(args.target, args.words, **{name: getattr(args, name) for name in taken})
    _tell(table, args)
    return FINDING if table.exceeded else FINE


def _tell(table: Compared, args: Namespace) -> None:
    if args.json:
        print(table.to_json())
        return
    print_lines([str(table)])
    if args.how:
        print_lines(["every word, its value, what it is worth and where it comes from"])
        print_lines(f"  {table.scenario.how(word)}" for word in sorted(table.scenario))


def _seconds(text: str) -> float:
    seconds = real_word(text)
    if not 0 <= seconds <= LONGEST:  # NaN is in no range
        raise ArgumentTypeError(f"must be seconds from 0 to {LONGEST}; got {text!r}")
    return seconds


def _parser() -> Parser:
    parser = bare_parser("compare", VALUES, below=[OWN, COMPARE_JSON])
    add = parser.add_argument
    add("target", metavar="TARGET", help="what is bounded: grad_norm_sq, optimality_gap, divergence, distance_sq, ...")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and the plan; @file.json")
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    add("--of", action="append", default=[], metavar="NAME",
        help="papers or bounds (also your own) alone, with prices: rounds from which each says anything")  # fmt: skip
    add("--exact", action="store_true", help="exact numbers of quadratics that meet each theorem's premises")
    add("--worst-case", nargs="?", const=0.0, type=_seconds, metavar="SECONDS",
        help="exact worst cases: kept ones, or solved so long")  # fmt: skip
    add_problem(parser)
    add("--how", action="store_true", help="say of every word where it comes from")
    add("--json", action="store_true", help="print JSON, described below")
    return parser
