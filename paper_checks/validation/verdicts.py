"""Compare measurements with a bound: standard errors over seeds, intervals of uncertain constants, verdicts, trends."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.numerics.ranges import bound_range
from empirics.errors import EmpiricsError
from empirics.measuring.estimates import Estimate

from .comparison import CHECKED_AT_ROWS, ERROR_RATE, Line, Verdict

Array = np.ndarray[Any, Any]
Values = Mapping[str, Any]

ROUNDING = 1e-6
"""Relative difference that single-precision arithmetic may make between two numbers that are equal."""
NO_SPREAD = "no spread between seeds, no error can be estimated"
FREE_CHOICES = np.geomspace(1e-6, 0.999, 200)
"""Values tried for a constant that a proof leaves open."""


def t_test_verdict(excess: Estimate, seeds: int, rows: int, error_rate: float = ERROR_RATE) -> Verdict:
    """The verdict on ``measured <= bound`` from the difference ``excess = measured - bound`` over independent seeds.

    Two one-sided t tests, each at ``error_rate`` over all ``rows`` together (Bonferroni): violated if the difference is
    significantly positive, holds here if significantly negative, undecided otherwise. So with probability at least
    1 - ``error_rate`` no row of a true inequality is called violated, and likewise for "holds here". The verdict can be
    wrong if means over this many seeds are far from normal, and it does not extend to other settings.
    """
    margin = _quantile(error_rate / rows, seeds - 1) * float(excess.error)
    if excess.value > margin:
        return Verdict.VIOLATED
    return Verdict.HOLDS_HERE if excess.value < -margin else Verdict.UNDECIDED


@lru_cache(maxsize=64)
def _quantile(above: float, freedom: int) -> float:
    """The value that Student's t exceeds with probability ``above``."""
    from scipy import stats

    return float(stats.t.isf(above, freedom))


@dataclass(frozen=True)
class Data:
    """The measurements that are compared with a bound.

    ``target`` has the values ``(seeds, lines)``, ``moving`` the quantities that vary (by seed, then by line, then by
    client), ``fixed`` the others; ``uncertain`` are the ends of fixed values that are known only as intervals, and
    ``chosen`` names constants of the proof over which the bound may be minimised. ``fold``: ``every`` value of the
    target is a line of the table, or their ``min`` is the only one (a mean is a single value already).

    ``drawn``: every seed drew its own samples and cohorts, as our own runs do. Values that are equal in all seeds are
    then exact, because nothing in them is random. In a user's log they may be equal for other reasons (few digits, one
    run copied), so there they decide nothing. ``lacking`` says which values a minimum lacks; it could only be smaller.
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
        """The means over seeds of target and moving quantities; clients without a value are left out."""
        return self.target.mean(0), {name: _mean(x) for name, x in self.moving.items()}

    def left_out(self) -> tuple[Array, dict[str, Array]]:
        """The means over all seeds but one: the seed that is left out on the first axis, lines on the second."""
        axes = {q.name for q in self.bound.quantities if q.card.axis}
        lined = {name: x if x.ndim == 2 + (name in axes) else x[:, None] for name, x in self.moving.items()}
        return _but_one(self.target), {name: _but_one(x) for name, x in lined.items()}


def _mean(values: Array) -> Array:
    """The mean over the first axis, ignoring NaN: a client that did not take part has no value."""
    count = np.isfinite(values).sum(0)
    return np.asarray(np.where(count, np.nansum(values, 0) / np.maximum(count, 1), np.nan))


def _but_one(values: Array) -> Array:
    """For every entry of the first axis the mean of the other entries, ignoring NaN."""
    exists = np.isfinite(values)
    others = exists.sum(0) - exists
    away = np.where(exists, _mean(values) - values, 0.0)
    return np.asarray(np.where(others, _mean(values) + away / np.maximum(others, 1), np.nan))


def evaluate(data: Data, moving: Values, outside: bool) -> Array:
    """The bound at every line, minimised over free constants; NaN where conditions fail, unless ``outside``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = _complete(data, moving)
        bound = data.bound.formula(**values) if outside else data.bound(**values)
    return np.atleast_1d(np.asarray(bound, dtype=float))


