"""The rows of a comparison: the value of one bound for one bounded quantity of a federation, or why it has none.

The value is that of the bound at ``Scenario.values``, times the factor of the conversions from the bound's own quantity
to the row's. Rows are ranked by their upper ends, and only within one bounded quantity (``bounds.bounded_quantity``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from bounds.bounded_quantity import (
    BoundedQuantity,
    CONVERSIONS,
    FOLDED,
    implicit_conditions,
    mismatch,
    never,
    OTHER_METHOD,
    Place,
    Refusal,
    Route,
    routes,
    sides_of,
)  # fmt: skip
from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.failed_conditions import FailedCondition
from bounds.identities import AT_MOST, IDENTITIES
from bounds.one_machine import IDENTICAL, NAME as MACHINE, TARGETS as OF_MACHINES
from bounds.scenario import Scenario
from bounds.scenario_values import Provenance, QUANTITIES, Role, role_of, ROUNDING, ScenarioValue, worst
from bounds.substituting import Substituted
from bounds.trivial_bounds import trivial

from .audit_status import AUDIT_STATUS


class State(StrEnum):
    """The states of rows, in this order.

    Below the value before training; below the value that the premises imply, but not below that before training;
    neither; a condition fails; known only up to a constant; about another quantity; values of quantities are missing.
    """

    INFORMATIVE = "informative"
    BELOW_PREMISES = "below premises"
    VACUOUS = "vacuous"
    NOT_MET = "conditions not met"
    ORDER = "order"
    OTHER = "other quantity"
    MISSING = "missing"


class EvidenceKind(StrEnum):
    """Kinds of evidence.

    Exact moments of quadratics that satisfy the row's premises; exact moments of the federation's quadratic surrogate;
    the exact worst case over all federations that the theorem covers; training.
    """

    EXACT = "exact"
    SURROGATE = "surrogate"
    WORST = "worst case"
    MEASURED = "measured"


RANKED = (State.INFORMATIVE, State.BELOW_PREMISES, State.VACUOUS)
"""The states of rows that have a value."""
UPPER = ("<=", "<~")
CLOSE = 1e-9
"""Relative difference below which two numbers are equal."""
CHECKED = 9
"""Number of values of a quantity at which it is checked that a bound increases in the quantity."""


@dataclass(frozen=True)
class Evidence:
    """A value of the row's bounded quantity; a true bound is not below it.

    ``error`` is a standard error over ``seeds``. With ``upper``, ``value`` is only an upper estimate of the quantity
    (for example that of another quantity, by the conversion ``via``), so exceeding the bound proves nothing.
    """

    value: float
    what: str
    error: float = 0.0
    seeds: int = 0
    via: str = ""
    upper: bool = False

    def exceeds(self, high: float, comparisons: int) -> bool:
        """Whether the value is above the bound's upper end, beyond rounding or, with seeds, beyond chance."""
        if self.upper or not math.isfinite(high):
            return False
        if not self.seeds:
            return self.value > high * (1 + ROUNDING)
        from empirics.measuring.estimates import Estimate  # loads torch

        from ..validation.comparison import Verdict
        from ..validation.verdicts import t_test_verdict

        excess = Estimate(np.asarray(self.value - high), np.asarray(self.error))
        return t_test_verdict(excess, self.seeds, comparisons) is Verdict.VIOLATED


@dataclass(frozen=True)
class MinimumRounds:
    """The smallest number of rounds at which some plan makes a bound informative; infinite if none was found."""

    rounds: float
    local_steps: int = 0
    step_size: float = math.nan
    cohort: float = math.nan


class ServerReadings(NamedTuple):
    """Values at the server model: (number, standard error) each, or None."""

    label: str
    least: tuple[float, float] | None
    mean: tuple[float, float] | None
    last: tuple[float, float] | None
    gap: tuple[float, float] | None


class FormulaValue(NamedTuple):
    """The value of a paper's formula for a plan before rounding, with its range over uncertain constants."""

    formula: str
    quantity: str
    value: float
    low: float
    high: float
    printed: bool
    source: str


