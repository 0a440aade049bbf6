"""``fedbounds figure --dry-run``: list the runs that figures read, which exist, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    groups: dict[str, list[Cell]] = {}
    for cell in figure_cells:
        without_seed = {name: value for name, value in cell.arguments.items() if name != SEED}
        groups.setdefault(text([cell.job, without_seed]), []).append(cell)
    names = sorted({name for cell in figure_cells for name in cell.arguments} - {SEED})
    jobs = list(dict.fromkeys(cell.job for cell in figure_cells))
    varying = [n for n in names if len({_value_text(c, n) for c in figure_cells}) > 1]
    shared = [f"{n}={_value_text(figure_cells[0], n)}" for n in names if n not in varying]
    several_jobs = len(jobs) > 1
    rows = []
    for group in groups.values():
        left = [cell for cell in group if cell.key not in there]
        row = [group[0].job] if several_jobs else []
        row += [_value_text(group[0], name) for name in varying]
        row.append(seeds_text(sorted(cell.arguments[SEED] for cell in group if SEED in cell.arguments)))
        row += [f"{len(group) - len(left)} of {len(group)}", f"{sum(cost[cell.key] for cell in left):.2g}"]
        rows.append(row)
    head = [*(["job"] if several_jobs else []), *varying, "seeds", "there", "minutes"]
    return [f"every run: {', '.join([*([] if several_jobs else jobs), *shared])}", *aligned(rows, head)]


def _value_text(cell: Cell, name: str) -> str:
    value = cell.arguments.get(name)
    return "" if value is None else value if isinstance(value, str) else text(value)
