"""The regimes (cells) of a box that a search has visited, the best place in each, and the ranges of its numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[str, ...]
"""A regime: one label per axis, such as ("few clients", "one local step")."""


@dataclass
class Visit:
    """Counts of drawn and admissible instances of a cell, and the best admissible one."""

    drawn: int = 0
    admissible: int = 0
    score: float = -float("inf")
    ratio: float = float("nan")
    place: Any = None


@dataclass
class Cells:
    """Visits by cell, and the smallest and largest value of numbers of admissible instances (``reached``)."""

    visits: dict[Cell, Visit] = field(default_factory=dict)
    reached: dict[str, tuple[float, float]] = field(default_factory=dict)

    def count(self, cell: Cell, instance: Mapping[str, Any], names: Iterable[str], admissible: bool) -> Visit:
        """Count an instance and return the visit of its cell."""
        visit = self.visits.setdefault(cell, Visit())
        visit.drawn += 1
        if admissible:
            visit.admissible += 1
            for name in names:
                if name in instance:
                    value = float(instance[name])
                    low, high = self.reached.get(name, (value, value))
                    self.reached[name] = (min(low, value), max(high, value))
        return visit

    def join(self, other: Cells) -> None:
        """Add the visits of another search."""
        for cell, visit in other.visits.items():
            own = self.visits.setdefault(cell, Visit())
            own.drawn, own.admissible = own.drawn + visit.drawn, own.admissible + visit.admissible
            if visit.score > own.score:
                own.score, own.ratio, own.place = visit.score, visit.ratio, visit.place
        for name, (low, high) in other.reached.items():
            own_low, own_high = self.reached.get(name, (low, high))
            self.reached[name] = (min(own_low, low), max(own_high, high))

    def record(self, family: str) -> Visited:
        """Return the summary for a family."""
        best = max(self.visits.items(), key=lambda pair: pair[1].score, default=((), Visit()))
        counts = {", ".join(cell): visit.admissible for cell, visit in sorted(self.visits.items())}
        return Visited(family, dict(self.reached), counts, ", ".join(best[0]), best[1].ratio)


@dataclass(frozen=True)
class Visited:
    """The range of a search in one family. ``box`` has the ranges of numbers, ``cells`` the counts of admissible
    instances, ``nearest`` the cell with the largest ``ratio`` of measured to bound."""

    family: str
    box: Mapping[str, tuple[float, float]]
    cells: Mapping[str, int]
    nearest: str
    ratio: float

    @property
    def text(self) -> str:
        """A line of text."""
        visited = sum(bool(count) for count in self.cells.values())
        ranges = ", ".join(f"{name} {_range(*ends)}" for name, ends in self.box.items())
        empty = [cell for cell, count in self.cells.items() if not count]
        note = f"; no admissible instance was drawn where {' or '.join(empty[:3])}" if empty else ""
        note += f" and in {len(empty) - 3} more cells" if len(empty) > 3 else ""
        return (
            f"{self.family}: {visited} of {len(self.cells)} cells, {ranges}; "
            f"largest measured/bound {self.ratio:.3g} ({self.nearest}){note}"
        )


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
