"""The job ``continued``: some rounds of one method, then of another from the same state.

Runs with the same first rounds share them in a cache of every worker, so that for twenty variants of a method they are
trained once. They depend on their arguments alone, so that all workers compute the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ...algorithms import algorithm as read_algorithm
from ...algorithms.algorithm import Algorithm, Rows
from ...algorithms.state import copy_state, State
from ...measuring import Measurement, measurement, Row, Run
from ...measuring.core import quantities, Snapshot
from ...measuring.record import Folded, Reached
from ...measuring.table import run_status
from .. import Outcome
from ..registry import job
from .train import columns, engine_fact, SharedRun

BEGUN = 16
"""The number of first rounds in a worker's cache."""
LAST = Rows("last")


def carried(method: Algorithm, old: State, clients: int) -> State:
    """Return a copy of the state ``old`` from which ``method`` can continue, with new memories where it has none."""
    new = method.begin(old.model, clients)
    memory = {key: old.memory.get(key, rows) for key, rows in new.memory.items()}
    server = {key: old.server.get(key, vector) for key, vector in new.server.items()}
    exchanges = {key: old.exchanges.get(key, exchange) for key, exchange in new.exchanges.items()}
    return copy_state(old._replace(memory=memory, server={**old.server, **server}, exchanges=exchanges))


@dataclass(frozen=True, eq=False)
class CloselyRead(Run):
    """A run with further measurements after some rounds: ``closely`` has them by round."""

    closely: Mapping[int, Sequence[Measurement]] = field(default_factory=dict)

    @cached_property
    def _quantities(self) -> Mapping[str, str]:
        every = (*self.measurements, *(m for further in self.closely.values() for m in further))
        return quantities({m.name: m for m in every}.values())

    def _measured(self, snapshot: Snapshot, folds: dict[str, Folded], due: bool) -> list[Row]:
        at = snapshot.state.round
        more = (row for m in self.closely.get(at, ()) for row in self._rows(m, m.readings(snapshot), at))
        return [*super()._measured(snapshot, folds, due), *more]


class FirstRounds(NamedTuple):
    """The state after the first rounds (None if the run diverged), and the rows measured on the way."""

    state: State | None
    rows: tuple[Row, ...]


def beginning(plan: SharedRun, first: str, after: int, every: int, measure: tuple[str, ...]) -> Run:
    """A run of ``after`` rounds of ``first``, which also keeps the clients' last models, for methods that need them."""
    problem, method, measurements = plan.deal(), read_algorithm(first), [measurement(name) for name in measure]
    if LAST not in method.remember:
        method = replace(method, remember=(*method.remember, LAST))
    return Run(problem, method, plan.setting_for(after, problem.clients), plan.seed, measurements, every, plan.problem)


@lru_cache(maxsize=BEGUN)
def begun(plan: SharedRun, first: str, after: int, every: int, measure: tuple[str, ...]) -> FirstRounds:
    """Train the run of ``beginning``, cached."""
    state, rows = None, []
    for after_round, measured in beginning(plan, first, after, every, measure):
        state = after_round
        rows += measured
    return FirstRounds(None if rows and rows[-1].quantity == "diverged" else state, tuple(rows))


@job("continued", version=1, shared=True)
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
    """Train ``after`` rounds of ``first``, then ``algorithm`` until round ``rounds``, with one seed, on one thread.

    The measurements ``measure`` are made every ``every`` rounds before the change and after every round from then on;
    those of ``closely`` after the rounds ``closely_at``. Other arguments are those of ``SharedRun``.
    """
    plan = SharedRun.of(shared)
    before = begun(plan, first, after, every, tuple(measure))
    if before.state is None:
        return Outcome(columns(before.rows), {}, "diverged")
    problem, method = plan.deal(), read_algorithm(algorithm)
    state = carried(method, before.state, problem.clients)
    run = CloselyRead(
        problem, method, plan.setting_for(rounds, problem.clients), plan.seed, [measurement(m) for m in measure], 1,
        plan.problem, Reached(state, None, {}, float(before.state.model.norm()), 0.0, {}),
        closely={at: [measurement(name) for name in closely] for at in closely_at},
    )  # fmt: skip
    rows = [*before.rows, *run.rows()]
    facts = {**engine_fact(problem), "first": first, "algorithm": method.name, "parameters": problem.model.dim}
    return Outcome(columns(rows), facts, run_status(rows))
