"""Training under observation: states go by, measurements are read when they are due, rows come out."""

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
from ..training.engines.precision import full_precision
from ..training.rounds import rounds
from ..training.setting import Setting
from .core import Measurement, quantities, Reading, Readings, refuse_untested, Snapshot
from .table import Row

SHARE = 0.05
"""Measuring at the default cadence is planned to cost at most this share of training."""
TRAINING = 3.0
"""A step on a sample costs about three forward passes."""
OVERHEAD = 4600
"""Forward passes of a stacked model that the bookkeeping of one measured round weighs as much as."""
MOST_PATH = 1 << 31
"""Bytes that the models after every local step of one round may take."""


class RunningMean(NamedTuple):
    """The weighted mean of ``entries`` numbers so far; ``total`` is what they count, over what the last one counts.

    No weight is ever made, only what one counts over the one before: no plan is too long for floats.
    """

    mean: Tensor
    total: float = 0.0
    entries: int = 0

    def add(self, further: Tensor, weights: Weights) -> RunningMean:
        """With ``further (n, d)`` entries, one after another."""
        mean, total, count = self
        for entry in further:
            total = 1.0 + (total / weights.growth_at(count) if count else 0.0)
            mean, count = mean + (entry - mean) / total, count + 1
        return RunningMean(mean, total, count)


@dataclass
class Recorder:
    """What is recorded of a run: last round, models before every local step, last local models, means of averages."""

    path_wanted: bool = False
    last: Tensor | None = None
    means: dict[Weights, RunningMean] = field(default_factory=dict)
    work: Work | None = None
    ends: Tensor | None = None
    steps: dict[int, list[Tensor]] = field(default_factory=dict)

    def round(self, work: Work, ends: Tensor, state: State) -> None:
        """Called by the training loop after every round."""
        self.work, self.ends = work, ends
        if self.last is not None:
            self.last[work.rows] = ends  # in place: the others' rows need not be touched

    def step(self, clients: np.ndarray, w: Tensor) -> None:
        """Called before every local step with the models that take it, maybe among others."""
        for client, row in {int(k): row for k, row in zip(clients, w, strict=True)}.items():
            self.steps.setdefault(client, []).append(row.clone())

    def path(self) -> Tensor | None:
        """The models before every local step ``(rows, K, d)``; forgets them."""
        if not self.steps or self.work is None:
            return None
        most = int(self.work.steps.max())
        path = self.work.starts.new_zeros(len(self.work.clients), most, self.work.starts.shape[1])
        for row, (client, steps) in enumerate(zip(self.work.clients, self.work.steps, strict=True)):
            path[row, :steps] = torch.stack(self.steps[int(client)][:steps])
        self.steps = {}
        return path

    def add(self, path: Tensor, asked: Iterable[Weights]) -> None:
        """Add the participants' averages before every local step of the last round to the means over the run."""
        assert self.work is not None
        chosen = self.work.counts > 0
        weights = self.work.weights[chosen].double()
        virtual = torch.einsum("r,rsd->sd", weights / weights.sum(), path[chosen].double())
        for each in asked:
            begun = self.means.get(each) or RunningMean(torch.zeros_like(virtual[0]))
            self.means[each] = begun.add(virtual, each)

    @property
    def averages(self) -> dict[Weights, Tensor]:
        """The means of all averages so far, by their weights."""
        return {weights: one.mean for weights, one in self.means.items()}


@dataclass(frozen=True, eq=False)
class RecordedDirection:
    """A direction that tells ``recorder`` where each model stands before it steps."""

    direction: Callable[[Work, Tensor, Tensor, GradientAt], Tensor]
    recorder: Recorder

    def __call__(self, work: Work, w: Tensor, gradient: Tensor, gradient_at: GradientAt) -> Tensor:
        if self.recorder.path_wanted:
            self.recorder.step(work.clients, w)
        return self.direction(work, w, gradient, gradient_at)


@dataclass
class Folded:
    """The sum or mean of a measurement's readings over rounds, reading by reading."""

    how: str
    total: dict[tuple[Any, ...], float] = field(default_factory=dict)
    count: int = 0

    def add(self, readings: Readings) -> None:
        for r in readings:
            self.total[r[1:]] = self.total.get(r[1:], 0.0) + r.value
        self.count += 1

    def readings(self) -> list[Reading]:
        scale = 1.0 if self.how == "sum" else 1.0 / max(1, self.count)
        return [Reading(value * scale, *where) for where, value in self.total.items()]


class Reached(NamedTuple):
    """Where a run stands after a round: all that the rounds after it, and what is measured of them, depend on.

    ``last``, ``folds`` and ``means`` (of the virtual averages) are what the measurements have gathered; ``largest`` is
    the largest finite model norm so far, ``seconds`` those of training.
    """

    state: State
    last: Tensor | None
    folds: Mapping[str, Folded]
    largest: float
    seconds: float
    means: Mapping[Weights, RunningMean]


