"""``fedbounds validate NAME --measured runs.csv``: the user's own log held against a bound.

Columns are words: the target's is a must, further quantities of the bound may vary from row to row, the others come as
``quantity=value`` or ``@file.json``. ``seed`` tells independent runs apart, ``round`` the moments of a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.quantities import CLIENTS
from bounds.showing.values import grid, read, Value
from empirics.progress import Progress

from ..runs.words import free, WORDS
from .comparison import Comparison, Line, standing, TESTS
from .judging import Data, lines, settled, trend
from .logged import Log, read_log
from .options import Options
from .reading import Array


def found(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """The comparison of every round of the log, or of the rounds folded as the statistic says."""
    log = read_log(plan.measured, bound)
    filled, moving, fixed, uncertain = _values(bound, log, plan.words)
    fold = _fold(bound)
    if fold != "every":
        _constant(bound, moving)
        moving = {name: x[:, 0] for name, x in moving.items()}
    target = log.columns[bound.target.name]
    target = {"last": target[:, -1:], "mean": target.mean(1, keepdims=True)}.get(fold, target)
    free_ones = tuple(name for name in free(filled) if name not in {**moving, **fixed})
    data = Data(filled, target, moving, fixed, uncertain, free_ones, fold)
    doubts = [f"{word} is uncertain" for word in uncertain]
    doubts += ["the bound hides a constant"] if bound.relation == "<~" else []
    places = list(log.rounds) if fold == "every" else ["all" if fold != "last" else log.rounds[-1]]
    judged = lines(data, places, "; ".join(doubts))
    seeds = len(log.seeds)
    return Comparison(
        bound,
        tuple(judged),
        f" ({seeds} seeds; {TESTS} these runs only).",
        about=(f"{plan.measured}: {seeds} runs, {len(log.rounds)} rounds",),
        standing=settled(data, standing(bound, None, None, None)),
        after=tuple(_after(judged)),
        card={"seeds": seeds, "log": str(plan.measured), "values": dict(fixed), "seed_names": list(log.seeds),
              "rounds": list(log.rounds)},
    )  # fmt: skip


def _after(found: Sequence[Line]) -> list[str]:
    if not any(line.outside or line.why for line in found):
        return []
    return [trend([line.bound for line in found], [float(line.measured.value) for line in found])]


def _fold(bound: Bound) -> str:
    """How the rounds of the log are folded; a word that is a whole run's already is judged row by row."""
    kind = bound.statistic.kind if bound.statistic else "every"
    made = bound.target.name in WORDS and WORDS[bound.target.name].of
    return kind if kind in ("min", "mean", "last") and not made else "every"


def _constant(bound: Bound, moving: Mapping[str, Array]) -> None:
    for name, values in moving.items():
        if np.ptp(values, axis=1).any():
            raise BoundsError(f"{bound.name} is on the {bound.statistic}: {name} must be the same in all rows of a run")


# ---- values ----


Ends = Mapping[str, tuple[Any, Any]]


def _values(bound: Bound, log: Log, typed: Sequence[str]) -> tuple[Bound, dict[str, Array], dict[str, Any], Ends]:
    """The bound (its form for equal clients, if so asked), values by row, those of all rows, ends of uncertain ones."""
    given = read(list(typed))
    rows = {q.name for q in bound.quantities if q.name in log.columns}
    for name in rows & {k for k, v in given.items() if not v.optional}:
        raise BoundsError(f"{name} is given twice: as a column and as {name}=...")
    kept = {k: v for k, v in given.items() if k not in rows}
    for name, value in kept.items():
        if name in {q.name for q in bound.quantities}:
            _single(bound, name, value)
    missing = {q.name for q in bound.quantities} - rows - set(kept) - {*free(bound)}
    missing -= {"client_weight", "clients"} if bound.axis == CLIENTS else set()
    if missing:
        said = ", ".join(sorted(missing))
        raise BoundsError(f"{bound.name} needs {said}: a column of the log, or quantity=value, or @file.json")
    # One number stands for each column while the form of the bound is decided.
    first = {name: Value("number", np.asarray(log.columns[name].flat[0])) for name in rows}
    span = grid(bound, {**kept, **first}, free=[name for name in free(bound) if name not in kept])
    fixed = {name: array.tolist() for name, array in span.values.items() if name not in rows}
    axes = {q.name for q in span.bound.quantities if q.card.axis}
    moving = {name: log.columns[name][..., None] if name in axes else log.columns[name] for name in rows}
    uncertain = {name: ends for name, ends in span.uncertain.items() if name in fixed}
    return span.bound, {k: v for k, v in moving.items() if k in span.values}, fixed, uncertain


def _single(bound: Bound, name: str, value: Value) -> None:
    listed = bound.quantity(name).card.axis and value.kind == "list"
    if value.kind not in ("number", "uniform") and not listed:
        raise BoundsError(f"{name} must be one value for all rows of the log; what varies is a column")
