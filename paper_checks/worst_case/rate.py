"""The verb ``rate``: the smallest certified contraction per round, for every number of rounds and of clients."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.showing.files import refuse_foreign
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, UsageError, writable_file
from empirics.experiments.command import path_word
from empirics.progress import progress

FINE, FINDING = 0, 1
PROOF_BEGINS = '{"kind":"rate"'
"""How the files begin that are written."""
METHODS = """\
METHOD adds and scales its gradients: fedavg(), fedprox(mu=0.1), fedinit(beta=0.1), scaffold(), fedavgm(momentum=0.3),
fedcm(alpha=0.5), relaxed(scaffold(), beta=0.05), your own; others are refused.
quantity=value: local_steps, step_size, smoothness and strong_convexity; gradient_variance and clients for noise;
cohort and clients where some clients are drawn a round (methods whose clients keep nothing, scaffold(), fedinit());
rounds, initial_distance_sq and optimum_dissimilarity (zeta^2) for what is proved after so many rounds, beside the exact
worst case without noise and what quadratics reach. Ranges, lists: a table."""
RATE_JSON = """\
--json prints a list, one object for every place: method, local_steps, step_size, smoothness, strong_convexity, clients,
cohort, gradient_variance, rounds, initial_distance_sq, optimum_dissimilarity; contraction (the smallest certified),
quadratics (no method's certificate can be below: two quadratics); stated, start_distance, start_dissimilarity, floor,
noise_floor, half (rounds), proved: |w_T - w*|^2 <= stated^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2)
+ floor zeta^2 + noise_floor sigma^2; least_stated, least_floor, least_noise_floor: the same where the floor is least;
bound (after rounds), bound_proved, worst_case (the exact one after them, full gradients), instance (what quadratics
reach then), why (nothing is certified, or proved). What is not asked for, or not there, is null."""


def main(arguments: Sequence[str]) -> int:
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
        from .rate_table import file_names, points, rates
    chosen, at = points(args.method, args.words, {})
    for named in file_names(args.output, len(at)) if args.output is not None else ():
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
    files = "write the proofs: FILE.json, FILE-least.json, FILE-rounds.json"
    add("-o", dest="output", type=path_word, metavar="FILE", help=files)
    add("--json", action="store_true", help="print JSON, described below")
    return parser
