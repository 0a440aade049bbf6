"""The verb ``advise``: what to run in one federation, by bounds, formulas, the quadratic twin and training."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.numbers import check_words
from empirics.problems.own_problem import OWN, spelled_out

from .advised import ADVISE_JSON
from .asked import advise
from .goals import COSTS, OVER, TARGETS
from .problem_options import add_problem, PROBLEM

FINE, FINDING = 0, 1
GOALS = f"""\
GOAL is what is to be small: {", ".join(TARGETS)}, within a budget
(runtime=20, rounds=50 or iterations=400); or with --to optimality_gap=0.001 what is to be
spent until then: {", ".join(COSTS)}.
over=local_steps,step_size says what is free (both); what is held, and what formulas for the other one are asked at, is
typed: step_size=0.028. A runtime needs communication_time and minibatch_time, seconds of a round and of a step.
Bounds and formulas need constants alone (@file.json, which fedbounds constants writes). The quadratic twin and training
need the federation: --problem, as fedbounds train takes it."""


def advise_(arguments: Sequence[str]) -> int:
    """Print the advice; 1 where nobody recommends anything, or nothing reaches the target."""
    parser = _parser()
    try:
        args = parser.parse_intermixed_args(spelled_out("advise", arguments))
    except SystemExit:  # --help
        return FINE
    if "=" in args.goal or args.goal.startswith("@"):
        raise UsageError(f"advise needs what is to be small, such as optimality_gap, first; got {args.goal!r}")
    if args.problem is None:
        refuse_idle(parser, args, PROBLEM, "without --problem nothing is trained and there is no twin")
    over = [word for word in args.words if word.startswith("over=")]
    if len(over) > 1:
        raise UsageError("give over=... once")
    check_words(Namespace(**{name: getattr(args, name) for name in ("clients", "batch")}))
    words = [word for word in args.words if word not in over]
    free = over[0].partition("=")[2] if over else OVER
    taken = {name: getattr(args, name) for name in ("to", "problem", *PROBLEM, "batch", "own")}
    table = advise(args.goal, words, over=free, **taken)
    print(table.to_json() if args.json else table)
    return FINE if table.useful else FINDING


def _parser() -> Parser:
    parser = bare_parser("advise", GOALS, below=[OWN, ADVISE_JSON])
    add = parser.add_argument
    add("goal", metavar="GOAL", help="what is to be small")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and its costs; @file.json")
    add("--to", metavar="TARGET=NUMBER", help="what is to be reached; GOAL is then what is spent")
    add_problem(parser)
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    add("--json", action="store_true", help="print JSON, described below")
    return parser
