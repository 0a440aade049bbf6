"""Measured and exact points of bounds from a store of runs, with the constants of each run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.experiments import Cell, Store

from ..ours.grid import data_set, exact_cell, PLANS, training_cell
from ..runs import Runs
from ..scale import SCALES
from .records import example, NamedBound, Record

LOCAL_STEPS, RELAXATION = 3, 0.06
"""Defaults of ``paper_checks.validation.jobs.exact`` that its cells do not state."""
DIGITS = 6


def settings(entries: Iterable[NamedBound], folder: Path, *, whole: bool) -> list[Record]:
    """Return every run of the comparison figures as a setting that a page starts from, with its points.

    A page of all bounds (``whole``) has the runs with known clients and smoothness; otherwise the example of the bound
    completes the values of a run.
    """
    runs = Runs(Store(folder))
    made = [
        (entry, words, points)
        for entry in entries
        if not entry.own
        for words, cell in _cells(entry.bound)
        if (points := _entry(entry.bound, runs, cell))
    ]
    return [
        _setting(entry, words, points, whole)
        for entry, words, points in made
        if not whole or {"clients", "smoothness"} <= points["values"].keys()
    ]


def _setting(entry: NamedBound, words: str, points: Record, whole: bool) -> Record:
    values, missing = points["values"], ", ".join(word.replace("_", " ") for word in points["missing"])
    plan = {"local_steps": 1, "step_size": 0.01, "cohort": values.get("clients"), "rounds": points["rows"][-1][1]}
    plan = {word: values.get(word, usual) for word, usual in plan.items()} if whole else {}
    given = {word: x for word, x in values.items() if word not in plan}
    return {
        "name": f"{entry.label}: {words}",
        "words": f"A run of the store.{f' The example gives {missing}.' if missing else ''}",
        "given": given if whole else example(entry.bound) | given,
        "up_to": {},
        "plan": plan,
        "of": entry.label,
        "rows": points["rows"],
    }


def _cells(bound: Bound) -> list[tuple[str, Cell]]:
    """Return the runs of this bound at every scale, with texts that distinguish them."""
    cells = []
    for scale in SCALES:
        plan = PLANS[scale]
        cells.append((f"{data_set(scale)}, {plan.seeds} seeds ({scale})", training_cell(scale, bound.name)))
        named = ((i, exact_cell(scale, bound.name, i)) for i in range(plan.counts["instances"]))
        cells += [(f"quadratics, instance {i + 1} ({scale})", cell) for i, cell in named]
    return cells


def _entry(bound: Bound, runs: Runs, cell: Cell) -> Record | None:
    table = runs.columns(cell)
    if not table:
        return None
    known = _constants(bound, runs, cell)
    wanted = {q.name for q in bound.quantities} | ({bound.axis} if bound.axis else set())
    values = {name: value for name, value in known.items() if name in wanted and name != "rounds"}
    missing = [q.name for q in bound.quantities if q.name not in known and q.name not in ("rounds", "client_weight")]
    rows = [
        [kind, round_, _short(value), _short(error)]
        for kind in ("exact", "measured")
        for round_, value, error in zip(
            table["rounds"],
            table.get(kind, ()),
            table["error"] if kind == "measured" else table["rounds"],
            strict=False,
        )
        if math.isfinite(value)
    ]
    return {"values": values, "missing": missing, "rows": rows}


def _constants(bound: Bound, runs: Runs, cell: Cell) -> dict[str, Any]:
    """Return the numbers that were put into the bound: those recorded with the run, or those of its quadratics."""
    known = dict(runs.fact(cell, "constants") or {})
    if cell.job != "validate_exact":
        known.pop("client_weight", None)
        return {k: _short(v) for k, v in known.items()}
    from empirics.problems.quadratics import random_quadratics

    given = cell.arguments
    problem = random_quadratics(given["instance"], given["clients"], given["dim"], noise=given["noise"])
    known = {q.name: getattr(problem, q.name) for q in bound.quantities if hasattr(problem, q.name)}
    known["initial_gap"] = float(problem.loss(problem.start)) - problem.optimal_loss
    known |= {"local_steps": LOCAL_STEPS, "relaxation": RELAXATION, "clients": given["clients"]}
    known |= {name: runs.fact(cell, name) for name in ("step_size", "cohort")}
    return {k: [_short(x) for x in v] if np.ndim(v) else _short(v) for k, v in known.items() if v is not None}


def _short(value: Any) -> float:
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else 0.0
