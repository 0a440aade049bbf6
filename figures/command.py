"""The verb ``figure``: list the figures and tables, run what they need, write them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bounds.errors import BoundsError, unknown
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.tables import aligned, to_json
from bounds.showing.terminal import print_lines, printable
from bounds.showing.usage import bare_parser, Parser, refuse_idle, writable_folder
from empirics.experiments import Store
from empirics.experiments.checking import check_words
from empirics.experiments.command import folder as store_folder, path_word, word
from empirics.experiments.running import Done, interrupted, sweep
from empirics.progress import progress

from .artefact import Artefact
from .catalogue import artefact, chosen, NAMES
from .changes import in_force, read, refuse_mixed
from .dry_run import planned
from .making import budget, cells, make, redraw, resume, said, sets_of_kept
from .report import TITLE
from .scale import SCALES
from .stand_ins import counted_as_here
from .style import HOUSE, STYLES

FINE, FINDING = 0, 1
MOST_SEEDS = 1000
FIGURE_JSON = """\
--json prints a list of objects: without names those of the list (name, source, title), with --dry-run one per figure
(name, scale, runs, there, to_do, minutes: at most, of one core, or of a GPU at the paper's scale)."""


def figure(arguments: Sequence[str]) -> int:
    """Run what is missing and write the figures; 1 when a run failed or is left out."""
    parser = _parser()
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    if not args.names:
        refuse_idle(parser, args, vars(args).keys() - {"json"}, "without a name the figures and tables are listed")
        return _list(args.json)
    if args.no_sweep:
        refuse_idle(parser, args, ("workers", "scheduler"), "--no-sweep runs nothing")
    if args.scheduler:
        refuse_idle(parser, args, ("workers",), "--scheduler is a running cluster, which has workers of its own")
    known_scale(args.scale)
    if args.style not in STYLES:
        raise unknown("style", args.style, STYLES)
    wanted = chosen(args.names)
    if args.redraw:
        refuse_idle(parser, args, ("store", "workers", "scheduler", "seeds", "set"), "--redraw reads no runs")
    if args.dry_run:
        refuse_idle(parser, args, ("workers", "scheduler", "output"), "--dry-run runs and writes nothing")
    else:
        refuse_idle(parser, args, ("json",), "what is drawn is written into files, numbers as CSV and JSON beside it")
    changes = read(args.set, args.seeds, wanted, args.scale)
    store = Store(store_folder(args.store))
    there = sets_of_kept(args.scale) if args.no_sweep else ()
    with in_force(changes, args.scale), counted_as_here(there):
        if str(changes):
            check_words(cells(wanted, args.scale))
        if args.dry_run:
            return planned(wanted, args.scale, store, args.json)
        target = args.output or Path(f"figures-{args.scale}{changes.folder}")
        if args.redraw:
            writable_folder("-o", target, {"REPORT.md": TITLE})
            return _redraw(wanted, target, args.style)
        refuse_mixed(changes, target)
        writable_folder("-o", target, {"REPORT.md": TITLE})
        if not args.fresh and (taken := resume(wanted, args.scale, store)):
            print(f"{taken} runs are taken from those that are kept with the code", flush=True)
        failed = _without(wanted, args.scale, store) if args.no_sweep else _sweep(wanted, args, store)
        paths = drawn(wanted, args.scale, store, target, args.style, str(changes))
    print(f"{len(wanted)} figures and tables, {len(paths)} files in {target}")
    return FINDING if failed else FINE


def _redraw(wanted: Sequence[Artefact], folder: Path, style: str) -> int:
    """Other pictures of the same numbers."""
    paths = [path for made in redraw(wanted, folder, style) for path in made]
    if not paths:
        raise BoundsError(f"none of these figures lies in {folder} with its numbers (CSV) and its card (JSON)")
    print(f"{len(paths)} files in {folder}")
    return FINE


def drawn(
    wanted: Sequence[Artefact], scale: str, store: Store, folder: Path, style: str = HOUSE, changed: str = ""
) -> list[Path]:
    """The files of these artefacts, written with a report of all that lie in the folder."""
    made: list[list[Path]] = []
    with progress("drawing") as bar:
        bar.start(len(wanted))
        try:
            for paths in make(wanted, scale, store, folder, bar.step, style, changed):
                made.append(paths)
        except KeyboardInterrupt:
            words = f"interrupted: {len(made)} of {len(wanted)} figures and tables are written, in {folder}"
            raise KeyboardInterrupt(words) from None
    return [path for paths in made for path in paths]


def known_scale(scale: str) -> None:
    """Refuse a scale that is none."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)


def _without(wanted: Sequence[Artefact], scale: str, store: Store) -> bool:
    """Run nothing; whether runs are missing, which is said. A figure that has none of its runs is refused."""
    runs = cells(wanted, scale)
    stored = {kept.card["key"] for kept in store.of(runs)}
    there = {cell.key: cell.key in stored for cell in runs}
    read = {made.name: [there[cell.key] for cell in made.cells(scale)] for made in wanted}
    empty = [name for name, runs in read.items() if runs and not any(runs)]
    if empty:
        raise BoundsError(f"no run of {', '.join(empty)} is here at this scale: leave --no-sweep out to run them")
    missing = sum(not has for has in there.values())
    if missing:
        print(f"{missing} of {len(there)} runs are missing and will not be shown", file=sys.stderr)
    return bool(missing)


def _sweep(wanted: Sequence[Artefact], args: argparse.Namespace, store: Store) -> list[Done]:
    todo = cells(wanted, args.scale)
    there = set() if args.fresh else {kept.card["key"] for kept in store.of(todo)}
    missing = [cell for cell in todo if cell.key not in there]
    if missing:
        writable_folder("--store", store.folder)
    time = said(budget(wanted, args.scale, missing), missing)
    print(f"{len(todo)} runs, {len(missing)} to do: at most {time}", flush=True)
    failed: list[Done] = []
    with progress("running what the figures read") as bar:
        bar.start(len(todo))

        def finished(done: Done) -> None:
            if done.how == "failed":
                failed.append(done)
                print(printable(f"failed: {done.cell}: {done.error}"), file=sys.stderr, flush=True)
            bar.step()

        try:
            sweep(todo, store, args.workers, args.scheduler, args.fresh, finished)
        except KeyboardInterrupt:
            raise interrupted(store, todo, "runs") from None
    return failed


def _list(as_json: bool) -> int:
    rows = [(name, made.source or "ours", made.title) for name in NAMES for made in [artefact(name)]]
    if as_json:
        print(to_json([dict(zip(("name", "source", "title"), row, strict=True)) for row in rows]))
    else:
        print_lines(aligned(rows))
    return FINE


def _parser() -> Parser:
    scales = "\n".join(f"  {name:<10} {words}" for name, words in SCALES.items())
    parser = bare_parser("figure", f"scales:\n{scales}", below=[FIGURE_JSON])
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="figures or tables, a paper's short name, or all; none: list them")
    add("--scale", default="laptop", metavar="S", help="how much is computed (laptop)")
    add(
        "--seeds",
        type=whole_number(1, MOST_SEEDS),
        metavar="N",
        help="so many seeds of every run instead of the plan's",
    )
    add(
        "--set",
        nargs="+",
        default=[],
        metavar="ARGUMENT=VALUE",
        help="another value in every run that has the argument",
    )
    add("-o", dest="output", type=path_word, metavar="DIR", help="where the files go (./figures-SCALE-CHANGES)")
    add("--store", type=path_word, metavar="DIR", help="folder of the runs ($FEDBOUNDS_STORE, else ./fedbounds-store)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--fresh", action="store_true", help="run everything again")
    group.add_argument("--no-sweep", action="store_true", help="draw what is there, run nothing")
    group.add_argument("--dry-run", action="store_true", help="say what would run and how long; run and write nothing")
    group.add_argument("--redraw", action="store_true", help="draw the figures in -o again, from their CSV alone")
    add("--json", action="store_true", help="the list, or the plan of --dry-run, as JSON, described below")
    add("--style", default=HOUSE, metavar="S", help=f"how figures look: {', '.join(STYLES)} ({HOUSE})")
    add(
        "--workers",
        type=whole_number(0, MOST_WORKERS),
        metavar="N",
        help="processes (one per core, or per GPU); 0: in this process",
    )
    add("--scheduler", type=word, metavar="ADDRESS", help="a running dask cluster instead")
    return parser
