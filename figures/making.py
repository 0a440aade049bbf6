"""List the runs that figures and tables read, and write all their files from the results in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bounds.showing.files import whole, write_whole
from empirics.experiments import Cell, Kept, Store
from empirics.experiments.machine import GPU
from empirics.experiments.store import packed, SUFFIX, unpacked

from . import report, writing
from .artefact import Artefact, Content
from .run_description import data_set
from .runs import Runs
from .scale import plans_of
from .style import HOUSE

COMMITTED = Path(__file__).resolve().parent / "laptop"
"""The committed results; their report lies beside this folder."""
LONGEST_FIRST = ("overnight", "laptop")
"""The scales with committed results. The report takes each figure and table from the first that has it."""
RUNS = "runs"
"""Name of the folder, beside the figures, with the packed runs."""


Planned = Mapping[Artefact, Sequence[Cell]]
"""Figures and tables with the runs that each reads at one scale."""


def planned(artefacts: Iterable[Artefact], scale: str) -> Planned:
    """Return these figures and tables with their runs."""
    return {artefact: artefact.cells(scale) for artefact in artefacts}


def cells(wanted: Planned) -> list[Cell]:
    """Return the runs that these figures and tables read, each once, in order."""
    return list({cell.key: cell for own in wanted.values() for cell in own}.values())


def minutes(wanted: Planned, scale: str) -> dict[str, float]:
    """Return the minutes of one core or GPU that each run may take by its paper's budget, by the key of the run."""
    plans = {artefact: plans_of(artefact.paper)[scale] for artefact in wanted}
    return {cell.key: plans[artefact].budget.minutes(cell) for artefact, own in wanted.items() for cell in own}


def stored_keys(store: Store, runs: Iterable[Cell]) -> set[str]:
    """Return the keys of those of these runs that have a result."""
    return {result.card["key"] for result in store.of(runs)}


def budget_text(minutes: Mapping[str, float], todo: Sequence[Cell]) -> str:
    """Return the time of the runs in ``todo``; for GPUs in hours, by assumed rates since they were not measured."""
    total = sum(minutes[cell.key] for cell in todo)
    if not any(cell.arguments.get("engine") == GPU for cell in todo):
        return f"{total:.2g} minutes of one core"
    return f"{total / 60:.3g} hours of one GPU by assumed rates"


def make(
    wanted: Planned,
    scale: str,
    store: Store,
    folder: Path,
    style: str = HOUSE,
    changed: str = "",
) -> Iterator[list[Path]]:
    """Write the files of each figure and table from the results in a store, then the report on the folder.

    Yields the paths written for each artefact, then that of the report. ``changed`` is a text of the changes to the
    committed plan that are in force.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = Runs(store)
    for artefact, own in wanted.items():
        content = with_changes_noted(artefact.data(runs, scale), changed)
        used = [result for cell in own if (result := runs.result(cell)) is not None]
        card = writing.make_card(artefact, content, scale, used, len(own), changed)
        paths = writing.write(artefact, content, card, folder, style)
        if used and not artefact.pack:  # an incomplete pack is fine: missing runs can be made later
            path = folder / RUNS / f"{artefact.name}{SUFFIX}"
            path.parent.mkdir(exist_ok=True)
            with whole(path) as beside:
                beside.write_bytes(packed(used))
            paths.append(path)
        yield paths
    ours = folder.resolve() in {COMMITTED.with_name(scale) for scale in LONGEST_FIRST}
    text = committed_report() if ours else report.text(report.read_cards(folder))
    yield [write_whole((folder.parent if ours else folder) / "REPORT.md", text)]


def committed_results(scale: str, name: str = "*") -> Iterator[Kept]:
    """Yield the committed results in the pack of this name (default: in all packs)."""
    for path in sorted((COMMITTED.with_name(scale) / RUNS).glob(f"{name}{SUFFIX}")):
        yield from unpacked(path.read_bytes(), path.name)


def committed_data_sets(scale: str) -> set[str]:
    """Return the data sets of the committed runs."""
    return {data_set(result.card["arguments"].get("problem", "")) for result in committed_results(scale)} - {""}


def copy_committed_runs(wanted: Planned, scale: str, store: Store) -> int:
    """Copy committed runs that the store lacks into it; return their number.

    A run packed by another version of its job has another key and is not copied.
    """
    runs = cells(wanted)
    missing = {cell.key for cell in runs} - stored_keys(store, runs)
    committed = {result.card["key"]: result for result in committed_results(scale)} if missing else {}
    copied = [result for key, result in committed.items() if key in missing]
    if copied:
        store.write(copied)
    return len(copied)


def with_changes_noted(content: Content, changed: str) -> Content:
    """Return the content with the changes to the plan in its caption and in every row."""
    if not changed:
        return content
    words = f"Not the plan's own figure: changed to {changed}; where the words that follow differ, this holds."
    rows = [{**row, "changed": changed} for row in content.rows]
    return replace(content, caption=f"{words} {content.caption}", rows=rows)


def committed_report() -> str:
    """Return the report on the committed figures and tables, each at the scale with the longest runs."""
    cards = report.read_cards(*(COMMITTED.with_name(scale) for scale in LONGEST_FIRST))
    return report.text(cards, report.audit_claim_counts([card["name"] for card in cards]))
