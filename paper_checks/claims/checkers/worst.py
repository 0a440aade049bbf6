"""Checker against exact worst cases: evaluates a bound at the grid points of the committed tables of worst cases."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from bounds.core import Bound

from ..claim import Book, Finding, Grade, Status
from .numbers import at_least

NOTHING = 1e-12
"""Worst cases below this, in units in which L and the initial value are 1, are zero up to rounding."""
WRITTEN = 1e-8
"""Relative error of a bound that comes from the nine digits of a table's step sizes."""


@dataclass(frozen=True)
class AboveWorstCase:
    """States that ``bound`` is at least the worst case over all federations of its class at all grid points, sigma = 0.

    HOLDS means that no noiseless federation with full participation violates the bound at these numbers of clients,
    rounds and steps; the evidence has the smallest ratio of bound to worst case, audited as ``least``. A violation is
    final if the worst case is exact, and proved if a federation in fractions attains more than the bound; if the worst
    case is an upper estimate, the claim is open.
    """

    bound: str
    least: float

    def __call__(self, book: Book) -> Finding:
        from ...worst_case.interior_point import TOLERANCE
        from ...worst_case.tightness_table import committed

        chosen = book[self.bound]
        rows = [(ratio, row) for row in committed(self.bound) if (ratio := _ratio(chosen, row)) is not None]
        if not rows:
            evidence = "its conditions hold at no grid point of the table"
            return Finding(Status.OPEN, Grade.EXACT, evidence, as_audited=False)
        rows.sort(key=lambda pair: pair[0])
        least, row = rows[0]
        upper = not all(r["exact"] for _, r in rows)
        most = max(r["clients"] * r["rounds"] * r["local_steps"] for _, r in rows)
        kind = "upper estimate of the worst case" if upper else "exact worst case"
        box = _box(chosen, [r for _, r in rows])
        evidence = (
            f"bound / {kind} >= {at_least(least)} at {len(rows)} grid points ({box}), up to {most} gradients; "
            f"relative accuracy {TOLERANCE:g}"
        )
        proved = sum(ratio * r["worst_case"] >= r.get("proved", inf) for ratio, r in rows)
        evidence += f", proved at {proved} of them" if proved else ""
        near = abs(least / self.least - 1) < 0.01
        for ratio, r in rows:
            if r["exact"] and ratio * r["worst_case"] * (1 + WRITTEN) < r.get("attained", -inf):
                evidence += f"; refuted, proved: a federation in fractions attains {r['attained']:.9g} there"
                return Finding(Status.FAILS, Grade.PROVED, evidence, _where(r), near)
        if least < 1 - TOLERANCE:
            return Finding(Status.OPEN if upper else Status.FAILS, Grade.EXACT, evidence, _where(row), near)
        return Finding(Status.HOLDS, Grade.SEARCHED, evidence, as_audited=near)


def _box(bound: Bound, rows: list[dict[str, Any]]) -> str:
    """Describe the grid: clients, K, and the condition number if the class has strong convexity or the like."""
    from ...worst_case.grid_point import GridPoint, problem_at

    curved = {"strong_convexity", "pl_constant"} & set(problem_at(bound, GridPoint.from_row(rows[0])).assumptions)
    columns = {"clients": "clients"} | ({"kappa": "condition_number"} if curved else {})
    if "share: heterogeneity" in rows[0]:
        columns["Gamma"] = "heterogeneity"
    parts = []
    for title, column in columns.items():
        values = " or ".join(f"{v:g}" for v in sorted({r[column] for r in rows}))
        parts.append(f"{title} {values}")
    return ", ".join([*parts, f"K <= {max(r['local_steps'] for r in rows)}"])


def _where(row: dict[str, Any]) -> dict[str, str]:
    return {name: f"{row[name]:g}" for name in ("rounds", "local_steps", "step_size", "condition_number")}


def _ratio(bound: Any, row: dict[str, Any]) -> float | None:
    """Return the bound over the worst case of a row, or None outside the conditions or if the worst case is 0."""
    from ...worst_case.grid_point import GridPoint, values_at_step
    from ...worst_case.jobs import terms

    parts, inside = terms(bound, values_at_step(bound, GridPoint.from_row(row), row["step_size"]))
    if not inside or not row["worst_case"] > NOTHING:
        return None
    return sum(parts.values()) / row["worst_case"]
