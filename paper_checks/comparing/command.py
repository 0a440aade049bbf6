"""The verbs ``compare`` and ``advise``."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from bounds.showing.numbers import positive, real_word, whole_word
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, refuse_idle, UsageError
from empirics.numbers import check_words
from empirics.problems.own_problem import OWN, spelled_out

from .advice_table import ADVISE_JSON
from .api import advise, compare
from .goal import COSTS, OVER, TARGETS
from .table import COMPARE_JSON

FINE, FINDING = 0, 1
LONGEST = 86_400
"""Seconds that worst cases may take."""
PROBLEM = ("clients", "partition", "client_weight", "seed", "measure")
"""Options without effect unless there is a problem."""
NO_PROBLEM = "without --problem nothing is trained and there is no surrogate"
COMPARE_WORDS = """\
quantity=value: one number (0.5, 1e-3, 1/3), or a list 1,2,3 where it varies over clients; client_weight=uniform;
@file.json has constants (fedbounds constants writes them), which quantity=value overrides. What follows from other
quantities is left out: iterations from local_steps and rounds, rounds from runtime and the times, initial_gap from two
losses. sampling=with_replacement draws clients by their weights; relaxation=0.1 makes the method FedInit, otherwise it
is FedAvg; algorithm=scaffold is SCAFFOLD with zero initial controls.
Rows are ranked by "to", the value that holds for all admissible constants; "from" is the value with every uncertain
constant at its other end, "via" names the conversions to the row's quantity, "x start" is "to" over the value before
training."""
ADVISE_WORDS = f"""\
GOAL is the quantity to minimise: {", ".join(TARGETS)}, within a budget
(runtime=20, rounds=50, iterations=400 or communicated_bytes=1e6 of a participant; or of all
participants --within bytes=4e7, --within gradients=1e5); or with --to optimality_gap=0.001 the cost to minimise:
{", ".join(COSTS)}.
--over local_steps,step_size says what is optimised (default: both; also cohort, where more participants cost more). Fix
a quantity by giving its value, step_size=0.028: formulas for the others are evaluated there. A runtime needs
communication_time and minibatch_time, seconds of a round and of a step; where clients differ, client_minibatch_time (a
list), or client_download_rate and client_upload_rate with model_size: a round then takes as long as its slowest
participant. Bounds and formulas need constants only (@file.json, which fedbounds constants writes). The quadratic
surrogate, schedules and training need the federation: --problem, as fedbounds train takes it."""


def compare_(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 where something that was computed or measured exceeds a row."""
    parser = bare_parser("compare", COMPARE_WORDS, below=[OWN, COMPARE_JSON])
    add = parser.add_argument
    add("target", metavar="TARGET", help="bounded quantity: grad_norm_sq, optimality_gap, divergence, distance_sq, ...")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and the plan; @file.json")
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    of = "only these papers or bounds (also your own), with the minimum rounds at which each is informative"
    add("--of", action="append", default=[], metavar="NAME", help=of)
    add("--exact", action="store_true", help="compare with exact numbers of quadratics that satisfy the premises")
    add("--worst-case", nargs="?", const=0.0, type=_seconds, metavar="SECONDS",
        help="compare with exact worst cases: committed ones, or solved within SECONDS")  # fmt: skip
    _add_problem(parser)
    add("--how", action="store_true", help="show the source of every value")
    add("--json", action="store_true", help="print JSON, described below")
    args = _parsed(parser, "compare", arguments, "the bounded quantity, such as grad_norm_sq,", PROBLEM)
    if args is None:
        return FINE
    names = ("own", "of", "exact", "worst_case", "problem", *PROBLEM, "batch")
    table = compare(args.target, args.words, **{name: getattr(args, name) for name in names})
    if args.json:
        print(table.to_json())
    else:
        print_lines([str(table)])
        if args.how:
            print_lines(["every quantity: value; provenance: source"])
            print_lines(f"  {table.scenario.how(word)}" for word in sorted(table.scenario))
    return FINDING if table.exceeded else FINE


