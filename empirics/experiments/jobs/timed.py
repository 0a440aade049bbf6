"""Cells of runs that last a given simulated time: every schedule of local steps gets the same seconds by eq. (5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from bounds.decaying_k.runtime import runtime
from bounds.domains import COUNT

from ...algorithms import algorithm as read_algorithm
from ...algorithms.algorithm import Algorithm, Work
from ...algorithms.scheduled import ScheduledSteps
from ...algorithms.state import State
from ...errors import Diverged, EmpiricsError
from ...federation.federation import Federation
from ...measuring.core import need_test
from ...numbers import check_options, checked
from ...problems.evaluation import each, Samples
from ...problems.problem import FederatedProblem
from ...streams import stream
from ...training.engines import in_process
from ...training.rounds import rounds
from ...training.setting import Setting
from .. import Outcome
from ..registry import job
from .train import by_engine, loaded, planned

SLACK = 1 + 1e-9
"""What rounding may add to a time that a round must keep to."""
VALIDATIONS = 10
"""Over which validation accuracy is averaged before it is compared with as many before."""
QUANTITIES = ("runtime", "train_loss", "test_accuracy", "local_steps")


@dataclass(frozen=True)
class Clock:
    """Simulated seconds after some rounds and local steps, for identical clients; sizes in megabit, rates in Mbit/s."""

    minibatch_time: float
    model_size: float
    download_rate: float
    upload_rate: float

    def __call__(self, rounds: int, steps: int) -> float:
        return float(
            runtime(
                rounds=rounds,
                iterations=steps,
                model_size=self.model_size,
                download_rate=self.download_rate,
                upload_rate=self.upload_rate,
                minibatch_time=self.minibatch_time,
            )
        )

    def rounds(self, seconds: float) -> int:
        """Rounds of one local step each that fit: no schedule has more."""
        most = int(seconds * SLACK / self(1, 1))
        if most < 1:
            raise EmpiricsError(f"seconds must leave time for a round, {self(1, 1):.3g} s; got {seconds:g}")
        return most


def times(seconds: float, points: int) -> list[float]:
    """When a run is measured: more often at first, where it changes fastest."""
    return [seconds * (j / points) ** 2 for j in range(points + 1)]


@dataclass
class Counted:
    """Local steps of a participant so far."""

    steps: int = 0

    def __call__(self, work: Work, ends: torch.Tensor, after: State) -> None:
        self.steps += int(work.steps.max())


@dataclass
class Plateau:
    """Whether validation accuracy has stopped improving, which is measured every ``every`` rounds.

    So it has once its mean over ``VALIDATIONS`` looks is not above that over as many before; the paper gives no number.
    """

    problem: FederatedProblem
    every: int
    right: list[float] = field(default_factory=list)
    reached: bool = False

    def __call__(self) -> bool:
        return self.reached

    def validate(self, state: State) -> None:
        """Look at a round's model, if it is due."""
        if self.reached or state.round % self.every:
            return
        tested = each(self.problem.model, state.model.unsqueeze(0), need_test(self.problem))
        self.right.append(float(tested.right))
        late, before = self.right[-VALIDATIONS:], self.right[-2 * VALIDATIONS : -VALIDATIONS]
        self.reached = len(before) == VALIDATIONS and sum(late) <= sum(before)

    def watched_by(self, algorithm: Algorithm) -> Algorithm:
        """The algorithm whose step schedules decay when it says so."""
        if not isinstance(algorithm.steps, ScheduledSteps):
            raise EmpiricsError(f"validated needs scheduled(...); got {algorithm.name}")
        return replace(algorithm, steps=replace(algorithm.steps, stalled=self))


