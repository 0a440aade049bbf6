"""Checks the runs of a sweep before the first one starts.

The arguments of every run must fit its job's function, and those of a training run must be options of ``fedbounds
train``. Then one run for every value in the grid is tried: its data are split over clients and,
for models that train fast, the start is measured and one round trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any

from bounds.errors import shortened
from bounds.showing.loading import message_with_place

from ..errors import EmpiricsError
from ..spec_strings import bind_arguments
from . import Cell
from .cells import text
from .grids import TRAIN
from .registry import find_job, resolved

FREE = ("seed",)
"""Arguments of which not every value is tried."""
LONGEST = 200
"""Maximum number of characters of a run in a message."""


def check(cells: Iterable[Cell], to_run: Iterable[Cell]) -> None:
    """Raise if a run has wrong arguments, or if a trial of one of the runs ``to_run`` fails."""
    check_words(cells)
    for cell in typical(to_run):
        if cell.job == TRAIN:
            with _naming(cell):
                _trial(cell.arguments)


def check_words(cells: Iterable[Cell]) -> None:
    """Raise if a run has wrong arguments; data are not loaded."""
    check_names = cache(_check_names)
    for cell in cells:
        with _naming(cell):
            check_names(cell.job, cell.home, tuple(cell.arguments))
            if cell.job == TRAIN:
                from .jobs.train import check_arguments

                check_arguments(cell.arguments)


def _check_names(job: str, home: str, names: tuple[str, ...]) -> None:
    """Raise if the job does not take arguments of these names, or needs others.

    The arguments that a job ``accepts`` (see ``registry.job``) are all optional.
    """
    called = signature(resolved(home))
    if places := find_job(job).accepts.split():
        more = [p for place in places for p in signature(resolved(place)).parameters.values()]
        parameters = {p.name: p.replace(default=None) for p in more if p.kind is not p.VAR_KEYWORD}
        parameters |= {n: p for n, p in called.parameters.items() if p.kind is not p.VAR_KEYWORD}
        called = Signature([p.replace(kind=Parameter.KEYWORD_ONLY) for p in parameters.values()])
    bind_arguments(job, f"argument of {job}", called, (), dict.fromkeys(names))


def typical(cells: Iterable[Cell]) -> list[Cell]:
    """Select runs such that every value of every argument occurs in one of them."""
    selected = []
    covered: set[tuple[str, str, str]] = set()
    for cell in cells:
        values = {(cell.job, name, text(value)) for name, value in cell.arguments.items() if name not in FREE}
        values.add((cell.job, "", ""))
        if not values <= covered:
            covered |= values
            selected.append(cell)
    return selected


def _trial(arguments: Mapping[str, Any]) -> None:
    from ..measuring.core import need_test
    from ..training.rounds import draw_cohort
    from .jobs.train import prepared

    run = prepared(**arguments)
    draw_cohort(run.setting, run.problem.federation, run.seed, 0)
    if run.problem.model.stacked:
        states = iter(run)
        next(states)
        next(states, None)
    elif any(m.name.startswith("test_") for m in run.measurements):
        need_test(run.problem)


@contextmanager
def _naming(cell: Cell) -> Iterator[None]:
    """Turn errors in this block into one that names the run."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        message = message_with_place(error, quiet=(ValueError,))
        raise EmpiricsError(f"this run cannot work: {shortened(str(cell), LONGEST)}: {message}") from None
