"""The command ``tightness``: a bound and its exact worst case (``solve.worst_case``) at the points of a grid.

Every point is computed once and kept in a store; its proof, if one is requested, is another result of the store.
"""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import unknown
from bounds.letters import quantity_named
from bounds.showing.command_line import Report
from bounds.showing.files import to_write, write_whole
from bounds.showing.loading import load
from bounds.showing.numbers import check_workers
from bounds.showing.process import remark
from bounds.showing.reading import as_words, read
from bounds.showing.usage import refuse_unused, UsageError, writable_folder
from empirics.experiments import Cell, Store
from empirics.experiments.command import open_store
from empirics.experiments.running import run_missing
from empirics.progress import duration, progress

from ..runs.obstacles import obstacle
from ..runs.origins import WORST
from . import tightness_table
from .grid_point import adapted, GridPoint, HETEROGENEITY, heterogeneity_of, NAMES, problem_at, unused_quantities
from .jobs import check_grid_size, expected_seconds, min_seconds, proof_cell, proof_seconds
from .program import WorstCaseError
from .solve import PATIENCE
from .tightness_report import report_of

TIGHTNESS_JSON = """\
What may vary in a table: clients, rounds, local_steps, step_share, fixed_step_size, condition_number, heterogeneity,
grad_cap_sq, dissimilarity_factor, relaxation, divergence, grad_norm_sq, step_offset, initial_distance_sq, step_sizes,
cohort.

--json prints one object: bound, command, algorithm, statistic, units, estimate, relaxations, versions, seconds;
heterogeneity (the quantities of the bound that have this value; their names may be typed too); rows (the table's
numbers by column, with every quantity of the grid point), best_steps (where, by_bound, by_worst_case,
regret) and smallest_factors; with --constants also constants (term, printed, not_below, suffices, where, proved,
places). Without the name of a bound: a list of objects with name, target and statistic."""
SPANS: dict[str, list[Any]] = {"rounds": [2.0, 4.0], "local_steps": [1.0, 2.0, 3.0, 4.0], "heterogeneity": [0.1, 10.0]}
"""The default grid."""
HINTS = {
    "smoothness": "it is 1, the unit of everything",
    "initial_gap": "it is 1, the unit of losses",
    "step_size": "give step_share, a share of the largest that the bound allows, or fixed_step_size",
    **dict.fromkeys(("strong_convexity", "pl_constant"), "it is 1/condition_number: give that"),
}
"""Hints for quantities that a table has under another name, or not at all."""
TABLE_BEGINS, CARD_BEGINS, PROOF_BEGINS = "clients,rounds,", '{\n  "bound": ', '{"kind":"worst case"'
"""How written files begin; other existing files are not overwritten."""
LONG = 10.0
"""Seconds above which the estimated time is printed before the work begins."""