@dataclass(frozen=True)
class Row:
    """The value of one bound for one bounded quantity.

    ``high`` holds for all admissible values of the constants, ``low`` is the value at their other ends. If some
    constants are known only as ``lower_estimates``, the row is not ``conclusive``: then only ``vacuous`` is certain.
    ``assumed`` are conditions that cannot be checked, ``missing`` the quantities without a value.
    """

    bound: str
    quantity: BoundedQuantity
    state: State
    conversions: tuple[str, ...] = ()
    factor: float = math.nan
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    conclusive: bool = True
    alias: tuple[str, ...] = ()
    failed: tuple[FailedCondition, ...] = ()
    met: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    trivial_premises: float = math.nan
    trivial_start: float = math.nan
    terms: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Provenance | Role] = field(default_factory=dict)
    how: Mapping[str, str] = field(default_factory=dict)
    lower_estimates: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    why: str = ""
    audit: str = ""
    source: str = ""
    evidence: Mapping[EvidenceKind, Evidence] = field(default_factory=dict)
    minimum_rounds: MinimumRounds | None = None

    @property
    def refuted(self) -> bool:
        """Whether the audit has refuted the printed bound; it is shown but never the best."""
        return self.audit == "FAILS"

    @property
    def over_trivial(self) -> float:
        """The upper end over the value before training, or if that is unknown over what the premises imply."""
        trivial = self.trivial_start if math.isfinite(self.trivial_start) else self.trivial_premises
        return self.high / trivial if trivial > 0 else math.nan

    def over(self, kind: EvidenceKind) -> float:
        """The upper end over the evidence of a kind; NaN without such evidence."""
        evidence = self.evidence.get(kind)
        if evidence is None or self.state not in RANKED:
            return math.nan
        return self.high / evidence.value if evidence.value > 0 else math.inf

    @property
    def largest(self) -> tuple[str, float]:
        """The largest term and its share of the sum of positive terms."""
        positive = {name: t for name, t in self.terms.items() if t > 0}
        if not positive or not math.isfinite(sum(positive.values())):
            return "", math.nan
        name = max(positive, key=lambda n: positive[n])
        return name, positive[name] / sum(positive.values())

    def as_json(self) -> dict[str, Any]:
        data = asdict(self)
        data["class"] = data.pop("quantity")
        return data | {
            "over_trivial": self.over_trivial,
            **{f"over_{k.replace(' ', '_')}": self.over(k) for k in EvidenceKind},
        }


@dataclass(frozen=True)
class EvidenceSet:
    """Evidence of one kind: a function from rows to values, a line on the server model, and remarks."""

    kind: EvidenceKind
    for_row: Callable[[Row], Evidence | None] = lambda row: None
    server_model: ServerReadings | None = None
    remarks: tuple[str, ...] = ()


# ---- the rows of a bound ----


def rank_rows(
    target: str, scenario: Scenario, book: Mapping[str, Bound], of: tuple[str, ...] = ()
) -> tuple[str, Mapping[str, Bound], list[Row]]:
    """The target's full name, the bounds in ``book`` (with ``of``, those of the named papers and bounds), their rows.

    Raises:
        BoundsError: if no bound is on this quantity.
    """
    target = FOLDED[target][0] if target in FOLDED else target
    targets = {
        BoundedQuantity.of(bound).target for bound in book.values() if bound.relation in UPPER or is_identity(bound)
    }
    targets |= {conversion.result["target"] for conversion in CONVERSIONS if "target" in conversion.result}
    if target not in targets:
        meant = f"this is a bound: write {book[target].target.name} --of {target}" if target in book else ""
        raise unknown("target of a comparison", target, targets, meant)
    if of:
        papers = {name: name.partition(".")[0] for name in book}
        for name in of:
            if name not in {*papers, *papers.values()}:
                raise unknown("paper or bound", name, {*papers, *papers.values()})
        book = {name: bound for one in of for name, bound in book.items() if one in (name, papers[name])}
    rows = in_order(book, [row for bound in book.values() for row in rows_of(bound, scenario, target)])
    if of and not rows:
        about = sorted({BoundedQuantity.of(bound).target for bound in book.values()})
        raise BoundsError(f"{', '.join(of)} is about {', '.join(about)}, which implies nothing for {target}: "
                          f"compare {about[0]}")  # fmt: skip
    return target, book, rows