def _complete(data: Data, moving: Values) -> dict[str, Any]:
    values = {**data.fixed, **moving}
    for name in data.chosen:
        values[name] = _best(data.bound, name, values)
    return values


def decide_conditions(data: Data, status: Sequence[str]) -> tuple[str, ...]:
    """The lines of ``condition_status`` with numeric conditions decided: NOT met if they fail at one line or more."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        failed = {c.words for c in data.bound.failed(**_complete(data, data.means()[1]))}
    parts = [line.split(": ", 1) for line in status]
    return tuple(f"{'NOT met' if words in failed else 'met'}: {words}" if how == CHECKED_AT_ROWS else f"{how}: {words}"
                 for how, words in parts)  # fmt: skip


def _best(bound: Bound, name: str, values: Values) -> float:
    """The value of a free constant at which the sum of the bound over all lines is smallest."""
    count = len(FREE_CHOICES)
    axes = {q.name for q in bound.quantities if q.card.axis}
    spread = {k: np.asarray(v)[None] if k in axes or np.ndim(v) else v for k, v in values.items()}
    lines = max((np.ndim(v) - (k in axes) for k, v in values.items()), default=0)
    bounds = bound(**spread, **{name: FREE_CHOICES.reshape(count, *[1] * lines)})
    totals = np.asarray(bounds).reshape(count, -1).sum(-1)
    return float(FREE_CHOICES[np.nanargmin(totals)] if np.isfinite(totals).any() else FREE_CHOICES[count // 2])


def _interval(data: Data, moving: Values, line: int) -> tuple[float, float]:
    """The smallest and largest value of the bound at one line over the intervals of uncertain constants."""
    axes = {q.name for q in data.bound.quantities if q.card.axis}
    here = {}
    for name, value in moving.items():
        array = np.asarray(value)
        lined = array.ndim - (name in axes) > 0
        here[name] = array[line if len(array) > 1 else 0] if lined else value
    values = _complete(data, here)
    certain = {k: v for k, v in values.items() if k not in data.uncertain}
    try:
        ends = bound_range(data.bound, data.uncertain, **certain)
    except EmpiricsError:  # the conditions fail everywhere, or too many constants are uncertain
        return math.nan, math.nan
    return ends.low, ends.high


def lines(data: Data, places: Sequence[str], doubt: str = "", broken: bool = False) -> list[Line]:
    """Compare every line with the bound; ``places`` are the labels of the lines.

    A ``doubt`` (why no verdict is possible) leaves all verdicts open; ``broken`` conditions put all lines outside.
    """
    target, moving = data.means()
    bound, formula = (np.broadcast_to(evaluate(data, moving, outside), target.shape) for outside in (False, True))
    doubt = doubt or ("one seed" if data.seeds < 2 else "")
    both = None if doubt or broken else differences(data)
    freedom = data.seeds * (data.seeds - 1)
    error = _length(data.target - target) / math.sqrt(freedom) if freedom else np.full(target.shape, np.nan)
    rows = []
    for i, place in [(int(np.argmin(target)), places[0])] if data.fold == "min" else enumerate(places):
        outside = broken or bool(np.isnan(bound[i]))
        ends = _interval(data, moving, i) if data.uncertain and not outside else (float(formula[i]),) * 2
        why, verdict = "outside the conditions" if outside else doubt, Verdict.UNDECIDED
        if not why and both is not None:
            verdict = _verdict(data, both, i, len(places))
            if verdict is Verdict.UNDECIDED:
                why = NO_SPREAD if both.equal_seeds[i] else data.lacking
        rows.append(Line((place,), Estimate(target[i], error[i]), float(formula[i]), *ends, outside, verdict, why))
    return rows


@dataclass(frozen=True)
class Differences:
    """Measured minus bound with standard errors, one entry per value of the target.

    ``equal``: whether rounding alone explains the difference, in every seed. ``equal_seeds``: whether the target is the
    same in all seeds up to rounding, so that no error can be estimated.
    """

    excess: Array
    errors: Array
    equal: Array
    equal_seeds: Array
    seeds: int

    def verdict(self, i: int, rows: int) -> Verdict:
        """The verdict on value ``i``, if ``rows`` verdicts share one error rate."""
        if self.equal_seeds[i]:
            return Verdict.UNDECIDED
        if self.equal[i]:
            return Verdict.HOLDS_HERE
        return t_test_verdict(Estimate(self.excess[i], self.errors[i]), self.seeds, rows)


def differences(data: Data) -> Differences:
    """Measured minus bound (bound minus measured for a lower bound) with delete-one-seed standard errors."""
    sign = -1.0 if data.bound.relation == ">=" else 1.0
    target, moving = data.means()
    excess = sign * (target - np.broadcast_to(evaluate(data, moving, False), target.shape))
    left, lefts = data.left_out()
    if data.chosen and lefts:  # the best constant depends on the seed that is left out
        rows = [evaluate(data, {name: x[i] for name, x in lefts.items()}, False) for i in range(data.seeds)]
        bounds = np.stack([np.broadcast_to(row, target.shape) for row in rows])
    else:
        bounds = np.broadcast_to(evaluate(data, lefts, False), left.shape)
    values = sign * (left - bounds)
    errors = _length(values - values.mean(0)) * math.sqrt((data.seeds - 1) / data.seeds)
    same = np.asarray(np.ptp(data.target, 0) <= ROUNDING * np.abs(data.target).max(0)) & (not data.drawn)
    if data.fold == "min" and not same.all():
        same[0] = False  # all runs start at one model; they differ from there on
    return Differences(excess, errors, abs(excess) + errors <= ROUNDING * abs(target), same, data.seeds)


def _length(rows: Array) -> Array:
    """The root of the sum of squares over the first axis, without overflow or underflow of the squares."""
    size = np.abs(rows).max(0)
    return np.asarray(size * np.sqrt(((rows / np.where(size > 0, size, 1.0)) ** 2).sum(0)))


def _verdict(data: Data, both: Differences, line: int, rows: int) -> Verdict:
    """The verdict by t tests over seeds, with one error rate for all lines together.

    A minimum is below the bound if one of the values is, and above it if all are; if values are missing only the first
    can be decided. An equality holds if both sides are the same number up to rounding.
    """
    if data.bound.relation == "=":
        if data.lacking or both.equal[line] or both.equal_seeds[line]:
            return Verdict.HOLDS_HERE if both.equal[line] and not data.lacking else Verdict.UNDECIDED
        distance = Estimate(np.abs(both.excess[line]), both.errors[line])
        violated = t_test_verdict(distance, both.seeds, 2 * rows) is Verdict.VIOLATED
        return Verdict.VIOLATED if violated else Verdict.UNDECIDED
    if data.fold != "min":
        return both.verdict(line, rows)
    every = range(len(both.excess))
    by_one, by_all = Verdict.HOLDS_HERE, Verdict.VIOLATED
    if data.bound.relation == ">=":
        by_one, by_all = by_all, by_one
    if any(both.verdict(i, rows * len(every)) is by_one for i in every):
        return by_one
    return by_all if not data.lacking and all(both.verdict(i, rows) is by_all for i in every) else Verdict.UNDECIDED


def trend(formula: Sequence[float], measured: Sequence[float]) -> str:
    """Whether formula and measurement change in the same direction over the rounds, by rank correlation."""
    f, m = np.asarray(formula, dtype=float), np.asarray(measured, dtype=float)
    finite = np.isfinite(f) & np.isfinite(m)
    f, m = f[finite], m[finite]
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