def tightness(
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
        patience: Refuse a grid if its largest worst case takes longer, by an estimate, in seconds (600).
        committed: Show the table that comes with the project, as without any quantity; solve nothing.
        certify: Prove every worst case from both sides in fractions; -o writes the proofs, NAME-1.json and on, or with
            --committed the archive NAME.proofs.xz; grid points that exceed --patience are skipped.
        constants: In place of the table: lower bounds (with a federation that attains them) and sufficient values (with
            a certificate) for each constant of the bound.
        quantities: what varies, by name.
    """
    options = None if output is None else Path(output), store, workers, patience, committed, certify, constants
    return make_table(TableRequest(name, (*words, *as_words(quantities)), "fedbounds tightness", *options))


@dataclass(frozen=True)
class TableRequest:
    """The arguments of a table; ``command`` is the one that its card names."""

    name: str
    words: tuple[str, ...]
    command: str
    output: Path | None = None
    store: Path | str | None = None
    workers: int | None = None
    patience: float | None = None
    committed: bool = False
    certify: bool = False
    constants: bool = False

    @property
    def seconds(self) -> float:
        """The limit on the seconds of a single worst case."""
        return PATIENCE if self.patience is None else self.patience

    def refuse_options_of_work(self, why: str, *more: str) -> None:
        """Raise ``UsageError`` if options were given that apply only if a table is computed, or others of no use."""
        names = ("store", "workers", "patience", "certify", *more)
        refuse_unused(why, **{name: getattr(self, name) for name in names})


def make_table(request: TableRequest, points: Sequence[GridPoint] = ()) -> Report:
    """Return the report of a table, at ``points`` instead of the grid of the request if they are given.

    The status is 1 if a worst case exceeds its bound, or a point could not be computed.
    """
    check_workers(request.workers)
    if not request.name:
        request.refuse_options_of_work(
            "without a bound, the available ones are listed", "output", "committed", "constants"
        )
        rows = [(b.name, b.target.name, str(b.statistic)) for b in BOUNDS.values() if not obstacle(b, WORST)]
        lines = (f"{name:<32} {target}, {statistic}" for name, target, statistic in rows)
        return Report(lines, [dict(zip(("name", "target", "statistic"), row, strict=True)) for row in rows])
    if request.words and request.committed:
        raise UsageError("--committed shows a fixed grid: give no quantity=value with it")
    has_table = tightness_table.has_table(request.name)
    if request.committed or (has_table and not (points or request.words)):
        return _committed(request)
    if request.constants and not request.certify:
        table = ", or give no quantity=value for those of the table that comes with the project" if has_table else ""
        raise UsageError(f"constants need proofs: add --certify{table}")
    return _computed(request, points)


def _committed(request: TableRequest) -> Report:
    """Return the report of the table that comes with the project."""
    if not (request.committed and request.certify):
        request.refuse_options_of_work("the table that comes with the project is shown, quantity=value computes")
    bound, card = load(request.name), tightness_table.card(request.name)
    _check_files(request, bound.name, 0)
    report = _report(request, bound, tightness_table.committed(request.name), card)
    if not request.committed:
        took = f"this table comes with the project, and took {duration(card['seconds'])} of one core"
        report.remarks += (f"{took}; quantity=value computes points of your own",)
    return report


def _computed(request: TableRequest, points: Sequence[GridPoint]) -> Report:
    """Return the report of a table whose points are taken from the store, or computed."""
    bound = load(request.name)
    spans = _spans(request.words, bound)
    check_grid_size(SPANS | spans)
    points = list(dict.fromkeys(adapted(bound, point) for point in (points or tightness_table.grid(SPANS | spans))))
    with progress(f"worst cases of {request.name}"):
        seconds = expected_seconds(bound, points, request.seconds)
        largest = max(points, key=lambda point: point.work)
        if unused := unused_quantities(bound, largest, spans):
            why = f"neither {bound.name} nor its worst case depends on it here"
            raise WorstCaseError(f"{', '.join(unused)} would change nothing: {why}")
        _check_files(request, bound.name, len(points))
    store = open_store(request.store)
    cells = [Cell("tightness", {"bound": request.name, **point.as_row()}) for point in points]
    errors = _sweep(request, store, cells, seconds, "compute", "worst cases")
    results = [result for result in map(store.get, cells) if result is not None and result.status == "done"]
    rows = [{column: values[0] for column, values in result.columns().items()} for result in results]
    first = problem_at(bound, points[0])
    card = {
        "bound": bound.name,
        "command": shlex.join([*request.command.split(), request.name, *request.words]),
        "algorithm": str(first.algorithm),
        "statistic": str(first.statistic),
        "units": "L = 1; initial loss or squared distance 1",
        "estimate": "upper" if first.relaxations else "exact",
        "relaxations": list(first.relaxations),
        "versions": {package: version(package) for package in ("numpy", "scipy", "sympy")},
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "refused": len(errors),
    }
    return _report(request, bound, rows, card, list(errors.values()))


def _report(
    request: TableRequest, bound: Bound, rows: list[dict[str, Any]], card: dict[str, Any], failed: Sequence[str] = ()
) -> Report:
    """Return the report of a table, with proofs and files if they are requested."""
    unproved = _prove(request, bound, rows, card) if request.certify else []
    for row in rows:
        row.pop("seconds", None)  # the card has the sum; tables of two runs are then identical
    report = report_of(bound, rows, card, tightness_table.constants(bound, rows) if request.constants else None)
    missing = Counter([(error, "number") for error in failed] + [(error, "proof") for error in unproved])
    report.remarks = tuple(
        f"{n} point{'s' * (n > 1)} without a {what}: {error}" for (error, what), n in missing.items()
    )
    if rows and request.output is not None:
        report.wrote = tuple(tightness_table.write(rows, card, bound.name, request.output))
    report.status |= int(bool(missing))
    return report


def _sweep(
    request: TableRequest, store: Store, cells: Sequence[Cell], seconds: Sequence[float], verb: str, what: str
) -> dict[str, str]:
    """Compute the cells that the store lacks and return the errors by cell; long work is announced.

    ``seconds`` are estimates of every cell's time on one core; ``verb`` and ``what`` are for messages.
    """
    missing = [needed for cell, needed in zip(cells, seconds, strict=True) if not store.has(cell)]
    if missing:
        writable_folder("--store", store.folder)
    cores = min(os.cpu_count() or 1 if request.workers is None else max(1, request.workers), max(1, len(missing)))
    if sum(missing) / cores > LONG:
        on = "one core" if cores == 1 else f"{cores} cores"
        takes = f"about {duration(sum(missing) / cores)} on {on}"
        remark([f"{len(missing)} points to {verb}, {takes}; finished ones are kept"])
    finished = run_missing(cells, store, request.workers, what=what)
    return {done.cell.key: done.error for done in finished if done.how == "failed"}


def _prove(request: TableRequest, bound: Bound, rows: Sequence[dict[str, Any]], card: dict[str, Any]) -> list[str]:
    """Add the columns of proofs to every row and write the proofs; return the reasons for missing ones.

    The proofs of a default grid go into one archive, those of given points into a file each. Points that take longer
    than the patience allows are skipped; the cheapest are proved first.
    """
    store, points = open_store(request.store), [GridPoint.from_row(row) for row in rows]
    cells = [
        proof_cell(request.name, point, row["worst_case"]) if min_seconds(point) <= request.seconds else None
        for point, row in zip(points, rows, strict=True)
    ]
    pairs = [(point, cell) for point, cell in zip(points, cells, strict=True) if cell is not None]
    pairs.sort(key=lambda pair: pair[0].work)
    seconds = [proof_seconds(point.rounds * point.local_steps) for point, _ in pairs]
    errors = _sweep(request, store, [cell for _, cell in pairs], seconds, "prove", "proofs")
    contents, failed = [], []
    for number, (row, cell) in enumerate(zip(rows, cells, strict=True), 1):
        columns, content = tightness_table.proof_columns(row, cell, store)
        row |= columns
        if content is None:
            failed.append(errors.get("" if cell is None else cell.key, columns["proof"]))
            continue
        contents.append(content)
        if request.output is not None and request.words:
            write_whole(request.output / f"{bound.name}-{number}.json", tightness_table.as_line(content))
    if request.output is not None and not request.words:
        archive = tightness_table.add_proofs(contents, bound.name, request.output)
        if archive is not None:
            remark([f"wrote {archive}"])
    card["proofs"] = {"proved": len(contents), **Counter(failed)}
    return failed


def _check_files(request: TableRequest, name: str, points: int) -> None:
    """Raise an error, before the work, if a file of someone else or an input file would be overwritten."""
    if request.output is None:
        return
    files: dict[str, str | bytes] = {f"{name}.csv": TABLE_BEGINS, f"{name}.json": CARD_BEGINS}
    if request.certify and request.words:
        files |= {f"{name}-{number}.json": PROOF_BEGINS for number in range(1, points + 1)}
    elif request.certify:
        files[f"{name}{tightness_table.ARCHIVE}"] = tightness_table.ARCHIVE_BEGINS
    writable_folder("-o", request.output, files)
    if request.certify and not request.words:
        tightness_table.check_readable(request.output)
    for file in files:
        to_write(request.output / file)


def _spans(words: Sequence[str], bound: Bound) -> dict[str, list[Any]]:
    """Return the values of every quantity that the words give; heterogeneity also has the bound's name for it."""
    spans: dict[str, list[Any]] = {}
    own = heterogeneity_of(bound)
    hints = HINTS | dict.fromkeys(HETEROGENEITY, f"{bound.name} has {' and '.join(own) or 'none'}")
    for typed, value in read(words).items():
        name = "heterogeneity" if typed in own else quantity_named(typed, NAMES, bound.source.paper)
        if value.optional and name not in (*NAMES, *HINTS):
            continue
        if name not in NAMES:
            raise unknown("quantity of a tightness table", name, NAMES, hints.get(name, ""))
        if name in spans:
            raise UsageError(f"{name} is given twice, the second time as {typed}")
        if name == "step_sizes":
            kinds = ("number", "list", "table")
            allowed = "a list, one number for every round or local step, or a list of such lists"
        else:
            kinds, allowed = ("number", "range", "list"), "a number, a range or a list"
        if value.kind not in kinds:
            raise WorstCaseError(f"{name} must be {allowed}")
        if value.ends is not None:
            raise WorstCaseError(f"{name} must be a number: leave its _interval out of the file, or give {name}=...")
        numbers = value.numbers.tolist() if value.kind == "table" else value.numbers.ravel().tolist()
        if name == "step_sizes":
            numbers = [tuple(run) for run in (numbers if value.kind == "table" else [numbers])]
        spans[name] = list(dict.fromkeys(numbers))
    return spans
