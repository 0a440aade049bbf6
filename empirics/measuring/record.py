"""Training with measurements: ``Run`` yields the states of a run and the rows measured at them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bounds.weights import Weights

from ..algorithms.algorithm import Algorithm, GradientAt, Work
from ..algorithms.state import State
from ..errors import Diverged, EmpiricsError
from ..numbers import check_options
from ..problems.problem import FederatedProblem
from ..sizes import refuse_beyond_memory, ROW
from ..training.engines.precision import full_precision
from ..training.rounds import rounds
from ..training.setting import Setting
from .core import Measurement, quantities, Reading, Readings, refuse_untested, Snapshot
from .table import Row

SHARE = 0.05
"""The cost of measuring at the default period, at most, as a share of the cost of training."""
STEP_COST = 3.0
"""The cost of a step on a sample, in forward passes."""
ROUND_OVERHEAD = 4600
"""The overhead of one measured round for a stacked model, in forward passes."""
MOST_PATH = 1 << 31
"""Maximum bytes of the models after every local step of one round."""


class RunningMean(NamedTuple):
    """The weighted mean of ``entries`` vectors; ``total`` is the sum of their weights over the last one's weight.

    Only ratios of successive weights are used, so that weights cannot overflow.
    """

    mean: Tensor
    total: float = 0.0
    entries: int = 0

    def add(self, further: Tensor, weights: Weights) -> RunningMean:
        """Return the mean with the entries ``further (n, d)`` added in their order."""
        mean, total, count = self
        for entry in further:
            total = 1.0 + (total / weights.growth_at(count) if count else 0.0)
            mean, count = mean + (entry - mean) / total, count + 1
        return RunningMean(mean, total, count)


@dataclass
class Recorder:
    """Records the last round of a run, models before every local step, last local models, and means of averages."""

    record_path: bool = False
    last: Tensor | None = None
    means: dict[Weights, RunningMean] = field(default_factory=dict)
    work: Work | None = None
    ends: Tensor | None = None
    steps: dict[int, list[Tensor]] = field(default_factory=dict)

    def round(self, work: Work, ends: Tensor, state: State) -> None:
        """Called by the training loop after every round."""
        self.work, self.ends = work, ends
        if self.last is not None:
            self.last[work.client_index] = ends

    def step(self, clients: np.ndarray, w: Tensor) -> None:
        """Called before every local step with the models of clients, including some that do not take it."""
        for client, row in {int(k): row for k, row in zip(clients, w, strict=True)}.items():
            self.steps.setdefault(client, []).append(row.clone())

    def take_path(self) -> Tensor | None:
        """Return and reset the models before every local step of the round ``(rows, K, d)``."""
        if not self.steps or self.work is None:
            return None
        most = int(self.work.steps.max())
        path = self.work.starts.new_zeros(len(self.work.clients), most, self.work.starts.shape[1])
        for row, (client, steps) in enumerate(zip(self.work.clients, self.work.steps, strict=True)):
            path[row, :steps] = torch.stack(self.steps[int(client)][:steps])
        self.steps = {}
        return path

    def add_to_means(self, path: Tensor, all_weights: Iterable[Weights]) -> None:
        """Add the participants' averages before every local step of the last round to the means over the run."""
        assert self.work is not None
        averaged = self.work.counts > 0
        weights = self.work.weights[averaged].double()
        virtual = torch.einsum("r,rsd->sd", weights / weights.sum(), path[averaged].double())
        for each in all_weights:
            mean = self.means.get(each) or RunningMean(torch.zeros_like(virtual[0]))
            self.means[each] = mean.add(virtual, each)

    @property
    def averages(self) -> dict[Weights, Tensor]:
        """The means of all averages so far, by their weights."""
        return {weights: running.mean for weights, running in self.means.items()}


@dataclass(frozen=True, eq=False)
class RecordedDirection:
    """A direction that passes the models before each step to ``recorder``."""

    direction: Callable[[Work, Tensor, Tensor, GradientAt], Tensor]
    recorder: Recorder

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        if self.recorder.record_path:
            self.recorder.step(work.clients, w)
        return self.direction(work, w, gradient, gradient_at)


