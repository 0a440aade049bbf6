"""How much is computed: one plan for each paper and scale, the cells it makes, and the minutes that these may take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from empirics.experiments import Cell
from empirics.experiments.jobs import BLOCKS

SCALES: dict[str, str] = {
    "smoke": "seconds, on data that come with the packages: everything runs end to end",
    "laptop": "budgeted to 88 minutes on two cores for the whole set: smaller networks, fewer rounds and seeds",
    "overnight": "the papers' own local work and half of their rounds or more, on networks for two cores: four days",
    "paper": "the setting of the paper itself, for GPUs",
}
"""Every figure and table exists at all of them."""

BEGINNING = 0.25
"""The part that counts of a beginning which several runs share."""
POOL = 50000
"""Training samples of the data sets whose rounds are counted in passes."""


def steps_of_round(given: Mapping[str, Any]) -> int:
    """Local steps of a client in a round by the arguments of a run; passes count by an even share of the samples."""
    return int(given.get("local_steps") or given["local_epochs"] * -(-POOL // given["clients"] // given["batch"]))


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Seconds of one core (at the paper's scale of its GPU) that a run may take.

    ``step``: a local step with its share of everything else, by a word of the problem ("" any other); ``start``: of a
    run before its first step; ``look``: of a measurement; ``image``: a step of one client's generation. ``whole``: all
    of a run, by a word of its job, bound or problem, in the order in which these are tried. ``times``: how many times
    as long runs take by a word of the algorithm.
    """

    step: Mapping[str, float] = field(default_factory=dict)
    start: float = 0.0
    look: float = 0.0
    image: float = 0.0
    whole: Mapping[str, float] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)

    def minutes(self, cell: Cell) -> float:
        """Of one cell."""
        given = cell.arguments
        words = " ".join((cell.job, given.get("bound", ""), given.get("problem", "")))
        times = max((t for word, t in self.times.items() if word in given.get("algorithm", "")), default=1.0)
        whole = next((seconds for word, seconds in self.whole.items() if word in words), None)
        return (self._steps(given, times) if whole is None else whole * times) / 60

    def _steps(self, given: Mapping[str, Any], times: float) -> float:
        """Seconds of a run by its rounds, clients and local steps."""
        step = next(s for word, s in sorted(self.step.items(), reverse=True) if word in given["problem"])
        work = given.get("cohort", given["clients"]) * steps_of_round(given) * step
        if "laps" in given:
            return (BLOCKS * given["laps"] + 1) * work * (len(given["algorithms"]) + 1) + self.start
        rounds, method = given["rounds"], given["algorithm"]
        shared = given.get("after", 0) if given.get("first", method) != method else 0
        seconds = (rounds - shared * (1 - BEGINNING)) * work * times
        if "samples=" in method:  # images are generated in the rounds after the beginning, and trained on as well
            images = int(method.split(" steps=")[1].split(",")[0].rstrip(")")) * self.image
            seconds += (rounds - given["after"]) * (given["cohort"] * images + work)
        return float(seconds + rounds / given["every"] * self.look + self.start)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the figures of one paper run at one scale.

    ``networks`` have a place for the data and go by the paper's words for network, data or task, as do ``rounds`` ("":
    any other). ``setting`` are the arguments of every run, ``own`` those that some data, task or method has besides.
    A run is measured every ``every`` rounds, on ``tests`` samples (None: all), and its result is the mean of the last
    ``window`` measurements. ``axes`` are the rows, columns or curves that are run, ``counts`` whatever else is counted.
    Networks are trained by ``engine``.
    ``changed`` are arguments that its cells have otherwise than the plan that is kept with the code (``changes.py``).
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

    @property
    def trained(self) -> dict[str, str]:
        """The argument of a training run that says its engine; none for torch, which is what a cell has without."""
        return {} if self.engine == "torch" else {"engine": self.engine}

    def cell(self, job: str, **arguments: Any) -> Cell:
        """A job with these arguments, but for what is changed."""
        return changed_cell(Cell(job, arguments), self.changed)

    def cells(self, job: str, **arguments: Any) -> list[Cell]:
        """The same, once for every seed."""
        return [self.cell(job, **arguments, seed=seed) for seed in range(self.seeds)]


def changed_cell(cell: Cell, changed: Mapping[str, Any]) -> Cell:
    """The cell with those of the ``changed`` arguments that it takes."""
    mine = {name: value for name, value in changed.items() if name in cell.arguments or name in cell.known.defaults}
    return Cell(cell.job, {**cell.arguments, **mine}) if mine else cell
