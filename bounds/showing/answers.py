"""Results of the command line (values, minima, solutions, elasticities over a grid) as lines of text or JSON."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core import Bound
from ..domains import Domain
from ..failed_conditions import FailedCondition
from ..numerics.evaluate import evaluator_of
from ..numerics.ranges import bound_range, combinations, NeverAppliesError
from .reading import Grid
from .tables import aligned, number, plain, streamed

EVAL_JSON = """\
--json prints one object:
  name, relation, statistic, unit    of the bound; unit is the target's
  axes               one object per axis of value: its numbers by quantity (several with --zip);
                     a target that varies over clients has them as last axis
  value, holds       nested lists, one level per axis: the bound, and whether its numeric conditions hold
  terms              the named terms, each in the shape of value
  failed_conditions  the conditions that fail somewhere: condition (in the paper's words), formula, and where it first
                     fails left, right (its sides) and why (the decisive part of a long right side)
  low, high          with uncertain constants: the interval of the bound, each in the shape of value (null: none)
  proven             with them: whether low and high are proven to be its ends, or an interval around them; in the
                     shape of value
NaN is null, infinity is "inf" or "-inf"."""
ANSWERS_JSON = """\
--json prints one object: name and unit of the bound; answers, one object per point that has one; findings, why the
others have none. In an answer, where holds the swept quantities; eval --elasticity has the elasticity by quantity;
minimize has at, value, whole_at, whole_value (the best integer), limited_by; solve has at, value, limited_by,
note. With uncertain constants NAME_interval is [low, high], which may be too narrow. NaN is null. minimize without
numbers prints an object of formulas as text: over, at, value, requires and not_checked (conditions)."""
OUTSIDE, NOT_MET = "OUTSIDE", "does not apply"
MOST_RANGES = 1000
"""The largest number of points at which the range of a bound is computed."""
MOST_VARIED, MOST_ASKED = 20, 81
"""The largest number of points at which the ranges of minima and solutions are computed, and of samples at each."""

INTERVAL = "_interval"
"""The ending of the key of an interval."""

Ask = Callable[..., dict[str, Any]]
"""A function of a bound's arguments that returns an answer: numbers and texts by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Values, terms and conditions of a bound over a grid; ``outside`` includes points where conditions fail."""

    bound: Bound
    axes: tuple[dict[str, list[Any]], ...]
    value: np.ndarray
    terms: dict[str, np.ndarray]
    holds: np.ndarray
    failed: tuple[FailedCondition, ...]
    outside: bool
    uncertain: tuple[str, ...] = ()
    interval: Sequence[np.ndarray] | None = None
    """The range of the values over the intervals of uncertain constants: two arrays."""
    proven: np.ndarray | None = None
    """Where the ends of the range are attained; elsewhere the range may be too wide."""

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``fedbounds eval --json`` prints."""
        ends = self.interval
        interval = {} if ends is None else {"low": plain(ends[0]), "high": plain(ends[1]), "proven": plain(self.proven)}
        return {
            "name": self.bound.name,
            "relation": self.bound.relation,
            "statistic": str(self.bound.statistic) if self.bound.statistic else None,
            "unit": str(self.bound.target.card.unit),
            "axes": plain(self.axes),
            "value": plain(self.value),
            "terms": plain(self.terms),
            "holds": plain(self.holds),
            "failed_conditions": [plain(asdict(one)) for one in self.failed],
            **interval,
        }

    def lines(self) -> Iterator[str]:
        """Yield the lines: one number with its terms, or a table with a row per point."""
        target = f"{self.bound.target.name} {self.bound.relation}"
        if self.value.ndim == 0:
            yield f"{target} {number(float(self.value))}   [{self.bound.target.card.unit}]   {self._mark(())}".rstrip()
            yield from (f"  {line}" for line in aligned([[n, number(float(t))] for n, t in self.terms.items()]))
            if self.interval is not None and not np.isnan(self.interval).any():
                low, high = (number(float(end)) for end in self.interval)
                from_ = "from" if np.all(self.proven) else "within"
                yield f"{from_} {low} to {high} as uncertain constants vary: {', '.join(self.uncertain)}"
            return
        yield f"{target} value   [{self.bound.target.card.unit}]"
        heads = [name for axis in self.axes for name in axis]
        marks = [] if self.holds.all() else [""]
        ends = [] if self.interval is None else ["low", "high"]
        yield from streamed(self._rows(bool(marks)), [*heads, "value", *ends, *self.terms, *marks])

    def _rows(self, marked: bool) -> Iterator[list[str]]:
        for index in np.ndindex(self.value.shape):
            place = [_cell(column[i]) for i, axis in zip(index, self.axes, strict=True) for column in axis.values()]
            ends = () if self.interval is None else (end[index] for end in self.interval)
            shown = [self.value[index], *ends, *(term[index] for term in self.terms.values())]
            yield [*place, *(number(float(v)) for v in shown), *([self._mark(index)] if marked else [])]

    def _mark(self, index: tuple[int, ...]) -> str:
        if self.holds[index]:
            return ""
        return OUTSIDE if self.outside else NOT_MET

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), *self.remarks])

    @property
    def remarks(self) -> Iterator[str]:
        """What a reader must know besides the numbers."""
        if not self.holds.all():
            verb = "is OUTSIDE its conditions, so no evidence," if self.outside else "does not apply"
            yield f"{self.bound.name} {verb} {_where(~self.holds)}; not met: {'; '.join(map(str, self.failed))}"
        undefined = np.isnan(self.value) & self.holds
        if undefined.any():
            yield f"{self.bound.name} has no real value {_where(undefined)}, though its conditions hold there"
        if self.proven is not None and not self.proven.all():
            yield (
                f"the interval of {self.bound.name} contains all values but may be too wide {_where(~self.proven)}: "
                "the search for its ends was stopped early"
            )
        if self.uncertain and self.interval is None:
            yield f"no interval of the bound at more than {MOST_RANGES} points or over a client axis, only its values"


def _where(marked: np.ndarray) -> str:
    return "here" if marked.size == 1 else f"at {int(marked.sum())} of {marked.size} points"


def evaluate(span: Grid, outside: bool = False) -> Evaluation:
    """Evaluate a bound, its terms and its conditions over a grid."""
    bound, inputs = span.bound, evaluator_of(span.bound).inputs(span.values)
    with warnings.catch_warnings():
        for category in (errors.OutsideConditionsWarning, errors.UndefinedValueWarning):  # ``remarks`` says where
            warnings.simplefilter("ignore", category)
        value = np.asarray(inputs.value(outside))
        warnings.simplefilter("ignore", errors.TermOverflowWarning)  # already given for the value
        terms = {n: np.asarray(t) for n, t in inputs.parts(outside).items()}
        holds = np.broadcast_to(inputs.holds(), value.shape)
        failed = tuple(FailedCondition.at(inputs.bound, words, at) for words, at in inputs.failed().items())
    axes = span.axes
    if value.ndim > len(axes):
        axes = (*axes, {bound.axis: list(range(1, value.shape[-1] + 1))})
    uncertain = tuple(span.uncertain)
    interval = proven = None
    if uncertain and value.shape == span.shape and value.size <= MOST_RANGES:
        *interval, proven = _interval(span, value, outside)
    return Evaluation(bound, axes, value, terms, holds, failed, outside, uncertain, interval, proven)


def _interval(span: Grid, value: np.ndarray, outside: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the range of the bound at every point of the grid, NaN if it never applies, and whether it is proven."""
    low, high, proven = np.full(value.shape, np.nan), np.full(value.shape, np.nan), np.ones(value.shape, dtype=bool)
    for index, (_, values) in zip(np.ndindex(value.shape), span.points(), strict=True):
        with suppress(NeverAppliesError):
            found = bound_range(span.bound, span.uncertain, outside, **values)
            low[index], high[index] = np.fmin(found.low, value[index]), np.fmax(found.high, value[index])
            proven[index] = found.proven
    return low, high, proven


# ---- one answer per point ----


@dataclass(frozen=True, repr=False)
class Answers:
    """A table of answers, one row per point of a grid; ``findings`` say which points have none, and why.

    A row is a pair of the point and the answer, both with the keys of the JSON output; ``heads`` are the column titles
    of these keys.
    """

    bound: Bound
    rows: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def status(self) -> int:
        """The exit status: 1 if a point has no answer."""
        return int(bool(self.findings))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        return (*self.notes, *self.findings)

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), *self.findings])

    def lines(self) -> list[str]:
        """Return a block ``name  value`` for one point, or a table for several, without empty columns."""
        if not self.rows:
            return []
        rows = [where | found for where, found in self.rows]
        columns = [[self._head(key), *(_cell(row[key]) for row in rows)] for key in rows[0]]
        columns = [column for column in columns if any(column[1:])]
        table = aligned(columns if len(rows) == 1 else list(zip(*columns, strict=True)))
        return [self.title, *table] if self.title else table

    def _head(self, key: str) -> str:
        name = key.removesuffix(INTERVAL)
        return self.heads.get(name, name) + ("" if name == key else ", at least")

    def as_json(self) -> dict[str, Any]:
        """Return the object that ``--json`` prints."""
        answers = [
            {"where": where, **{key: list(x) if isinstance(x, Between) else x for key, x in found.items()}}
            for where, found in self.rows
        ]
        unit = str(self.bound.target.card.unit)
        return {"name": self.bound.name, "unit": unit, "answers": answers, "findings": list(self.findings)}


