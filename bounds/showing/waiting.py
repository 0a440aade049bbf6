"""Work at many points: refused once the first of them tell that it would take hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import TypeVar

from ..errors import BoundsError

Item = TypeVar("Item")

LONGEST = 3600.0
"""Seconds that work at many points may take."""
SOON = 1.0
"""Seconds between looks at the clock."""
JUDGED = 0.1
"""Share of the work up to which it may be refused: later on it is rather finished."""


def watched(items: Iterable[Item], total: int) -> Iterator[Item]:
    """The items, with an eye on the clock from the second one on: the first also pays for what is made on first use."""
    began = last = perf_counter()
    for done, item in enumerate(items):
        now = perf_counter()
        if done == 1:
            began = last = now
        if done > 1 and now - last > SOON:
            last = now
            each = (now - began) / (done - 1)
            left = each * (total - done)
            if left > LONGEST and done <= JUDGED * total:
                raise BoundsError(
                    f"{total} points would take about {left / 3600:.2g} hours, at {each:.2g} seconds each; give fewer"
                )
        yield item
