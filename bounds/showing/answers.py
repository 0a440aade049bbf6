"""What the command line answers: values, minima, solutions and elasticities over a grid, as lines of text or JSON."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .. import errors
from ..core import Bound
from ..domains import Domain
from ..numerics.ranges import bound_range, combinations, SilentError
from .tables import aligned, number, plain, streamed
from .values import Grid

EVAL_JSON = """\
--json prints one object:
  name, relation, statistic, unit    of the bound; unit is the target's
  axes               one object per axis of value: its numbers by quantity (several with --zip);
                     a target that varies over clients has them as last axis
  value, holds       nested lists, one level per axis: the bound, and whether its numeric conditions hold
  terms              the named terms, each in the shape of value
  failed_conditions  the words of the conditions that fail at one or more points
  low, high          with uncertain constants: the interval of the bound, each in the shape of value (null: none)
  proven             with them: whether low and high are proven to be its ends, or an interval around them; in the
                     shape of value
NaN is null, infinity is "inf" or "-inf"."""
ANSWERS_JSON = """\
--json prints one object: name and unit of the bound; answers, one object per point that has one; findings, why the
others have none. In an answer, where holds the swept quantities; eval --elasticity has the elasticity by quantity;
minimize has at, value, whole_at, whole_value (the best integer), limited_by, method; solve has at, value, limited_by,
note. With uncertain constants NAME_interval is [low, high], at least so wide. NaN is null. minimize without numbers
prints an object of formulas as text: over, at, value, requires and not_checked (conditions)."""
OUTSIDE, NOT_MET = "OUTSIDE", "does not apply"
MOST_RANGES = 1000
"""Points at which the interval of a bound is looked for."""
MOST_VARIED, MOST_ASKED = 20, 81
"""Points at which the intervals of minima and solutions are looked for, and how many places inside each gets."""

INTERVAL = "_interval"
"""What the key of an interval ends with."""

Ask = Callable[..., dict[str, Any]]
"""A question about a bound at certain values: the numbers and words of its answer by name."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Values, terms and conditions of a bound over a grid; ``outside`` says whether formulas go beyond conditions."""

    bound: Bound
    axes: tuple[dict[str, list[Any]], ...]
    value: np.ndarray
    terms: dict[str, np.ndarray]
    holds: np.ndarray
    failed: tuple[str, ...]
    outside: bool
    uncertain: tuple[str, ...] = ()
    interval: Sequence[np.ndarray] | None = None
    """Two ends between which all values lie while uncertain constants run over their intervals."""
    proven: np.ndarray | None = None
    """Where the bound reaches these ends; elsewhere its values may lie closer together."""

    def as_json(self) -> dict[str, Any]:
        """The object ``fedbounds eval --json`` prints."""
        return {
            "name": self.bound.name,
            "relation": self.bound.relation,
            "statistic": str(self.bound.statistic) if self.bound.statistic else None,
            "unit": str(self.bound.target.card.unit),
            "axes": plain(self.axes),
            "value": plain(self.value),
            "terms": plain(self.terms),
            "holds": plain(self.holds),
            "failed_conditions": list(self.failed),
            **self._interval_as_json(),
        }

    def _interval_as_json(self) -> dict[str, Any]:
        if self.interval is None:
            return {}
        return {"low": plain(self.interval[0]), "high": plain(self.interval[1]), "proven": plain(self.proven)}

    def lines(self) -> Iterator[str]:
        """One number with its terms, or a table with a row per point."""
        target = f"{self.bound.target.name} {self.bound.relation}"
        if self.value.ndim == 0:
            yield f"{target} {number(float(self.value))}   [{self.bound.target.card.unit}]   {self._mark(())}".rstrip()
            yield from (f"  {line}" for line in aligned([[n, number(float(t))] for n, t in self.terms.items()]))
            if self.interval is not None:
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
            said = [_cell(column[i]) for i, axis in zip(index, self.axes, strict=True) for column in axis.values()]
            ends = () if self.interval is None else (end[index] for end in self.interval)
            shown = [self.value[index], *ends, *(term[index] for term in self.terms.values())]
            yield [*said, *(number(float(v)) for v in shown), *([self._mark(index)] if marked else [])]

    def _mark(self, index: tuple[int, ...]) -> str:
        if self.holds[index]:
            return ""
        return OUTSIDE if self.outside else NOT_MET

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def remarks(self) -> Iterator[str]:
        """What a reader must know besides the numbers."""
        if not self.holds.all():
            said = "is OUTSIDE its conditions, so no evidence," if self.outside else "does not apply"
            yield f"{self.bound.name} {said} {_where(~self.holds)}; not met: {'; '.join(self.failed)}"
        undefined = np.isnan(self.value) & self.holds
        if undefined.any():
            yield f"{self.bound.name} has no real value {_where(undefined)}, though its conditions hold there"
        if self.proven is not None and not self.proven.all():
            yield (
                f"the interval of {self.bound.name} holds all its values but may be too wide {_where(~self.proven)}: "
                "the search for its ends was cut short"
            )
        if self.uncertain and self.interval is None:
            yield f"no interval of the bound at more than {MOST_RANGES} points or over a client axis, only its values"


