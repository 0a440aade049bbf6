"""``fedbounds validate NAME --measured runs.csv``: the user's own log held against a bound.

Columns are words: the target's is a must, further quantities of the bound may vary from row to row, the others come as
``quantity=value`` or ``@file.json``. ``seed`` tells independent runs apart, ``round`` the moments of a run: from 0 the
models that open and end the rounds, from 1 the rounds. What a statistic looks at must be there, and nothing beyond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.quantities import CLIENTS, Quantity
from bounds.showing.values import grid, read, Value
from empirics.progress import Progress

from ..runs import schedules
from ..runs.statistics import needed, SEVERAL, weighed
from ..runs.words import free, ITERATION, STATE, WORDS
from .comparison import Comparison, Line, standing, TESTS
from .judging import Data, lines, settled, trend
from .log_file import Log, logged, read_log
from .options import Options
from .reading import Array


def found(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """The comparison of every round of the log, or of the rounds folded as the statistic says."""
    log = read_log(plan.measured, bound)
    filled, moving, fixed, uncertain = _values(bound, log, plan.words)
    fold, kept, lacking = _looked_at(bound, log, f"{plan.measured}", moving, fixed)
    if fold != "every":
        moving = {name: x[:, kept[0]] for name, x in moving.items()}
    target = log.columns[bound.target.name][:, kept]
    if fold == "mean":
        target = np.asarray(weighed(target.T, schedules.weights(bound.statistic, fixed)))[:, None]
    free_ones = tuple(name for name in free(filled) if name not in {**moving, **fixed})
    data = Data(filled, target, moving, fixed, uncertain, free_ones, fold, lacking=lacking)
    doubts = [f"{word} is uncertain" for word in uncertain]
    doubts += ["the bound hides a constant"] if bound.relation == "<~" else []
    places = ["all"] if fold in ("min", "mean") or not log.numbered else [log.rounds[i] for i in kept]
    judged = lines(data, places, "; ".join(doubts))
    seeds = len(log.seeds)
    rounds = f", {len(log.rounds)} rounds" if log.numbered else ""
    unread = f"; columns that {bound.name} has no use for: {', '.join(log.unread)}" if log.unread else ""
    return Comparison(
        bound,
        tuple(judged),
        f" ({seeds} seeds; {TESTS} these runs only).",
        about=(f"{plan.measured}: {seeds} runs{rounds}{unread}",),
        standing=settled(data, standing(bound, None, None, None)),
        after=tuple(_after(judged)),
        card={"seeds": seeds, "log": str(plan.measured), "values": dict(fixed), "seed_names": list(log.seeds),
              "rounds": list(log.rounds)},
    )  # fmt: skip


def _after(found: Sequence[Line]) -> list[str]:
    if not any(line.outside or line.why for line in found):
        return []
    return [trend([line.bound for line in found], [float(line.measured.value) for line in found])]


# ---- which rounds ----


class Looked(NamedTuple):
    """How rounds are folded, the places of those that count, and what keeps a least value open (empty: nothing)."""

    fold: str
    kept: list[int]
    lacking: str = ""


def _looked_at(bound: Bound, log: Log, path: str, moving: Mapping[str, Array], fixed: Mapping[str, Any]) -> Looked:
    """The rounds that the statistic looks at; refuses a log that goes on beyond them or lacks what decides.

    A word that is a whole run's already is judged at the run's end. Where the bound does not say how long a run is, the
    log is as long as it is.
    """
    kind, over = (bound.statistic.kind, bound.statistic.over) if bound.statistic else ("every", "")
    word = WORDS.get(bound.target.name)
    whole = word is not None and bool(word.of) and word.how not in SEVERAL
    fold = kind if kind in ("min", "mean", "last") and not (word and word.of) else "every"
    if fold != "every":
        _constant(bound, moving)
    every = list(range(len(log.rounds)))
    numbers = [int(name) for name in log.rounds]
    lengths = _lengths(over, {**bound.given, **fixed, **moving})
    if lengths is None:
        return Looked(fold, every[-1:] if fold == "last" else every)
    if log.numbered and fold == "every" and np.ptp(lengths) and np.all(lengths == numbers):
        return Looked(fold, every)
    if np.ptp(lengths):
        also = ", or the row's own round" if fold == "every" else ""
        raise BoundsError(f"{path}: the number of {over} must be the same in all rows{also}; {bound.name} is over them")
    if not log.numbered:
        return Looked(fold, every)
    length = int(lengths.flat[0])
    if beyond := [n for n in numbers if n > length]:
        raise BoundsError(
            f"{path} has {_listed(beyond)} beyond the run of {length} {over} that {bound.name} is over; leave them "
            f"out, or give the number of {over} that was run"
        )
    if fold == "every" and not whole:
        return Looked(fold, every)
    need = needed("last" if whole else kind, length, STATE if over == "rounds" else ITERATION, numbers)
    kept = [i for i in every if numbers[i] in need]
    absent = len(need) - len(kept)
    if absent and fold != "min":
        first = next(n for n in need if n not in numbers)
        others = f" and {absent - 1} more are" if absent > 1 else " is"
        raise BoundsError(
            f"{path}: {bound.name} is on the {bound.statistic}, a run of {length} {over}: round {first}{others} not in "
            f"the log"
        )
    lacking = f"{absent} of {len(need)} {over} are not in the log" if absent else ""
    return Looked("last" if whole else fold, kept, lacking)


def _lengths(over: str, given: Mapping[str, Any]) -> Array | None:
    """How long the runs are by the values; None where none of them says so."""
    names = {"rounds": ["rounds"], "iterations": ["iterations", "rounds local_steps"]}.get(over, [])
    for factors in map(str.split, names):
        if all(name in given for name in factors):
            return np.asarray(reduce(np.multiply, (given[name] for name in factors)), dtype=float)
    return None


def _listed(numbers: Sequence[int]) -> str:
    some = [*map(str, numbers)] if len(numbers) < 5 else [*map(str, numbers[:3]), "...", str(numbers[-1])]
    return ("rounds " if len(numbers) > 1 else "round ") + ", ".join(some)


def _constant(bound: Bound, moving: Mapping[str, Array]) -> None:
    for name, values in moving.items():
        if np.ptp(values, axis=1).any():
            raise BoundsError(f"{bound.name} is on the {bound.statistic}: {name} must be the same in all rows of a run")


# ---- values ----


Ends = Mapping[str, tuple[Any, Any]]


def _values(bound: Bound, log: Log, typed: Sequence[str]) -> tuple[Bound, dict[str, Array], dict[str, Any], Ends]:
    """The bound (its form for equal clients, if so asked), values by row, those of all rows, ends of uncertain ones."""
    given = read(list(typed))
    used = logged(bound)
    rows = used.keys() & log.columns.keys()
    for name in rows & {k for k, v in given.items() if not v.optional}:
        raise BoundsError(f"{name} is given twice: as a column and as {name}=...")
    kept = {k: v for k, v in given.items() if k not in rows}
    for name, value in kept.items():
        if name in used:
            _single(used[name], value)
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


def _single(quantity: Quantity, value: Value) -> None:
    listed = quantity.card.axis and value.kind == "list"
    if value.kind not in ("number", "uniform") and not listed:
        raise BoundsError(f"{quantity.name} must be one value for all rows of the log; what varies is a column")