def advise_(arguments: Sequence[str]) -> int:
    """Print the advice; 1 where nothing is recommended, or nothing reaches the target."""
    parser = bare_parser("advise", ADVISE_WORDS, below=[OWN, ADVISE_JSON])
    add = parser.add_argument
    add("target", metavar="GOAL", help="the quantity to minimise")
    add("words", nargs="*", default=[], metavar="quantity=value", help="the federation and its costs; @file.json")
    add("--to", metavar="TARGET=NUMBER", help="the level to reach; GOAL is then the cost to minimise")
    add("--over", metavar="NAMES", help="what to optimise: local_steps,step_size (default), cohort; the same as over=")
    add("--within", action="append", default=[], metavar="BUDGET=NUMBER", help="a budget; bytes and gradients of all")
    add("--worst-case", type=positive, default=0.0, metavar="SECONDS",
        help="time limit for certified worst cases of plans of at most 16 gradients (default: none)")  # fmt: skip
    add("--schedules", action="store_true", help="follow the papers' schedules on a large surrogate, too: minutes")
    _add_problem(parser)
    add("--own", action="append", default=[], metavar="FILE.py:NAME", help="a bound of your own beside the papers'")
    add("--json", action="store_true", help="print JSON, described below")
    args = _parsed(
        parser, "advise", arguments, "the quantity to minimise, such as optimality_gap,", (*PROBLEM, "schedules")
    )
    if args is None:
        return FINE
    over = [word.partition("=")[2] for word in args.words if word.startswith("over=")]
    over += [] if args.over is None else [args.over]
    if len(over) > 1:
        raise UsageError("give over=... once")
    words = [word for word in args.words if not word.startswith("over=")]
    names = ("to", "within", "worst_case", "schedules", "problem", *PROBLEM, "batch", "own")
    options = {name: getattr(args, name) for name in names}
    table = advise(args.target, words, over=over[0] if over else OVER, **options)
    if args.json:
        print(table.to_json())
    else:
        print_lines(table.lines())
    return FINE if table.useful else FINDING


def _parsed(
    parser: Parser, verb: str, arguments: Sequence[str], first: str, of_problem: Sequence[str]
) -> Namespace | None:
    """The options of a verb; None where its help was asked for."""
    try:
        args: Namespace = parser.parse_intermixed_args(spelled_out(verb, arguments))
    except SystemExit:  # --help
        return None
    if "=" in args.target or args.target.startswith("@"):
        raise UsageError(f"{verb} needs {first} first; got {args.target!r}")
    if args.problem is None:
        refuse_idle(parser, args, of_problem, NO_PROBLEM)
    check_words(Namespace(clients=args.clients, batch=args.batch))
    return args


def _add_problem(parser: ArgumentParser) -> None:
    """Add ``--problem`` and what belongs to it."""
    add = parser.add_argument
    add("--problem", metavar="MODEL(DATA)", help="the federation with its data, for the surrogate and for training")
    add("--clients", type=whole_word, metavar="N", help="number of clients of the problem (default: one per group)")
    add("--partition", default="iid", metavar="CALL", help="how the data are split over the clients (iid)")
    add("--client-weight", default="uniform", help="weights of the clients: uniform or samples (uniform)")
    add("--seed", type=whole_word, default=0, metavar="N", help="seed of the partition (0)")
    add("--batch", type=whole_word, default=32, metavar="N", help="minibatch size (32)")
    add("--measure", type=_seeds, default=0, metavar="SEEDS", help="train and evaluate on this many fresh seeds (>= 2)")


def _seeds(text: str) -> int:
    found = whole_word(text)
    if found < 2:
        raise ArgumentTypeError(f"must be 2 seeds or more, for a standard error; got {text}")
    return found


def _seconds(text: str) -> float:
    seconds = real_word(text)
    if not 0 <= seconds <= LONGEST:  # False for NaN
        raise ArgumentTypeError(f"must be seconds from 0 to {LONGEST}; got {text!r}")
    return seconds
