"""Find runs of a sweep that cannot work before the first one starts.

The arguments of every run must fit its job's function, those of a training run must be options of ``fedbounds train``,
and no two runs may be the same. Then one run for every value in the grid is tried: its data are dealt and, for models
that train fast, the start is measured and one round trained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any

from bounds.showing.loading import said_with_place

from ..errors import EmpiricsError
from ..numbers import shown
from ..spec_strings import bind_arguments
from . import Cell
from .canonical import text
from .grids import TRAIN
from .registry import jobs, resolved

FREE = ("seed",)
"""Arguments whose values need no trial each."""


def check(cells: Iterable[Cell], wanted: Iterable[Cell]) -> None:
    """Refuse runs with wrong arguments, and ``wanted`` ones whose trial fails."""
    check_words(cells)
    for cell in typical(wanted):
        if cell.job == TRAIN:
            with _refused(cell):
                _trial(cell.arguments)


def check_words(cells: Iterable[Cell]) -> None:
    """Refuse runs with wrong arguments, whatever their data are, and two that are the same in other words."""
    fits, found = cache(_fits), dict[str, Cell]()
    for cell in cells:
        with _refused(cell):
            fits(cell.job, cell.home, tuple(cell.arguments))
            if cell.job != TRAIN:
                continue
            from .jobs.train import meant

            same = found.setdefault(meant(cell.arguments), cell)
        if same is not cell:
            raise EmpiricsError(f"two runs are the same: {_difference(same, cell)}")


def _fits(job: str, home: str, names: tuple[str, ...]) -> None:
    bind_arguments(job, f"argument of {job}", _form(home), (), dict.fromkeys(names))


def _form(home: str) -> Signature:
    """The arguments of a job, those that it takes as ``**setting`` included."""
    form = signature(resolved(home))
    places = next((job.setting for job in jobs().values() if job.home == home), "").split()
    if not places:
        return form
    named = {n: p for n, p in form.parameters.items() if p.kind is not Parameter.VAR_KEYWORD}
    for place in places:
        named = {**signature(resolved(place)).parameters, **named}
    required = form.parameters  # what a setting needs the job gives it
    return Signature(
        [
            Parameter(n, Parameter.KEYWORD_ONLY, default=p.default if n in required else None)
            for n, p in named.items()
            if p.kind is not Parameter.VAR_KEYWORD
        ]
    )


def _difference(one: Cell, other: Cell) -> str:
    """The arguments in which two runs differ."""
    names = [n for n in {**one.arguments, **other.arguments} if one.arguments.get(n) != other.arguments.get(n)]
    return ", ".join(f"{n} {shown(one.arguments.get(n))} and {shown(other.arguments.get(n))}" for n in names)


def typical(cells: Iterable[Cell]) -> list[Cell]:
    """Runs such that every value of every argument occurs in one of them."""
    found = []
    seen: set[tuple[str, str, str]] = set()
    for cell in cells:
        read = {(cell.job, name, text(value)) for name, value in cell.arguments.items() if name not in FREE}
        if not read <= seen or (cell.job, "", "") not in seen:
            seen |= read | {(cell.job, "", "")}
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


@contextmanager
def _refused(cell: Cell) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        said = said_with_place(error, quiet=(ValueError,))
        raise EmpiricsError(f"this run cannot work: {_shown(cell)}: {said}") from None


def _shown(cell: Cell, longest: int = 200) -> str:
    text = str(cell)
    return text if len(text) <= longest else f"{text[:longest]}..."
