"""Whether the cells of a grid can run at all, found out before the first one starts.

One cell for every value that occurs in the grid is tried: a job's arguments must fit its function; a training run must
read, deal its data and, where that costs nothing to speak of, measure the start and train one round. What only some
combinations of values do wrong is still found by the cells themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import signature
from typing import Any

from ..errors import EmpiricsError
from . import Cell
from .canonical import text
from .grids import TRAIN
from .registry import resolved

FREE = ("seed",)
"""Arguments whose value cannot matter."""


def check(cells: Iterable[Cell]) -> None:
    """Refuse cells that cannot run."""
    for cell in cells:
        try:
            signature(resolved(cell.home)).bind(**cell.arguments)
            if cell.job == TRAIN:
                _trial(cell.arguments)
        except Exception as error:  # whatever it is, every such cell would do it
            raise _refused(cell, error) from None


def typical(cells: Iterable[Cell]) -> list[Cell]:
    """Cells such that every value of every argument occurs in one of them."""
    found = []
    seen: set[tuple[str, str, str]] = set()
    for cell in cells:
        told = {(cell.job, name, text(value)) for name, value in cell.arguments.items() if name not in FREE}
        if not told <= seen or (cell.job, "", "") not in seen:
            seen |= told | {(cell.job, "", "")}
            found.append(cell)
    return found


def _trial(arguments: Mapping[str, Any]) -> None:
    from ..measuring.core import need_test
    from ..training.rounds import draw_cohort
    from .jobs.train import prepared

    run = prepared(**arguments)
    draw_cohort(run.setting, run.problem.federation, run.seed, 0)
    if run.problem.model.stacked:
        started = iter(run)
        next(started)
        next(started, None)
    elif any(m.name.startswith("test_") for m in run.measurements):
        need_test(run.problem)


def _refused(cell: Cell, error: Exception) -> EmpiricsError:
    said = " ".join(str(error).split())
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return EmpiricsError(f"no cell was started, for this one cannot run: {_shown(cell)}: {kind}{said}")


def _shown(cell: Cell, longest: int = 200) -> str:
    told = str(cell)
    return told if len(told) <= longest else f"{told[:longest]}..."
