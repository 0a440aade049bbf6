"""Measured and exact points of a bound out of a store of runs, with the constants that belong to each run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from empirics.experiments import Cell, Store

from ..ours.grid import data, exact, PLANS, trained
from ..runs import Runs
from ..scale import SCALES

LOCAL_STEPS, RELAXATION = 3, 0.06
"""What ``paper_checks.validation.jobs.exact`` runs with where its cell does not say."""
DIGITS = 6


def points(bounds: Iterable[Bound], folder: Path) -> dict[str, list[dict[str, Any]]]:
    """By bound, one entry per run of the comparison figures: its words, its constants and its rows."""
    runs = Runs(Store(folder))
    found: dict[str, list[dict[str, Any]]] = {}
    for bound in bounds:
        made = [_entry(bound, runs, cell, words) for words, cell in _cells(bound)]
        if kept := [entry for entry in made if entry]:
            found[bound.name] = kept
    return found


def _cells(bound: Bound) -> list[tuple[str, Cell]]:
    """The runs of this bound at every scale, with words that tell them apart."""
    cells = []
    for scale in SCALES:
        plan = PLANS[scale]
        cells.append((f"{data(scale)}, {plan.seeds} seeds ({scale})", trained(scale, bound.name)))
        named = ((i, exact(scale, bound.name, i)) for i in range(plan.counts["instances"]))
        cells += [(f"quadratics, instance {i + 1} ({scale})", cell) for i, cell in named]
    return cells


def _entry(bound: Bound, runs: Runs, cell: Cell, words: str) -> dict[str, Any] | None:
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
    return {"words": words, "values": values, "missing": missing, "rows": rows}


def _constants(bound: Bound, runs: Runs, cell: Cell) -> dict[str, Any]:
    """The numbers that were put into the bound, as far as the run tells or its problem can be made again."""
    told = dict(runs.fact(cell, "constants") or {})
    if cell.job != "validate_exact":
        told.pop("client_weight", None)
        return {k: _short(v) for k, v in told.items()}
    from empirics.problems.quadratics import random_quadratics

    asked = cell.arguments
    problem = random_quadratics(asked["instance"], asked["clients"], asked["dim"], noise=asked["noise"])
    told = {q.name: getattr(problem, q.name) for q in bound.quantities if hasattr(problem, q.name)}
    told["initial_gap"] = float(problem.loss(problem.start)) - problem.optimal_loss
    told |= {"local_steps": LOCAL_STEPS, "relaxation": RELAXATION, "clients": asked["clients"]}
    told |= {name: runs.fact(cell, name) for name in ("step_size", "cohort")}
    return {k: [_short(x) for x in v] if np.ndim(v) else _short(v) for k, v in told.items() if v is not None}


def _short(value: Any) -> float:
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else 0.0
