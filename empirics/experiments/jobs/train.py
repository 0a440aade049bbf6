"""Training runs: their arguments are the options of ``fedbounds train``, the outcome is its tidy table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from inspect import signature
from pathlib import Path
from typing import Any

from ...algorithms import algorithm as read_algorithm
from ...data.catalogue import DATASETS
from ...errors import EmpiricsError
from ...federation.augment import AUGMENTATIONS
from ...federation.federate import LOCAL_TESTS
from ...federation.partitions import partition as read_partition
from ...measuring import Measurement, measurement, Row, Run
from ...measuring.kept import Keeper
from ...models.compiled import compiled, engine_of
from ...numbers import check_options, quoted
from ...problems.problem import FederatedProblem
from ...problems.tasks import Task, task, TASKS
from ...spec_strings import check_choice, names_file, parse, refuse_twice
from ...training.engines import device_named
from ...training.setting import Setting
from .. import Outcome
from ..engines import CELL_ENGINES, GPU
from ..machine import computing
from ..registry import job

LOADED = 2
"""Data sets that a worker keeps: reading CIFAR-10 takes longer than many a run on it."""


@lru_cache(maxsize=LOADED)
def loaded(problem: str) -> Task:
    """The task of that text, with its data."""
    return task(problem)


@dataclass(frozen=True)
class SharedRun:
    """What runs of several methods and lengths share, by the names of ``fedbounds train``.

    ``engine`` is one of ``CELL_ENGINES``: what computes is part of a cell's key. Where the compiled passes serve the
    model they are taken or the run fails, so that its numbers are never a mixture of both.
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
    setting: tuple[tuple[str, Any], ...] = field(default_factory=tuple, init=False)
    """Further fields of ``Setting`` and their values."""

    @classmethod
    def of(cls, words: Mapping[str, Any]) -> SharedRun:
        """The run that a job's arguments describe: those that are fields of this class or of ``Setting``."""
        made = cls(**{name: words[name] for name in SHARED if name in words})
        object.__setattr__(made, "setting", tuple(sorted((k, v) for k, v in words.items() if k not in SHARED)))
        return made

    def deal(self) -> FederatedProblem:
        """The samples, dealt to the clients, by the engine: none chooses by itself, a key is the same everywhere."""
        options = {name: getattr(self, name) for name in ("client_weight", "local_test", "augment")}
        dealt = loaded(self.problem).deal(self.partition, self.clients, self.seed, **options)
        check_choice("engine", self.engine, CELL_ENGINES)
        if self.engine == GPU:
            return dealt.to(device_named(GPU))
        return dealt if self.engine == "torch" else replace(dealt, model=compiled(dealt.model))

    def rounds(self, number: int, clients: int) -> Setting:
        """The setting with this number of rounds; without a number for the cohort everyone takes part."""
        cohort = clients if self.cohort is None else self.cohort
        return Setting(number, cohort, client_weight=self.client_weight, **dict(self.setting))


SHARED = tuple(name for name in SharedRun.__dataclass_fields__ if name != "setting")


def prepared(algorithm: str, rounds: int, measure: Sequence[str], every: int | None = None, **shared: Any) -> Run:
    """The training run that these arguments describe, its data dealt; the others are those of ``SharedRun``."""
    measurements, plan = measured(measure), SharedRun.of(shared)
    dealt = plan.deal()
    setting = plan.rounds(rounds, dealt.clients)
    return Run(dealt, read_algorithm(algorithm), setting, plan.seed, measurements, every, plan.problem)


def measured(measure: Sequence[str]) -> list[Measurement]:
    """The measurements of a list of texts, each once."""
    if not (isinstance(measure, (list, tuple)) and measure):
        raise EmpiricsError(f"measure must be a list of measurements, one at least; got {quoted(measure)}")
    found = [measurement(m) for m in measure]
    refuse_twice(m.name for m in found)
    return found


def meant(arguments: Mapping[str, Any]) -> str:
    """What the arguments of a run mean, read without data: two runs that mean the same have the same numbers.

    A mistake that the words alone show is refused.
    """
    seed = arguments["seed"]
    check_options({"seed": seed})
    return f"{_meant(json.dumps({**arguments, 'seed': 0}, sort_keys=True))}, seed {seed}"