def _where(marked: np.ndarray) -> str:
    return "here" if marked.size == 1 else f"at {int(marked.sum())} of {marked.size} points"


def evaluate(span: Grid, outside: bool = False) -> Evaluation:
    """The bound, its terms and its conditions over a grid."""
    bound, values = span.bound, span.values
    with warnings.catch_warnings():
        for said in (errors.OutsideConditionsWarning, errors.UndefinedValueWarning):  # by ``remarks``, with its place
            warnings.simplefilter("ignore", said)
        value = np.asarray(bound.formula(**values) if outside else bound(**values))
        warnings.simplefilter("ignore", errors.TermOverflowWarning)  # once is enough
        terms = {n: np.asarray(t) for n, t in bound.parts(outside=outside, **values).items()}
        holds = np.broadcast_to(bound.holds(**values), value.shape)
        failed = tuple(c.words for c in bound.failed(**values))
    axes = span.axes
    if value.ndim > len(axes):
        axes = (*axes, {bound.axis: list(range(1, value.shape[-1] + 1))})
    uncertain = tuple(span.uncertain)
    interval = proven = None
    if uncertain and value.shape == span.shape and value.size <= MOST_RANGES:
        *interval, proven = _interval(span, value, outside)
    return Evaluation(bound, axes, value, terms, holds, failed, outside, uncertain, interval, proven)


