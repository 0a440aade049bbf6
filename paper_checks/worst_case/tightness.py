"""The verb ``tightness``: a bound beside its exact worst case over a grid, computed, proved and written."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
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
from bounds.showing.usage import refuse_unused, UsageError, writable_folder
from bounds.showing.values import read
from empirics.experiments import Cell, Store
from empirics.experiments.command import folder
from empirics.experiments.running import interrupted, sweep
from empirics.progress import duration, progress

from ..runs.obstacles import obstacle
from ..runs.origins import WORST
from . import proof_archive
from .grid_point import fitted, GridPoint, moot, NAMES, question
from .jobs import expected, least_time, proof_cell, proof_time, refuse_many
from .program import WorstCaseError
from .solve import PATIENCE
from .tightness_report import tell
from .tightness_table import card, committed, constants, grid, has_table, write

TIGHTNESS_JSON = """\
What may vary in a table: clients, rounds, local_steps, step_share, fixed_step_size, condition_number, heterogeneity,
grad_cap_sq, dissimilarity_factor, relaxation, divergence, grad_norm_sq, step_offset, initial_distance_sq, step_sizes,
cohort.

--json prints one object: bound, command, algorithm, statistic, units, estimate, relaxations, versions, seconds; rows
(the table's numbers by column, with every quantity of the grid point), best_steps (where, by_bound, by_worst_case,
regret) and smallest_factors; with --constants also constants (term, printed, not_below, suffices, where, proved,
places). Without the name of a bound: a list of objects with name, target and statistic."""
SPANS: dict[str, list[Any]] = {"rounds": [2.0, 4.0], "local_steps": [1.0, 2.0, 3.0, 4.0], "heterogeneity": [0.1, 10.0]}
"""The grid by default."""
UNITS = {
    "smoothness": "it is 1, the unit of everything",
    "strong_convexity": "it is 1/condition_number: give that",
    "pl_constant": "it is 1/condition_number: give that",
    "initial_gap": "it is 1, the unit of losses",
    "step_size": "give step_share, a share of the largest that the bound allows, or fixed_step_size",
    **dict.fromkeys(
        ("optimum_dissimilarity", "dissimilarity_offset", "uniform_dissimilarity"), "it is the heterogeneity: give that"
    ),
}
"""What is said of words that a table knows under another name, or not at all."""
TABLE_BEGINS, CARD_BEGINS, PROOF_BEGINS = "clients,rounds,", '{\n  "bound": ', '{"kind":"worst case"'
"""How the files begin that are written to a folder."""
LONG = 10.0
"""Seconds of a table, or of its proofs, above which they are said before it is begun."""


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
    typed = (*words, *(f"{key}={_typed(value)}" for key, value in quantities.items()))
    folder = None if output is None else Path(output)
    how = folder, store, workers, patience, committed, certify, constants
    return table_of(Asked(name, typed, "fedbounds tightness", *how))


@dataclass(frozen=True)
class Asked:
    """What a table is asked for by; ``made_by`` is the command that its card names."""

    name: str
    words: tuple[str, ...]
    made_by: str
    output: Path | None = None
    store: Path | str | None = None
    workers: int | None = None
    patience: float | None = None
    committed: bool = False
    certify: bool = False
    constants: bool = False

    @property
    def seconds(self) -> float:
        """Of a single worst case, at most."""
        return PATIENCE if self.patience is None else self.patience

    @property
    def work(self) -> dict[str, Any]:
        """The options that say how a table is computed."""
        return {"store": self.store, "workers": self.workers, "patience": self.patience, "certify": self.certify}


def table_of(args: Asked, points: Sequence[GridPoint] = ()) -> Report:
    """The same at ``points`` instead of those that the words span.

    Status 1 when a worst case exceeds its bound, or a point could not be computed.
    """
    name = args.name
    check_workers(args.workers)
    if not name:
        why = "without the name of a bound those in reach are listed"
        refuse_unused(why, output=args.output, **args.work, committed=args.committed, constants=args.constants)
        reach = [(b.name, b.target.name, str(b.statistic)) for b in BOUNDS.values() if not obstacle(b, WORST)]
        lines = (f"{reached:<32} {target}, {statistic}" for reached, target, statistic in reach)
        return Report(lines, [dict(zip(("name", "target", "statistic"), row, strict=True)) for row in reach])
    if args.words and args.committed:
        raise UsageError("--committed has a grid of its own: give no quantity=value with it")
    if args.committed or (not (points or args.words) and has_table(name)):
        if not (args.committed and args.certify):
            refuse_unused("the table that comes with the project is shown, quantity=value computes", **args.work)
        return _committed(args)
    if args.constants and not args.certify:
        table = ", or give no quantity=value for those of the table that comes with the project"
        raise UsageError(f"constants are proved: add --certify{table if has_table(name) else ''}")
    bound = load(name)
    given = _spans(args.words, bound.source.paper)
    refuse_many(SPANS | given)
    at = list(dict.fromkeys(fitted(bound, point) for point in (points or grid(SPANS | given))))
    with progress(f"worst cases of {name}"):
        seconds = expected(bound, at, args.seconds)
        largest = max(at, key=lambda point: point.work)
        if idle := moot(bound, largest, given):  # it was meant for another bound, whether it is typed or in a file
            used = ", ".join(word for word in NAMES if word not in moot(bound, largest, NAMES))
            why = f"neither {bound.name} nor its worst case asks for it here; what they ask for: {used}"
            raise WorstCaseError(f"{', '.join(idle)} would change nothing: {why}")
        _refuse_files(args, bound.name, len(at))
    store, wanted = Store(folder(args.store)), [Cell("tightness", {"bound": name, **p.as_row()}) for p in at]
    errors = _swept(args, store, wanted, ("compute", "worst cases"), lambda missing: missing * seconds / len(at))
    kept = [store.get(cell) for cell in wanted]
    rows = [{n: values[0] for n, values in k.columns().items()} for k in kept if k is not None and k.status == "done"]
    asked = question(bound, at[0])
    about = {
        "bound": bound.name,
        "command": shlex.join([*args.made_by.split(), args.name, *args.words]),
        "algorithm": str(asked.algorithm),
        "statistic": str(asked.statistic),
        "units": "L = 1; initial loss or squared distance 1; heterogeneity is G^2 or Gamma",
        "estimate": "upper" if asked.relaxations else "exact",
        "relaxations": list(asked.relaxations),
        "versions": {package: version(package) for package in ("numpy", "scipy", "sympy")},
        "seconds": round(sum(row["seconds"] for row in rows), 1),
        "refused": len(errors),
    }
    return _told(args, bound, rows, about, list(errors.values()))


def _told(
    args: Asked, bound: Bound, rows: list[dict[str, Any]], about: dict[str, Any], failed: Sequence[str] = ()
) -> Report:
    """The report of a table, proved and written where that is asked for."""
    unproved = _certified(args, bound, rows, about) if args.certify else []
    for row in rows:
        row.pop("seconds", None)  # the card has their sum: tables of two runs are the same byte by byte
    found = tell(rows, about, constants(bound, rows) if args.constants else None)
    missing = [(error, "number") for error in failed] + [(error, "proof") for error in unproved]
    found.remarks = tuple(
        f"{count} place{'s' * (count > 1)} without a {what}: {error}"
        for (error, what), count in Counter(missing).items()
    )
    if rows and args.output is not None:
        found.wrote = tuple(write(rows, about, bound.name, args.output))
    found.status |= int(bool(failed or unproved))
    return found


def _swept(
    args: Asked, store: Store, wanted: Sequence[Cell], what: tuple[str, str], takes: Callable[[int], float]
) -> dict[str, str]:
    """Computes what the store lacks, and returns the errors by cell; ``takes`` seconds of one core, said beforehand."""
    missing = sum(not store.has(cell) for cell in wanted)
    if missing:
        writable_folder("--store", store.folder)
    cores = min(os.cpu_count() or 1 if args.workers is None else max(1, args.workers), max(1, missing))
    if (seconds := takes(missing) / cores) > LONG:
        on = "one core" if cores == 1 else f"{cores} cores"
        remark([f"{missing} places to {what[0]}, about {duration(seconds)} on {on}; what is done is kept"])
    failed: dict[str, str] = {}
    with progress(what[1]) as bar:
        bar.start(len(wanted))

        def heard(done: Any) -> None:
            if done.how == "failed":
                failed[done.cell.key] = done.error
            bar.step()

        try:
            sweep(wanted, store, args.workers, heard=heard)
        except KeyboardInterrupt:
            raise interrupted(store, wanted, what[1]) from None
    return failed


def _certified(args: Asked, bound: Bound, rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> list[str]:
    """Adds to every row what is proved of its worst case, and writes the proofs; returns what has none, in words.

    A grid's proofs go into one archive, those of points that were typed into a file each.
    """
    store, points = Store(folder(args.store)), [GridPoint.of_row(row) for row in rows]
    wanted = [
        proof_cell(args.name, point, row["worst_case"]) if least_time(point) <= args.seconds else None
        for point, row in zip(points, rows, strict=True)
    ]
    todo = sorted((w for w in zip(points, wanted, strict=True) if w[1]), key=lambda w: w[0].work)  # the cheapest first
    times = [proof_time(p.rounds * p.local_steps) for p, cell in todo if cell is not None and not store.has(cell)]
    cells = [cell for _, cell in todo if cell is not None]
    broken = _swept(args, store, cells, ("prove", "proofs"), lambda missing: sum(times))
    contents, failed = [], []
    for number, (row, cell) in enumerate(zip(rows, wanted, strict=True), 1):
        columns, content = proof_archive.columns(row, cell, store)
        row |= columns
        if content is None:
            failed.append(broken.get("" if cell is None else cell.key, columns["proof"]))
        else:
            contents.append(content)
            if args.output is not None and args.words:
                write_whole(args.output / f"{bound.name}-{number}.json", proof_archive.as_line(content))
    if args.output is not None and not args.words and (kept := proof_archive.keep(contents, bound.name, args.output)):
        remark([f"wrote {kept}"])
    about["proofs"] = {"proved": len(contents), **Counter(failed)}
    return failed


def _refuse_files(args: Asked, name: str, points: int) -> None:
    """Refuse, before the work, to write in the place of files that are not ours or that the command has read."""
    if args.output is None:
        return
    files: dict[str, str | bytes] = {f"{name}.csv": TABLE_BEGINS, f"{name}.json": CARD_BEGINS}
    if args.certify:
        files |= {f"{name}-{number}.json": PROOF_BEGINS for number in range(1, points * bool(args.words) + 1)}
    if many := args.certify and not args.words:
        files |= {f"{name}{proof_archive.ARCHIVE}": proof_archive.ARCHIVE_BEGINS}
    writable_folder("-o", args.output, files)
    if many:
        proof_archive.refuse_unread(args.output)
    for file in files:
        to_write(args.output / file)


def _committed(args: Asked) -> Report:
    """The table that comes with the project, and how to compute another where this one was not requested."""
    bound, about = load(args.name), card(args.name)
    _refuse_files(args, bound.name, 0)
    found = _told(args, bound, committed(args.name), about)
    if not args.committed:
        took = f"this table comes with the project, and took {duration(about['seconds'])} of one core"
        found.remarks += (f"{took}; quantity=value computes places of your own",)
    return found


def _spans(words: Sequence[str], paper: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for typed, value in read(words).items():
        name = quantity_named(typed, NAMES, paper)
        if name not in NAMES:
            raise unknown("quantity of a tightness table", name, NAMES, UNITS.get(name, ""))
        runs = name == "step_sizes"
        if value.kind not in (("number", "list", "table") if runs else ("number", "range", "list")):
            each = "a list, one number for every round or local step, or a list of such lists"
            raise WorstCaseError(f"{name} must be {each if runs else 'a number, a range or a list'}")
        if value.ends is not None:
            raise WorstCaseError(f"a worst case is that of one {name}: leave its _interval out of the file, or type it")
        numbers = value.numbers.tolist() if value.kind == "table" else value.numbers.ravel().tolist()
        if runs:
            numbers = [tuple(run) for run in (numbers if value.kind == "table" else [numbers])]
        found[name] = list(dict.fromkeys(numbers))
    return found


def _typed(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_typed, value)) + "]"
    return str(value)