def rows_of(bound: Bound, scenario: Scenario, target: str, seen: frozenset[str] = frozenset()) -> list[Row]:
    """A bound's values for the target: a row for every quantity that conversions lead to, or one row that says why not.

    If the federation is equivalent to one machine, theorems on SGD on one machine apply too. ``seen`` are the targets
    for which this one is needed (they are not used again).
    """
    rows = federated_rows(bound, scenario, target, seen)
    if target not in OF_MACHINES or scenario.machine is None or ignores_server_step(bound, scenario):
        return rows
    machine, assumed = scenario.machine
    best = {row.quantity: row for row in rows if row.state in RANKED}
    for row in federated_rows(bound, machine, target, seen):
        better = row.quantity not in best or row.high < best[row.quantity].high * (1 - CLOSE)
        if row.state in RANKED and row.quantity.at in IDENTICAL and better:
            conversions = (MACHINE, *row.conversions)
            best[row.quantity] = replace(row, conversions=conversions, assumed=_union(row.assumed, assumed))
    return list(best.values()) or rows


def federated_rows(bound: Bound, scenario: Scenario, target: str, seen: frozenset[str] = frozenset()) -> list[Row]:
    """The rows of a bound without theorems on one machine; see ``rows_of``."""
    start = BoundedQuantity.of(bound)
    status = AUDIT_STATUS.get(bound.name) if BOUNDS.get(bound.name) is bound else None
    row = Row(bound.name, start, State.OTHER, audit=str(status or ""), source=str(bound.source))
    if bound.relation not in UPPER and not is_identity(bound):
        why = "it is an equality that defines a quantity or holds in a special case, not a bound"
        return [replace(row, why=why)] if start.target == target else []
    if why := never(start, target=target):
        return [replace(row, state=State.OTHER, why=why)]
    reached, refused = routes(start, scenario)
    here = [way for way in reached if way.to.target == target]
    if not here:
        return []
    if bound.relation == "<~":
        return [replace(row, state=State.ORDER, why="known up to a constant")]
    own = [way for way in here if not mismatch(way.to, scenario)]
    if not own:
        return [replace(row, state=State.OTHER, why=why_other(here, refused, scenario))]
    if ignores_server_step(bound, scenario):
        return [replace(row, state=State.OTHER, why="its server takes the average: server_step_size is 1")]

    def rows_of_part(quantity: str) -> list[Row]:
        if quantity in seen:
            return []
        rows = [row for other in BOUNDS.values() for row in rows_of(other, scenario, quantity, seen=seen | {target})]
        return [row for row in rows if row.state in RANKED and not row.refuted and not BOUNDS[row.bound].off_by]

    known, parts = fill_missing(bound, scenario, rows_of_part)
    if missing := known.missing(bound):
        return [replace(row, state=State.MISSING, why="; ".join(missing.values()), missing=tuple(missing))]
    put = known.substituted(bound)
    failed, assumed = _conditions(bound, known, put)
    unmet = {*assumed, *(one.condition for one in failed)}
    met = tuple(c.words for c in bound.conditions if c.words not in unmet)
    row = replace(row, met=met, assumed=assumed, values=put.values, provenance=put.provenance, how=put.how)
    if failed or math.isnan(put.value):
        return [replace(row, state=State.NOT_MET, failed=failed)]
    premises = (bound, *(BOUNDS[part.bound] for part in parts.values()))
    rows = [_with_number(row, way, premises, known, put) for way in own]
    return [_composed(row, bound, known, parts) for row in rows] if parts else rows


def ignores_server_step(bound: Bound, scenario: Scenario) -> bool:
    """Whether the server's step size is not 1 and the bound does not contain it."""
    return scenario["server_step_size"].value != 1 and all(q.name != "server_step_size" for q in bound.quantities)


def why_other(here: Iterable[Route], refused: Iterable[Refusal], scenario: Scenario) -> str:
    """Why none of the quantities is that of the run: they are about other runs, or a conversion is not available."""
    reasons = [(way.to, mismatch(way.to, scenario)) for way in here]
    same = [why for to, why in reasons if to.algorithm == scenario.algorithm and to.reading == "intended"]
    conversions = [why for conversion, why in refused if conversion == OTHER_METHOD]
    return "; ".join(dict.fromkeys(same or conversions or [why for _, why in reasons]))


