"""What to measure in training runs for a bound: its target by its statistic, and the other quantities of a run.

A run has states 0 to R (the server model before the first round and after every round) and rounds 1 to R.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds.assumptions import FRESH_SAMPLES
from bounds.core import Bound
from bounds.weights import Weights
from empirics.measuring import Measurement, measurement, MEASUREMENTS, PAIRED, Reading, Row, Snapshot
from empirics.measuring.core import exact, of_all_minima, of_excess, of_minimum, of_population, quantities, Readings
from empirics.measuring.measurements import average_gap, virtual_averages

from ..runs.methods import demands
from ..runs.origins import AVERAGE, ENDS, on_local_iterations, origin, ORIGINS, RUN, RUNS
from ..runs.statistics import BY_ROUND, COMBINE, weighted_mean

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class WordSource:
    """The measurement of a quantity, and the key of ``COMBINE`` by which its values are combined."""

    measurement: Measurement
    how: str

    @property
    def key(self) -> str:
        """The name of the array that holds the measurement's values."""
        return self.measurement.name

    def __call__(self, raw: Mapping[str, Array], rounds: int) -> Array:
        """The values in the first ``rounds`` rounds; seeds are the first axis."""
        return np.stack([COMBINE[self.how](series, rounds) for series in raw[self.key]])


@dataclass(frozen=True)
class MeasurementPlan:
    """What to measure for one bound: its target, and the ``moving`` quantities that the run determines.

    ``fold``: ``every`` (a comparison per round), ``min`` or ``mean`` of the target's values, or ``once``.
    """

    target: WordSource
    moving: Mapping[str, WordSource]
    fold: str

    @property
    def measurements(self) -> list[Measurement]:
        return list({source.key: source.measurement for source in (self.target, *self.moving.values())}.values())

    def target_of(self, raw: Mapping[str, Array], rounds: int, weights: Weights | None = None) -> Array:
        """The target as ``(seeds, rounds or iterations)``; ``(seeds, 1)`` for one number per run."""
        values = self.target(raw, rounds)
        if self.fold == "mean":
            return np.asarray(weighted_mean(values.T, weights))[:, None]
        return values.reshape(len(values), -1)

    def moving_of(self, raw: Mapping[str, Array], rounds: int) -> dict[str, Array]:
        """The moving quantities by seed; their means over rounds unless there is a comparison per round."""
        values = {name: source(raw, rounds) for name, source in self.moving.items()}
        for name, source in self.moving.items():
            if self.fold != "every" and source.how in BY_ROUND:
                values[name] = values[name].mean(1)
        return values


def plan(bound: Bound, weights: Weights | None = None) -> MeasurementPlan:
    """What to measure for a bound that training can measure; ``weights`` are those of its statistic."""
    target = _source(bound, bound.target.name, _kind(bound))
    assert target is not None
    if weights is not None and ORIGINS[bound.target.name].how == AVERAGE:
        target = replace(target, measurement=average_gap(**{n: float(x) for n, x in vars(weights).items()}))
    names = [q.name for q in bound.quantities if origin(q.name, RUNS) == RUN]
    sources = {name: _source(bound, name, "now") for name in names}
    fold = _kind(bound) if target.how in BY_ROUND else "once"
    return MeasurementPlan(target, {name: source for name, source in sources.items() if source is not None}, fold)


def one_round(bound: Bound) -> bool:
    """Whether a bound is on a single averaging round."""
    return _kind(bound) == "expectation" and not demands(bound).average


def needs_population(bound: Bound) -> bool:
    """Whether the target or a quantity is a risk under the clients' distributions."""
    return any(m.grade in (of_population, of_excess) for m in plan(bound).measurements)


def fresh(bound: Bound) -> bool:
    """Whether the bound assumes new samples in every round."""
    return any(c.assumption is FRESH_SAMPLES for c in bound.conditions)


def _kind(bound: Bound) -> str:
    return "every" if bound.statistic is None else bound.statistic.kind


