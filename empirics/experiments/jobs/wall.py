"""Runs that time rounds: all methods take turns in one process, so that other load slows all of them equally."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from ...algorithms import algorithm as read_algorithm
from ...algorithms.state import State
from ...numbers import check_options
from ...problems.problem import FederatedProblem
from ...training.engines import in_process
from ...training.rounds import rounds
from ...training.setting import Setting
from .. import Outcome
from ..registry import job
from . import BLOCKS
from .train import loaded, planned


@job("round_times", version=1, setting="empirics.training.setting:Setting")
def seconds(
    problem: str,
    algorithms: Sequence[str],
    laps: int,
    seed: int,
    partition: str = "iid",
    clients: int | None = None,
    cohort: int | None = None,
    augment: str | None = None,
    **setting: Any,
) -> Outcome:
    """Seconds of single rounds without measuring, by ``algorithm``, ``block`` and ``round``, in the order they ran."""
    check_options({"laps": laps})
    dealt = loaded(problem).deal(partition, clients, seed, augment=augment)
    plan = planned(dealt.clients, BLOCKS * laps + 1, cohort, **setting)
    runs = {name: _started(dealt, name, plan, seed) for name in algorithms}
    found: dict[str, list[Any]] = {"algorithm": [], "block": [], "round": [], "seconds": []}
    for round_ in range(BLOCKS * laps):
        for name, states in runs.items():
            began = time.perf_counter()
            next(states)
            row = (name, round_ // laps, round_ + 1, time.perf_counter() - began)
            for column, value in zip(found.values(), row, strict=True):
                column.append(value)
    return Outcome(found, {"clients": dealt.clients, "parameters": dealt.model.dim})


def _started(problem: FederatedProblem, algorithm: str, plan: Setting, seed: int) -> Iterator[State]:
    """A run that has its start and first round behind it."""
    engine = in_process(problem.model, problem.device)
    states = rounds(problem.model, problem.federation, read_algorithm(algorithm), plan, seed, engine)
    next(states)
    next(states)
    return states
