"""``fedbounds figure --dry-run``: the runs that figures read, which are there, how long the rest may take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from empirics.experiments import Cell, Store
from empirics.experiments.canonical import text
from empirics.experiments.results import ordered

from .artefact import Artefact
from .making import cells, kept_with_code, minutes, said

SEED = "seed"


def planned(wanted: Sequence[Artefact], scale: str, store: Store) -> Report:
    """The plan of every figure, run by run over the seeds, then all of them together; nothing is written."""
    packed = {kept.card["key"] for artefact in wanted for kept in kept_with_code(scale, artefact.packed_in)}
    of_each = {artefact.name: cells([artefact], scale) for artefact in wanted}
    cost, all_ = minutes(wanted, scale), {cell.key: cell for mine in of_each.values() for cell in mine}
    there = all_.keys() & (packed | {kept.card["key"] for kept in store.of(all_.values())})
    where = f"{store.folder} or kept with the code" if packed & there else str(store.folder)
    lines, records = [], []
    for name, mine in of_each.items():
        lines.append(f"{name} ({scale}): {_summary(mine, cost, there, where)}")
        lines += [f"  {line}" for line in _lines(mine, cost, there)]
        left = [cell.key for cell in mine if cell.key not in there]
        counted = {"runs": len(mine), "there": len(mine) - len(left), "to_do": len(left)}
        records.append({"name": name, "scale": scale, **counted, "minutes": sum(map(cost.__getitem__, left))})
    if len(wanted) > 1:
        lines.append(f"together: {_summary(list(all_.values()), cost, there, where)}")
    return Report(lines, records)


def _summary(all_: Sequence[Cell], cost: Mapping[str, float], there: set[str], where: str) -> str:
    left = [cell for cell in all_ if cell.key not in there]
    if not all_:
        return "no runs at this scale"
    took = f", at most {said(sum(cost[cell.key] for cell in left), left)}" if left else ""
    return f"{len(all_)} runs, {len(all_) - len(left)} in {where}, {len(left)} to do{took}"


def _lines(mine: Sequence[Cell], cost: Mapping[str, float], there: set[str]) -> list[str]:
    """What all runs have in common, then a line for those that differ in their seed alone."""
    if not mine:
        return []
    groups: dict[str, list[Cell]] = {}
    for cell in mine:
        same = {name: value for name, value in cell.arguments.items() if name != SEED}
        groups.setdefault(text([cell.job, same]), []).append(cell)
    names = sorted({name for cell in mine for name in cell.arguments} - {SEED})
    jobs = dict.fromkeys(cell.job for cell in mine)
    varying = [n for n in names if len({_said(c, n) for c in mine}) > 1]
    shared = [f"{n}={_said(mine[0], n)}" for n in names if n not in varying]
    several = ["job"] if len(jobs) > 1 else []
    rows = []
    for group in groups.values():
        left = [cell for cell in group if cell.key not in there]
        seeds = _seeds(cell.arguments[SEED] for cell in group if SEED in cell.arguments)
        told = [*([group[0].job] if several else []), *(_said(group[0], n) for n in varying), seeds]
        rows.append([*told, f"{len(group) - len(left)} of {len(group)}", f"{sum(cost[cell.key] for cell in left):.2g}"])
    head = [*several, *varying, "seeds", "there", "minutes"]
    return [f"every run: {', '.join([*([] if several else jobs), *shared])}", *aligned(rows, head)]


def _said(cell: Cell, name: str) -> str:
    value = cell.arguments.get(name)
    return "" if value is None else value if isinstance(value, str) else text(value)


def _seeds(seeds: Iterable[Any]) -> str:
    """``0-4``, or one by one where they have gaps."""
    each = sorted(seeds, key=ordered)
    run = len(each) > 1 and each == list(range(each[0], each[0] + len(each)))
    return f"{each[0]}-{each[-1]}" if run else " ".join(map(str, each))
