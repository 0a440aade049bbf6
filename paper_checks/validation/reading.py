"""How the quantities of a bound are measured in training runs: the target by its statistic, and the others.

A run has states 0 to R (the server model before the first round and after every one) and rounds 1 to R.
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
from ..runs.statistics import MADE, SEVERAL, weighed
from ..runs.words import along, AVERAGE, ENDS, giver, RUN, RUNS, WORDS

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class WordSource:
    """The measurement of a quantity, and how its values are combined (a key of ``MADE``)."""

    measurement: Measurement
    how: str

    @property
    def key(self) -> str:
        """The name of the array that holds the measurement's values."""
        return self.measurement.name

    def __call__(self, raw: Mapping[str, Array], rounds: int) -> Array:
        """The values of the first ``rounds`` rounds, seeds on the first axis."""
        return np.stack([MADE[self.how](series, rounds) for series in raw[self.key]])


@dataclass(frozen=True)
class MeasurementPlan:
    """What to measure for one bound: its target, the other quantities of a run, and the statistic over rounds.

    ``fold`` is ``every`` (a comparison per round), ``min`` or ``mean`` (of the target's values), or ``once``.
    """

    target: WordSource
    moving: Mapping[str, WordSource]
    fold: str

    @property
    def measurements(self) -> list[Measurement]:
        found = {source.key: source.measurement for source in (self.target, *self.moving.values())}
        return list(found.values())

    def target_of(self, raw: Mapping[str, Array], rounds: int, weights: Weights | None = None) -> Array:
        """The target by seed and, where the statistic needs them, by round or iteration; else ``(seeds, 1)``."""
        found = self.target(raw, rounds)
        if self.fold == "mean":
            return np.asarray(weighed(found.T, weights))[:, None]
        return found.reshape(len(found), -1)

    def moving_of(self, raw: Mapping[str, Array], rounds: int) -> dict[str, Array]:
        """The other quantities by seed; where rounds are combined, their means over the rounds."""
        found = {word: source(raw, rounds) for word, source in self.moving.items()}
        if self.fold == "every":
            return found
        per_round = {word for word, s in self.moving.items() if s.how in SEVERAL}
        return {word: x.mean(1) if word in per_round else x for word, x in found.items()}


def plan(bound: Bound, weights: Weights | None = None) -> MeasurementPlan:
    """How to measure a bound that can be measured; ``weights`` are those of its statistic, in numbers."""
    target = _source(bound, bound.target.name, _kind(bound))
    assert target is not None
    if weights is not None and WORDS[bound.target.name].how == AVERAGE:
        target = replace(target, measurement=average_gap(**{n: float(x) for n, x in vars(weights).items()}))
    names = [q.name for q in bound.quantities if giver(q.name, RUNS) == RUN]
    found = {name: _source(bound, name, "now") for name in names}
    fold = _kind(bound) if target.how in SEVERAL else "once"
    return MeasurementPlan(target, {name: source for name, source in found.items() if source is not None}, fold)


def one_round(bound: Bound) -> bool:
    """Whether the statement is on a single averaging round."""
    return _kind(bound) == "expectation" and not demands(bound).average


def needs_population(bound: Bound) -> bool:
    """Whether target or quantities are risks under the clients' distributions."""
    found = plan(bound).measurements
    return any(m.grade in (of_population, of_excess) for m in found)


def fresh(bound: Bound) -> bool:
    """Whether the samples of each round are to be new."""
    return any(c.assumption is FRESH_SAMPLES for c in bound.conditions)


def _kind(bound: Bound) -> str:
    return "every" if bound.statistic is None else bound.statistic.kind


def _source(bound: Bound, word: str, kind: str) -> WordSource | None:
    """The source of a quantity; ``kind`` is the statistic for a target and ``now`` for the others."""
    target = word == bound.target.name and kind != "now"
    over = bound.statistic.over if bound.statistic else ""
    if target and over == "iterations" and word in AT_AVERAGES and (kind != "last" or along(bound)):
        return WordSource(AT_AVERAGES[word]["all clients" in str(bound.statistic)], "steps")
    if target and word in WORDS and WORDS[word].how == ENDS and bound.statistic and bound.statistic.weights:
        return WordSource(AFTER_STEPS, "steps")
    if word in PAIRED:
        return WordSource(PAIRED[word], "latest")
    if target and word == "generalization_gap" and over == "rounds" and fresh(bound):
        return WordSource(MEASUREMENTS["round_averaged_gap"](), "latest")  # FedALS (8): on the samples of each round
    if word in WORDS and WORDS[word].how in (ENDS, AVERAGE):
        return WordSource(MEASUREMENTS[word](), "latest")  # their statistic is their own: that of the run so far
    if word in WORDS and WORDS[word].of in MEASUREMENTS:
        return WordSource(MEASUREMENTS[WORDS[word].of](), WORDS[word].how)
    if word not in MEASUREMENTS:
        return None
    measured = measurement("runtime(alike=True)") if word == "runtime" else MEASUREMENTS[word]()
    if measured.over == "sum":
        return WordSource(measured, "latest")
    if one_round(bound) or _kind(bound) == "last":
        return WordSource(measured, "latest" if measured.local else "end")
    return WordSource(measured, "now")


# ---- readings at averages of the clients' models ----


def _gradients(s: Snapshot, averages: Tensor) -> Any:
    return (s.problem.gradients(averages).double() ** 2).sum(-1)


def _gaps(s: Snapshot, averages: Tensor) -> Any:
    return [s.problem.loss(w) - s.problem.smallest_loss for w in averages]


def _distances(s: Snapshot, averages: Tensor) -> Any:
    return ((averages.double() - s.problem.minimiser) ** 2).sum(-1)


@dataclass(frozen=True)
class AtAverages:
    """A reading at the weighted average of the clients' models before every local step.

    ``everyone``: of all clients by their shares of the loss; else of the participants by their weights.
    """

    of: Callable[[Snapshot, Tensor], Any]
    everyone: bool

    def __call__(self, s: Snapshot) -> Readings:
        assert s.path is not None
        rows = s.path if self.everyone else s.path[s.averaged]
        weights = s.problem.weights.to(rows) if self.everyone else s.done.weights[s.averaged]
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
"""By quantity: at the average of the participants, and of all clients."""
AFTER_STEPS = Measurement("gap after every step", AfterSteps(), of_all_minima, "mean_gap", local=True, path=True)


# ---- from rows to arrays ----


def collect(runs: Sequence[Sequence[Row]], found: Sequence[Measurement], clients: int) -> dict[str, Array]:
    """Arrays by measurement: seeds first, then states or rounds, then local steps or clients; NaN where unread."""
    called, arrays = quantities(found), {}
    for m in found:
        stepwise = isinstance(m.read, (AtAverages, AfterSteps))  # a reading per local step
        first, name = 1 if m.local else 0, called[m.name]
        mine = [[r for r in rows if r.quantity == name and not r.layer and (r.step is not None) == stepwise]
                for rows in runs]  # fmt: skip
        shape = [1 + max(r.round for rows in mine for r in rows) - first]
        shape += [1 + max(r.step or 0 for rows in mine for r in rows)] * stepwise + [clients] * m.by_client
        arrays[m.name] = np.full((len(runs), *shape), np.nan)
        for seed, r in ((seed, r) for seed, rows in enumerate(mine) for r in rows):
            place = (r.step,) * stepwise + (r.client,) * m.by_client
            arrays[m.name][seed, r.round - first, *place] = r.value
    return arrays
