"""The cells of training sweeps: arguments are the words of ``fedbounds train``, the outcome is its tidy table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, wraps
from typing import Any

from ...algorithms import algorithm as read_algorithm
from ...errors import EmpiricsError
from ...measuring import measurement, Row, Run
from ...numbers import shown
from ...problems.problem import FederatedProblem
from ...problems.tasks import Task, task
from ...training.engines import in_process
from ...training.setting import Setting
from .. import Outcome
from ..registry import job

LOADED = 2
"""Data sets that a worker keeps: reading CIFAR-10 takes longer than many a run on it."""


@lru_cache(maxsize=LOADED)
def loaded(problem: str) -> Task:
    """The task of that text, with its data."""
    return task(problem)


def prepared(
    problem: str,
    algorithm: str,
    rounds: int,
    seed: int,
    measure: Sequence[str],
    partition: str = "iid",
    clients: int | None = None,
    cohort: int | None = None,
    client_weight: str = "uniform",
    augment: str | None = None,
    local_test: str = "none",
    every: int | None = None,
    **setting: Any,
) -> Run:
    """The training run that these words ask for, its data dealt; ``setting`` holds more fields of ``Setting``."""
    if not (isinstance(measure, (list, tuple)) and measure):
        raise EmpiricsError(f"measure must be a list of measurements, one at least; got {shown(measure)}")
    dealt = loaded(problem).deal(
        partition, clients, seed, client_weight=client_weight, augment=augment, local_test=local_test
    )
    plan = planned(dealt.clients, rounds, cohort, client_weight=client_weight, **setting)
    engine = in_process(dealt.model)
    return Run(dealt, read_algorithm(algorithm), plan, seed, [measurement(m) for m in measure], every, problem, engine)


@job(
    "train",
    version=1,
    setting="empirics.experiments.jobs.train:prepared empirics.training.setting:Setting",
    formerly="empirics.cells:train",
)
@wraps(prepared, assigned=("__module__",))
def train(**words: Any) -> Outcome:
    """One training run with one seed, in this process on one thread; its words are those of ``prepared``."""
    run = prepared(**words)
    rows = run.rows()
    diverged = any(row.quantity == "diverged" for row in rows)
    return Outcome(columns(rows), _facts(run.problem, run), "diverged" if diverged else "done")


def planned(clients: int, rounds: int, cohort: int | None, **setting: Any) -> Setting:
    """The setting of a cell; without a number for the cohort everyone takes part."""
    return Setting(rounds, clients if cohort is None else cohort, **setting)


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """The rows of a tidy table as columns."""
    return {name: [getattr(row, name) for row in rows] for name in Row._fields}


def _facts(problem: FederatedProblem, run: Run) -> dict[str, Any]:
    return {
        "algorithm": run.algorithm.name,
        "clients": problem.clients,
        "parameters": problem.model.dim,
        "samples": int(problem.federation.client_sizes.sum()),
        "determinism": "bit-identical on one device",
    }
