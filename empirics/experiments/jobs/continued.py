"""Runs that change their method: some rounds of one, then of another, from the very same state.

Runs with the same beginning share it: a worker keeps the last few, so that twenty variants of one method cost
twenty endings. A beginning depends on nothing but its arguments: whoever trains it, the numbers are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import torch

from ...algorithms import algorithm as read_algorithm
from ...algorithms.algorithm import Algorithm, Rows
from ...algorithms.state import copy_state, State
from ...measuring import Measurement, measurement, Row, Run
from ...measuring.core import quantities, sampled, Snapshot
from ...measuring.record import Folded, Reached
from ...problems import evaluation
from .. import Outcome
from ..registry import job
from .train import columns, engine_fact, SharedRun, status

BEGUN = 16
"""Beginnings that a worker keeps."""
LAST = Rows("last")


def carried(method: Algorithm, old: State, clients: int) -> State:
    """The state that a method goes on from: its memories are those of ``old``, and new where that has none.

    A copy of what is rewritten in place, which stays as it was for the next run.
    """
    fresh = method.begin(old.model, clients)
    memory = {key: old.memory.get(key, rows) for key, rows in fresh.memory.items()}
    server = {key: old.server.get(key, vector) for key, vector in fresh.server.items()}
    exchanges = {key: old.exchanges.get(key, exchange) for key, exchange in fresh.exchanges.items()}
    return copy_state(old._replace(memory=memory, server={**old.server, **server}, exchanges=exchanges))


@dataclass(frozen=True, eq=False)
class CloselyRead(Run):
    """A run that is measured more closely at some rounds."""

    closely: Mapping[int, Sequence[Measurement]] = field(default_factory=dict)

    @cached_property
    def _quantities(self) -> Mapping[str, str]:
        every = (*self.measurements, *(m for found in self.closely.values() for m in found))
        return quantities({m.name: m for m in every}.values())

    def _measured(self, snapshot: Snapshot, folds: dict[str, Folded], due: bool) -> list[Row]:
        at = snapshot.state.round
        more = (row for m in self.closely.get(at, ()) for row in self._rows(m, m.readings(snapshot), at))
        return [*super()._measured(snapshot, folds, due), *more]


def own_models_accuracy(s: Snapshot) -> torch.Tensor:
    """The clients' own models on their own test samples: of FedRep and Ditto the personal ones."""
    assert s.problem.own_tests is not None
    rows = s.algorithm.own_models(s.state)[torch.from_numpy(s.active)] if s.algorithm.personal else s.rows
    return evaluation.own_models(s.problem.model, rows, s.active, s.problem.own_tests).right


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


@job("continued", version=1, setting="empirics.experiments.jobs.train:SharedRun empirics.training.setting:Setting")
def continued(
    first: str,
    after: int,
    algorithm: str,
    rounds: int,
    measure: Sequence[str],
    every: int = 1,
    closely: Sequence[str] = (),
    closely_at: Sequence[int] = (),
    **shared: Any,
) -> Outcome:
    """``after`` rounds of ``first``, then ``algorithm`` until round ``rounds``, with one seed, on one thread.

    ``measure`` is read every ``every`` rounds before the change and after every round from then on, ``closely`` after
    the rounds ``closely_at`` alone. The other words are those of ``SharedRun``.
    """
    plan = SharedRun.of(shared)
    before = begun(plan, first, after, every, tuple(measure))
    if before.state is None:
        return Outcome(columns(before.rows), {}, "diverged")
    dealt, method = plan.deal(), read_algorithm(algorithm)
    run = CloselyRead(
        dealt,
        method,
        plan.rounds(rounds, dealt.clients),
        plan.seed,
        [measurement(m) for m in measure],
        1,
        plan.problem,
        Reached(carried(method, before.state, dealt.clients), None, {}, float(before.state.model.norm()), 0.0, {}),
        closely={at: [OWN if name == OWN.name else measurement(name) for name in closely] for at in closely_at},
    )
    rows = run.rows()
    facts = {**engine_fact(dealt), "first": first, "algorithm": method.name, "parameters": dealt.model.dim}
    return Outcome(columns([*before.rows, *rows]), facts, status(rows))
