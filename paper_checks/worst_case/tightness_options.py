"""The words of ``fedbounds tightness``, without the solvers: ``--help`` is there at once."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.showing.numbers import MOST_WORKERS, number, whole_number
from bounds.showing.usage import bare_parser, Parser
from empirics.experiments.command import FOLDER as STORE, path_word
from empirics.progress import progress

FINE = 0
PATIENCE = 600.0
"""Seconds that one worst case may take."""
NAMES = ("clients", "rounds", "local_steps", "step_share", "fixed_step_size", "condition_number", "heterogeneity",
         "grad_cap_sq", "dissimilarity_factor", "relaxation", "divergence", "grad_norm_sq", "step_offset",
         "initial_distance_sq", "step_sizes", "cohort")  # fmt: skip
"""What may vary in a table: the fields of a ``Place``."""
TIGHTNESS_JSON = """\
--json prints one object: bound, command, algorithm, statistic, units, estimate, relaxations, versions, seconds; rows
(the table's numbers by column, with every quantity of the place), best_steps (where, by_bound, by_worst_case, regret)
and smallest_factors; with --constants also constants (term, printed, not_below, suffices, where, proved, places).
Without the name of a bound: a list of objects with name, target and statistic."""


def main(arguments: Sequence[str]) -> int:
    """Run one command line; 1 when a worst case exceeds its bound, or a place could not be computed."""
    try:
        args = parser().parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    with progress("loading", brief=True):
        from .tightness_work import run

    return run(args)


def parser() -> Parser:
    found = bare_parser("tightness", below=[TIGHTNESS_JSON])
    add = found.add_argument
    add("name", nargs="?", metavar="NAME", help="a bound, or path/file.py:variable; without one, those within reach")
    add(
        "words",
        nargs="*",
        metavar="quantity=value",
        help=f"numbers, a:b:n, lists, @file.json: {', '.join(NAMES)}",
    )
    add("-o", dest="output", type=path_word, metavar="DIR", help="write NAME.csv and NAME.json, its card")
    add("--store", type=path_word, metavar="DIR", help=STORE)
    add(
        "--workers",
        type=whole_number(0, MOST_WORKERS),
        metavar="N",
        help="processes (one per core); 0: in this process",
    )
    add("--patience", type=number, default=PATIENCE, metavar="SECONDS", help="longest single worst case (600)")
    comes = "the table that comes with the project, shown where no quantity is given; solves nothing"
    add("--committed", action="store_true", help=comes)
    proofs = (
        "prove every worst case from both sides in fractions; -o writes the proofs, NAME-1.json and on, or with "
        "--committed the archive NAME.proofs.xz; --patience leaves places out"
    )
    add("--certify", action="store_true", help=proofs)
    best = (
        "in place of the table the constants that the bound could have at its places: below which none is true, proved "
        "by a federation, and which suffice, proved by certificates"
    )
    add("--constants", action="store_true", help=best)
    add("--json", action="store_true", help="print JSON, described below")
    return found
