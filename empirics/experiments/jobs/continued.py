"""Runs that change their method: some rounds of one, then of another, from the very same state.

Runs with the same beginning share it: a worker keeps the last few, so that twenty variants of one method cost
twenty endings. A beginning depends on nothing but its arguments: whoever trains it, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ...algorithms import algorithm as read_algorithm
from ...algorithms.algorithm import Algorithm, Rows
from ...algorithms.state import Exchange, State
from ...measuring import Measurement, measurement, Row, Run
from ...measuring.core import per_client, quantities, Readings, sampled, Snapshot
from ...measuring.record import Folded
from ...problems import evaluation
from .. import Outcome
from ..registry import job
from .train import columns, engine_fact, SharedRun, status

BEGUN = 16
"""Beginnings that a worker keeps."""
LAST = Rows("last")


@dataclass(frozen=True)
class Continued(Algorithm):
    """An algorithm that goes on from a state: its memories are those of the state, and new where that has none."""

    begun: State | None = None

    def begin(self, model: Tensor, clients: int) -> State:
        """A copy of the state it goes on from; what is rewritten in place stays as it was for the next run."""
        assert self.begun is not None
        fresh, old = super().begin(self.begun.model, clients), self.begun
        memory = {key: old.memory.get(key, rows).clone() for key, rows in fresh.memory.items()}
        server = {key: old.server.get(key, vector) for key, vector in fresh.server.items()}
        exchanges = {key: Exchange(*map(Tensor.clone, old.exchanges.get(key, e))) for key, e in fresh.exchanges.items()}
        return old._replace(memory=memory, server={**old.server, **server}, exchanges=exchanges)


@dataclass(frozen=True, eq=False)
class ResumedRun(Run):
    """A run from a later round on; the state it begins at was measured already. ``closely``: more, at some rounds."""

    closely: Mapping[int, Sequence[Measurement]] = field(default_factory=dict)

    @cached_property
    def _quantities(self) -> Mapping[str, str]:
        every = (*self.measurements, *(m for found in self.closely.values() for m in found))
        return quantities({m.name: m for m in every}.values())

    def _read(self, snapshot: Snapshot, folds: dict[str, Folded], due: bool) -> list[Row]:
        if snapshot.work is None:
            return []
        rows = super()._read(snapshot, folds, due)
        at = snapshot.state.round
        for m in self.closely.get(at, ()):
            rows += self._rows(m, m.read(snapshot), at)
        return rows


def own_models_accuracy(s: Snapshot) -> Readings:
    """The clients' own models on their own test samples: of FedRep and Ditto the personal ones."""
    assert s.problem.own_tests is not None
    rows = s.algorithm.own_models(s.state)[torch.from_numpy(s.active)] if s.algorithm.personal else s.rows
    return per_client(evaluation.own(s.problem.model, rows, s.active, s.problem.own_tests).right, s.active)


OWN = Measurement("local_accuracy_own", own_models_accuracy, sampled, by_client=True, local=True, tests="own")


class FirstRounds(NamedTuple):
    """The state after the first rounds and what was measured on the way; no state for a run that diverged."""

    state: State | None
    rows: tuple[Row, ...]


def beginning(plan: SharedRun, first: str, after: int, every: int, measure: tuple[str, ...]) -> Run:
    """``after`` rounds of ``first``; the clients' last models are kept too, for whoever goes on with them."""
    dealt, method, found = plan.deal(), read_algorithm(first), [measurement(name) for name in measure]
    if LAST not in method.remember:
        method = replace(method, remember=(*method.remember, LAST))
    return Run(dealt, method, plan.rounds(after, dealt.clients), plan.seed, found, every, plan.problem)


@lru_cache(maxsize=BEGUN)
def begun(plan: SharedRun, first: str, after: int, every: int, measure: tuple[str, ...]) -> FirstRounds:
    """Where that leads."""
    state, rows = None, []
    for reached, told in beginning(plan, first, after, every, measure):
        state = reached
        rows += told
    return FirstRounds(None if status(rows) == "diverged" else state, tuple(rows))


def continuing(plan: SharedRun, algorithm: str, state: State) -> Continued:
    """``algorithm`` from ``state`` on."""
    method = read_algorithm(algorithm)
    return Continued(**{f.name: getattr(method, f.name) for f in fields(method)}, begun=state)


@job("continued", version=1, setting="empirics.training.setting:Setting")
def continued(
    problem: str,
    first: str,
    after: int,
    algorithm: str,
    rounds: int,
    seed: int,
    measure: Sequence[str],
    partition: str = "iid",
    clients: int | None = None,
    cohort: int | None = None,
    client_weight: str = "uniform",
    local_test: str = "none",
    augment: str | None = None,
    every: int = 1,
    closely: Sequence[str] = (),
    closely_at: Sequence[int] = (),
    engine: str = "torch",
    **setting: Any,
) -> Outcome:
    """``after`` rounds of ``first``, then ``algorithm`` until round ``rounds``, with one seed, on one thread.

    ``measure`` is read every ``every`` rounds before the change and after every round from then on, ``closely`` after
    the rounds ``closely_at`` alone. ``engine`` is one of ``ENGINES``.
    """
    told = tuple(sorted(setting.items()))
    plan = SharedRun(problem, partition, clients, cohort, client_weight, local_test, augment, seed, told, engine)
    before = begun(plan, first, after, every, tuple(measure))
    if before.state is None:
        return Outcome(columns(before.rows), {}, "diverged")
    dealt = plan.deal()
    more = {at: [OWN if name == OWN.name else measurement(name) for name in closely] for at in closely_at}
    run = ResumedRun(
        dealt,
        continuing(plan, algorithm, before.state),
        plan.rounds(rounds - after, dealt.clients),
        seed,
        [measurement(m) for m in measure],
        1,
        problem,
        closely=more,
    )
    rows = [row._replace(round=row.round + after) if row.quantity == "diverged" else row for row in run.rows()]
    facts = {**engine_fact(dealt), "first": first, "algorithm": run.algorithm.name, "parameters": dealt.model.dim}
    return Outcome(columns([*before.rows, *rows]), facts, status(rows))