@dataclass
class Folded:
    """The sum or mean over rounds of readings by client, layer and step; ``how`` is their measurement's ``over``."""

    how: str
    total: dict[tuple[Any, ...], float] = field(default_factory=dict)
    count: int = 0

    def add(self, readings: Readings) -> None:
        for r in readings:
            self.total[r[1:]] = self.total.get(r[1:], 0.0) + r.value
        self.count += 1

    def readings(self) -> list[Reading]:
        scale = 1.0 if self.how == "sum" else 1.0 / max(1, self.count)
        return [Reading(value * scale, *key) for key, value in self.total.items()]


class Reached(NamedTuple):
    """All that the later rounds of a run and their measurements depend on.

    ``last`` (local models), ``folds`` and ``means`` (of the virtual averages) are kept for measurements; ``largest`` is
    the largest finite model norm so far, ``seconds`` the time of training.
    """

    state: State
    last: Tensor | None
    folds: Mapping[str, Folded]
    largest: float
    seconds: float
    means: Mapping[Weights, RunningMean]


@dataclass(frozen=True, eq=False)
class Run:
    """A run of one algorithm on one problem with one seed; iterate to train and to get each measured round's rows.

    ``every`` is the number of rounds between two measurements (None: chosen to keep measuring cheap); the start and the
    last round are always measured. A run that diverges ends with a row ``diverged``. ``resume_from`` is a state to
    continue from, which has been measured before. ``keep`` is called with the state after the last round, and after
    rounds for which ``keep_now()`` is true; its argument is valid until the next round.
    """

    problem: FederatedProblem
    algorithm: Algorithm
    setting: Setting
    seed: int
    measurements: Sequence[Measurement]
    every: int | None = None
    experiment: str = ""
    resume_from: Reached | None = None
    keep: Callable[[Reached], object] | None = None
    keep_now: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        if self.setting.client_weight != self.problem.client_weight:
            raise EmpiricsError(
                f"the setting averages by client_weight={self.setting.client_weight!r}, the global loss of "
                f"{self.problem} by {self.problem.client_weight!r}: use the same weights"
            )
        check_options({"seed": self.seed, "every": self.every})
        refuse_untested(self.problem, self.measurements)
        clients = min(self.setting.cohort, self.problem.clients)
        rows = self.setting.rounds / self.period * sum(clients if m.by_client else 1 for m in self.measurements)
        what = f"the table of a run of {self.setting.rounds} rounds"
        refuse_beyond_memory(ROW * rows, what, "take fewer rounds, or a larger every")

    @cached_property
    def _quantities(self) -> Mapping[str, str]:
        return quantities(self.measurements)

    @property
    def period(self) -> int:
        """The number of rounds between two measurements; by default they cost at most ``SHARE`` of training."""
        if self.every is not None:
            return self.every
        sizes, setting = self.problem.federation.client_sizes, self.setting
        passes = setting.local_epochs
        samples = setting.steps * setting.batch if passes is None else float(np.mean(sizes)) * passes
        overhead = ROUND_OVERHEAD if self.problem.model.stacked else 0
        measured = overhead + sum(m.cost for m in self.measurements if not m.over) * float(np.sum(sizes))
        return max(1, math.ceil(measured / (SHARE * (STEP_COST * setting.cohort * samples))))

    def rows(self) -> list[Row]:
        """All rows of the whole run."""
        return [row for _, rows in self for row in rows]

    def __iter__(self) -> Iterator[tuple[State, list[Row]]]:
        """Every state, with the rows measured at it (none between two measurements)."""
        period, reached = self.period, self.resume_from
        recorder, folds = Recorder(), {m.name: Folded(m.over) for m in self.measurements if m.over}
        averages = {m.average for m in self.measurements if m.average is not None}
        always = bool(averages) or any(m.path and m.over for m in self.measurements)
        largest, earlier_seconds = 0.0, 0.0
        if reached is not None:
            folds |= {name: replace(fold, total=dict(fold.total)) for name, fold in reached.folds.items()}
            recorder.last = None if reached.last is None else reached.last.clone()
            recorder.means = dict(reached.means)
            largest, earlier_seconds = reached.largest, reached.seconds

        def due(round_: int) -> bool:
            return round_ % period == 0 or round_ == self.setting.rounds

        try:
            for state, seconds_now in _timed(self._states(recorder)):
                seconds = earlier_seconds + seconds_now
                if self.keep is not None:
                    largest = max(largest, float(state.model.norm()))
                if reached is not None and state.round == reached.state.round:
                    recorder.record_path = always or due(state.round + 1)
                    continue
                if state.round == 0 and any(m.last for m in self.measurements):
                    recorder.last = state.model.expand(self.problem.clients, -1).clone()
                path = recorder.take_path()
                if averages and path is not None:
                    recorder.add_to_means(path, averages)
                snapshot = Snapshot(
                    self.problem, self.algorithm, self.setting, state, recorder.work, recorder.ends, path,
                    recorder.last, seconds, recorder.averages,
                )  # fmt: skip
                with full_precision(self.problem.device):
                    rows = self._measured(snapshot, folds, due(state.round))
                yield state, rows
                recorder.record_path = always or due(state.round + 1)
                ended = state.round == self.setting.rounds
                if self.keep is not None and (ended or (self.keep_now is not None and self.keep_now())):
                    self.keep(Reached(state, recorder.last, folds, largest, seconds, recorder.means))
        except Diverged as error:
            yield self._diverged(error)

    def _states(self, recorder: Recorder) -> Iterator[State]:
        """The states of the training run, with ``recorder`` called after every round and, if needed, every step."""
        algorithm = self._recorded(recorder) if any(m.path for m in self.measurements) else self.algorithm
        model, federation = self.problem.model, self.problem.federation
        start = self.resume_from and (self.resume_from.state, self.resume_from.largest)
        return rounds(model, federation, algorithm, self.setting, self.seed, None, recorder.round, start)

    def _measured(self, snapshot: Snapshot, folds: dict[str, Folded], due: bool) -> list[Row]:
        """The rows of the measurements that are due at a state."""
        rows: list[Row] = []
        for m in self.measurements:
            fold, at = folds.get(m.name), snapshot.state.round
            if (m.local and at == 0) or not (fold or due):
                continue
            readings = m.readings(snapshot)
            if fold is not None:
                before = fold.readings()
                fold.add(readings)
                readings = before if m.over == "earlier" else fold.readings()
            rows += self._rows(m, readings, at) if due else []
        return rows

    def _rows(self, m: Measurement, readings: Readings, round_: int) -> list[Row]:
        exactness = str(m.exactness(self.problem, self.algorithm, self.setting))
        name, word = (self.experiment or str(self.problem), self.algorithm.name), self._quantities[m.name]
        return [Row(*name, self.seed, round_, r.step, r.client, r.layer, word, r.value, exactness) for r in readings]

    def _diverged(self, error: Diverged) -> tuple[State, list[Row]]:
        name = (self.experiment or str(self.problem), self.algorithm.name)
        row = Row(*name, self.seed, error.round, None, None, "", "diverged", error.largest, "exact")
        return State(error.round, torch.full((self.problem.model.dim,), math.nan), {}, {}), [row]

    def _recorded(self, recorder: Recorder) -> Algorithm:
        steps = int(self.setting.planned(self.problem.federation.client_sizes).max())
        size = self.setting.cohort * steps * self.problem.model.dim * 8
        if size > MOST_PATH:
            raise EmpiricsError(
                f"storing {self.setting.cohort} clients' models after each of {steps} local steps "
                f"takes {size / 1e9:.1f} GB; leave out {', '.join(m.name for m in self.measurements if m.path)}"
            )
        return replace(self.algorithm, direction=RecordedDirection(self.algorithm.direction, recorder))


def _timed(states: Iterator[State]) -> Iterator[tuple[State, float]]:
    """Every state, and the seconds spent on computing states so far, without the time of their consumer."""
    seconds = 0.0
    while True:
        begin = time.perf_counter()
        state = next(states, None)
        seconds += time.perf_counter() - begin
        if state is None:
            return
        yield state, seconds
