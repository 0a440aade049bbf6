"""Plans: what the figures of one paper run at one scale, the cells of these runs, and their budget in minutes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, cast

from empirics.experiments import Cell
from empirics.experiments.jobs import BLOCKS
from empirics.spec_strings import calls

SCALES = ("smoke", "laptop", "overnight", "paper")
"""Every figure and table exists at each of these scales, which ``command.FIGURE_JSON`` explains."""

BEGINNING = 0.25
"""Share of the first rounds that counts towards each of the runs that share them."""
POOL = 50000
"""Training samples of the data sets whose local work is counted in passes."""


def plans_of(paper: str) -> dict[str, Plan]:
    """Return the plans of a paper's figures by scale."""
    return cast("dict[str, Plan]", import_module(f"figures.{paper}.grid").PLANS)


def steps_of_round(given: Mapping[str, Any]) -> int:
    """Return the local steps per client and round; passes are converted with an equal share of samples per client."""
    return int(given.get("local_steps") or given["local_epochs"] * -(-POOL // given["clients"] // given["batch"]))


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Seconds of one core (at the paper's scale: of its GPU) that a run may take.

    ``step`` is the time of a local step by a word of the problem ("": any other), ``start`` that before the first step,
    ``measurement`` that of a measurement, ``image`` that of a step of generation by one client. ``per_run`` is the time
    of a complete run by a word of its job, bound or problem (the first that occurs), ``factor`` a multiple of the time
    by a word of the algorithm.
    """

    step: Mapping[str, float] = field(default_factory=dict)
    start: float = 0.0
    measurement: float = 0.0
    image: float = 0.0
    per_run: Mapping[str, float] = field(default_factory=dict)
    factor: Mapping[str, float] = field(default_factory=dict)

    def minutes(self, cell: Cell) -> float:
        """Return the minutes that one cell may take."""
        arguments = cell.arguments
        text = " ".join((cell.job, arguments.get("bound", ""), arguments.get("problem", "")))
        factor = max((f for word, f in self.factor.items() if word in arguments.get("algorithm", "")), default=1.0)
        for word, seconds in self.per_run.items():
            if word in text:
                return seconds * factor / 60
        return self._steps(cell, factor) / 60

    def _steps(self, cell: Cell, times: float) -> float:
        """Return the seconds of a run by its rounds, clients and local steps."""
        given = cell.arguments
        step = next(s for word, s in sorted(self.step.items(), reverse=True) if word in given["problem"])
        work = given.get("cohort", given["clients"]) * steps_of_round(given) * step
        if cell.job == "round_times":
            return (BLOCKS * given["laps"] + 1) * work * (len(given["algorithms"]) + 1) + self.start
        rounds, method = given["rounds"], given["algorithm"]
        shared = given["after"] if cell.job == "continued" and given["first"] != method else 0
        seconds = (rounds - shared * (1 - BEGINNING)) * work * times
        _, options, _ = next(calls(method))
        if "samples" in options:  # images are generated in the rounds after the beginning, and trained on as well
            images = options["steps"] * self.image
            seconds += (rounds - given["after"]) * (given["cohort"] * images + work)
        return float(seconds + rounds / given["every"] * self.measurement + self.start)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the figures of one paper run at one scale.

    ``networks`` are templates with a placeholder for the data, by the paper's name of network, data set or task;
    ``rounds`` has the same keys ("": any other). ``setting`` are the arguments of every run, ``own`` further ones by
    data set, task or method. A run is measured every ``every`` rounds on ``tests`` samples (None: all); a result is the
    mean of the last ``window`` measurements. ``axes`` are the rows, columns or curves that are run, ``counts`` other
    numbers. ``changed`` are the arguments and ``other_seeds`` the seeds that the command line changes (``changes.py``).
    """

    seeds: int
    budget: Budget
    networks: Mapping[str, str] = field(default_factory=dict)
    rounds: Mapping[str, int] = field(default_factory=dict)
    setting: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    every: int = 1
    window: int = 1
    tests: int | None = None
    axes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    engine: str = "torch"
    changed: Mapping[str, Any] = field(default_factory=dict)
    other_seeds: tuple[int, ...] = ()

    @property
    def engine_argument(self) -> dict[str, str]:
        """The ``engine`` argument of a training run, left out for torch, the default of a cell."""
        return {} if self.engine == "torch" else {"engine": self.engine}

    def cell(self, job: str, **arguments: Any) -> Cell:
        """Return the cell of a job with these arguments, after the changes of the command line."""
        return apply_changes(Cell(job, arguments), self.changed)

    def cells(self, job: str, **arguments: Any) -> list[Cell]:
        """Return one such cell for every seed."""
        seeds = (self.other_seeds or range(self.seeds))[: self.seeds]
        return [self.cell(job, **arguments, seed=seed) for seed in seeds]


def apply_changes(cell: Cell, changed: Mapping[str, Any]) -> Cell:
    """Return the cell with the ``changed`` arguments, leaving out those that its job does not take."""
    own = {name: value for name, value in changed.items() if name in cell.arguments or name in cell.spec.defaults}
    return Cell(cell.job, {**cell.arguments, **own}) if own else cell
