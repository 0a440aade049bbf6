"""``fedbounds figure``: list the figures and tables, run what they need, write them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bounds.errors import BoundsError
from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from bounds.showing.usage import refuse_unused, UsageError, writable_folder
from empirics.experiments import Store
from empirics.experiments.checking import check_words
from empirics.experiments.command import check_computers, open_store
from empirics.experiments.running import run_missing
from empirics.numbers import check_choice, seed_list, Seeds
from empirics.progress import progress

from . import writing
from .artefact import Artefact
from .catalogue import artefact, NAMES, select
from .changes import apply_to_plans, read_changes, refuse_mixed
from .dry_run import plan_report
from .making import (
    budget_text,
    cells,
    committed_data_sets,
    copy_committed_runs,
    make,
    minutes,
    Planned,
    planned,
    stored_keys,
)
from .report import read_card, TITLE
from .runs import Runs
from .scale import SCALES
from .style import HOUSE, STYLES
from .substitutes import assume_present

FIGURE_JSON = """\
scales:
  smoke      seconds, on data that come with the packages: everything runs end to end
  laptop     about an hour and a half on two cores for all: smaller networks, fewer rounds and seeds
  overnight  the papers' local work and half of their rounds or more, on networks for two cores: four days
  paper      the setting of the paper itself, for GPUs

