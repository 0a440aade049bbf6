"""``fedbounds figure --dry-run``: list the runs that figures read, which exist, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from empirics.experiments import Cell, Store
from empirics.experiments.cells import text
from empirics.numbers import seeds_text

from .making import budget_text, cells, committed_results, minutes, Planned, stored_keys

SEED = "seed"


def plan_report(wanted: Planned, scale: str, store: Store) -> Report:
    """Return the runs of every figure, those that exist, the time of the rest, and the totals; nothing is written."""
    packed = {result.card["key"] for result in committed_results(scale)}
    every, cost = cells(wanted), minutes(wanted, scale)
    there = cost.keys() & (packed | stored_keys(store, every))
    where = f"{store.folder} or kept with the code" if packed & there else str(store.folder)
    lines, records = [], []
    for artefact, figure_cells in wanted.items():
        lines.append(f"{artefact.name} ({scale}): {_summary(figure_cells, cost, there, where)}")
        lines += [f"  {line}" for line in _lines(figure_cells, cost, there)]
        left = [cell.key for cell in figure_cells if cell.key not in there]
        counts = {"runs": len(figure_cells), "there": len(figure_cells) - len(left), "to_do": len(left)}
        records.append({"name": artefact.name, "scale": scale, **counts, "minutes": sum(cost[key] for key in left)})
    if len(wanted) > 1:
        lines.append(f"together: {_summary(every, cost, there, where)}")
    return Report(lines, records)


def _summary(figure_cells: Sequence[Cell], cost: Mapping[str, float], there: set[str], where: str) -> str:
    if not figure_cells:
        return "no runs at this scale"
    left = [cell for cell in figure_cells if cell.key not in there]
    limit = f", at most {budget_text(cost, left)}" if left else ""
    return f"{len(figure_cells)} runs, {len(figure_cells) - len(left)} in {where}, {len(left)} to do{limit}"


def _lines(figure_cells: Sequence[Cell], cost: Mapping[str, float], there: set[str]) -> list[str]:
    """Return a line with what all runs share, then a table with one row per group of runs that differ in seed only."""
    if not figure_cells:
        return []
    names = ["job", *sorted({name for cell in figure_cells for name in cell.arguments} - {SEED})]
    groups: dict[tuple[str, ...], list[Cell]] = {}
    for cell in figure_cells:
        values = tuple(_value_text({"job": cell.job, **cell.arguments}.get(name)) for name in names)
        groups.setdefault(values, []).append(cell)
    varying = [place for place, values in enumerate(zip(*groups, strict=True)) if len(set(values)) > 1]
    shared = [f"{name}={next(iter(groups))[place]}" for place, name in enumerate(names) if place not in varying]
    rows = []
    for values, group in groups.items():
        left = [cell for cell in group if cell.key not in there]
        seeds = seeds_text(sorted(cell.arguments[SEED] for cell in group if SEED in cell.arguments))
        stored, took = f"{len(group) - len(left)} of {len(group)}", f"{sum(cost[cell.key] for cell in left):.2g}"
        rows.append([*(values[place] for place in varying), seeds, stored, took])
    head = [*(names[place] for place in varying), "seeds", "there", "minutes"]
    return [f"every run: {', '.join(shared)}", *aligned(rows, head)]


def _value_text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else text(value)
