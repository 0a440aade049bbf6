"""The verb ``advise``: what to run in one federation, by bounds, formulas, the quadratic twin and training."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from bounds.errors import BoundsError
from bounds.scenario import Scenario
from bounds.showing.loading import load
from bounds.showing.numbers import number
from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.progress import progress

from .advised import ADVISE_JSON, Advised
from .command import quantities_of_own
from .goals import COSTS, OVER, TARGETS
from .problem_options import add_problem, PROBLEM, problem_of

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
        args = parser.parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if "=" in args.goal or args.goal.startswith("@"):
        raise UsageError(f"advise needs what is to be small, such as optimality_gap, first; got {args.goal!r}")
    if args.problem is None:
        refuse_idle(parser, args, PROBLEM, "without --problem nothing is trained and there is no twin")
    over = [word for word in args.words if word.startswith("over=")]
    if len(over) > 1:
        raise UsageError("give over=... once")
    to = None if args.to is None else _level(args.to)
    table = _advice(args, [word for word in args.words if word not in over], over, to)
    print(table.to_json() if args.json else table)
    return FINE if table.useful else FINDING


def _advice(args: Namespace, words: Sequence[str], over: Sequence[str], to: tuple[str, float] | None) -> Advised:
    free = over[0].partition("=")[2].split(",") if over else OVER
    with progress("advising", brief=not args.measure) as bar:
        own = [load(name) for name in args.own]
        scenario = Scenario.of(*words, also=quantities_of_own(own))
        from .advise import advise  # with torch, which --help does without

        return advise(
            scenario, args.goal, free, to=to, problem=problem_of(args), batch=args.batch, measure=args.measure, own=own,
            bar=bar,
        )  # fmt: skip


def _level(text: str) -> tuple[str, float]:
    name, _, level = text.partition("=")
    try:
        return name, number(level)
    except Exception as error:
        raise BoundsError(f"--to must be TARGET=NUMBER, such as optimality_gap=0.001; got {text!r}") from error


def _parser() -> Parser:
    parser = bare_parser("advise", GOALS, below=[ADVISE_JSON])
    add = parser.add_argument
    add("goal", metavar="GOAL", help="what is to be small")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and its costs; @file.json")
    add("--to", metavar="TARGET=NUMBER", help="what is to be reached; GOAL is then what is spent")
    add_problem(parser)
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    add("--json", action="store_true", help="print JSON, described below")
    return parser