--json prints a list of objects: without names those of the list (name, source, title), with --dry-run one per figure
(name, scale, runs, there, to_do, minutes: at most, of one core, or of a GPU at the paper's scale); otherwise one object
(figures, files, folder)."""
MODES = ("--fresh", "--no-sweep", "--dry-run", "--redraw", "--bundle")


def figure(
    *names: str,
    scale: str = "laptop",
    seeds: Seeds | None = None,
    set_: Sequence[str] = (),
    output: Path | str | None = None,
    store: Path | str | None = None,
    fresh: bool = False,
    no_sweep: bool = False,
    dry_run: bool = False,
    redraw: bool = False,
    bundle: bool = False,
    style: str = HOUSE,
    workers: int | None = None,
    scheduler: str | None = None,
    report: Callable[[str], object] = str,
) -> Report:
    """Make figures and tables of the papers beside what they report; run what is missing. Without a name, list them.

    Args:
        names: Figures or tables, the short name of a paper, or all.
        scale: How much is computed: smoke, laptop, overnight or paper (laptop).
        seeds: Number of seeds of every run, instead of the plan's, or other seeds such as 5,6,7 or 5..9.
        set_: Another value in every run that has the argument, as ARGUMENT=VALUE.
        output: Folder of the files (./figures-SCALE-CHANGES; of a bundle ./fedbounds-bundle).
        store: Folder of the runs ($FEDBOUNDS_STORE, else ./fedbounds-store).
        fresh: Run everything again.
        no_sweep: Draw what is there; run nothing.
        dry_run: Show what would run and how long it takes; run and write nothing.
        redraw: Draw the figures in -o again, from their CSV alone.
        bundle: Write one folder with all figures, tables, numbers, bounds and the audit; run nothing but the audit.
        style: Style of the figures: house, neurips, icml or slides (house).
        workers: Processes (one per core, or per GPU); 0: in this process.
        scheduler: Address of a running dask cluster to use instead.
        report: called with a line for every part of the work as it begins.
    """
    given = zip(MODES, (fresh, no_sweep, dry_run, redraw, bundle), strict=True)
    if len(modes := [option for option, chosen in given if chosen]) > 1:
        raise UsageError(f"give only one of {', '.join(modes)}")
    listed_seeds = None if seeds is None else seed_list(seeds)
    check_choice("scale", scale, SCALES)
    check_choice("style", style, STYLES)
    check_computers(workers, scheduler)
    set_options = [set_] if isinstance(set_, str) else list(set_)
    work = {"workers": workers, "scheduler": scheduler}
    edits = {"seeds": seeds, "set": tuple(set_options)}
    if bundle:
        from .bundle import bundle as bundled

        if names not in ((), ("all",)):
            raise UsageError(f"--bundle gathers all figures and tables; leave out {', '.join(names)}")
        refuse_unused("--bundle runs nothing but the audit", scheduler=scheduler, **edits)
        return bundled(scale, Path(output or "fedbounds-bundle"), open_store(store), 2 if workers is None else workers)
    if not names:
        refuse_unused("without a name the figures and tables are listed", **work, **edits, output=output, store=store)
        if modes or scale != "laptop":
            raise UsageError(f"{modes[0] if modes else '--scale'} needs the names of figures, or all")
        return _list()
    if no_sweep:
        refuse_unused("--no-sweep runs nothing", **work)
    if redraw:
        refuse_unused("--redraw reads no runs", **work, **edits, store=store)
    if dry_run:
        refuse_unused("--dry-run runs and writes nothing", **work, output=output)
    artefacts = select(names)
    own = [each.name for each in artefacts if each.name in names]  # named individually, not as part of a group
    changes = read_changes(set_options, listed_seeds, artefacts, scale)
    results, target = open_store(store), Path(output or f"figures-{scale}{changes.folder}")
    if redraw:
        writable_folder("-o", target, {"REPORT.md": TITLE})
        return _redraw(artefacts, target, style)
    with apply_to_plans(changes, scale), assume_present(committed_data_sets(scale) if no_sweep else ()):
        wanted = planned(artefacts, scale)
        if str(changes):
            check_words(cells(wanted))
        if dry_run:
            return plan_report(wanted, scale, results)
        refuse_mixed(changes, target)
        unavailable = _unavailable(wanted, scale, results)
        if missing := [f"{name}: {why}" for name, why in unavailable.items() if name in own]:
            raise BoundsError(f"{'; '.join(missing)} (scale {scale})")
        writable_folder("-o", target, {"REPORT.md": TITLE})
        if not fresh and (copied := copy_committed_runs(wanted, scale, results)):
            report(f"{copied} runs are taken from those that are kept with the code")
        if no_sweep:
            failed = _report_missing_runs(wanted, results, own)
        else:
            failed = _sweep(wanted, scale, results, fresh, workers, scheduler, report)
        paths = write_figures(wanted, scale, results, target, style, str(changes))
    data = {"figures": [each.name for each in wanted], "files": list(map(str, paths)), "folder": str(target)}
    lines = [f"{len(wanted)} figures and tables, {len(paths)} files in {target}"]
    lines += [f"not available: {name}: {why}" for name, why in unavailable.items()]
    return Report(lines, data, int(failed))


def _unavailable(wanted: Planned, scale: str, store: Store) -> dict[str, str]:
    """Return the reason, by name, why figures and tables without runs at this scale have no numbers of ours."""
    without_runs = [(each.name, each.data(Runs(store), scale)) for each, own in wanted.items() if not own]
    return {name: shown.unavailable for name, shown in without_runs if shown.unavailable}


def _redraw(wanted: Sequence[Artefact], folder: Path, style: str) -> Report:
    """Draw the figures in a folder again from their numbers."""
    paths: list[Path] = []
    for each in wanted:
        numbers, card = (folder / f"{each.name}{suffix}" for suffix in (".csv", ".json"))
        if each.draw is not None and numbers.exists() and card.exists():
            paths += writing.picture(each, writing.read_rows(numbers), read_card(card), folder, style)
    if not paths:
        raise BoundsError(f"none of these figures lies in {folder} with its numbers (CSV) and its card (JSON)")
    data = {"figures": [each.name for each in wanted], "files": list(map(str, paths)), "folder": str(folder)}
    return Report([f"{len(paths)} files in {folder}"], data)


def write_figures(
    wanted: Planned, scale: str, store: Store, folder: Path, style: str = HOUSE, changes: str = ""
) -> list[Path]:
    """Write figures, tables and the report on the folder, with a progress bar; return the paths of the files."""
    written: list[list[Path]] = []
    with progress("drawing") as bar:
        bar.start(len(wanted) + 1)  # and the report
        try:
            for paths in make(wanted, scale, store, folder, style, changes):
                written.append(paths)
                bar.step()
        except KeyboardInterrupt:
            words = f"interrupted: {len(written)} of {len(wanted)} figures and tables are written, in {folder}"
            raise KeyboardInterrupt(words) from None
    return [path for paths in written for path in paths]


def _report_missing_runs(wanted: Planned, store: Store, own: Sequence[str]) -> bool:
    """Report missing runs on stderr; return whether there are any. Raise if a figure named itself has no run."""
    runs = cells(wanted)
    stored = stored_keys(store, runs)
    keys_by_name = {artefact.name: {cell.key for cell in its_runs} for artefact, its_runs in wanted.items()}
    empty = [name for name, keys in keys_by_name.items() if keys and not keys & stored]
    if refused := empty if len(empty) == len(keys_by_name) else [name for name in empty if name in own]:
        raise BoundsError(f"no run of {', '.join(refused)} is here at this scale: leave --no-sweep out to run them")
    if empty:
        print(f"no run of {', '.join(empty)} is here at this scale", file=sys.stderr)
    missing = sum(cell.key not in stored for cell in runs)
    if missing:
        print(f"{missing} of {len(runs)} runs are missing and will not be shown", file=sys.stderr)
    return bool(missing)


def _sweep(
    wanted: Planned,
    scale: str,
    store: Store,
    fresh: bool,
    workers: int | None,
    scheduler: str | None,
    report: Callable[[str], object],
) -> bool:
    """Run what is missing; return whether a run failed."""
    todo = cells(wanted)
    there = set() if fresh else stored_keys(store, todo)
    missing = [cell for cell in todo if cell.key not in there]
    if missing:
        writable_folder("--store", store.folder)
    report(f"{len(todo)} runs, {len(missing)} to do: at most {budget_text(minutes(wanted, scale), missing)}")
    finished = run_missing(todo, store, workers, scheduler, fresh, named=str)
    return any(done.how == "failed" for done in finished)


def _list() -> Report:
    rows = [(name, each.source or "ours", each.title) for name in NAMES for each in [artefact(name)]]
    return Report(aligned(rows), [dict(zip(("name", "source", "title"), row, strict=True)) for row in rows])
