"""Compare measurements with a bound: errors over seeds, intervals of uncertain constants, verdicts, trends."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.numerics.ranges import bound_range
from empirics.errors import EmpiricsError
from empirics.measuring.estimates import Estimate

from .comparison import judge, Line, Verdict

Array = np.ndarray[Any, Any]
Values = Mapping[str, Any]

ROUNDING = 1e-6
"""Relative difference that single-precision arithmetic may make between two numbers that are equal."""
NO_SPREAD = "no spread between seeds, no error can be estimated"
FREE_CHOICES = np.geomspace(1e-6, 0.999, 200)
"""Values tried for a constant that a proof leaves open."""


@dataclass(frozen=True)
class Data:
    """Values of the target and of the ``moving`` quantities by seed (first axis) and line, and ``fixed`` ones.

    ``uncertain`` are the ends of fixed values that are known only as intervals; ``chosen`` names constants for which
    the bound may be minimised. ``fold`` says how the values of the target make lines: ``every`` value one, or all
    together one, their ``min`` (the mean is a value already).

    Values that are equal in all seeds have no error that could be estimated. They are exact where every seed has drawn
    anew (``drawn``: our own runs) and nonetheless gave the same: nothing in them is random. A log does not say why they
    are equal (few digits, one run copied, nothing random), so there they decide nothing. ``lacking`` says in words
    which values a minimum is without (empty: none); the minimum of the others can only be larger.
    """

    bound: Bound
    target: Array
    moving: Mapping[str, Array]
    fixed: Values
    uncertain: Mapping[str, tuple[Any, Any]]
    chosen: tuple[str, ...] = ()
    fold: str = "every"
    drawn: bool = False
    lacking: str = ""

    @property
    def seeds(self) -> int:
        return len(self.target)

    def means(self) -> tuple[Array, dict[str, Array]]:
        """The means over seeds; over those clients that have a value."""
        return self.target.mean(0), {name: _mean(x) for name, x in self.moving.items()}

    def left_out(self) -> tuple[Array, dict[str, Array]]:
        """The means over all seeds but one: the one left out on the first axis, lines on the second."""
        axes = {q.name for q in self.bound.quantities if q.card.axis}
        lined = {name: x if x.ndim == 2 + (name in axes) else x[:, None] for name, x in self.moving.items()}
        return _but_one(self.target), {name: _but_one(x) for name, x in lined.items()}


def _mean(values: Array) -> Array:
    """The mean over the first axis of the values that exist: a client that was not drawn has none."""
    there = np.isfinite(values).sum(0)
    return np.asarray(np.where(there, np.nansum(values, 0) / np.maximum(there, 1), np.nan))


def _but_one(values: Array) -> Array:
    """For every entry of the first axis the mean of the others that exist, in one pass."""
    there = np.isfinite(values)
    others = there.sum(0) - there
    away = np.where(there, _mean(values) - values, 0.0)
    return np.asarray(np.where(others, _mean(values) + away / np.maximum(others, 1), np.nan))


# ---- the bound at the data ----


def evaluate(data: Data, moving: Values, outside: bool) -> Array:
    """The bound (the formula, with ``outside``) at every line, minimised over the chosen constants."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = _complete(data, moving)
        found = data.bound.formula(**values) if outside else data.bound(**values)
    return np.atleast_1d(np.asarray(found, dtype=float))


def _complete(data: Data, moving: Values) -> dict[str, Any]:
    values = {**data.fixed, **moving}
    for name in data.chosen:
        values[name] = _best(data.bound, name, values)
    return values


def settled(data: Data, said: Sequence[str]) -> tuple[str, ...]:
    """The lines of ``standing`` with the numeric conditions decided at the data: NOT met where one line fails them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = {c.words for c in data.bound.failed(**_complete(data, data.means()[1]))}
    parts = [line.partition(": ") for line in said]
    return tuple(f"{'NOT met' if words in failed else 'met'}: {words}" if how == "checked at every row"
                 else f"{how}: {words}" for how, _, words in parts)  # fmt: skip


def _best(bound: Bound, name: str, values: Values) -> float:
    """The value with the smallest sum over the lines; any one where the conditions fail at all values."""
    count = len(FREE_CHOICES)
    axes = {q.name for q in bound.quantities if q.card.axis}
    spread = {k: np.asarray(v)[None] if k in axes or np.ndim(v) else v for k, v in values.items()}
    lines = max((np.ndim(v) - (k in axes) for k, v in values.items()), default=0)
    found = bound(**spread, **{name: FREE_CHOICES.reshape(count, *[1] * lines)})
    totals = np.asarray(found).reshape(count, -1).sum(-1)
    return float(FREE_CHOICES[np.nanargmin(totals)] if np.isfinite(totals).any() else FREE_CHOICES[count // 2])


def _interval(data: Data, moving: Values, line: int) -> tuple[float, float]:
    """The bound's interval at one line while the uncertain constants run over theirs."""
    axes = {q.name for q in data.bound.quantities if q.card.axis}
    here = {}
    for name, value in moving.items():
        array = np.asarray(value)
        lined = array.ndim - (name in axes) > 0
        here[name] = array[line if len(array) > 1 else 0] if lined else value
    values = _complete(data, here)
    kept = {k: v for k, v in values.items() if k not in data.uncertain}
    try:
        found = bound_range(data.bound, data.uncertain, **kept)
    except EmpiricsError:  # the conditions fail everywhere, or too many constants
        return math.nan, math.nan
    return found.low, found.high


# ---- verdicts ----