def answer(
    span: Grid, ask: Ask, remarks: Iterable[str] = (), heads: Mapping[str, str] | None = None, title: str = ""
) -> Answers:
    """Apply ``ask`` at every point of the grid; a point without an answer becomes a finding."""
    names = [name for axis in span.axes for name in axis]
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
    findings = []
    for swept, values in span.points():
        where = dict(zip(names, swept, strict=True))
        try:
            rows.append((where, ask(**values)))
        except (errors.NoSolutionError, errors.NoMinimumError) as error:
            place = ", ".join(f"{name}={_cell(item)}" for name, item in where.items())
            findings.append(f"{place}: {error}" if place else str(error))
    return Answers(span.bound, tuple(rows), tuple(findings), tuple(remarks), heads or {}, title)


def heads_of(bound: Bound, unknown: str, side: str = "") -> dict[str, str]:
    """Return the column titles for the answers of ``smallest`` and ``solved``."""
    return {
        "at": f"{side} {unknown}".strip(),
        "value": bound.target.name,
        "whole_at": f"integer {unknown}",
        "whole_value": "value there",
        "limited_by": "limited by",
    }


def smallest(bound: Bound, over: str) -> Ask:
    """Return a function that minimises over ``over``."""

    def ask(**values: Any) -> dict[str, Any]:
        best: Any = bound.minimize(over, **values)
        return {
            "at": best.at,
            "value": best.value,
            "whole_at": best.integer_at,
            "whole_value": best.integer_value,
            "limited_by": best.binding,
        }

    return ask


