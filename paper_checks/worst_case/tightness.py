"""The verb ``tightness``: a bound beside its exact worst case over a grid."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bounds.showing.command_line import Report
from bounds.showing.numbers import check_workers

from .grid_point import GridPoint
from .tightness_work import run
from .words import PATIENCE

TIGHTNESS_JSON = """\
What may vary in a table: clients, rounds, local_steps, step_share, fixed_step_size, condition_number, heterogeneity,
grad_cap_sq, dissimilarity_factor, relaxation, divergence, grad_norm_sq, step_offset, initial_distance_sq, step_sizes,
cohort.

--json prints one object: bound, command, algorithm, statistic, units, estimate, relaxations, versions, seconds; rows
(the table's numbers by column, with every quantity of the grid point), best_steps (where, by_bound, by_worst_case,
regret) and smallest_factors; with --constants also constants (term, printed, not_below, suffices, where, proved,
places). Without the name of a bound: a list of objects with name, target and statistic."""


def worst_case(
    name: str = "",
    *words: str,
    output: Path | str | None = None,
    store: Path | str | None = None,
    workers: int | None = None,
    patience: float | None = None,
    committed: bool = False,
    certify: bool = False,
    constants: bool = False,
    **quantities: Any,
) -> Report:
    """Compare a bound with its exact worst case over a grid; without a name, list the bounds in reach.

    Args:
        name: A bound of the list, or path/file.py:variable.
        words: Numbers, ranges a:b:n, lists, @file.json.
        output: Write NAME.csv and NAME.json, its card, to this folder.
        store: Folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store).
        workers: Processes (one per core); 0: in this process.
        patience: Longest time of a single worst case, in seconds (600).
        committed: Show the table that comes with the project, as without any quantity; solve nothing.
        certify: Prove every worst case from both sides in fractions; -o writes the proofs, NAME-1.json and on, or with
            --committed the archive NAME.proofs.xz; grid points that exceed --patience are skipped.
        constants: In place of the table: lower bounds (with a federation that attains them) and sufficient values (with
            a certificate) for each constant of the bound.
        quantities: what varies, by name.
    """
    options: dict[str, Any] = {
        "output": output, "store": store, "workers": workers, "patience": patience, "committed": committed,
        "certify": certify, "constants": constants,
    }  # fmt: skip
    return table_of(name, [*words, *(f"{key}={_typed(value)}" for key, value in quantities.items())], **options)


def table_of(
    name: str, words: Sequence[str], points: Sequence[GridPoint] = (), made_by: str = "fedbounds tightness", **how: Any
) -> Report:
    """The same at ``points`` instead of those that the words span; ``made_by`` is the command that the card names."""
    check_workers(how.get("workers"))
    usual = {"output": None, "store": None, "workers": None, "committed": False, "certify": False, "constants": False}
    args = Namespace(**{**usual, **how}, name=name or None, words=list(words))
    args.given_patience = how.get("patience")
    args.patience = PATIENCE if args.given_patience is None else args.given_patience
    args.output = None if args.output is None else Path(args.output)
    return run(args, points, made_by)


def _typed(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_typed, value)) + "]"
    return str(value)
