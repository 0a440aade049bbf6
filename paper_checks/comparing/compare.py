"""Every bound that speaks of one number of one federation, side by side: what each says, and whether it says anything.

Rows are ranked within a class alone (``bounds.classes``), by the end that is safe, with evidence beside them. A number
here is that of the bound itself at ``Scenario.values``, times the factor of the conversions that lead to the class.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TYPE_CHECKING

import numpy as np
import sympy as sp

from bounds.anyway import trivial
from bounds.catalog import BOUNDS, with_own
from bounds.classes import (
    ALIKE as SAME_WEIGHTS,
    ClassOf,
    CONVERSIONS,
    FOLDED,
    never,
    said,
    unlike,
    unweighted,
    Way,
    ways,
)
from bounds.core import Bound, Condition
from bounds.errors import BoundsError, MissingQuantityError, unknown
from bounds.one_machine import IDENTICAL, NAME as MACHINE, TARGETS as OF_MACHINES
from bounds.scenario import Scenario
from bounds.showing.loading import load
from bounds.substituting import Substituted
from bounds.ties import evaluated
from empirics.progress import Progress, Silent

from .compare_rows import Failed, MISSING, OF_CLASS, ORDER, RANKED, Row, SILENT, SPEAKS, STATES, UNLIKE, VACUOUS
from .compare_table import Compared
from .composing import composed, filled, identity
from .standing import STANDING

if TYPE_CHECKING:
    from empirics.problems.problem import FederatedProblem

SAME = Condition(SAME_WEIGHTS)
"""What a bound supposes whose means over the clients are plain, where it does not say so."""
UPPER = ("<=", "<~")
HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt, "==": operator.eq, "!=": operator.ne}
EQUALITY = "it is an equality, which defines a word or holds in a special case: no bound"
AVERAGES = "its server takes the average: server_step_size is 1"
ALIKE, DIGITS = 1e-9, 11
"""Relative difference below which two numbers are one, and the digits that rows are put in order by."""


# ---- the comparison ----


def compare(
    scenario: Scenario,
    target: str,
    own: Iterable[Bound | str] = (),
    *,
    of: str | Sequence[str] = (),
    exact: bool = False,
    problem: FederatedProblem | None = None,
    batch: int = 32,
    measure: int = 0,
    worst_case: float | None = None,
    bar: Progress | None = None,
) -> Compared:
    """Every bound of the catalogue, and of one's ``own``, that speaks of ``target`` in this scenario.

    Args:
        scenario: the federation, its plan and its costs.
        target: a word such as ``grad_norm_sq``, ``optimality_gap``, ``divergence``, ``distance_sq``, ``stability``,
            ``generalization_gap`` or ``excess_risk``.
        own: bounds of your own, or their names ``path/file.py:variable``.
        of: the papers or bounds that alone are meant (default: all), with the least rounds at which each would speak,
            and what the papers' formulas for plans recommend.
        exact: set exact numbers of quadratics that meet each row's premises beside it.
        problem: the federation itself: then its quadratic twin stands beside, and missing constants are its own.
        batch: samples of a minibatch of the problem.
        measure: seeds with which the problem is trained at this plan (0: it is not).
        worst_case: seconds that exact worst cases may be solved for (0: committed ones alone; None: none).
        bar: hears what takes time.

    Raises:
        BoundsError: in one line, where nothing is about such a number, or the problem is another federation.
    """
    target = FOLDED[target][0] if target in FOLDED else target
    book = with_own(load(one) if isinstance(one, str) else one for one in own)
    known = {ClassOf.of(bound).target for bound in book.values() if bound.relation in UPPER or identity(bound)}
    known |= {conversion.result["target"] for conversion in CONVERSIONS if "target" in conversion.result}
    if target not in known:
        raise unknown("target of a comparison", target, known)
    names = (of,) if isinstance(of, str) and of else tuple(of)
    if names:
        book = {name: bound for one in names for name, bound in _only(one, book).items()}
    if problem is not None:
        from .problem_options import completed  # with torch, as all evidence

        scenario = completed(scenario, problem, batch)
    elif measure:
        raise MissingQuantityError("measuring trains the federation: give the problem")
    rows = in_order(book, [row for bound in book.values() for row in rows_of(bound, scenario, target)])
    if names and not rows:
        about = sorted({ClassOf.of(bound).target for bound in book.values()})
        said = f"{', '.join(names)} is about {', '.join(about)}"
        raise BoundsError(f"{said}, from which nothing follows for {target}: compare {about[0]}")
    made = Compared(target, scenario, tuple(rows), trivial(target, scenario), of=names)
    if exact or problem is not None or worst_case is not None or names:
        from .gathering import Asked, gathered

        asked = Asked(exact, problem, batch, measure, worst_case, price=bool(names))
        return gathered(made, book, asked, bar or Silent())
    return made


def _only(name: str, book: Mapping[str, Bound]) -> dict[str, Bound]:
    """The bounds of one paper, or the one of this name."""
    found = {key: bound for key, bound in book.items() if name in (key, key.partition(".")[0])}
    if not found:
        raise unknown("paper or bound", name, {*book, *(key.partition(".")[0] for key in book)})
    return found


def in_order(book: Mapping[str, Bound], rows: Iterable[Row]) -> list[Row]:
    """The rows of a comparison: by class and number, one for what is one number."""
    return _folded(sorted(joined(rows, book), key=_place))


def joined(rows: Iterable[Row], book: Mapping[str, Bound]) -> list[Row]:
    """Without the rows of classes that conversions made and no two kinds of statements share.

    A bound that itself speaks of such a class stays there: it has no other one.
    """
    rows = list(rows)
    kinds = [(row, row.kind.joins, ClassOf.of(book[row.bound])) for row in rows]
    shared = {row.kind for row, made, start in kinds if made and start.statistic in ("last", "expectation")}
    of_means = {row.kind for row, made, start in kinds if made and start.statistic not in ("last", "expectation")}
    both = shared & of_means
    return [r for r, made, at in kinds if not made or at.joins or r.state not in RANKED or r.kind in both]


def _place(row: Row) -> tuple[Any, ...]:
    """By class, then by the end that is safe, infinite ones last; by name where rounding alone tells two apart."""
    high, low = (math.inf if math.isnan(end) else float(f"{end:.{DIGITS}g}") for end in (row.high, row.low))
    ranked = row.state in RANKED
    return (not ranked, row.kind if ranked else STATES.index(row.state), row.printed, high, low, row.bound)


def rows_of(bound: Bound, scenario: Scenario, target: str, seen: frozenset[str] = frozenset()) -> list[Row]:
    """What a bound says of the target: a row in every class within reach, or one that says why there is none.

    Where the federation is one machine, a bound may speak of it as one alone, or say more. ``seen`` are the targets on
    the way to which this one is asked for.
    """
    rows = rows_as_it_is(bound, scenario, target, seen)
    if target not in OF_MACHINES or scenario.machine is None or goes_further(bound, scenario):
        return rows
    machine, trusted = scenario.machine
    best = {row.kind: row for row in rows if row.state in RANKED}
    for row in rows_as_it_is(bound, machine, target, seen):
        better = row.kind not in best or row.high < best[row.kind].high * (1 - ALIKE)
        if row.state in RANKED and row.kind.at in IDENTICAL and better:
            taken = tuple(dict.fromkeys((*row.trusted, *trusted)))
            best[row.kind] = replace(row, conversions=(MACHINE, *row.conversions), trusted=taken)
    return list(best.values()) or rows


def rows_as_it_is(bound: Bound, scenario: Scenario, target: str, seen: frozenset[str] = frozenset()) -> list[Row]:
    """``rows_of`` the federation with its clients."""
    start = ClassOf.of(bound)
    found = _row(bound, start)
    if bound.relation not in UPPER and not identity(bound):
        return [replace(found, state=UNLIKE, why=EQUALITY)] if start.target == target else []
    if why := never(start, target=target):
        return [replace(found, state=UNLIKE, why=why)]
    reached, refused = ways(start, scenario)
    here = [way for way in reached if way.to.target == target]
    if not here:
        return []
    if bound.relation == "<~":
        return [replace(found, state=ORDER, why="known up to a constant")]
    own = [way for way in here if of_this_run(way, scenario)]
    if not own:
        return [replace(found, state=UNLIKE, why=why_unlike(here, refused, scenario))]
    if goes_further(bound, scenario):
        return [replace(found, state=UNLIKE, why=AVERAGES)]

    def of_word(word: str) -> list[Row]:
        if word in seen:
            return []
        rows = [row for other in BOUNDS.values() for row in rows_of(other, scenario, word, seen=seen | {target})]
        return [row for row in rows if row.state in RANKED and not row.printed and not BOUNDS[row.bound].off_by]

    known, parts = filled(bound, scenario, of_word)
    if missing := known.missing(bound):
        return [replace(found, state=MISSING, why="; ".join(missing.values()), floor=tuple(missing))]
    substituted = known.substituted(bound)
    failed, trusted = _conditions(bound, known, substituted)
    unmet = {*trusted, *(one.words for one in failed)}
    filled_in = replace(
        found,
        met=tuple(c.words for c in bound.conditions if c.words not in unmet),
        trusted=trusted,
        values=substituted.values,
        provenance=substituted.provenance,
        how=substituted.how,
    )
    if failed or math.isnan(substituted.value):
        return [replace(filled_in, state=SILENT, failed=failed)]
    premises = (bound, *(BOUNDS[part.bound] for part in parts.values()))
    rows = [_speaking(filled_in, way, premises, known, substituted) for way in own]
    return [composed(row, bound, known, parts) for row in rows] if parts else rows


def goes_further(bound: Bound, scenario: Scenario) -> bool:
    """Whether the server goes further than to the average, and the bound does not say what becomes of that."""
    return scenario["server_step_size"].value != 1 and all(q.name != "server_step_size" for q in bound.quantities)


def why_unlike(here: Iterable[Way], refused: Iterable[str], scenario: Scenario) -> str:
    """Why no class within reach is that of the run: what a conversion of the method lacks, or what the class says."""
    reasons = [(way.to, unlike(way.to, scenario)) for way in here]
    same = [why for to, why in reasons if to.algorithm == scenario.algorithm and to.reading == "intended"]
    lacking = [why for why in refused if why.startswith("C12 ")]
    return "; ".join(dict.fromkeys(same or lacking or [why for _, why in reasons]))


def _row(bound: Bound, kind: ClassOf) -> Row:
    standing = STANDING.get(bound.name) if BOUNDS.get(bound.name) is bound else None
    return Row(bound.name, kind, UNLIKE, audit=str(standing or ""), source=str(bound.source))


def of_this_run(way: Way, scenario: Scenario) -> bool:
    """Whether a class is about the method that the scenario runs, as it is meant."""
    return not unlike(way.to, scenario)


def _speaking(row: Row, way: Way, premises: Sequence[Bound], scenario: Scenario, put: Substituted) -> Row:
    """The row with its numbers; the bounds of ``premises`` make them together."""
    of_class, here = trivial(way.to.target, scenario, premises)
    terms = {name: term * way.factor for name, term in put.at.terms.items()}
    value = put.value * way.factor
    level = (
        of_class if of_class < math.inf or here == math.inf else here
    )  # premises that give nothing: the start decides
    state = SPEAKS if value < here < math.inf else OF_CLASS if value < level else VACUOUS
    return replace(
        row,
        kind=way.to,
        state=state,
        conversions=way.names,
        factor=way.factor,
        value=value,
        low=put.low * way.factor,
        high=put.high * way.factor,
        conclusive=not put.floor or state == VACUOUS,
        floor=put.floor,
        trusted=(*row.trusted, *(words for words in way.trusted if words not in row.trusted)),
        terms=terms,
        trivial_class=of_class,
        trivial_here=here,
    )


# ---- conditions ----


def _conditions(bound: Bound, scenario: Scenario, put: Substituted) -> tuple[tuple[Failed, ...], tuple[str, ...]]:
    """The conditions that fail, numeric ones first, and those that are taken on trust."""
    numeric = [_sides(bound, condition.words, put) for condition in put.at.failed]
    others, trusted = [], []
    silently = unweighted(bound) and all(c.words != SAME_WEIGHTS for c in bound.conditions)
    plain = (SAME,) if silently else ()
    for condition in (*bound.conditions, *plain):
        if condition.assumption is not None:
            holds = condition.assumption.holds(*scenario.facts)
            if holds is False:
                others.append(Failed(condition.words))
        elif condition.kind == "words":
            sides = said(condition.words, scenario)
            holds = None if sides is None else math.isclose(*sides, rel_tol=ALIKE, abs_tol=ALIKE * abs(sides[0]))
            if holds is False and sides is not None:
                others.append(Failed(condition.words, *sides))
        else:
            continue
        if holds is None and condition is not SAME:
            trusted.append(condition.words)
    return (*numeric, *others), tuple(trusted)


def _sides(bound: Bound, words: str, put: Substituted) -> Failed:
    """Both sides of a numeric condition at the values that were put in; of lists at the first client where it fails."""
    spoken = zip(bound.numeric_conditions, bound.relations, strict=True)
    relation = next(relation for condition, relation in spoken if condition.words == words)
    if not isinstance(relation, sp.core.relational.Relational):
        return Failed(words)
    given = {**bound.given, **put.values}
    sides = np.broadcast_arrays(*(evaluated(side, given) for side in (relation.lhs, relation.rhs)))
    pairs = list(zip(*(np.ravel(side).tolist() for side in sides), strict=True))
    return Failed(words, *next((pair for pair in pairs if not HOLDS[relation.rel_op](*pair)), pairs[0]))


# ---- one row for what is one number ----


def _folded(rows: Iterable[Row]) -> list[Row]:
    """Rows of a class with equal numbers and equal terms become one, the others its aliases."""
    kept: list[Row] = []
    for row in rows:
        twin = next((i for i, other in enumerate(kept) if _same(row, other)), None)
        if twin is None:
            kept.append(row)
        else:
            kept[twin] = replace(kept[twin], alias=(*kept[twin].alias, row.bound))
    return kept


def _same(row: Row, other: Row) -> bool:
    if (row.kind, row.state, row.audit) != (other.kind, other.state, other.audit) or math.isnan(row.value):
        return False
    numbers = [(row.value, other.value), (row.low, other.low)]
    terms = list(zip(sorted(row.terms.values()), sorted(other.terms.values()), strict=False))
    return len(row.terms) == len(other.terms) and all(math.isclose(a, b, rel_tol=ALIKE) for a, b in numbers + terms)
