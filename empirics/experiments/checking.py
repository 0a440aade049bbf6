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

from bounds.showing.loading import message_with_place

from ..errors import EmpiricsError
from ..numbers import quoted
from ..spec_strings import bind_arguments
from . import Cell
from .canonical import text
from .grids import TRAIN
from .registry import known_job, resolved

FREE = ("seed",)
"""Arguments whose values need no trial each."""
LONGEST = 200
"""Characters of a run that a message quotes."""


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
            one, other = same.arguments, cell.arguments
            differ = [n for n in {**one, **other} if one.get(n) != other.get(n)]
            told = ", ".join(f"{n} {quoted(one.get(n))} and {quoted(other.get(n))}" for n in differ)
            raise EmpiricsError(f"two runs are the same: {told}")


def _fits(job: str, home: str, names: tuple[str, ...]) -> None:
    """Refuse arguments that the job does not take, itself or as ``**setting``; a setting needs none of its own."""
    form = signature(resolved(home))
    if places := known_job(job).setting.split():
        more = [p for place in places for p in signature(resolved(place)).parameters.values()]
        taken = {p.name: p.replace(default=None) for p in more if p.kind is not p.VAR_KEYWORD}
        taken |= {n: p for n, p in form.parameters.items() if p.kind is not p.VAR_KEYWORD}
        form = Signature([p.replace(kind=Parameter.KEYWORD_ONLY) for p in taken.values()])
    bind_arguments(job, f"argument of {job}", form, (), dict.fromkeys(names))


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
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said, which = message_with_place(error, quiet=(ValueError,)), str(cell)
        which = which if len(which) <= LONGEST else f"{which[:LONGEST]}..."
        raise EmpiricsError(f"this run cannot work: {which}: {said}") from None
