"""The best integer: along a grid until values increase several times in a row, then at integers between."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from .goal import Point

PATIENCE = 3
"""How many numbers in a row may be worse than the best one."""
LOST = 12
"""How many numbers in a row may have no finite value."""
BETWEEN = 6
"""Integers tried between the best of the grid and either neighbour."""


class Searched(NamedTuple):
    """The points by number, the best number, and whether nothing worse was found beyond it."""

    points: dict[int, Point]
    best: int
    open: bool

    @property
    def point(self) -> Point:
        return self.points[self.best]


def search_integers(
    numbers: Iterable[int], at: Callable[[int], Point | None], patience: int = PATIENCE, word: str = "local_steps"
) -> Searched | None:
    """The best of ``numbers`` and of those between, the smallest of equally good ones; None where ``at`` gives none.

    A best number at the end of the grid is ``open``, except 1; the point's ``open`` then has the ``word``.
    """
    found: dict[int, Point] = {}
    tried: list[int] = []

    def best() -> int | None:
        number = min(found, key=lambda n: (found[n].value, n), default=None)
        return number if number is not None and math.isfinite(found[number].value) else None

    for number in numbers:
        tried.append(number)
        if (point := at(number)) is not None:
            found[number] = point
        if (least := best()) is None:
            if len(tried) >= LOST:
                break
        elif len(tried) - 1 - tried.index(least) >= patience:
            break
    if not found:
        return None
    center = min(found, key=lambda n: (found[n].value, n))
    grid = sorted(tried)
    for low, high in pairwise(grid):
        if center in (low, high):
            width = (high - low) / (BETWEEN + 1)
            for number in sorted({round(low + i * width) for i in range(1, BETWEEN + 1)} - {low, high}):
                if (point := at(number)) is not None:
                    found[number] = point
    chosen = min(found, key=lambda n: (found[n].value, n))
    is_open = best() is not None and chosen == tried[-1] and chosen > 1
    if is_open:
        found[chosen] = found[chosen]._replace(open=(*found[chosen].open, word))
    return Searched(found, chosen, is_open)
