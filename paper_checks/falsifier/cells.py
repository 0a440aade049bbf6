"""The regimes that a search has visited: cells of the box, the best place in each, and how far its numbers reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Cell = tuple[str, ...]
"""One label per axis of regimes."""


@dataclass
class Visit:
    """What was seen of a cell: drawn instances, admissible ones, and the best of these."""

    drawn: int = 0
    admissible: int = 0
    score: float = -float("inf")
    ratio: float = float("nan")
    place: Any = None


@dataclass
class Cells:
    """Visits by cell, and the least and largest of every number of an admissible instance that ``reached`` names."""

    visits: dict[Cell, Visit] = field(default_factory=dict)
    reached: dict[str, tuple[float, float]] = field(default_factory=dict)

    def seen(self, cell: Cell, instance: Mapping[str, Any], names: Iterable[str], admissible: bool) -> Visit:
        """Count an instance; the visit of its cell."""
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
        """Take in what another search has seen."""
        for cell, visit in other.visits.items():
            mine = self.visits.setdefault(cell, Visit())
            mine.drawn, mine.admissible = mine.drawn + visit.drawn, mine.admissible + visit.admissible
            if visit.score > mine.score:
                mine.score, mine.ratio, mine.place = visit.score, visit.ratio, visit.place
        for name, (low, high) in other.reached.items():
            least, most = self.reached.get(name, (low, high))
            self.reached[name] = (min(least, low), max(most, high))

    def record(self, family: str) -> Visited:
        best = max(self.visits.items(), key=lambda pair: pair[1].score, default=((), Visit()))
        counts = {", ".join(cell): visit.admissible for cell, visit in sorted(self.visits.items())}
        return Visited(family, dict(self.reached), counts, ", ".join(best[0]), best[1].ratio)


@dataclass(frozen=True)
class Visited:
    """Where a search of one family has been: its box, admissible instances by cell, and the cell that came nearest."""

    family: str
    box: Mapping[str, tuple[float, float]]
    cells: Mapping[str, int]
    nearest: str
    ratio: float

    @property
    def words(self) -> str:
        """One line."""
        there = sum(bool(count) for count in self.cells.values())
        ranges = ", ".join(f"{name} {_range(*ends)}" for name, ends in self.box.items())
        empty = [cell for cell, count in self.cells.items() if not count]
        silent = f"; no admissible instance was drawn where {' or '.join(empty[:3])}" if empty else ""
        silent += f" and in {len(empty) - 3} more cells" if len(empty) > 3 else ""
        return (
            f"{self.family}: {there} of {len(self.cells)} cells, {ranges}; "
            f"largest measured/bound {self.ratio:.3g} ({self.nearest}){silent}"
        )


def _range(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