@lru_cache(maxsize=1024)
def _meant(text: str) -> str:
    """The meaning of arguments as JSON, which most runs of a grid share but for their seed."""
    words = json.loads(text)
    run = dict(signature(prepared).bind(**words).arguments)
    plan = SharedRun.of(run.pop("shared"))
    words = {**{name: getattr(plan, name) for name in SHARED}, "every": None, **run}
    names = [m.name for m in measured(words.pop("measure"))]
    check_options(words)
    setting = plan.rounds(words["rounds"], plan.clients or 1)
    if plan.clients is not None and setting.cohort > plan.clients:
        raise EmpiricsError(f"cohort must be <= clients; got {setting.cohort} > {plan.clients}")
    check_choice("local_test", words["local_test"], LOCAL_TESTS)
    check_choice("engine", words["engine"], CELL_ENGINES)
    if words["augment"] is not None:
        check_choice("augment", words["augment"], AUGMENTATIONS)
    readers = {"problem": _problem_meant, "algorithm": _algorithm_meant, "partition": _partition_meant}
    for name in readers:
        if not isinstance(words[name], str):
            raise EmpiricsError(f"{name} must be text; got {quoted(words[name])}")
    return str((setting, names, {name: readers.get(name, repr)(item) for name, item in sorted(words.items())}))


@lru_cache(maxsize=1024)
def _algorithm_meant(text: str) -> str:
    name = read_algorithm(text).name
    return f"{text}: {name}" if names_file(text) else name


_partition_meant = lru_cache(maxsize=1024)(read_partition)


@lru_cache(maxsize=1024)
def _problem_meant(text: str) -> Any:
    """The call of a problem with its defaults, made of nothing: data may be large, or on another machine."""
    return text if names_file(text) else parse(text, {**DATASETS, **TASKS}, "problem", made=False)


@job(
    "train",
    version=1,
    setting="empirics.experiments.jobs.train:prepared empirics.experiments.jobs.train:SharedRun "
    "empirics.training.setting:Setting",
    goes_on=True,
)
@wraps(prepared, assigned=("__module__",))
def train(state: str | None = None, **words: Any) -> Outcome:
    """One training run with one seed, in this process on one thread; its words are those of ``prepared``.

    ``state`` is a file: where its run of the same words but the number of rounds can go on to these, it does.
    """
    run = prepared(**words)
    keeper = None if state is None else going_on(Path(state), run.setting.rounds)
    run, earlier = (run, []) if keeper is None else keeper.resumed(run)
    rows = [*earlier, *run.rows()]
    if keeper is not None:
        keeper.add(run, rows)
        keeper.write()
    return outcome(run, rows)


def outcome(run: Run, rows: Sequence[Row]) -> Outcome:
    """What such a run gives, by its rows."""
    problem = run.problem
    facts = {
        **engine_fact(problem),
        "algorithm": run.algorithm.name,
        "clients": problem.clients,
        "parameters": problem.model.dim,
        "samples": int(problem.federation.client_sizes.sum()),
        "determinism": "bit-identical on one device",
    }
    return Outcome(columns(rows), facts, status(rows))


def status(rows: Sequence[Row]) -> str:
    """Whether a run with these rows diverged."""
    return "diverged" if any(row.quantity == "diverged" for row in rows) else "done"


def going_on(path: Path, rounds: int) -> Keeper | None:
    """The kept run that begins like this one, or a new one in its place where that cannot be gone on from.

    None where a longer run is kept: it stays. The file's name is a hash of the arguments.
    """
    path.parent.mkdir(parents=True, exist_ok=True)  # a driver makes the store with its first result
    try:
        keeper = Keeper(path, {}, computing())
    except EmpiricsError:  # torn, or of another format
        return Keeper(path, {}, computing(), anew=True)
    if any(kept.reached.state.round > rounds for kept in keeper.runs.values()):
        return None
    return Keeper(path, {}, computing(), anew=True) if keeper.others else keeper


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows of a tidy table as columns."""
    return {name: [getattr(row, name) for row in rows] for name in Row._fields}


def engine_fact(problem: FederatedProblem) -> dict[str, Any]:
    """Who computed, for a card; nothing where it was torch."""
    engine = engine_of(problem.model) if problem.device.type == "cpu" else GPU
    return {} if engine == "torch" else {"engine": engine}