def solved(bound: Bound, unknown: str, target: float, side: str) -> Ask:
    """Return a function that finds the ``side`` (largest or smallest) value with the bound at most ``target``."""

    def ask(**values: Any) -> dict[str, Any]:
        solution = bound.solve(unknown, target=target, side=side, **values)
        notes = {
            _near_end(bound.quantity(unknown).card.domain, solution.at): True,
            "not limited by the target": solution.unbounded,
            "up to a constant, set to 1": solution.up_to_constant,
        }
        note = "; ".join(words for words, so in notes.items() if words and so)
        return {"at": solution.at, "value": solution.value, "limited_by": solution.binding, "note": note}

    return ask


def _near_end(domain: Domain, at: Any) -> str:
    """Return a note if a value lies so close to an open end of the domain that a table shows the end."""
    if np.ndim(at) or not np.isfinite(at) or domain.contains(np.asarray(shown := float(number(float(at))))):
        return ""
    return f"just {'below' if at < shown else 'above'} {number(shown)}"


def over_intervals(span: Grid, ask: Ask) -> tuple[Ask, list[str]]:
    """Extend ``ask`` by the ranges of its numbers over uncertain constants; also return remarks on them."""
    if not span.uncertain:
        return ask, []
    if np.prod(span.shape) > MOST_VARIED:
        return ask, span.remarks()

    places = combinations(span.bound, span.uncertain, MOST_ASKED)

    def with_intervals(**values: Any) -> dict[str, Any]:
        found = ask(**values)
        certain = {name: value for name, value in values.items() if name not in span.uncertain}
        answers, missing = [found], False
        for place in places:
            try:
                answers.append(ask(**certain, **place))
            except (errors.NoSolutionError, errors.NoMinimumError):
                missing = True
            except errors.DomainError:  # an invalid combination, such as mu > L
                continue
        shown: dict[str, Any] = {}
        for name in (name for name, item in found.items() if isinstance(item, (int, float))):
            numbers = [float(answer[name]) for answer in answers]
            missing = missing or bool(np.isnan(numbers).any())
            shown[f"{name}{INTERVAL}"] = Between(float(np.nanmin(numbers)), float(np.nanmax(numbers)))
        return found | shown | {"and": "none at some of the constants" if missing else ""}

    used = ", ".join(span.uncertain)
    return with_intervals, [f"intervals over {used} may be wider: {len(places)} points in them were checked"]


class Between(NamedTuple):
    """The ends of an interval, which a table shows as ``low to high``."""

    low: float
    high: float


def _cell(item: Any) -> str:
    """Format a number, a list or a text as a table cell; None is empty."""
    if item is None or isinstance(item, str):
        return item or ""
    if isinstance(item, Between):
        return " to ".join(number(end) for end in item)
    if np.ndim(item):
        return "[" + ", ".join(map(_cell, item)) + "]" if len(item) else ""
    if isinstance(item, (int, np.integer)) and abs(int(item)) < 10**15:  # counts are not rounded
        return str(item)
    return number(float(item))
