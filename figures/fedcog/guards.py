"""Which guards FedCOG's findings need; the paper's numbers are those of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from empirics.experiments import Cell
from paper_checks.reported import table

from .. import regimes
from ..regimes import Regime
from ..runs import Curve, Runs
from ..sheets import number
from . import grid, settings as paper
from .grid import BASE, Setup, what_ran
from .reading import final, one_more, Reader
from .settings import FEDCOG

PLAIN = "FedAvg"
Methods = Mapping[str, Sequence[Cell]]


def printed(name: str, row: str, column: str) -> float:
    """A number of a table; NaN where there is none."""
    found = table("fedcog", name).get((row, column))
    return number(found.value) if found else math.nan


def harm_cells(scale: str, data: str = paper.MAIN) -> list[Cell]:
    """FedAvg with the most homogeneous split: beside that of the paper, they show what heterogeneity costs."""
    return grid.runs(scale, PLAIN, Setup(data, dirichlet=max(paper.DIRICHLETS)))


class Compared(NamedTuple):
    """The runs that a finding compares at one place by method, FedAvg's accuracy there in the paper, and the setup."""

    methods: Methods
    reported: float = math.nan
    setup: Setup = BASE


def usual(
    runs: Runs,
    scale: str,
    *places: Compared,
    later: int | None = None,
    remedy: bool = True,
    ended: bool = True,
    read: Reader | None = None,
) -> list[Regime]:
    """The guards of a finding that compares methods at these places, each once; of their lengths one that fails.

    ``later``: rounds after the change at which it is read; ``remedy``: the first method cures what heterogeneity does;
    ``ended``: curves that have levelled off are as good as long runs; ``read``: another number than the accuracy.
    """
    lengths: list[Regime] = []
    rest: dict[Regime, None] = {}
    reader = read or (final(scale) if later is None else one_more)
    for methods, reported, setup in places:
        plain = methods.get(PLAIN) or grid.runs(scale, PLAIN, setup)
        ran, ours = what_ran(plain, setup, later), [reader(runs, cell) for cell in plain]
        lengths.append(regimes.horizon(ran, percent(runs, plain) if ended and later is None else ()))
        each = [*regimes.learnt(ran, ours), *regimes.level(ran, ours, reported), regimes.treatment(methods)]
        each += weight(scale, methods.get(FEDCOG, ()))
        each += [harm(runs, scale, setup), *regimes.ceiling(ours, reported)] if remedy else []
        rest.update(dict.fromkeys(each))
    return [next((one for one in lengths if one.missed), lengths[0]), *rest] if lengths else []


def harm(runs: Runs, scale: str, setup: Setup = BASE) -> Regime:
    """That FedAvg loses accuracy to heterogeneous clients; how much the paper does not print."""
    apart = grid.runs(scale, PLAIN, Setup(setup.data, setup.kind))
    iid, skewed = ([final(scale)(runs, c) for c in cells] for cells in (harm_cells(scale, setup.data), apart))
    return regimes.drift(f"{grid.named(scale, setup.data)} {setup.kind}", iid, skewed)


def percent(runs: Runs, cells: Iterable[Cell]) -> list[Curve]:
    """Accuracies over rounds in percent."""
    return [(at, 100 * values) for at, values in (runs.curve(cell, "test_accuracy") for cell in cells)]


def weight(scale: str, cells: Sequence[Cell]) -> list[Regime]:
    """That FedCOG, where it runs, distils with the paper's weight."""
    ours = grid.distillation(scale)
    words = f"unlike treatment: FedCOG distils with weight {ours:g} for the paper's {paper.DISTILLATION:g}"
    return [Regime(words, float(ours != paper.DISTILLATION), 0, at_most=True)] if cells else []


def seconds(cells: Sequence[Cell]) -> list[Regime]:
    """That times are taken where the paper takes them: a GPU does for many images at once what a core does in turn."""
    return [regimes.statistic("seconds of one core", "seconds of a GPU")] if cells else []


def as_in_paper(cells: Sequence[Cell], setup: Setup = BASE, method: str = FEDCOG) -> Regime:
    """That runs are trained as the paper's: what is best for a coefficient depends on it."""
    return regimes.treatment({"here": cells, "the paper": grid.runs("paper", method, setup)})
