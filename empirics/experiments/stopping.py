"""What is said when somebody stops a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from . import Cell, Store


def stopped(store: Store, cells: Sequence[Cell], what: str) -> KeyboardInterrupt:
    """The interrupt to raise, with what is kept of these cells (``what`` in words) as its message."""
    done = sum(store.has(cell) for cell in cells)
    kept = f"are kept in {store.folder}: the same command goes on from there" if done else "were done"
    return KeyboardInterrupt(f"interrupted: {done or 'none'} of {len(cells)} {what} {kept}")
