"""The verb ``tightness``: its options; the solvers are loaded once they are read, and ``--help`` is there at once."""

from __future__ import annotations

from collections.abc import Sequence

from bounds.showing.numbers import MOST_WORKERS, number, whole_number
from bounds.showing.usage import bare_parser, Parser
from empirics.experiments.command import FOLDER as STORE, path_word
from empirics.progress import progress

from .words import GRID_POINT, PATIENCE

TIGHTNESS_JSON = """\
--json prints one object: bound, command, algorithm, statistic, units, estimate, relaxations, versions, seconds; rows
(the table's numbers by column, with every quantity of the place), best_steps (where, by_bound, by_worst_case, regret)
and smallest_factors; with --constants also constants (term, printed, not_below, suffices, where, proved, places).
Without the name of a bound: a list of objects with name, target and statistic."""
COMMITTED = "the table that comes with the project, shown where no quantity is given; solves nothing"
CERTIFY = (
    "prove every worst case from both sides in fractions; -o writes the proofs, NAME-1.json and on, or with "
    "--committed the archive NAME.proofs.xz; grid points that exceed --patience are skipped"
)
CONSTANTS = (
    "in place of the table: lower bounds (with a federation that attains them) and sufficient values (with a "
    "certificate) for each constant of the bound"
)


def main(arguments: Sequence[str]) -> int:
    """Run one command line; 1 when a worst case exceeds its bound, or a place could not be computed."""
    options = parser()
    try:
        args = options.parse_intermixed_args(list(arguments))
    except SystemExit:  # --help
        return 0
    with progress("loading", brief=True):
        from .tightness_work import run

    return run(args, options)


def parser() -> Parser:
    found = bare_parser("tightness", below=[TIGHTNESS_JSON])
    add = found.add_argument
    add("name", nargs="?", metavar="NAME", help="a bound, or path/file.py:variable; without one, those within reach")
    words = f"numbers, a:b:n, lists, @file.json: {', '.join(GRID_POINT)}"
    add("words", nargs="*", metavar="quantity=value", help=words)
    add("-o", dest="output", type=path_word, metavar="DIR", help="write NAME.csv and NAME.json, its card")
    add("--store", type=path_word, metavar="DIR", help=STORE)
    processes = "processes (one per core); 0: in this process"
    add("--workers", type=whole_number(0, MOST_WORKERS), metavar="N", help=processes)
    add("--patience", type=number, default=PATIENCE, metavar="SECONDS", help="longest single worst case (600)")
    add("--committed", action="store_true", help=COMMITTED)
    add("--certify", action="store_true", help=CERTIFY)
    add("--constants", action="store_true", help=CONSTANTS)
    add("--json", action="store_true", help="print JSON, described below")
    return found
