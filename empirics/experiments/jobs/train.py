"""The job ``train``: its arguments are the options of ``fedbounds train``, its outcome is the tidy table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from inspect import signature
from pathlib import Path
from typing import Any

from ...algorithms import algorithm as read_algorithm
from ...data.catalogue import DATASETS
from ...errors import EmpiricsError
from ...federation.augment import AUGMENTATIONS
from ...federation.federation import LOCAL_TESTS
from ...federation.partitions import partition as read_partition
from ...measuring import Measurement, measurement, Row, Run
from ...measuring.kept import Keeper, rounds_of
from ...measuring.table import run_status
from ...models.compiled import engine_of
from ...numbers import check_choice, check_options, quoted
from ...problems.problem import FederatedProblem
from ...problems.tasks import Task, task, TASKS
from ...spec_strings import names_file, parse, refuse_twice
from ...training.engines import device_named
from ...training.setting import Setting
from .. import Outcome
from ..machine import CELL_ENGINES, computing, GPU
from ..registry import job

LOADED = 2
"""The number of data sets in a worker's cache; reading CIFAR-10 takes longer than many runs on it."""


@lru_cache(maxsize=LOADED)
def loaded(problem: str) -> Task:
    """The task called ``problem`` with its data, cached."""
    return task(problem)


@dataclass(frozen=True)
class SharedRun:
    """The options that runs of several methods and lengths share, by their names in ``fedbounds train``.

    ``engine`` is one of ``CELL_ENGINES`` and part of a cell's key. A run fails if its engine cannot compute the model,
    so that its numbers do not depend on the machine.
    """

    problem: str
    seed: int
    partition: str = "iid"
    clients: int | None = None
    cohort: int | None = None
    client_weight: str = "uniform"
    local_test: str = "none"
    augment: str | None = None
    engine: str = "torch"
    setting_fields: tuple[tuple[str, Any], ...] = field(default_factory=tuple, init=False)
    """Further fields of ``Setting`` and their values."""

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> SharedRun:
        """Make one from a job's arguments, which are fields of this class or of ``Setting``."""
        run = cls(**{name: arguments[name] for name in SHARED if name in arguments})
        others = tuple(sorted((k, v) for k, v in arguments.items() if k not in SHARED))
        object.__setattr__(run, "setting_fields", others)
        return run

    def deal(self) -> FederatedProblem:
        """Return the problem with its samples split over clients, and its model computed by the engine."""
        options = {name: getattr(self, name) for name in ("client_weight", "local_test", "augment")}
        problem = loaded(self.problem).deal(self.partition, self.clients, self.seed, **options)
        check_choice("engine", self.engine, CELL_ENGINES)
        if self.engine == GPU:
            return problem.to(device_named(GPU))
        return problem if self.engine == "torch" else problem.compiled()

    def setting_for(self, rounds: int, clients: int) -> Setting:
        """The setting with this number of rounds."""
        others = dict(self.setting_fields)
        return Setting.among(clients, rounds, self.cohort, client_weight=self.client_weight, **others)


SHARED = tuple(name for name in SharedRun.__dataclass_fields__ if name != "setting_fields")


def prepared(algorithm: str, rounds: int, measure: Sequence[str], every: int | None = None, **shared: Any) -> Run:
    """Return the training run with these arguments, with its data; other arguments are those of ``SharedRun``."""
    measurements, plan = read_measurements(measure), SharedRun.of(shared)
    problem = plan.deal()
    setting = plan.setting_for(rounds, problem.clients)
    return Run(problem, read_algorithm(algorithm), setting, plan.seed, measurements, every, plan.problem)


def read_measurements(measure: Sequence[str]) -> list[Measurement]:
    """The measurements of a list of texts; raises if one is given twice."""
    if not (isinstance(measure, (list, tuple)) and measure):
        raise EmpiricsError(f"measure must be a list of measurements, one at least; got {quoted(measure)}")
    measurements = [measurement(m) for m in measure]
    refuse_twice(m.name for m in measurements)
    return measurements


def check_arguments(arguments: Mapping[str, Any]) -> None:
    """Raise if the arguments of a run are invalid, as far as that does not depend on data."""
    check_options({"seed": arguments["seed"]})
    _check_arguments(json.dumps({**arguments, "seed": 0}, sort_keys=True))


@lru_cache(maxsize=1024)
def _check_arguments(text: str) -> None:
    """``check_arguments`` as JSON without the seed, in which most runs of a grid agree."""
    run = dict(signature(prepared).bind(**json.loads(text)).arguments)
    plan = SharedRun.of(run.pop("shared"))
    arguments = {**{name: getattr(plan, name) for name in SHARED}, "every": None, **run}
    read_measurements(arguments.pop("measure"))
    check_options(arguments)
    setting = plan.setting_for(arguments["rounds"], plan.clients or 1)
    if plan.clients is not None:
        setting.check_cohort(plan.clients)
    choices = {"local_test": LOCAL_TESTS, "engine": CELL_ENGINES, "augment": AUGMENTATIONS}
    for name, known in choices.items():
        if name != "augment" or arguments[name] is not None:
            check_choice(name, arguments[name], known)
    for name in ("problem", "algorithm", "partition"):
        if not isinstance(arguments[name], str):
            raise EmpiricsError(f"{name} must be text; got {quoted(arguments[name])}")
    read_algorithm(arguments["algorithm"])
    read_partition(arguments["partition"])
    if not names_file(arguments["problem"]):
        parse(arguments["problem"], {**DATASETS, **TASKS}, "problem", evaluate=False)


@job("train", version=1, accepts="empirics.experiments.jobs.train:prepared", shared=True, resumable=True)
@wraps(prepared, assigned=("__module__",))
def train(state: str | None = None, **arguments: Any) -> Outcome:
    """Train with one seed, in this process on one thread; arguments are those of ``prepared``.

    ``state`` is a file with the state of a run that differs in the number of rounds only, which is continued.
    """
    run = prepared(**arguments)
    keeper = None if state is None else state_keeper(Path(state), run.setting.rounds)
    rows = [row for _, measured in rounds_of(run, keeper) for row in measured]
    if keeper is not None:
        keeper.write()
    return outcome(run, rows)


def outcome(run: Run, rows: Sequence[Row]) -> Outcome:
    """The outcome of a training run with these rows."""
    problem = run.problem
    facts = {
        **engine_fact(problem),
        "algorithm": run.algorithm.name,
        "clients": problem.clients,
        "parameters": problem.model.dim,
        "samples": int(problem.federation.client_sizes.sum()),
        "determinism": "bit-identical on one device",
    }
    return Outcome(columns(rows), facts, run_status(rows))


def state_keeper(path: Path, rounds: int) -> Keeper | None:
    """The keeper of a state file, whose run is replaced if it cannot be continued; None if it has more rounds."""
    path.parent.mkdir(parents=True, exist_ok=True)  # the store may not exist before its first result
    try:
        keeper = Keeper(path, {}, computing())
    except EmpiricsError:  # damaged, or of another format
        return Keeper(path, {}, computing(), anew=True)
    if any(stored.reached.state.round > rounds for stored in keeper.runs.values()):
        return None
    return Keeper(path, {}, computing(), anew=True) if keeper.changed_packages else keeper


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows of a tidy table as columns."""
    return {name: [getattr(row, name) for row in rows] for name in Row._fields}


def engine_fact(problem: FederatedProblem) -> dict[str, Any]:
    """The fact ``engine`` for a result's card, or none for torch."""
    engine = engine_of(problem.model) if problem.device.type == "cpu" else GPU
    return {} if engine == "torch" else {"engine": engine}