def _source(bound: Bound, word: str, kind: str) -> WordSource | None:
    """The source of a quantity; ``kind`` is the statistic for the target and ``now`` for other quantities."""
    target = word == bound.target.name and kind != "now"
    over = bound.statistic.over if bound.statistic else ""
    if target and over == "iterations" and word in AT_AVERAGES and (kind != "last" or on_local_iterations(bound)):
        return WordSource(AT_AVERAGES[word]["all clients" in str(bound.statistic)], "steps")
    if target and word in ORIGINS and ORIGINS[word].how == ENDS and bound.statistic and bound.statistic.weights:
        return WordSource(AFTER_STEPS, "steps")
    if word in PAIRED:
        return WordSource(PAIRED[word], "latest")
    if target and word == "generalization_gap" and over == "rounds" and fresh(bound):
        return WordSource(MEASUREMENTS["round_averaged_gap"](), "latest")  # FedALS (8): on the samples of each round
    if word in ORIGINS and ORIGINS[word].how in (ENDS, AVERAGE):
        return WordSource(MEASUREMENTS[word](), "latest")  # a statistic of the run so far
    if word in ORIGINS and ORIGINS[word].of in MEASUREMENTS:
        return WordSource(MEASUREMENTS[ORIGINS[word].of](), ORIGINS[word].how)
    if word not in MEASUREMENTS:
        return None
    measured = measurement("runtime(alike=True)") if word == "runtime" else MEASUREMENTS[word]()
    if measured.over == "sum":
        return WordSource(measured, "latest")
    if one_round(bound) or _kind(bound) == "last":
        return WordSource(measured, "latest" if measured.local else "end")
    return WordSource(measured, "now")


def _gradients(s: Snapshot, averages: Tensor) -> Any:
    return (s.problem.gradients(averages).double() ** 2).sum(-1)


def _gaps(s: Snapshot, averages: Tensor) -> Any:
    return [s.problem.loss(w) - s.problem.smallest_loss for w in averages]


def _distances(s: Snapshot, averages: Tensor) -> Any:
    return ((averages.double() - s.problem.minimiser) ** 2).sum(-1)


@dataclass(frozen=True)
class AtAverages:
    """Measure ``of`` at the weighted average of the clients' models before every local step.

    The average is over all clients by their weights in the loss if ``everyone``, else over the participants.
    """

    of: Callable[[Snapshot, Tensor], Any]
    everyone: bool

    def __call__(self, s: Snapshot) -> Readings:
        assert s.path is not None
        rows = s.path if self.everyone else s.path[s.averaged]
        weights = s.problem.weights.to(rows) if self.everyone else s.last_work.weights[s.averaged]
        average = torch.einsum("r,rsd->sd", weights / weights.sum(), rows)
        return [Reading(float(v), step=k) for k, v in enumerate(self.of(s, average))]


@dataclass(frozen=True)
class AfterSteps:
    """``F - F*`` at the average of the participants' models after every local step."""

    def __call__(self, s: Snapshot) -> Readings:
        return [Reading(float(v), step=k) for k, v in enumerate(_gaps(s, virtual_averages(s)[1:]))]


AT_AVERAGES = {
    word: [
        Measurement(f"{word} at the average of {who}", AtAverages(of, who == "all"), grade, word, local=True, path=True)
        for who in ("the participants", "all")
    ]
    for word, of, grade in (
        ("grad_norm_sq", _gradients, exact),
        ("optimality_gap", _gaps, of_minimum),
        ("distance_sq", _distances, exact),
    )
}
"""By quantity: the measurements at the average of the participants and of all clients."""
AFTER_STEPS = Measurement("gap after every step", AfterSteps(), of_all_minima, "mean_gap", local=True, path=True)


def collect(runs: Sequence[Sequence[Row]], measurements: Sequence[Measurement], clients: int) -> dict[str, Array]:
    """Arrays by measurement: (seeds, states or rounds, local steps or clients); NaN if there is no row."""
    names, arrays = quantities(measurements), {}
    for m in measurements:
        stepwise = isinstance(m.read, (AtAverages, AfterSteps))  # one value per local step
        first, name = 1 if m.local else 0, names[m.name]
        mine = [[r for r in rows if r.quantity == name and not r.layer and (r.step is not None) == stepwise]
                for rows in runs]  # fmt: skip
        shape = [1 + max(r.round for rows in mine for r in rows) - first]
        shape += [1 + max(r.step or 0 for rows in mine for r in rows)] * stepwise + [clients] * m.by_client
        arrays[m.name] = np.full((len(runs), *shape), np.nan)
        for seed, r in ((seed, r) for seed, rows in enumerate(mine) for r in rows):
            place = (r.step,) * stepwise + (r.client,) * m.by_client
            arrays[m.name][seed, r.round - first, *place] = r.value
    return arrays
