"""From names to files: which runs are missing, running them, and writing every figure and table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from bounds.showing.files import whole, write_whole
from empirics.experiments import Cell, Kept, Store
from empirics.experiments.engines import GPU
from empirics.experiments.packing import packed, SUFFIX, unpacked

from . import report, writing
from .artefact import Artefact, Shown
from .run_description import set_of
from .runs import Runs
from .style import HOUSE

COMMITTED = Path(__file__).resolve().parent / "laptop"
"""The results that are kept with the code; their report lies beside the folder."""
LONGEST_FIRST = ("overnight", "laptop")
"""The scales of which results are kept: the report has of each figure and table the first of these."""
RUNS = "runs"
"""The folder, beside the figures, of the runs behind each."""


def cells(artefacts: Sequence[Artefact], scale: str) -> list[Cell]:
    """The runs that these figures and tables read, each once, in their order."""
    return list({cell.key: cell for artefact in artefacts for cell in artefact.cells(scale)}.values())


def minutes(artefacts: Iterable[Artefact], scale: str) -> dict[str, float]:
    """Minutes of one core, or of one GPU, that each run of these artefacts may take, by its key.

    They are those of the budgets in the plans of their papers.
    """
    plans = {artefact: import_module(f"figures.{artefact.paper}.grid").PLANS[scale] for artefact in artefacts}
    return {cell.key: plan.budget.minutes(cell) for artefact, plan in plans.items() for cell in artefact.cells(scale)}


def budget(artefacts: Iterable[Artefact], scale: str, todo: Sequence[Cell]) -> float:
    """The same of some of their runs together."""
    planned = minutes(artefacts, scale)
    return sum(planned[key] for key in dict.fromkeys(cell.key for cell in todo))


def said(minutes: float, todo: Iterable[Cell]) -> str:
    """A budget in words; of GPUs by rates that are assumed, for none has been there to measure them."""
    if not any(cell.arguments.get("engine") == GPU for cell in todo):
        return f"{minutes:.2g} minutes of one core"
    return f"{minutes / 60:.3g} hours of one GPU by assumed rates"


def make(
    artefacts: Sequence[Artefact],
    scale: str,
    store: Store,
    folder: Path,
    written: Callable[[], object] = lambda: None,
    style: str = HOUSE,
    changed: str = "",
) -> Iterator[list[Path]]:
    """Write each figure and table from what the store holds, and the report of all that lie in the folder.

    ``changed`` says what runs otherwise than in the plan that is kept with the code, while this is in force.
    """
    folder.mkdir(parents=True, exist_ok=True)
    runs = Runs(store)
    for artefact in artefacts:
        wanted = cells([artefact], scale)
        shown = marked(artefact.data(runs, scale), changed)
        used = [kept for cell in wanted if (kept := runs.kept(cell)) is not None]
        card = writing.card(artefact, shown, scale, used, len(wanted), changed)
        paths = writing.write(artefact, shown, card, folder, style)
        if used and not artefact.pack:  # those that another packs lie there; those that are missing can be run later
            path = folder / RUNS / f"{artefact.name}{SUFFIX}"
            path.parent.mkdir(exist_ok=True)
            with whole(path) as beside:
                beside.write_bytes(packed(used))
            paths.append(path)
        yield paths
        written()
    ours = folder.resolve() in {COMMITTED.with_name(scale) for scale in LONGEST_FIRST}
    text = committed() if ours else report.text(report.read(folder))
    yield [write_whole((folder.parent if ours else folder) / "REPORT.md", text)]


def kept_with_code(scale: str, name: str = "*") -> Iterator[Kept]:
    """The results in the pack of this name, or in all."""
    for path in sorted((COMMITTED.with_name(scale) / RUNS).glob(f"{name}{SUFFIX}")):
        yield from unpacked(path.read_bytes(), path.name)


def sets_of_kept(scale: str) -> set[str]:
    """The data sets of the runs that are kept with the code."""
    return {set_of(kept.card["arguments"].get("problem", "")) for kept in kept_with_code(scale)} - {""}


def resume(artefacts: Sequence[Artefact], scale: str, store: Store) -> int:
    """Take over what the store misses and is kept with the code; how many runs that were.

    A run that was packed by another version of what computes it has another key, and stays where it is.
    """
    wanted = cells(artefacts, scale)
    missing = {cell.key for cell in wanted} - {kept.card["key"] for kept in store.of(wanted)}
    packs = {artefact.packed_in for artefact in artefacts if missing & {c.key for c in artefact.cells(scale)}}
    taken = {kept.card["key"]: kept for pack in packs for kept in kept_with_code(scale, pack)}
    found = [kept for key, kept in taken.items() if key in missing]
    if found:
        store.write(found)
    return len(found)


def marked(shown: Shown, changed: str) -> Shown:
    """The same with what is changed in its caption and in every row."""
    if not changed:
        return shown
    words = f"Not the plan's own figure: changed to {changed}; where the words that follow differ, this holds."
    rows = [{**row, "changed": changed} for row in shown.rows]
    return replace(shown, caption=f"{words} {shown.caption}", rows=rows)


def redraw(artefacts: Sequence[Artefact], folder: Path, style: str) -> Iterator[list[Path]]:
    """Draw the figures that lie in the folder again, from their numbers (CSV) and cards alone."""
    for artefact in artefacts:
        numbers, card = (folder / f"{artefact.name}{suffix}" for suffix in (".csv", ".json"))
        if artefact.draw is not None and numbers.exists() and card.exists():
            yield writing.picture(artefact, writing.rows(numbers), report.card(card), folder, style)


def committed() -> str:
    """The report of what is kept with the code, which lies beside its folders: of each figure or table the longest
    runs."""
    cards = report.read(*(COMMITTED.with_name(scale) for scale in LONGEST_FIRST))
    return report.text(cards, report.audited([card["name"] for card in cards]))
