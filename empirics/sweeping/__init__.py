"""Grids of cells, run so that any of it may be stopped at any time."""

from .engine import Done, sweep
from .grids import Grid, read_grid

__all__ = ["Done", "Grid", "read_grid", "sweep"]