@dataclass
class TimedReadings:
    """The table under construction: at every due time, what the server's model held then is worth."""

    problem: FederatedProblem
    probe: Samples
    round: list[int] = field(default_factory=list)
    quantity: list[str] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    _last: tuple[int, float, float] | None = None

    def add(self, at: float, state: State, steps: int) -> None:
        """The values at time ``at``; a model that is still in force is not evaluated again."""
        if self._last is None or self._last[0] != state.round:
            loss, right = self._worth(state)
            self._last = (state.round, loss, right)
        for name, value in zip(QUANTITIES, (at, *self._last[1:], float(steps)), strict=True):
            self.tell(name, state.round, value)

    def tell(self, quantity: str, round_: int, value: float) -> None:
        self.round.append(round_)
        self.quantity.append(quantity)
        self.value.append(value)

    def _worth(self, state: State) -> tuple[float, float]:
        model, row = self.problem.model, state.model.unsqueeze(0)
        return float(each(model, row, self.probe).loss), float(each(model, row, need_test(self.problem)).right)

    def columns(self) -> dict[str, list[Any]]:
        many = len(self.round)
        return {
            "round": self.round, "quantity": self.quantity, "value": self.value,
            "layer": [""] * many, "client": [None] * many, "step": [None] * many,
        }  # fmt: skip


@job("timed", version=1, setting="empirics.training.setting:Setting")
def timed(
    problem: str,
    algorithm: str,
    seconds: float,
    points: int,
    minibatch_time: float,
    model_size: float,
    seed: int,
    download_rate: float = 20.0,
    upload_rate: float = 5.0,
    partition: str = "iid",
    clients: int | None = None,
    cohort: int | None = None,
    augment: str | None = None,
    local_test: str = "none",
    probe: int | None = None,
    engine: str = "torch",
    validated: int = 0,
    **setting: Any,
) -> Outcome:
    """One training run with one seed for as many rounds as end within ``seconds``, measured ``points`` + 1 times.

    Step schedules decay by their rolling loss, or with ``validated`` by validation accuracy at intervals of rounds.

    The training loss is that of ``probe`` training samples, the same ones for every algorithm (None: of all).
    ``engine`` is that of a training run.
    """
    check_options({"points": points} | ({} if probe is None else {"probe": probe}))
    dealt = by_engine(loaded(problem).deal(partition, clients, seed, augment=augment, local_test=local_test), engine)
    clock = Clock(minibatch_time, model_size, download_rate, upload_rate)
    plan = planned(dealt.clients, clock.rounds(seconds), cohort, **setting)
    table = TimedReadings(dealt, Samples(probed(dealt.federation, probe, seed)))
    method, plateau = read_algorithm(algorithm), None
    if validated:
        plateau = Plateau(dealt, checked("timed: validated", validated, COUNT))
        method = plateau.watched_by(method)
    return _run(dealt, method, plan, seed, clock, times(seconds, points), table, plateau)


def _run(
    dealt: FederatedProblem,
    algorithm: Algorithm,
    plan: Setting,
    seed: int,
    clock: Clock,
    due: list[float],
    table: TimedReadings,
    plateau: Plateau | None,
) -> Outcome:
    counted, engine = Counted(), in_process(dealt.model, dealt.device)
    facts = {"clients": dealt.clients, "parameters": dealt.model.dim}
    try:
        states = rounds(dealt.model, dealt.federation, algorithm, plan, seed, engine, counted)
        last, steps = _watched(states, counted, clock, due, table, plateau)
    except Diverged as stop:
        table.tell("diverged", stop.round, stop.largest)
        return Outcome(table.columns(), facts, "diverged")
    return Outcome(table.columns(), {**facts, "rounds": last, "local_steps": steps})


def _watched(
    states: Iterator[State],
    counted: Counted,
    clock: Clock,
    due: list[float],
    table: TimedReadings,
    plateau: Plateau | None,
) -> tuple[int, int]:
    """Fill the table; the last round that ends in time and the local steps by then."""
    held, taken = next(states), 0
    for state in states:
        if plateau is not None:
            plateau.validate(state)
        now = clock(state.round, counted.steps)
        while due and now > due[0] * SLACK:
            table.add(due.pop(0), held, taken)
        if not due:
            break
        held, taken = state, counted.steps
    for at in due:
        table.add(at, held, taken)
    return held.round, taken


def probed(federation: Federation, many: int | None, seed: int) -> Federation:
    """The pool with ``many`` of the samples that the clients hold, drawn by the seed, in one client."""
    if many is None or many >= len(federation.members):
        chosen = np.arange(len(federation.members))
    else:
        chosen = np.sort(stream(seed, "probe").permutation(len(federation.members))[:many])
    members = federation.members[torch.from_numpy(chosen)]
    return replace(federation, members=members, offsets=np.array([0, len(members)]))
