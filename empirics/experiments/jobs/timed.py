"""The job ``timed``: training for a given simulated time, by Decaying-K (5), to compare schedules of local steps."""

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
"""Tolerance for rounding errors of times."""
VALIDATIONS = 10
"""The number of validations in each of the two means that are compared."""


def times(seconds: float, points: int) -> list[float]:
    """The times at which a run is measured, more frequent at the start, where it changes fastest."""
    return [seconds * (j / points) ** 2 for j in range(points + 1)]


@dataclass
class Plateau:
    """Detects that validation accuracy, measured every ``every`` rounds (0: never), has stopped improving.

    This is when its mean over ``VALIDATIONS`` validations is not above that of as many before (our choice: the paper
    gives no number). Calling the object tells whether it is so.
    """

    problem: FederatedProblem
    every: int
    right: list[float] = field(default_factory=list)
    reached: bool = False

    def __call__(self) -> bool:
        return self.reached

    def validate(self, state: State) -> None:
        """Validate a round's model, if it is due."""
        if not self.every or self.reached or state.round % self.every:
            return
        means = every_model(self.problem.model, state.model.unsqueeze(0), need_test(self.problem))
        self.right.append(float(means.right))
        late, before = self.right[-VALIDATIONS:], self.right[-2 * VALIDATIONS : -VALIDATIONS]
        self.reached = len(before) == VALIDATIONS and sum(late) <= sum(before)

    def watched_by(self, algorithm: Algorithm) -> Algorithm:
        """The algorithm with a schedule of steps that decays at the plateau."""
        if not self.every:
            return algorithm
        if not isinstance(algorithm.steps, ScheduledSteps):
            raise EmpiricsError(f"validated needs scheduled(...); got {algorithm.name}")
        return replace(algorithm, steps=replace(algorithm.steps, stalled=self))


@dataclass
class TimedReadings:
    """The table under construction: loss and accuracy of the server's model at every measured time."""

    problem: FederatedProblem
    probe: Samples
    rows: list[tuple[int, str, float]] = field(default_factory=list)
    _last: tuple[int, float, float] | None = None

    def add(self, at: float, state: State, steps: int) -> None:
        """Add the values at time ``at``; a model is evaluated only once."""
        if self._last is None or self._last[0] != state.round:
            model, row = self.problem.model, state.model.unsqueeze(0)
            loss = float(every_model(model, row, self.probe).loss)
            self._last = state.round, loss, float(every_model(model, row, need_test(self.problem)).right)
        _, loss, right = self._last
        values = {"runtime": at, "train_loss": loss, "test_accuracy": right, "local_steps": float(steps)}
        self.rows += [(state.round, name, value) for name, value in values.items()]

    def columns(self) -> dict[str, list[Any]]:
        table = dict(zip(("round", "quantity", "value"), map(list, zip(*self.rows, strict=True)), strict=True))
        return {**table, "layer": [""] * len(self.rows), "client": [None] * len(self.rows),
                "step": [None] * len(self.rows)}  # fmt: skip


@job("timed", version=1, shared=True)
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
    """Train with one seed for as many rounds as end within ``seconds``, and measure ``points`` + 1 times.

    Sizes are in megabit, rates in Mbit/s. Schedules of steps decay by their rolling loss, or by validation accuracy
    every ``validated`` rounds if that is positive. The training loss is over ``probe`` training samples, the same for
    every algorithm (None: all). Other arguments are those of ``SharedRun``.
    """
    check_options({"points": points, "probe": probe})
    plan = SharedRun.of(shared)
    dealt, seed = plan.deal(), plan.seed

    def clock(rounds: int, steps: int) -> float:
        """Simulated seconds after some rounds and local steps, for identical clients."""
        time = runtime(
            rounds=rounds, iterations=steps, model_size=model_size, download_rate=download_rate,
            upload_rate=upload_rate, minibatch_time=minibatch_time,
        )  # fmt: skip
        return float(time)

    most = int(seconds * SLACK / clock(1, 1))  # the number of rounds of one local step
    if most < 1:
        raise EmpiricsError(f"seconds must be at least the time of a round, {clock(1, 1):.3g} s; got {seconds:g}")
    table = TimedReadings(dealt, Samples(some_samples(dealt.federation, probe, seed)))
    plateau = Plateau(dealt, checked("timed: validated", validated, COUNT) if validated else 0)
    method, setting = plateau.watched_by(read_algorithm(algorithm)), plan.setting_for(most, dealt.clients)
    facts, due, total_steps = {"clients": dealt.clients, "parameters": dealt.model.dim}, times(seconds, points), 0

    def count(work: Work, ends: torch.Tensor, after: State) -> None:
        nonlocal total_steps
        total_steps += int(work.steps.max())

    states = rounds(dealt.model, dealt.federation, method, setting, seed, watch=count)
    current, steps = next(states), 0  # the newest state at the due time, and the local steps of a participant before it
    try:
        for state in states:
            plateau.validate(state)
            now = clock(state.round, total_steps)
            while due and now > due[0] * SLACK:
                table.add(due.pop(0), current, steps)
            if not due:
                break
            current, steps = state, total_steps
    except Diverged as divergence:
        table.rows.append((divergence.round, "diverged", divergence.largest))
        return Outcome(table.columns(), facts, "diverged")
    for at in due:
        table.add(at, current, steps)
    return Outcome(table.columns(), {**facts, "rounds": current.round, "local_steps": steps})


def some_samples(federation: Federation, count: int | None, seed: int) -> Federation:
    """A federation of one client with ``count`` of all clients' samples, drawn by the seed (None: all)."""
    index = np.arange(len(federation.members))
    if count is not None and count < len(index):
        index = np.sort(stream(seed, "probe").permutation(len(index))[:count])
    members = federation.members[torch.from_numpy(index)]
    return replace(federation, members=members, offsets=np.array([0, len(members)]))