def lines(data: Data, places: Sequence[str], doubt: str = "", broken: bool = False) -> list[Line]:
    """The comparison of every line; ``doubt`` keeps all verdicts open, ``broken`` conditions put all lines outside."""
    target, moving = data.means()
    bound, formula = (np.broadcast_to(evaluate(data, moving, outside), target.shape) for outside in (False, True))
    doubt = doubt or ("one seed" if data.seeds < 2 else "")
    both = None if doubt or broken else differences(data)
    freedom = data.seeds * (data.seeds - 1)
    error = _length(data.target - target) / math.sqrt(freedom) if freedom else np.full(target.shape, np.nan)
    found = []
    for i, place in [(int(np.argmin(target)), places[0])] if data.fold == "min" else enumerate(places):
        outside = broken or bool(np.isnan(bound[i]))
        ends = _interval(data, moving, i) if data.uncertain and not outside else (float(formula[i]),) * 2
        why, verdict = "outside the conditions" if outside else doubt, Verdict.UNDECIDED
        if not why and both is not None:
            verdict = _verdict(data, both, i, len(places))
            if verdict is Verdict.UNDECIDED:
                why = NO_SPREAD if both.alike_seeds[i] else data.lacking
        found.append(Line((place,), Estimate(target[i], error[i]), float(formula[i]), *ends, outside, verdict, why))
    return found


@dataclass(frozen=True)
class Differences:
    """Measured minus bound with its error, value by value.

    ``alike``: rounding alone explains the difference, in every seed. ``alike_seeds``: the target is the same in all
    seeds up to rounding, so that no error can be estimated.
    """

    excess: Array
    errors: Array
    alike: Array
    alike_seeds: Array
    seeds: int

    def judged(self, i: int, rows: int) -> Verdict:
        if self.alike_seeds[i]:
            return Verdict.UNDECIDED
        if self.alike[i]:
            return Verdict.HOLDS_HERE
        return judge(Estimate(self.excess[i], self.errors[i]), self.seeds, rows)


def differences(data: Data) -> Differences:
    """Measured minus bound (bound minus measured for a lower bound) with delete-one-seed standard errors."""
    sign = -1.0 if data.bound.relation == ">=" else 1.0
    target, moving = data.means()
    excess = sign * (target - np.broadcast_to(evaluate(data, moving, False), target.shape))
    left, lefts = data.left_out()
    if data.chosen and lefts:  # the best choice is another for every seed that is left out
        rows = [evaluate(data, {name: x[i] for name, x in lefts.items()}, False) for i in range(data.seeds)]
        bounds = np.stack([np.broadcast_to(row, target.shape) for row in rows])
    else:
        bounds = np.broadcast_to(evaluate(data, lefts, False), left.shape)
    values = sign * (left - bounds)
    errors = _length(values - values.mean(0)) * math.sqrt((data.seeds - 1) / data.seeds)
    same = np.asarray(np.ptp(data.target, 0) <= ROUNDING * np.abs(data.target).max(0)) & (not data.drawn)
    if data.fold == "min" and not same.all():
        same[0] = False  # the runs differ, and begin at one model
    return Differences(excess, errors, abs(excess) + errors <= ROUNDING * abs(target), same, data.seeds)


def _length(rows: Array) -> Array:
    """The root of the sum of squares over the first axis, at sizes whose squares no float holds."""
    size = np.abs(rows).max(0)
    return np.asarray(size * np.sqrt(((rows / np.where(size > 0, size, 1.0)) ** 2).sum(0)))


def _verdict(data: Data, both: Differences, line: int, rows: int) -> Verdict:
    """By t tests over seeds, all lines together at the error rate.

    A minimum is below the bound where one of the values is, and above it where all are; where some are lacking only the
    first can be decided. An equality holds where both sides are the same number.
    """
    if data.bound.relation == "=":
        if data.lacking or both.alike[line] or both.alike_seeds[line]:
            return Verdict.HOLDS_HERE if both.alike[line] and not data.lacking else Verdict.UNDECIDED
        there = Estimate(np.abs(both.excess[line]), both.errors[line])
        return Verdict.VIOLATED if judge(there, both.seeds, 2 * rows) is Verdict.VIOLATED else Verdict.UNDECIDED
    if data.fold != "min":
        return both.judged(line, rows)
    every = range(len(both.excess))
    by_one, by_all = Verdict.HOLDS_HERE, Verdict.VIOLATED
    if data.bound.relation == ">=":
        by_one, by_all = by_all, by_one
    if any(both.judged(i, rows * len(every)) is by_one for i in every):
        return by_one
    return by_all if not data.lacking and all(both.judged(i, rows) is by_all for i in every) else Verdict.UNDECIDED


# ---- trends ----


def trend(formula: Sequence[float], measured: Sequence[float]) -> str:
    """Whether formula and measurement change in the same direction over the rounds, by rank correlation."""
    f, m = np.asarray(formula, dtype=float), np.asarray(measured, dtype=float)
    kept = np.isfinite(f) & np.isfinite(m)
    f, m = f[kept], m[kept]
    if len(f) < 3:
        return "Trend: unknown, it needs 3 rounds."
    if np.ptp(f) <= ROUNDING * np.abs(f).max():
        return "Trend: the formula does not change over the rounds."
    if np.ptp(m) == 0:
        return "Trend: the measurement does not change over the rounds."
    from scipy.stats import spearmanr

    agreement = float(spearmanr(f, m).statistic)
    factors = [f"{x[-1] / x[0]:.3g}" if x[0] else "infinity" for x in (f, m)]
    return (
        f"Trend: over {len(f)} rounds the formula changes by the factor {factors[0]}, the measurement by {factors[1]}; "
        f"rank correlation (Spearman) {agreement:.2f}."
    )
