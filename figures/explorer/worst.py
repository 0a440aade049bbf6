"""Exact worst cases for the page: the committed tables, which the page looks up as ``compare`` does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from bounds.core import Bound
from paper_checks.comparing.worst_evidence import MOST_CLIENTS, powers, SAME_NUMBER, TOLERANCE
from paper_checks.runs import schedules
from paper_checks.worst_case.grid_point import GridPoint, unused_quantities
from paper_checks.worst_case.tightness_table import committed, has_table

Record = dict[str, Any]
MOVED = ("condition_number", "heterogeneity", "grad_cap_sq", "dissimilarity_factor", "relaxation")
"""Quantities in which a federation may differ from a table; clients, rounds, K and eta always count."""


def data(bounds: Iterable[Bound]) -> Record:
    """Return the worst cases by bound, the quantities that they depend on, and how to convert units."""
    tables = {bound.name: _table(bound) for bound in bounds if has_table(bound.name) and not _pinned(bound)}
    return {
        "tables": tables,
        "same": sorted(SAME_NUMBER),
        "tolerance": TOLERANCE,
        "clients": MOST_CLIENTS,
        "place": {word: value for word, value in asdict(GridPoint()).items() if word in MOVED},
    }


def _pinned(bound: Bound) -> bool:
    """Return whether the bound fixes its step size, which is then not that of the plan."""
    return bool({schedules.SCALE, schedules.FIRST} & set(schedules.prescribed(bound)))


def _table(bound: Bound) -> Record:
    """Return per grid point: clients, rounds, K, eta, worst case, whether exact, certified ends, further quantities."""
    rows = [row for row in committed(bound.name) if row["inside"]]
    idle = unused_quantities(bound, GridPoint.from_row(rows[-1]), MOVED)
    names = [name for name in MOVED if name not in idle]
    columns = ("clients", "rounds", "local_steps", "step_size", "worst_case", "exact", "attained", "proved", *names)
    return {"powers": powers(bound), "names": names, "rows": [[_plain(row[name]) for name in columns] for row in rows]}


def _plain(value: Any) -> Any:
    """Return a flag as a digit, and None for NaN."""
    if isinstance(value, bool):
        return int(value)
    return None if isinstance(value, float) and math.isnan(value) else value
