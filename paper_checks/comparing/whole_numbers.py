"""Where something is smallest over whole numbers: along a grid with patience, then at the numbers between."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from .goals import Point

PATIENCE = 3
"""How many numbers in a row may be worse than the best one before a search gives up."""
LOST = 12
"""How many numbers in a row may lead nowhere at all."""
BETWEEN = 6
"""Whole numbers looked at between the best of the grid and either neighbour."""


class Searched(NamedTuple):
    """The points found by number, the best number, and whether nothing worse was looked at beyond it."""

    points: dict[int, Point]
    best: int
    open: bool


def searched(
    numbers: Iterable[int], look: Callable[[int], Point | None], patience: int = PATIENCE, word: str = "local_steps"
) -> Searched | None:
    """The best of ``numbers`` and of those between; None where ``look`` finds nothing (None) at all of them.

    Of numbers that are equally good the least is the best. A best number at an end of the grid is ``open``, but for 1,
    where whole numbers end; the point's ``open`` then has the ``word``.
    """
    found: dict[int, Point] = {}
    seen: list[int] = []
    for number in numbers:
        seen.append(number)
        if (point := look(number)) is not None:
            found[number] = point
        worse = len(seen) - 1 - seen.index(_least(found)) if _reaches(found) else 0
        if worse >= patience or (not _reaches(found) and len(seen) >= LOST):
            break
    if not found:
        return None
    grid_best = _least(found)
    for number in _between(sorted(seen), grid_best):
        if (point := look(number)) is not None:
            found[number] = point
    best = _least(found)
    is_open = _reaches(found) and best == seen[-1] and best > 1
    if is_open:
        found[best] = found[best]._replace(open=(*found[best].open, word))
    return Searched(found, best, is_open)


def _reaches(found: dict[int, Point]) -> bool:
    return bool(found) and math.isfinite(found[_least(found)].value)


def _least(found: dict[int, Point]) -> int:
    return min(found, key=lambda number: (found[number].value, number))


def _between(grid: list[int], best: int) -> Iterator[int]:
    """Whole numbers around the best one of a grid that it leaves out."""
    for low, high in pairwise(grid):
        if best in (low, high):
            width = (high - low) / (BETWEEN + 1)
            yield from sorted({round(low + i * width) for i in range(1, BETWEEN + 1)} - {low, high})
