"""The verb ``advise``: what to run in one federation, by bounds, formulas, the quadratic twin and training."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from bounds.showing.numbers import positive
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.command import print_now
from empirics.numbers import check_words
from empirics.problems.own_problem import OWN, spelled_out

from .advised import ADVISE_JSON
from .asked import advise
from .goals import COSTS, OVER, TARGETS
from .problem_options import add_problem, PROBLEM

FINE, FINDING = 0, 1
GOALS = f"""\
GOAL is what is to be small: {", ".join(TARGETS)}, within a budget
(runtime=20, rounds=50, iterations=400 or communicated_bytes=1e6 of a participant; or of all of
them --within bytes=4e7, --within gradients=1e5); or with --to optimality_gap=0.001 what is to be
spent until then: {", ".join(COSTS)}.
--over local_steps,step_size says what is free (both, unless it is said; also cohort, where it has a price); what is
held, and what formulas for another one are asked at, is typed: step_size=0.028. A runtime needs communication_time and
minibatch_time, seconds of a round and of a step; where clients differ, client_minibatch_time (a list), or
client_download_rate and client_upload_rate with model_size: a round then waits for its slowest participant.
Bounds and formulas need constants alone (@file.json, which fedbounds constants writes). The quadratic twin, schedules
and training need the federation: --problem, as fedbounds train takes it."""


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
        refuse_idle(parser, args, (*PROBLEM, "schedules"), "without --problem nothing is trained and there is no twin")
    over = [word.partition("=")[2] for word in args.words if word.startswith("over=")]
    over += [] if args.over is None else [args.over]
    if len(over) > 1:
        raise UsageError("give over=... once")
    check_words(Namespace(**{name: getattr(args, name) for name in ("clients", "batch")}))
    words = [word for word in args.words if not word.startswith("over=")]
    same = ("to", "within", "worst_case", "schedules", "problem", *PROBLEM, "batch", "own")
    taken = {name: getattr(args, name) for name in same}
    table = advise(args.goal, words, over=over[0] if over else OVER, hear=None if args.json else print_now, **taken)
    if args.json:
        print(table.to_json())
    else:
        _, *lines = table.lines()  # the first one is there already
        print_lines(lines)
    return FINE if table.useful else FINDING


def _parser() -> Parser:
    parser = bare_parser("advise", GOALS, below=[OWN, ADVISE_JSON])
    add = parser.add_argument
    add("goal", metavar="GOAL", help="what is to be small")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and its costs; @file.json")
    add("--to", metavar="TARGET=NUMBER", help="what is to be reached; GOAL is then what is spent")
    add("--over", metavar="WORDS", help="what is free: local_steps,step_size (unless given), cohort; the same as over=")
    add("--within", action="append", default=[], metavar="WORD=NUMBER", help="a budget; bytes and gradients are of all")
    add("--worst-case", type=positive, default=0.0, metavar="SECONDS",
        help="so long for exact worst cases, proved, of plans of at most 16 gradients (none without it)")  # fmt: skip
    add("--schedules", action="store_true", help="replay the papers' schedules on a large twin, too: minutes")
    add_problem(parser)
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    add("--json", action="store_true", help="print JSON, described below")
    return parser