def _with_number(row: Row, way: Route, premises: Sequence[Bound], scenario: Scenario, put: Substituted) -> Row:
    """The row with its value, state and terms; ``premises`` are the bounds whose premises give the trivial value."""
    of_premises, start = trivial(way.to.target, scenario, premises)
    value = put.value * way.factor
    level = of_premises if of_premises < math.inf or start == math.inf else start  # premises that imply nothing
    state = State.INFORMATIVE if value < start < math.inf else State.BELOW_PREMISES if value < level else State.VACUOUS
    return replace(
        row,
        quantity=way.to,
        state=state,
        conversions=way.names,
        factor=way.factor,
        value=value,
        low=put.low * way.factor,
        high=put.high * way.factor,
        conclusive=not put.lower_estimates or state == State.VACUOUS,
        lower_estimates=put.lower_estimates,
        assumed=(*row.assumed, *(words for words in way.trusted if words not in row.assumed)),
        terms={name: term * way.factor for name, term in put.at.terms.items()},
        trivial_premises=of_premises,
        trivial_start=start,
    )


def _union(*parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part))


# ---- conditions ----


def _conditions(
    bound: Bound, scenario: Scenario, put: Substituted
) -> tuple[tuple[FailedCondition, ...], tuple[str, ...]]:
    """The conditions that fail, numeric ones first, and those that cannot be checked."""
    numeric = [FailedCondition.at(bound, condition.words, put.values) for condition in put.at.failed]
    others, assumed = [], []
    for condition in (*bound.conditions, *implicit_conditions(bound)):
        sides = (math.nan, math.nan)
        if condition.assumption is not None:
            holds = condition.assumption.holds(*scenario.facts)
        elif condition.kind == "words":
            known = sides_of(condition, scenario)
            sides = known or sides
            holds = None if known is None else math.isclose(*known, rel_tol=CLOSE, abs_tol=CLOSE * abs(known[0]))
        else:
            continue
        if holds is False:
            others.append(FailedCondition(condition.words, *sides))
        elif holds is None and condition in bound.conditions:
            assumed.append(condition.words)
    return (*numeric, *others), tuple(assumed)


# ---- composed rows: a missing quantity of the run is bounded by another bound ----


def is_identity(bound: Bound) -> bool:
    """Whether it is an equation between numbers of one run, such as a sum of risks, which bounds on the parts bound."""
    parts = [q.name for q in bound.quantities]
    return bound.relation == "=" and bound.statistic is not None and bool(parts) and all(map(is_outcome, parts))


def numbers_of(row: Row) -> str:
    """The quantities that a row lacks, as they are typed."""
    return " ".join(f"{name}=NUMBER" for name in row.missing)


def is_outcome(quantity: str) -> bool:
    """Whether a quantity is one number that a run determines."""
    return quantity in QUANTITIES and role_of(quantity) == Role.OUTCOME and not QUANTITIES[quantity].card.axis


def fill_missing(
    bound: Bound, scenario: Scenario, rows_of: Callable[[str], Sequence[Row]]
) -> tuple[Scenario, dict[str, Row]]:
    """The scenario with every missing outcome replaced by its smallest bound, and the rows of these bounds.

    ``rows_of`` gives the rows of a target that have a value. Nothing is replaced if a quantity stays missing, if the
    bound decreases in one, or if it is just another name for one (as a conversion is).
    """
    missing = list(scenario.missing(bound))
    parts: dict[str, Row] = {}
    if missing and bound.expr not in bound.quantities and all(map(is_outcome, missing)):
        for quantity in missing:
            for one, place in substitutes_for(quantity, bound):
                if rows := [row for row in rows_of(place[0]) if row.quantity.place == place]:
                    parts[one] = min(rows, key=lambda row: row.value)
                    break
        filled = scenario.at(**{name: _as_stated(name, row, row.value) for name, row in parts.items()})
        if not filled.missing(bound) and _increases(bound, filled, missing):
            return filled, parts
    return scenario, {}


def substitutes_for(quantity: str, bound: Bound) -> list[tuple[str, Place]]:
    """The quantity and those that an identity derives it from, each with its place in the run, if known."""
    through = [
        w for t in IDENTITIES if t.left.name == quantity and t.relation == AT_MOST for w in t.needs if is_outcome(w)
    ]
    places = [(one, BoundedQuantity.of(bound).place_of(one)) for one in (quantity, *through)]
    return [(one, place) for one, place in places if place is not None]


