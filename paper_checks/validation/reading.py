"""What of a bound can be read off training runs, and how: the target by its statistic, the other words beside it.

Everything is decided by words: the target's, the statistic's, the quantities' and the assumptions'. A run has states
0 to R (the server model before the first round and after every one) and rounds 1 to R.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bounds.assumptions import FRESH_SAMPLES
from bounds.core import Bound
from bounds.weights import Weights
from empirics.measuring import Measurement, measurement, MEASUREMENTS, Reading, Row, Snapshot
from empirics.measuring.core import of_population, Readings
from empirics.measuring.risks import of_excess

from ..runs.demands import demands
from ..runs.statistics import MADE, SEVERAL, weighed
from ..runs.words import AVERAGE, ENDS, giver, RUN, RUNS, WORDS

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class WordSource:
    """Where a word's values come from: a measurement, and what is made of its values (a key of ``MADE``)."""

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
    """What to measure for one bound: its target, the other words of a run, and how rounds are folded.

    ``fold`` is ``every`` (a comparison per round), ``min`` (over the target's values), ``mean`` (of them) or ``once``.
    """

    target: WordSource
    moving: Mapping[str, WordSource]
    fold: str

    @property
    def measurements(self) -> list[Measurement]:
        found = {source.key: source.measurement for source in (self.target, *self.moving.values())}
        return list(found.values())

    def target_of(self, raw: Mapping[str, Array], rounds: int, weights: Weights | None = None) -> Array:
        """The target by seed and, where the fold needs them, by round or iteration; ``(seeds, 1)`` if it does not."""
        found = self.target(raw, rounds)
        if self.fold == "mean":
            return np.asarray(weighed(found.T, weights))[:, None]
        return found.reshape(len(found), -1)

    def moving_of(self, raw: Mapping[str, Array], rounds: int) -> dict[str, Array]:
        """The other words by seed; where rounds are folded, their means over the rounds."""
        found = {word: source(raw, rounds) for word, source in self.moving.items()}
        if self.fold == "every":
            return found
        per_round = {word for word, s in self.moving.items() if s.how in SEVERAL}
        return {word: x.mean(1) if word in per_round else x for word, x in found.items()}


def plan(bound: Bound) -> MeasurementPlan:
    """How to measure a bound that can be measured."""
    target = _source(bound, bound.target.name, _kind(bound))
    assert target is not None
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
    """Where a word comes from; ``kind`` is the statistic for a target and ``now`` for the others."""
    target = word == bound.target.name and kind != "now"
    over = bound.statistic.over if bound.statistic else ""
    if target and word == "grad_norm_sq" and over == "iterations":
        return WordSource(ALL if "all clients" in str(bound.statistic) else ACTIVE, "steps")
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


# ---- the gradient at virtual averages ----


@dataclass(frozen=True)
class VirtualGradients:
    """``||grad F||^2`` at the weighted average of the clients' models before every local step.

    ``everyone``: of all clients by their shares of the loss; else of the participants by their weights.
    """

    everyone: bool

    def __call__(self, s: Snapshot) -> Readings:
        assert s.path is not None
        rows = s.path if self.everyone else s.path[s.averaged]
        weights = s.problem.weights.to(rows) if self.everyone else s.done.weights[s.averaged]
        average = torch.einsum("r,rsd->sd", weights / weights.sum(), rows)
        gradients = s.problem.gradients(average).double()
        return [Reading(float(v), step=k) for k, v in enumerate((gradients**2).sum(-1))]


ALL, ACTIVE = (
    Measurement(f"gradient at the average of {who}", VirtualGradients(who == "all"), word="grad_norm_sq",
                local=True, path=True)
    for who in ("all", "the participants")
)  # fmt: skip


# ---- from rows to arrays ----


def collect(runs: Sequence[Sequence[Row]], found: Sequence[Measurement], clients: int) -> dict[str, Array]:
    """Arrays by measurement: seeds first, then states or rounds, then local steps or clients; NaN where unread."""
    return {m.name: np.stack([_values(rows, m, clients) for rows in runs]) for m in found}


def _values(rows: Sequence[Row], m: Measurement, clients: int) -> Array:
    """One run's values of one measurement."""
    mine = [r for r in rows if r.quantity == m.word and not r.layer and (r.step is not None) == _stepwise(m)]
    first = 1 if m.local else 0
    wide = 1 + max(r.round for r in mine) - first
    if _stepwise(m):
        steps = 1 + max(r.step or 0 for r in mine)
        return _filled((wide, steps), [((r.round - first, r.step), r.value) for r in mine])
    if m.by_client:
        return _filled((wide, clients), [((r.round - first, r.client), r.value) for r in mine])
    return _filled((wide,), [((r.round - first,), r.value) for r in mine])


def _stepwise(m: Measurement) -> bool:
    """Whether it reads every local step by itself."""
    return isinstance(m.read, VirtualGradients)


def _filled(shape: tuple[int, ...], cells: Sequence[tuple[tuple[Any, ...], float]]) -> Array:
    array = np.full(shape, np.nan)
    for place, value in cells:
        array[place] = value
    return array


__all__ = ["MeasurementPlan", "WordSource", "collect", "fresh", "needs_population", "one_round", "plan"]