def _interval(span: Grid, value: np.ndarray, outside: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The ends of the bound's interval at every point of the grid, NaN where it does not apply on all of it, and
    whether the
    bound reaches them."""
    low, high, proven = np.full(value.shape, np.nan), np.full(value.shape, np.nan), np.ones(value.shape, dtype=bool)
    for index, (_, values) in zip(np.ndindex(value.shape), span.points(), strict=True):
        with suppress(SilentError):
            found = bound_range(span.bound, span.uncertain, outside, **values)
            low[index], high[index] = np.fmin(found.low, value[index]), np.fmax(found.high, value[index])
            proven[index] = found.proven
    return low, high, proven


# ---- one answer per point ----


@dataclass(frozen=True, repr=False)
class Answers:
    """A table of answers, one row per point of a grid; ``findings`` say where there is none and why.

    A row says where the point is and what the answer is, by the keys in JSON; ``heads`` are names for people of these.
    """

    bound: Bound
    rows: tuple[tuple[dict[str, Any], dict[str, Any]], ...]
    findings: tuple[str, ...]
    notes: tuple[str, ...] = ()
    heads: Mapping[str, str] = field(default_factory=dict)
    title: str = ""

    @property
    def status(self) -> int:
        """1 where a point has no answer."""
        return int(bool(self.findings))

    def remarks(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        return (*self.notes, *self.findings)

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), *self.findings])

    def lines(self) -> list[str]:
        """A block ``name  value`` for one point, a table for several; columns that say nothing are left out."""
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
        """The object that ``--json`` prints."""
        answers = [
            {"where": where, **{key: list(x) if isinstance(x, Between) else x for key, x in found.items()}}
            for where, found in self.rows
        ]
        told = {"name": self.bound.name, "unit": str(self.bound.target.card.unit), "answers": answers}
        return {**told, "findings": list(self.findings)}


def answer(
    span: Grid, ask: Ask, remarks: Iterable[str] = (), heads: Mapping[str, str] | None = None, title: str = ""
) -> Answers:
    """``ask(**values)`` at every point of the grid; a point without an answer becomes a finding."""
    names = [name for axis in span.axes for name in axis]
    rows: list[tuple[dict[str, Any], dict[str, Any]]] = []
    findings = []
    for said, values in span.points():
        where = dict(zip(names, said, strict=True))
        try:
            rows.append((where, ask(**values)))
        except (errors.NoSolutionError, errors.NoMinimumError) as error:
            place = ", ".join(f"{name}={_cell(item)}" for name, item in where.items())
            findings.append(f"{place}: {error}" if place else str(error))
    return Answers(span.bound, tuple(rows), tuple(findings), tuple(remarks), heads or {}, title)


def heads_of(bound: Bound, asked: str, side: str = "") -> dict[str, str]:
    """Names for people of what ``smallest`` and ``solved`` find."""
    return {
        "at": f"{side} {asked}".strip(),
        "value": bound.target.name,
        "whole_at": f"whole {asked}",
        "whole_value": "value there",
        "limited_by": "limited by",
    }


def smallest(bound: Bound, over: str) -> Ask:
    """Asks for the minimum in ``over``."""

    def ask(**values: Any) -> dict[str, Any]:
        best: Any = bound.minimize(over, **values)
        return {
            "at": best.at,
            "value": best.value,
            "whole_at": best.integer_at,
            "whole_value": best.integer_value,
            "limited_by": best.binding,
            "method": best.method,
        }

    return ask


def solved(bound: Bound, wanted: str, target: float, side: str) -> Ask:
    """Asks for the ``side`` value of ``wanted`` with the bound still at most ``target``."""

    def ask(**values: Any) -> dict[str, Any]:
        found = bound.solve(wanted, target=target, side=side, **values)
        notes = {
            _beside(bound.quantity(wanted).card.domain, found.at): True,
            "not limited by the target": np.all(found.unbounded),
            "up to a constant, taken as 1": found.up_to_constant,
        }
        note = "; ".join(words for words, so in notes.items() if words and so)
        return {"at": found.at, "value": found.value, "limited_by": found.binding, "note": note}

    return ask


def _beside(domain: Domain, at: Any) -> str:
    """The open end of the domain that a value lies next to, where the digits of a table do not tell the two apart."""
    if np.ndim(at) or not np.isfinite(at) or domain.contains(np.asarray(shown := float(number(float(at))))):
        return ""
    return f"just {'below' if at < shown else 'above'} {number(shown)}"


def over_intervals(span: Grid, ask: Ask) -> tuple[Ask, list[str]]:
    """``ask`` with the intervals of its numbers while uncertain constants run over theirs, and what to say of them."""
    if not span.uncertain:
        return ask, []
    if np.prod(span.shape) > MOST_VARIED:
        return ask, [*span.remarks()]

    places = combinations(span.bound, span.uncertain, MOST_ASKED)

    def asked(**values: Any) -> dict[str, Any]:
        found = ask(**values)
        certain = {name: value for name, value in values.items() if name not in span.uncertain}
        answers, missing = [found], False
        for place in places:
            try:
                answers.append(ask(**certain, **place))
            except (errors.NoSolutionError, errors.NoMinimumError):
                missing = True
            except errors.DomainError:  # constants that cannot be together, such as mu > L
                continue
        shown: dict[str, Any] = {}
        for name in (name for name, item in found.items() if isinstance(item, (int, float))):
            numbers = [float(answer[name]) for answer in answers]
            missing = missing or bool(np.isnan(numbers).any())
            shown[f"{name}{INTERVAL}"] = Between(float(np.nanmin(numbers)), float(np.nanmax(numbers)))
        return found | shown | {"and": "none at some of the constants" if missing else ""}

    used = ", ".join(span.uncertain)
    return asked, [f"intervals over {used} are at least so wide: {len(places)} points in them were checked"]


class Between(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


def _cell(item: Any) -> str:
    """A number, a list of them or words, as a table shows it; nothing for None."""
    if item is None or isinstance(item, str):
        return item or ""
    if isinstance(item, Between):
        return " to ".join(number(end) for end in item)
    if np.ndim(item):
        return "[" + ", ".join(map(_cell, item)) + "]" if len(item) else ""
    if isinstance(item, (int, np.integer)) and abs(int(item)) < 10**15:  # a count is not rounded
        return str(item)
    return number(float(item))