def _as_stated(quantity: str, row: Row, value: float) -> ScenarioValue:
    provenance = worst(*(each for each in row.provenance.values() if isinstance(each, Provenance)))
    how = f"at most {value:.6g} by {row.bound}"
    return ScenarioValue(value, value, value, provenance, role_of(quantity), how, frozenset([quantity]))


def _increases(bound: Bound, scenario: Scenario, quantities: Sequence[str]) -> bool:
    """Whether the bound increases in the quantities: at smaller values it does not exceed that at the given ones."""
    values = scenario.values(bound)
    top = float(bound.formula(**values))
    for word in quantities:
        high = float(values[word])
        low = max(float(QUANTITIES[word].card.domain.low), -1e3 * (1 + abs(high)))
        below = np.asarray(bound.formula(**{**values, word: np.linspace(low, high, CHECKED)}))
        if not np.all(below <= top + ROUNDING * abs(top)):
            return False
    return True


def _composed(row: Row, bound: Bound, scenario: Scenario, parts: Mapping[str, Row]) -> Row:
    """The row with the conversions, assumptions and interval ends of its parts."""
    at_low = scenario.at(**{word: _as_stated(word, part, part.low) for word, part in parts.items()})
    try:
        lowest = float(np.nan_to_num(at_low.substituted(bound).low * row.factor, nan=row.low))
    except BoundsError:  # the lower end of a part may lie outside of the quantity's domain
        lowest = row.low
    lower_estimates = _union(row.lower_estimates, *(part.lower_estimates for part in parts.values()))
    return replace(
        row,
        low=min(row.low, lowest),
        high=row.high if all(part.conclusive for part in parts.values()) else np.inf,
        conclusive=not lower_estimates or row.state == State.VACUOUS,
        conversions=(*row.conversions, *dict.fromkeys(part.bound for part in parts.values())),
        lower_estimates=lower_estimates,
        assumed=_union(row.assumed, *(part.assumed for part in parts.values())),
    )


# ---- the order of rows ----


def in_order(book: Mapping[str, Bound], rows: Iterable[Row]) -> list[Row]:
    """The rows of a comparison sorted by quantity and value, equal ones merged.

    Some quantities are reached by conversions only. Their rows are dropped, unless a bound is on such a quantity itself
    or bounds on single models and bounds on means or minima meet there.
    """
    starts = [(row, BoundedQuantity.of(book[row.bound])) for row in rows]
    joined = [(row, start.statistic in ("last", "expectation")) for row, start in starts if row.quantity.joins]
    both = {row.quantity for row, single in joined if single} & {row.quantity for row, single in joined if not single}
    shown = [row for row, start in starts
             if not row.quantity.joins or start.joins or row.state not in RANKED or row.quantity in both]  # fmt: skip
    return _merged(sorted(shown, key=_order))


def _order(row: Row) -> tuple[Any, ...]:
    """The sort key: the quantity, then the ends of the value up to rounding, then the name."""
    high, low = (math.inf if math.isnan(end) else float(f"{end:.11g}") for end in (row.high, row.low))
    ranked = row.state in RANKED
    return (not ranked, row.quantity if ranked else [*State].index(row.state), row.refuted, high, low, row.bound)


def _merged(rows: Iterable[Row]) -> list[Row]:
    """Merge rows of one quantity with equal values and terms; the later bounds become aliases of the first."""
    merged: list[Row] = []
    for row in rows:
        same = next((i for i, other in enumerate(merged) if _equal(row, other)), None)
        if same is None:
            merged.append(row)
        else:
            merged[same] = replace(merged[same], alias=(*merged[same].alias, row.bound))
    return merged


def _equal(row: Row, other: Row) -> bool:
    if (row.quantity, row.state, row.audit) != (other.quantity, other.state, other.audit) or math.isnan(row.value):
        return False
    numbers = [(row.value, other.value), (row.low, other.low)]
    terms = list(zip(sorted(row.terms.values()), sorted(other.terms.values()), strict=False))
    return len(row.terms) == len(other.terms) and all(math.isclose(a, b, rel_tol=CLOSE) for a, b in numbers + terms)
