"""A checker against exact worst cases: the tables that come with the project, the bound evaluated anew."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

from bounds.core import Bound

from ..claim import Book, Finding, Grade, Status
from .numbers import at_least

NOTHING = 1e-12
"""Worst cases below this, in units in which L and the start are 1, are zero up to rounding."""
WRITTEN = 1e-8
"""How far a bound may be from its formula, by the nine digits of a table's step size."""


@dataclass(frozen=True)
class AboveWorstCase:
    """``bound`` is at least the worst case over every federation of its class at every place of its table, sigma = 0.

    Unlike a search over instances this leaves none out: a HOLDS says that no noiseless federation with full
    participation violates the bound at these numbers of clients, rounds and steps, and how much smaller the bound could
    be there: by the ratio where the worst case is exact, by at least the ratio where it is an upper estimate.
    A violation is final where the worst case is exact, and proved where a federation in fractions attains
    more than the bound, by however little; where the worst case is an upper estimate it decides nothing.
    ``least`` is the audited smallest ratio of bound to worst case.
    """

    bound: str
    least: float

    def __call__(self, book: Book) -> Finding:
        from ...worst_case.interior_point import DOUBT
        from ...worst_case.tightness_table import committed

        chosen = book[self.bound]
        rows = [found for found in (_beside(chosen, row) for row in committed(self.bound)) if found is not None]
        if not rows:
            return Finding(Status.OPEN, Grade.EXACT, "its conditions hold at no place of the table", as_audited=False)
        ratio, row = min(rows, key=lambda found: found[0])
        upper = not all(r["exact"] for _, r in rows)
        most = max(r["clients"] * r["rounds"] * r["local_steps"] for _, r in rows)
        kind = "upper estimate of the worst case" if upper else "exact worst case"
        box = _box(chosen, [r for _, r in rows])
        said = (
            f"bound / {kind} >= {at_least(ratio)} at {len(rows)} places ({box}), up to {most} gradients; "
            f"known to {DOUBT:g}"
        )
        proved = sum(found * r["worst_case"] >= r.get("proved", inf) for found, r in rows)
        said += f", proved at {proved} of them" if proved else ""
        near = abs(ratio / self.least - 1) < 0.01
        for found, r in sorted(rows, key=lambda found: found[0]):
            if r["exact"] and found * r["worst_case"] * (1 + WRITTEN) < r.get("attained", -inf):
                said += f"; refuted, proved: a federation in fractions attains {r['attained']:.9g} there"
                return Finding(Status.FAILS, Grade.PROVED, said, _where(r), near)
        if ratio < 1 - DOUBT:
            return Finding(Status.OPEN if upper else Status.FAILS, Grade.EXACT, said, _where(row), near)
        return Finding(Status.HOLDS, Grade.SEARCHED, said, as_audited=near)


def _box(bound: Bound, rows: list[dict[str, Any]]) -> str:
    """Where the rows lie; without strong convexity or its like the class has losses of any condition number."""
    from ...worst_case.grid_point import GridPoint, question

    curved = {"strong_convexity", "pl_constant"} & set(question(bound, GridPoint.of_row(rows[0])).assumptions)
    columns = {"clients": "clients"} | ({"kappa": "condition_number"} if curved else {})
    if "share: heterogeneity" in rows[0]:
        columns["Gamma"] = "heterogeneity"
    held = {title: " or ".join(f"{v:g}" for v in sorted({r[c] for r in rows})) for title, c in columns.items()}
    return ", ".join(
        (*(f"{title} {values}" for title, values in held.items()), f"K <= {max(r['local_steps'] for r in rows)}")
    )


def _where(row: dict[str, Any]) -> dict[str, str]:
    return {name: f"{row[name]:g}" for name in ("rounds", "local_steps", "step_size", "condition_number")}


def _beside(bound: Any, row: dict[str, Any]) -> tuple[float, dict[str, Any]] | None:
    """The bound over the worst case at a row's place; None outside the conditions, or where the worst case is 0."""
    from ...worst_case.grid_point import at_step, GridPoint
    from ...worst_case.jobs import terms

    place = GridPoint.of_row(row)
    parts, inside = terms(bound, at_step(bound, place, row["step_size"]))
    if not inside or not row["worst_case"] > NOTHING:
        return None
    return sum(parts.values()) / row["worst_case"], row
