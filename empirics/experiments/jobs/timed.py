"""Cells of runs that last a given simulated time: every schedule of local steps gets the same seconds by eq. (5)."""

from __future__ import annotations

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
from ...problems.evaluation import every_model, Samples
from ...problems.problem import FederatedProblem
from ...streams import stream
from ...training.rounds import rounds
from .. import Outcome
from ..registry import job
from .train import SharedRun

SLACK = 1 + 1e-9
"""What rounding may add to a time that a round must keep to."""
VALIDATIONS = 10
"""Over which validation accuracy is averaged before it is compared with as many before."""


def times(seconds: float, points: int) -> list[float]:
    """When a run is measured: more often at first, where it changes fastest."""
    return [seconds * (j / points) ** 2 for j in range(points + 1)]


@dataclass
class Plateau:
    """Whether validation accuracy has stopped improving, which is measured every ``every`` rounds (0: never).

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
        if not self.every or self.reached or state.round % self.every:
            return
        tested = every_model(self.problem.model, state.model.unsqueeze(0), need_test(self.problem))
        self.right.append(float(tested.right))
        late, before = self.right[-VALIDATIONS:], self.right[-2 * VALIDATIONS : -VALIDATIONS]
        self.reached = len(before) == VALIDATIONS and sum(late) <= sum(before)

    def watched_by(self, algorithm: Algorithm) -> Algorithm:
        """The algorithm whose step schedules decay when it says so."""
        if not self.every:
            return algorithm
        if not isinstance(algorithm.steps, ScheduledSteps):
            raise EmpiricsError(f"validated needs scheduled(...); got {algorithm.name}")
        return replace(algorithm, steps=replace(algorithm.steps, stalled=self))


@dataclass
class TimedReadings:
    """The table under construction: at every due time, what the server's model held then is worth."""

    problem: FederatedProblem
    probe: Samples
    rows: list[tuple[int, str, float]] = field(default_factory=list)
    _last: tuple[int, float, float] | None = None

    def add(self, at: float, state: State, steps: int) -> None:
        """The values at time ``at``; a model that is still in force is not evaluated again."""
        if self._last is None or self._last[0] != state.round:
            model, row = self.problem.model, state.model.unsqueeze(0)
            loss = float(every_model(model, row, self.probe).loss)
            self._last = state.round, loss, float(every_model(model, row, need_test(self.problem)).right)
        _, loss, right = self._last
        told = {"runtime": at, "train_loss": loss, "test_accuracy": right, "local_steps": float(steps)}
        self.rows += [(state.round, name, value) for name, value in told.items()]

    def columns(self) -> dict[str, list[Any]]:
        found = dict(zip(("round", "quantity", "value"), map(list, zip(*self.rows, strict=True)), strict=True))
        return {**found, "layer": [""] * len(self.rows), "client": [None] * len(self.rows),
                "step": [None] * len(self.rows)}  # fmt: skip


@job("timed", version=1, setting="empirics.experiments.jobs.train:SharedRun empirics.training.setting:Setting")
def timed(
    algorithm: str,
    seconds: float,
    points: int,
    minibatch_time: float,
    model_size: float,
    download_rate: float = 20.0,
    upload_rate: float = 5.0,
    probe: int | None = None,
    validated: int = 0,
    **shared: Any,
) -> Outcome:
    """One training run with one seed for as many rounds as end within ``seconds``, measured ``points`` + 1 times.

    Sizes are in megabit, rates in Mbit/s. Step schedules decay by their rolling loss, or with ``validated`` by
    validation accuracy at intervals of rounds.

    The training loss is that of ``probe`` training samples, the same ones for every algorithm (None: of all). The other
    words are those of ``SharedRun``.
    """
    check_options({"points": points, "probe": probe})
    plan = SharedRun.of(shared)
    dealt, seed = plan.deal(), plan.seed

    def clock(rounds: int, steps: int) -> float:
        """Simulated seconds after some rounds and local steps, for identical clients."""
        return float(
            runtime(
                rounds=rounds,
                iterations=steps,
                model_size=model_size,
                download_rate=download_rate,
                upload_rate=upload_rate,
                minibatch_time=minibatch_time,
            )
        )

    most = int(seconds * SLACK / clock(1, 1))  # rounds of one local step each: no schedule has more
    if most < 1:
        raise EmpiricsError(f"seconds must leave time for a round, {clock(1, 1):.3g} s; got {seconds:g}")
    table = TimedReadings(dealt, Samples(probed(dealt.federation, probe, seed)))
    plateau = Plateau(dealt, checked("timed: validated", validated, COUNT) if validated else 0)
    method, setting = plateau.watched_by(read_algorithm(algorithm)), plan.rounds(most, dealt.clients)
    facts, due, taken = {"clients": dealt.clients, "parameters": dealt.model.dim}, times(seconds, points), 0

    def count(work: Work, ends: torch.Tensor, after: State) -> None:
        nonlocal taken
        taken += int(work.steps.max())

    states = rounds(dealt.model, dealt.federation, method, setting, seed, watch=count)
    held, steps = next(states), 0  # the last model that is there in time, and the local steps of a participant until it
    try:
        for state in states:
            plateau.validate(state)
            now = clock(state.round, taken)
            while due and now > due[0] * SLACK:
                table.add(due.pop(0), held, steps)
            if not due:
                break
            held, steps = state, taken
    except Diverged as stop:
        table.rows.append((stop.round, "diverged", stop.largest))
        return Outcome(table.columns(), facts, "diverged")
    for at in due:
        table.add(at, held, steps)
    return Outcome(table.columns(), {**facts, "rounds": held.round, "local_steps": steps})


def probed(federation: Federation, many: int | None, seed: int) -> Federation:
    """The pool with ``many`` of the samples that the clients hold, drawn by the seed, in one client."""
    if many is None or many >= len(federation.members):
        chosen = np.arange(len(federation.members))
    else:
        chosen = np.sort(stream(seed, "probe").permutation(len(federation.members))[:many])
    members = federation.members[torch.from_numpy(chosen)]
    return replace(federation, members=members, offsets=np.array([0, len(members)]))
