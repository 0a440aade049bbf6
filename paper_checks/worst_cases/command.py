"""``fedbounds tightness``: a bound beside its exact worst case over a grid, and what follows for K*."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import unknown
from bounds.showing.files import to_write
from bounds.showing.loading import load
from bounds.showing.tables import to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import refuse_idle, UsageError, writable_folder
from bounds.showing.values import read
from empirics.experiments import Store
from empirics.experiments.command import folder
from empirics.experiments.running import interrupted, sweep
from empirics.progress import lasting, Progress, progress

from ..runs.can import can
from ..runs.words import WORST
from ..tightness_options import NAMES, parser
from . import proofs
from .constants import constants
from .places import fitted, moot, Place, question
from .program import WorstCaseError
from .showing import FINDING, FINE, tell
from .sizes import expected, proof_time, refuse_many
from .tables import card, cells, committed, has_table, places, Row, write

GRID = {"rounds": [2.0, 4.0], "local_steps": [1.0, 2.0, 3.0, 4.0], "heterogeneity": [0.1, 10.0]}
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


def run(args: argparse.Namespace, grid: Sequence[Place] = (), made_by: str = "fedbounds tightness") -> int:
    """What the words ask for; 1 when a worst case exceeds its bound, or a place could not be computed.

    ``grid`` are the places in place of those that the words span, ``made_by`` the command that its card names.
    """
    if args.name is None:
        refuse_idle(
            parser(), args, vars(args).keys() - {"json"}, "without the name of a bound those in reach are listed"
        )
        return _list(args.json)
    if args.words and args.committed:
        raise UsageError("--committed has a grid of its own: give no quantity=value with it")
    if args.committed or (not (grid or args.words) and has_table(args.name)):
        if not (args.committed and args.certify):
            why = "the table that comes with the project is shown, quantity=value computes"
            refuse_idle(parser(), args, ("store", "workers", "patience", "certify"), why)
        return _committed(args)
    if args.constants and not args.certify:
        table = ", or give no quantity=value for those of the table that comes with the project"
        raise UsageError(f"constants are proved: add --certify{table if has_table(args.name) else ''}")
    bound, given = load(args.name), _spans(args.words)
    spans = {**GRID, **given}
    refuse_many(spans)
    at = list(dict.fromkeys(fitted(bound, place) for place in (grid or places(spans))))
    with progress(f"worst cases of {args.name}") as bar:
        seconds = expected(bound, at, args.patience)
        _refuse_moot(bound, max(at, key=lambda place: place.work), given)
        _refuse_files(args, bound.name, len(at))
        rows, failed = _computed(args, at, seconds / len(at), bar)
    about = _card(args, bound, at[0], rows, made_by) | {"refused": len(failed)}
    unproved = _certified(args, bound, rows, about) if args.certify else []
    for row in rows:
        row.pop("seconds")  # the card has their sum: tables of two runs are the same byte by byte
    status = tell(rows, about, args.json, constants(bound, rows) if args.constants else None)
    _tell_failed(failed, "number")
    _tell_failed(unproved, "proof")
    if rows:
        _write(args, rows, about, bound.name)
    return FINDING if failed or unproved else status


def _certified(args: Any, bound: Bound, rows: Sequence[dict[str, Any]], about: dict[str, Any]) -> list[str]:
    """Adds to every row what is proved of its worst case, and writes the proofs; returns what has none, in words.

    A grid's proofs go into one archive, those of places that were typed into a file each.
    """
    store, wanted = Store(folder(args.store)), proofs.cells(bound, rows, args.patience)
    cheapest = sorted((w for w in zip(map(Place.of_row, rows), wanted, strict=True) if w[1]), key=lambda w: w[0].work)
    todo = [cell for _, cell in cheapest if cell is not None]
    if missing := [place for place, cell in cheapest if cell is not None and not store.has(cell)]:
        writable_folder("--store", store.folder)
    takes = sum(proof_time(place.rounds * place.local_steps) for place in missing)
    _tell_long(f"{len(missing)} places to prove", len(missing), takes, args.workers)
    with progress("proving") as bar:
        bar.start(len(todo))
        try:
            swept = sweep(todo, store, args.workers, heard=lambda done: bar.step())
        except KeyboardInterrupt:
            raise interrupted(store, todo, "proofs") from None
    broken = {done.cell.key: done.error for done in swept if done.how == "failed"}
    contents, failed = [], []
    for number, (row, cell) in enumerate(zip(rows, wanted, strict=True), 1):
        columns, content = proofs.columns(row, cell, store)
        row |= columns
        if content is None:
            failed.append(broken.get("" if cell is None else cell.key, columns["proof"]))
        else:
            contents.append(content)
            if args.output is not None and args.words:
                proofs.keep_one(content, args.output / f"{bound.name}-{number}.json")
    grid = args.output is not None and not args.words
    if grid and (archive := proofs.keep(contents, bound.name, args.output)):
        _remark(f"wrote {archive}")
    about["proofs"] = {"proved": len(contents), **Counter(failed)}
    return failed


def _refuse_files(args: Any, name: str, places: int) -> None:
    """Refuse, before the work, to write in the place of files that are not ours or that the command has read."""
    if args.output is None:
        return
    files: dict[str, str | bytes] = {f"{name}.csv": TABLE_BEGINS, f"{name}.json": CARD_BEGINS}
    if args.certify:
        files |= {f"{name}-{number}.json": PROOF_BEGINS for number in range(1, places * bool(args.words) + 1)}
    if grid := args.certify and not args.words:
        files |= {f"{name}{proofs.ARCHIVE}": proofs.ARCHIVE_BEGINS}
    writable_folder("-o", args.output, files)
    if grid:
        proofs.refuse_unread(args.output)
    for file in files:
        to_write(args.output / file)


def _committed(args: Any) -> int:
    """The table that comes with the project, and how to compute another where nobody asked for this one."""
    bound, rows, about = load(args.name), committed(args.name), card(args.name)
    _refuse_files(args, bound.name, 0)
    failed = _certified(args, bound, rows, about) if args.certify else []
    status = tell(rows, about, args.json, constants(bound, rows) if args.constants else None)
    _tell_failed(failed, "proof")
    _write(args, rows, about, bound.name)
    if not args.committed:
        _remark(
            f"this table comes with the project, and took {lasting(about['seconds'])} of one core; quantity=value "
            "computes places of your own"
        )
    return FINDING if failed else status


def _tell_failed(failed: Sequence[str], what: str) -> None:
    for error, count in Counter(failed).items():
        _remark(f"{count} place{'s' * (count > 1)} without a {what}: {error}")


def _write(args: Any, rows: Sequence[Row], about: Mapping[str, Any], name: str) -> None:
    if args.output is not None:
        written = ", ".join(str(p) for p in write(rows, about, name, args.output))
        if args.json:
            _remark(f"wrote {written}")
        else:
            print(f"wrote {written}")


def _remark(words: str) -> None:
    if sys.stderr is not None:  # closed by the caller (2>&-)
        print(f"fedbounds: {words}", file=sys.stderr, flush=True)


def _list(as_json: bool) -> int:
    """The bounds within reach."""
    reach = [(b.name, b.target.name, str(b.statistic)) for b in BOUNDS.values() if not can(b, WORST)]
    if as_json:
        print(to_json([dict(zip(("name", "target", "statistic"), row, strict=True)) for row in reach]))
    else:
        print_lines(f"{name:<32} {target}, {statistic}" for name, target, statistic in reach)
    return FINE


def _spans(words: Sequence[str]) -> dict[str, list[float]]:
    found = {}
    for name, value in read(words).items():
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


def _refuse_moot(bound: Bound, place: Place, given: Iterable[str]) -> None:
    """A quantity that changes nothing was meant for another bound, whether it is typed or in a file."""
    if idle := moot(bound, place, given):
        use = [name for name in NAMES if name not in moot(bound, place, NAMES)]
        raise WorstCaseError(
            f"{', '.join(idle)} would change nothing: neither {bound.name} nor its worst case asks for it here; "
            f"what they ask for: {', '.join(use)}"
        )


def _computed(args: Any, at: Sequence[Place], seconds: float, bar: Progress) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows of the places, in order, and the errors of those that have none; a place takes about ``seconds``."""
    store, wanted = Store(folder(args.store)), cells(args.name, at)
    missing = sum(not store.has(cell) for cell in wanted)
    if missing:
        writable_folder("--store", store.folder)
    _tell_long(f"{missing} places to compute", missing, missing * seconds, args.workers)
    failed: list[str] = []
    bar.start(len(wanted))

    def heard(done: Any) -> None:
        if done.how == "failed":
            failed.append(done.error)
        bar.step()

    try:
        sweep(wanted, store, args.workers, heard=heard)
    except KeyboardInterrupt:
        raise interrupted(store, wanted, "worst cases") from None
    rows: list[dict[str, Any]] = []
    for cell in wanted:
        kept = store.get(cell)
        if kept is not None and kept.status == "done":
            columns = kept.columns()
            rows.append({name: values[0] for name, values in columns.items()})
    return rows, failed


def _tell_long(what: str, count: int, seconds: float, workers: int | None) -> None:
    """Say how long it takes before it is begun, where it takes long; ``seconds`` are those of one core."""
    cores = min(os.cpu_count() or 1 if workers is None else max(1, workers), max(1, count))
    if (takes := seconds / cores) > LONG:
        on = "one core" if cores == 1 else f"{cores} cores"
        _remark(f"{what}, about {lasting(takes)} on {on}; what is done is kept")


def _card(args: Any, bound: Bound, place: Place, rows: Sequence[Row], made_by: str) -> dict[str, Any]:
    asked = question(bound, place)
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
