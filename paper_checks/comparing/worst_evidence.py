"""Exact worst cases as evidence: the largest value over all federations without noise that a theorem covers.

Everything is in units in which L = 1 and the gap at the start is 1, as in the committed tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from time import perf_counter
from typing import Any

import numpy as np

from bounds.bounded_quantity import OTHER_METHOD
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.errors import EmpiricsError

from ..runs.obstacles import obstacle
from ..runs.origins import WORST as SOLVED
from ..worst_case.grid_point import GridPoint, HETEROGENEITY, NAMES, problem_at, unused_quantities, values
from ..worst_case.jobs import min_seconds
from ..worst_case.program import WorstCaseError
from ..worst_case.solve import solve
from ..worst_case.tightness_table import committed, has_table
from .goal import server_goes_beyond
from .rows import Evidence, EvidenceKind, EvidenceSet, RANKED, Row

SAME_NUMBER = {"C3", OTHER_METHOD}
"""Conversions that rename a quantity and keep its number."""
MOST_CLIENTS = 4
"""More clients than this are represented by two groups of identical ones."""
TOLERANCE = 1e-6
"""Relative difference below which two numbers are the same."""
PLAN = ("clients", "cohort", "rounds", "local_steps", "step_size", "relaxation")
"""Quantities of a plan that a worst case depends on."""


def worst_case_evidence(
    scenario: Scenario, rows: Iterable[Row], book: Mapping[str, Bound], seconds: float
) -> EvidenceSet:
    """Worst cases from the committed tables, or solved within ``seconds`` for all of them together."""
    missing = [word for word in PLAN if word not in scenario]
    if why := f"it needs {', '.join(missing)}" if missing else server_goes_beyond(scenario):
        return EvidenceSet(EvidenceKind.WORST, remarks=(f"exact worst case: none, {why}",))
    known: dict[tuple[str, tuple[str, ...]], Evidence] = {}
    until = perf_counter() + seconds
    far: set[int] = set()
    for row in rows:
        bound = book[row.bound]
        if row.state not in RANKED or not set(row.conversions) <= SAME_NUMBER or obstacle(bound, SOLVED):
            continue
        try:
            L, gap = _scale(row)
            point = _grid_point(row, scenario, L, gap)
            solution = _committed(bound, point)
            if solution is None and min_seconds(point) <= until - perf_counter():
                solved = solve(problem_at(bound, point), until - perf_counter())
                solution = solved.value, solved.exact
        except (BoundsError, EmpiricsError):
            continue
        if solution is None:
            far.add(point.rounds * point.local_steps)
            continue
        groups = f"{point.clients} groups of" if point.clients > 1 else "all"
        of_gap, of_smoothness = powers(bound)
        value = solution[0] * gap**of_gap * L**of_smoothness * row.factor
        estimate = "" if solution[1] else ", an upper estimate"
        what = f"{groups} identical clients, no noise{estimate}"
        known[row.bound, row.conversions] = Evidence(value, what, upper=not solution[1])
    remarks = tuple(f"exact worst case: too large, {n} gradients per client" for n in sorted(far))
    return EvidenceSet(EvidenceKind.WORST, lambda row: known.get((row.bound, row.conversions)), remarks=remarks)


def _grid_point(row: Row, scenario: Scenario, L: float, gap: float) -> GridPoint:
    """The row's values in the units L = 1 and gap 1.

    The tables are for full participation with equal weights; other plans are covered for identical clients. A grid
    point has one number for heterogeneity, so theorems with two different ones raise.
    """
    numbers = {word: float(np.max(value)) for word, value in row.values.items()}
    clients, cohort = (int(scenario[word].value) for word in ("clients", "cohort"))
    some = cohort < clients or np.ptp(np.asarray(scenario["client_weight"].value)) > TOLERANCE / clients
    groups = 1 if some else clients if clients <= MOST_CLIENTS else 2 - clients % 2
    units = {name: gap if name == "heterogeneity" else L * gap for name in HETEROGENEITY}
    limits = {numbers[name] / unit for name, unit in units.items() if name in numbers}
    if limits and not math.isclose(min(limits), max(limits), rel_tol=TOLERANCE):
        raise WorstCaseError(f"{row.bound} limits heterogeneity by two quantities")
    curved = numbers.get("strong_convexity", numbers.get("pl_constant"))
    given = {
        "condition_number": L / curved if curved else numbers.get("condition_number", math.nan),
        "heterogeneity": max(limits, default=math.nan),
        "grad_cap_sq": numbers.get("grad_cap_sq", math.nan) / (L * gap),
        "dissimilarity_factor": numbers.get("dissimilarity_factor", math.nan),
        "initial_distance_sq": numbers.get("initial_distance_sq", math.nan) * L / gap,
        "relaxation": float(scenario["relaxation"].value),
        "fixed_step_size": float(scenario["step_size"].value) * L,
    }
    steps, rounds = int(scenario["local_steps"].value), int(scenario["rounds"].value)
    known: dict[str, Any] = {word: value for word, value in given.items() if not math.isnan(value)}
    return GridPoint(clients=groups, rounds=rounds, local_steps=steps, **known)


def _scale(row: Row) -> tuple[float, float]:
    """L and the gap at the start."""
    given = row.values
    L = float(np.max(given["smoothness"])) if "smoothness" in given else math.nan
    loss_gap = given.get("initial_loss", math.nan) - given.get("optimal_loss", 0)
    gap = given.get("initial_gap", loss_gap)
    if not L > 0 or not gap > 0:
        raise WorstCaseError(f"{row.bound} has no scale: it needs smoothness and initial_gap")
    return L, float(gap)


def powers(bound: Bound) -> tuple[int, int]:
    """The powers of the gap at the start and of L in the unit of the bound's target."""
    loss, parameter, *_ = bound.target.card.unit.exponents  # the gap is a loss, L a loss/parameter^2
    return int(loss + parameter / 2), int(-parameter / 2)


def _committed(bound: Bound, point: GridPoint) -> tuple[float, bool] | None:
    """The worst case at this grid point and whether it is exact; None if no committed table has it."""
    if not has_table(bound.name):
        return None
    requested = point.as_row() | {"step_size": values(bound, point)["step_size"]}
    idle = {"step_share", "fixed_step_size", *unused_quantities(bound, point, NAMES)}
    names = [*(name for name in NAMES if name not in idle), "step_size"]
    for row in committed(bound.name):
        pairs = [(row[name], requested[name]) for name in names]
        same = (a == b or (not isinstance(a, str) and math.isclose(a, b, rel_tol=TOLERANCE)) for a, b in pairs)
        if row["inside"] and all(same):
            return row["worst_case"], row["exact"]
    return None
