"""Table 11: rounds and seconds until a target accuracy is reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import Reported, table

from ..artefact import Artefact, Shown
from ..comparing import Entry, judge, Judged, leads
from ..ran import beside, of
from ..runs import Runs
from ..sheets import comparison, entry
from . import table_10
from .grid import missing, PLANS, runs as grid_runs, what_ran
from .reading import apart, caption, each, ends, guards, PERCENT, RELAXED
from .settings import METHODS, Setup

PRINTED = table("fedinit", "Table 11")
TARGETS = {"CIFAR-10": 70.0, "CIFAR-100": 30.0}
"""Percent, at the paper's scale."""
SETUPS = tuple(Setup(data=data) for data in TARGETS)
ROUNDING = 1e-9
"""Percent by which two ways to take the same mean may differ."""
FASTER = ("SCAFFOLD", "FedDyn")


@dataclass(frozen=True)
class Reached:
    """Rounds until the target by seed, and the seconds of a round; infinite: never reached, NaN: not run."""

    rounds: tuple[float, ...]
    seconds: float

    @property
    def times(self) -> tuple[float, ...]:
        return tuple(r * self.seconds for r in self.rounds)


def first(at: np.ndarray, accuracy: np.ndarray, target: float, window: int) -> float:
    """The first measured round at which the mean of the last ``window`` accuracies, the start left out, gets there."""
    for i in range(window + 1, len(at) + 1):
        if float(np.mean(accuracy[i - window : i])) >= target - ROUNDING:
            return float(at[i - 1])
    return math.inf


def cells(scale: str) -> list[Cell]:
    trained = each(SETUPS, lambda s: [c for m in METHODS for c in grid_runs(scale, s, m)])
    return [*trained, *apart(scale), *table_10.cells(scale)[:1]]


def reached(runs: Runs, scale: str, setup: Setup) -> dict[str, Reached]:
    """By method; NaN for a seed that misses its run or its target's."""
    window = PLANS[scale].window
    taken = table_10.medians(runs, scale, setup.share)
    targets = [_target(runs, scale, setup, c) for c in grid_runs(scale, setup, "FedAvg")]
    return {
        method: Reached(
            tuple(
                first(*_percent(runs, cell), target, window) if runs.has(cell) and target > 0 else math.nan
                for cell, target in zip(grid_runs(scale, setup, method), targets, strict=True)
            ),
            float(np.mean(taken[method])) if method in taken else math.nan,
        )
        for method in METHODS
    }


def _target(runs: Runs, scale: str, setup: Setup, plain: Cell) -> float:
    """The paper's target at its scale; else what FedAvg's run with that seed ends at."""
    if scale == "paper":
        return TARGETS[setup.data]
    return PERCENT * runs.last(plain, "test_accuracy", PLANS[scale].window)


def _percent(runs: Runs, cell: Cell) -> tuple[np.ndarray, np.ndarray]:
    at, values = runs.curve(cell, "test_accuracy")
    return at, PERCENT * values


def data(runs: Runs, scale: str) -> Shown:
    found = [place for setup in SETUPS for place in _entries(runs, scale, setup)]
    seen = [s for s in SETUPS if not missing(scale, s)]
    more = (
        f"{_rule(scale)} Seconds: rounds times our Table 10's seconds of a round, as in the paper. Speed: FedAvg's "
        "over the method's, 0 for a run that never gets there; rounds and seconds are means over the runs that do (how "
        f"many: in the CSV). {RELAXED}"
    )
    return comparison(caption(scale, SETUPS, ends(scale), more), found, conclusions(runs, found, scale, seen))


def _rule(scale: str) -> str:
    if scale == "paper":
        return "Target: 70 % on CIFAR-10, 30 % on CIFAR-100, as in the paper."
    return "Target, seed by seed: the accuracy that FedAvg ends at, both as means of the last measurements."


def _goal(setup: Setup) -> str:
    """The target as the paper's columns name it."""
    return f"{setup.data} (>{TARGETS[setup.data]:g}%)"


def _name(scale: str, setup: Setup) -> str:
    """Data and target as they are run."""
    ran = what_ran(scale, setup)
    if ran is None:
        return _goal(setup)
    printed = f">{TARGETS[setup.data]:g}%"
    return f"{ran.data}, {beside(printed if scale == 'paper' else 'the end of FedAvg', printed)}"


def _entries(runs: Runs, scale: str, setup: Setup) -> list[Entry]:
    goal = _goal(setup)
    found = reached(runs, scale, setup)
    note, name = missing(scale, setup), _name(scale, setup)
    places: list[Entry] = []
    for method in METHODS:
        mine, plain = found[method], found["FedAvg"]
        ran = of(grid_runs(scale, setup, method), setup.in_paper)
        for word, ours, theirs in (("rounds", mine.rounds, plain.rounds), ("time", mine.times, plain.times)):
            printed = PRINTED[method, f"{goal}/{word}"], PRINTED[method, f"{goal}/{word} speed ratio"]
            columns = f"{name}, {word}", f"{name}, {word} speed ratio"
            places += [replace(e, ran=ran) for e in _pair(printed, method, columns, ours, theirs, note)]
    return places


def _pair(
    printed: tuple[Reported, Reported],
    method: str,
    columns: tuple[str, str],
    ours: Sequence[float],
    plain: Sequence[float],
    note: str,
) -> list[Entry]:
    there = [v if math.isfinite(v) else math.nan for v in ours]
    known = sum(not math.isnan(v) for v in ours)
    said = note or (f"reached by {sum(map(math.isfinite, ours))} of {known}" if known else "")
    speeds = [a / b if math.isfinite(a) else math.nan for a, b in zip(plain, ours, strict=True)]
    return [
        entry(printed[0], method, columns[0], there, said),
        entry(printed[1], method, columns[1], speeds, said),
    ]


def conclusions(runs: Runs, entries: Sequence[Entry], scale: str, seen: Sequence[Setup]) -> list[Judged]:
    """What Appendix B.2.4 concludes, on the data sets that are run."""
    ten = [_name(scale, s) for s in seen if s.data == "CIFAR-10"]
    on = ten[0].rpartition(",")[0] if ten else "CIFAR-10"
    others = [m for m in METHODS if m != "FedInit"]
    found = []
    for word, what in (("rounds", "rounds"), ("time", "seconds")):
        pairs = [p for c in ten for p in leads(entries, "FedInit", others, [f"{c}, {word} speed ratio"])]
        words = f"on {on} FedInit needs the fewest {what} to the target"
        found.append(judge(words, pairs, regimes=guards(runs, scale, seen, METHODS)))
    pairs = [p for c in ten for m in FASTER for p in leads(entries, m, ["FedAvg"], [f"{c}, rounds speed ratio"])]
    regimes = guards(runs, scale, seen, ("FedAvg", *FASTER))
    return [*found, judge("SCAFFOLD and FedDyn need fewer rounds than FedAvg", pairs, regimes=regimes)]


ARTEFACT = Artefact("fedinit.table_11", "rounds and seconds to a target accuracy", cells, data)
