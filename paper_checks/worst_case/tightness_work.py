"""What ``fedbounds tightness`` does: a bound beside its exact worst case over a grid, computed, proved, written."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import unknown
from bounds.letters import quantity_named
from bounds.showing.command_line import Report
from bounds.showing.files import to_write, write_whole
from bounds.showing.loading import load
from bounds.showing.process import remark
from bounds.showing.usage import refuse_unused, UsageError, writable_folder
from bounds.showing.values import read
from empirics.experiments import Cell, Store
from empirics.experiments.command import folder
from empirics.experiments.running import interrupted, sweep
from empirics.progress import lasting, progress

from ..runs.can import can
from ..runs.words import WORST
from . import proof_archive
from .grid_point import fitted, GridPoint, moot, question
from .jobs import expected, least_time, proof_cell, proof_time, refuse_many, worst_case_cell
from .program import WorstCaseError
from .tightness_report import tell
from .tightness_table import card, committed, constants, grid, has_table, Row, write
from .words import GRID_POINT as NAMES

SPANS: dict[str, list[Any]] = {"rounds": [2.0, 4.0], "local_steps": [1.0, 2.0, 3.0, 4.0], "heterogeneity": [0.1, 10.0]}
"""The grid where nothing else is given."""
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


def run(args: Namespace, points: Sequence[GridPoint], made_by: str) -> Report:
    """What the words ask for; status 1 when a worst case exceeds its bound, or a point could not be computed.

    ``points`` take the place of those that the words span, ``made_by`` is the command that the card names.
    """
    if args.name is None:
        why = "without the name of a bound those in reach are listed"
        refuse_unused(why, output=args.output, **_given(args), committed=args.committed, constants=args.constants)
        return _list()
    if args.words and args.committed:
        raise UsageError("--committed has a grid of its own: give no quantity=value with it")
    if args.committed or (not (points or args.words) and has_table(args.name)):
        if not (args.committed and args.certify):
            why = "the table that comes with the project is shown, quantity=value computes"
            refuse_unused(why, **_given(args))
        return _committed(args)
    if args.constants and not args.certify:
        table = ", or give no quantity=value for those of the table that comes with the project"
        raise UsageError(f"constants are proved: add --certify{table if has_table(args.name) else ''}")
    bound = load(args.name)
    given = _spans(args.words, bound.source.paper)
    spans = SPANS | given
    refuse_many(spans)
    at = list(dict.fromkeys(fitted(bound, point) for point in (points or grid(spans))))
    with progress(f"worst cases of {args.name}"):
        seconds = expected(bound, at, args.patience)
        _refuse_moot(bound, max(at, key=lambda point: point.work), given)
        _refuse_files(args, bound.name, len(at))
    store, wanted = Store(folder(args.store)), [worst_case_cell(args.name, point) for point in at]
    errors = _swept(args, store, wanted, ("compute", "worst cases"), lambda missing: missing * seconds / len(at))
    kept = [store.get(cell) for cell in wanted]
    rows = [{n: values[0] for n, values in k.columns().items()} for k in kept if k is not None and k.status == "done"]
    failed = list(errors.values())
    about = _card(args, bound, at[0], rows, made_by) | {"refused": len(failed)}
    unproved = _certified(args, bound, rows, about) if args.certify else []
    for row in rows:
        row.pop("seconds")  # the card has their sum: tables of two runs are the same byte by byte
    found = tell(rows, about, constants(bound, rows) if args.constants else None)
    found.remarks = (*_missing(failed, "number"), *_missing(unproved, "proof"))
    if rows:
        _write(args, found, rows, about, bound.name)
    found.status |= int(bool(failed or unproved))
    return found


def _given(args: Namespace) -> dict[str, Any]:
    """The options that say how a table is computed."""
    return {"store": args.store, "workers": args.workers, "patience": args.given_patience, "certify": args.certify}


def _swept(
    args: Any, store: Store, wanted: Sequence[Cell], what: tuple[str, str], takes: Callable[[int], float]
) -> dict[str, str]:
    """Computes what the store lacks, and returns the errors by cell; ``takes`` seconds of one core, said beforehand."""
    missing = sum(not store.has(cell) for cell in wanted)
    if missing:
        writable_folder("--store", store.folder)
    cores = min(os.cpu_count() or 1 if args.workers is None else max(1, args.workers), max(1, missing))
    if (seconds := takes(missing) / cores) > LONG:
        on = "one core" if cores == 1 else f"{cores} cores"
        remark([f"{missing} places to {what[0]}, about {lasting(seconds)} on {on}; what is done is kept"])
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


def _certified(args: Any, bound: Bound, rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> list[str]:
    """Adds to every row what is proved of its worst case, and writes the proofs; returns what has none, in words.

    A grid's proofs go into one archive, those of points that were typed into a file each.
    """
    store, points = Store(folder(args.store)), [GridPoint.of_row(row) for row in rows]
    wanted = [
        proof_cell(args.name, point, row["worst_case"]) if least_time(point) <= args.patience else None
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
    many = args.output is not None and not args.words
    if many and (archive := proof_archive.keep(contents, bound.name, args.output)):
        remark([f"wrote {archive}"])
    about["proofs"] = {"proved": len(contents), **Counter(failed)}
    return failed


def _refuse_files(args: Any, name: str, points: int) -> None:
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


def _committed(args: Any) -> Report:
    """The table that comes with the project, and how to compute another where nobody asked for this one."""
    bound, rows, about = load(args.name), committed(args.name), card(args.name)
    _refuse_files(args, bound.name, 0)
    failed = _certified(args, bound, rows, about) if args.certify else []
    found = tell(rows, about, constants(bound, rows) if args.constants else None)
    found.remarks = tuple(_missing(failed, "proof"))
    _write(args, found, rows, about, bound.name)
    if not args.committed:
        took = f"this table comes with the project, and took {lasting(about['seconds'])} of one core"
        found.remarks += (f"{took}; quantity=value computes places of your own",)
    found.status |= int(bool(failed))
    return found


def _missing(failed: Sequence[str], what: str) -> list[str]:
    counts = Counter(failed).items()
    return [f"{count} place{'s' * (count > 1)} without a {what}: {error}" for error, count in counts]


def _write(args: Any, found: Report, rows: Sequence[Row], about: Mapping[str, Any], name: str) -> None:
    if args.output is not None:
        found.wrote = tuple(write(rows, about, name, args.output))


def _list() -> Report:
    """The bounds within reach."""
    reach = [(b.name, b.target.name, str(b.statistic)) for b in BOUNDS.values() if not can(b, WORST)]
    lines = (f"{name:<32} {target}, {statistic}" for name, target, statistic in reach)
    return Report(lines, [dict(zip(("name", "target", "statistic"), row, strict=True)) for row in reach])


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


def _refuse_moot(bound: Bound, point: GridPoint, given: Iterable[str]) -> None:
    """A quantity that changes nothing was meant for another bound, whether it is typed or in a file."""
    if idle := moot(bound, point, given):
        use = [name for name in NAMES if name not in moot(bound, point, NAMES)]
        raise WorstCaseError(
            f"{', '.join(idle)} would change nothing: neither {bound.name} nor its worst case asks for it here; "
            f"what they ask for: {', '.join(use)}"
        )


def _card(args: Any, bound: Bound, point: GridPoint, rows: Sequence[Row], made_by: str) -> dict[str, Any]:
    asked = question(bound, point)
    return {
        "bound": bound.name,
        "command": shlex.join([*made_by.split(), args.name, *args.words]),
        "algorithm": str(asked.algorithm),
        "statistic": str(asked.statistic),
        "units": "L = 1; initial loss or squared distance 1; heterogeneity is G^2 or Gamma",
        "estimate": "upper" if asked.relaxations else "exact",
        "relaxations": list(asked.relaxations),
        "versions": {name: version(name) for name in ("clarabel", "numpy", "scipy", "sympy")},
        "seconds": round(sum(row["seconds"] for row in rows), 1),
    }