@dataclass(frozen=True, eq=False)
class Run:
    """One algorithm on one problem with one seed, measured: iterate to train and get each measured round's rows.

    ``every`` is the number of rounds between two measurements (None: what keeps measuring cheap); the start and the
    last round are always measured. A run that diverges ends with a row ``diverged``. ``begun``: it goes on from there,
    which was measured already. ``keep`` is called with the state after the last round, and after those for which
    ``often`` says so; that is true until the next round changes it.
    """

    problem: FederatedProblem
    algorithm: Algorithm
    setting: Setting
    seed: int
    measurements: Sequence[Measurement]
    every: int | None = None
    experiment: str = ""
    begun: Reached | None = None
    keep: Callable[[Reached], object] | None = None
    often: Callable[[], bool] | None = None

    def __post_init__(self) -> None:
        if self.setting.client_weight != self.problem.client_weight:
            raise EmpiricsError(
                f"the setting averages by client_weight={self.setting.client_weight!r}, the global loss of "
                f"{self.problem} by {self.problem.client_weight!r}: make them the same"
            )
        check_options({"seed": self.seed, "every": self.every})
        refuse_untested(self.problem, self.measurements)

    @property
    def least_rows(self) -> float:
        """How many rows will come out, at least."""
        clients = min(self.setting.cohort, self.problem.clients)
        times = self.setting.rounds / self.period
        return times * sum(clients if m.by_client else 1 for m in self.measurements)

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
        overhead = OVERHEAD if self.problem.model.stacked else 0
        measured = overhead + sum(m.cost for m in self.measurements if not m.over) * float(np.sum(sizes))
        return max(1, math.ceil(measured / (SHARE * (TRAINING * setting.cohort * samples))))

    def rows(self) -> list[Row]:
        """All rows of the whole run."""
        return [row for _, rows in self for row in rows]

    def __iter__(self) -> Iterator[tuple[State, list[Row]]]:
        """Every state, with the rows measured at it (none between two measurements)."""
        chosen, begun = self.period, self.begun
        recorder, folds = Recorder(), {m.name: Folded(m.over) for m in self.measurements if m.over}
        averaged = {m.average for m in self.measurements if m.average is not None}
        always = bool(averaged) or any(m.path and m.over for m in self.measurements)
        largest, before = 0.0, 0.0
        if begun is not None:
            folds |= {name: replace(fold, total=dict(fold.total)) for name, fold in begun.folds.items()}
            recorder.last = None if begun.last is None else begun.last.clone()
            recorder.means = dict(begun.means)
            largest, before = begun.largest, begun.seconds

        def due(round_: int) -> bool:
            return round_ % chosen == 0 or round_ == self.setting.rounds

        try:
            for state, took in _timed(self._states(recorder)):
                seconds = before + took
                if self.keep is not None:
                    largest = max(largest, float(state.model.norm()))
                if begun is not None and state.round == begun.state.round:
                    recorder.path_wanted = always or due(state.round + 1)
                    continue
                if state.round == 0 and any(m.last for m in self.measurements):
                    recorder.last = state.model.expand(self.problem.clients, -1).clone()
                seen = recorder.work, recorder.ends, recorder.path(), recorder.last
                if averaged and seen[2] is not None:
                    recorder.add(seen[2], averaged)
                now = (self.problem, self.algorithm, self.setting, state)
                snapshot = Snapshot(*now, *seen, seconds, recorder.averages)
                with full_precision(self.problem.device):
                    rows = self._read(snapshot, folds, due(state.round))
                yield state, rows
                recorder.path_wanted = always or due(state.round + 1)
                ended = state.round == self.setting.rounds
                if self.keep is not None and (ended or (self.often is not None and self.often())):
                    self.keep(Reached(state, recorder.last, folds, largest, seconds, recorder.means))
        except Diverged as stop:
            yield self._diverged(stop)

    def _states(self, recorder: Recorder) -> Iterator[State]:
        """The training run, recorded."""
        algorithm = self._recorded(recorder) if any(m.path for m in self.measurements) else self.algorithm
        model, federation = self.problem.model, self.problem.federation
        begun = self.begun and (self.begun.state, self.begun.largest)
        return rounds(model, federation, algorithm, self.setting, self.seed, None, recorder.round, begun)

    def _read(self, snapshot: Snapshot, folds: dict[str, Folded], due: bool) -> list[Row]:
        """The rows of the measurements that are due at a state."""
        found: list[Row] = []
        for m in self.measurements:
            fold, at = folds.get(m.name), snapshot.state.round
            if (m.local and at == 0) or not (fold or due):
                continue
            readings = m.readings(snapshot)
            if fold is not None:
                before = fold.readings()
                fold.add(readings)
                readings = before if m.over == "earlier" else fold.readings()
            found += self._rows(m, readings, at) if due else []
        return found

    def _rows(self, m: Measurement, readings: Readings, round_: int) -> list[Row]:
        exactness = str(m.exactness(self.problem, self.algorithm, self.setting))
        name, word = (self.experiment or str(self.problem), self.algorithm.name), self._quantities[m.name]
        return [Row(*name, self.seed, round_, r.step, r.client, r.layer, word, r.value, exactness) for r in readings]

    def _diverged(self, stop: Diverged) -> tuple[State, list[Row]]:
        name = (self.experiment or str(self.problem), self.algorithm.name)
        row = Row(*name, self.seed, stop.round, None, None, "", "diverged", stop.largest, "exact")
        return State(stop.round, torch.full((self.problem.model.dim,), math.nan), {}, {}), [row]

    def _recorded(self, recorder: Recorder) -> Algorithm:
        steps = int(self.setting.planned(self.problem.federation.client_sizes).max())
        size = self.setting.cohort * steps * self.problem.model.dim * 8
        if size > MOST_PATH:
            raise EmpiricsError(
                f"keeping {self.setting.cohort} clients' models after each of {steps} local steps "
                f"takes {size / 1e9:.1f} GB; leave out {', '.join(m.name for m in self.measurements if m.path)}"
            )
        return replace(self.algorithm, direction=RecordedDirection(self.algorithm.direction, recorder))


def _timed(states: Iterator[State]) -> Iterator[tuple[State, float]]:
    """Every state and the seconds spent on states so far, not on whoever takes them."""
    seconds = 0.0
    while True:
        begin = time.perf_counter()
        state = next(states, None)
        seconds += time.perf_counter() - begin
        if state is None:
            return
        yield state, seconds
