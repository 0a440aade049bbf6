"""The comparison of every bound on one quantity of a federation, with evidence beside each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bounds.anyway import trivial
from bounds.catalog import with_own
from bounds.classes import ClassOf, CONVERSIONS, FOLDED
from bounds.core import Bound
from bounds.errors import BoundsError, MissingQuantityError, unknown
from bounds.scenario import Scenario
from bounds.showing.loading import load
from empirics.progress import Progress, Silent

from .bound_rows import identity, in_order, rows_of, UPPER
from .rows import NOT_MET, RANKED
from .table import ComparisonTable

if TYPE_CHECKING:
    from empirics.problems.problem import FederatedProblem


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
) -> ComparisonTable:
    """Every bound of the catalogue, and of a user's ``own``, on ``target`` in this scenario; see ``api.compare``.

    Raises:
        BoundsError: where no bound is about such a quantity, or the problem is another federation.
    """
    bar = bar or Silent()
    target = FOLDED[target][0] if target in FOLDED else target
    book = with_own(load(one) if isinstance(one, str) else one for one in own)
    targets = {ClassOf.of(bound).target for bound in book.values() if bound.relation in UPPER or identity(bound)}
    targets |= {conversion.result["target"] for conversion in CONVERSIONS if "target" in conversion.result}
    if target not in targets:
        raise unknown("target of a comparison", target, targets)
    names = (of,) if isinstance(of, str) and of else tuple(of)
    if names:
        book = {name: bound for one in names for name, bound in _only(one, book).items()}
    if problem is not None:
        from .run_evidence import completed

        scenario = completed(scenario, problem, batch)
    elif measure:
        raise MissingQuantityError("measuring trains the federation: give the problem")
    rows = in_order(book, [row for bound in book.values() for row in rows_of(bound, scenario, target)])
    if names and not rows:
        about = sorted({ClassOf.of(bound).target for bound in book.values()})
        raise BoundsError(f"{', '.join(names)} is about {', '.join(about)}, which implies nothing for {target}: "
                          f"compare {about[0]}")  # fmt: skip
    table = ComparisonTable(target, scenario, tuple(rows), trivial(target, scenario), of=names)
    if exact or problem is not None or worst_case is not None:
        table = _with_evidence(table, book, exact, problem, batch, measure, worst_case, bar)
    return _with_minimum_rounds(table, book, bar) if names else table


def _only(name: str, book: Mapping[str, Bound]) -> dict[str, Bound]:
    """The bounds of one paper, or the one of this name."""
    found = {key: bound for key, bound in book.items() if name in (key, key.partition(".")[0])}
    if not found:
        raise unknown("paper or bound", name, {*book, *(key.partition(".")[0] for key in book)})
    return found


def _with_evidence(
    table: ComparisonTable,
    book: Mapping[str, Bound],
    exact: bool,
    problem: FederatedProblem | None,
    batch: int,
    measure: int,
    worst_case: float | None,
    bar: Progress,
) -> ComparisonTable:
    from .evidence import Found, with_evidence

    scenario, target = table.scenario, table.target
    found: list[Found] = []
    if exact:
        from .exact_evidence import exact as exact_numbers

        bar.doing("exact moments of quadratics")
        found.append(exact_numbers(scenario, book))
    if problem is not None:
        from .run_evidence import of_surrogate

        bar.doing("the quadratic surrogate")
        found.append(of_surrogate(scenario, target, problem, batch))
    if worst_case is not None:
        from .worst_evidence import worst

        bar.doing("exact worst cases")
        found.append(worst(scenario, table.rows, book, worst_case))
    if measure and problem is not None:
        from .run_evidence import measured

        found.append(measured(scenario, target, problem, batch, measure, bar))
    return replace(
        table,
        rows=with_evidence(table.rows, found),
        kinds=tuple(one.kind for one in found),
        server_model=tuple(one.server_model for one in found if one.server_model is not None),
        remarks=tuple(remark for one in found for remark in one.remarks),
    )


def _with_minimum_rounds(table: ComparisonTable, book: Mapping[str, Bound], bar: Progress) -> ComparisonTable:
    """The table with the minimum rounds of every bound, and what the papers' formulas for plans give here."""
    from .bound_advice import formula_values
    from .minimum_rounds import minimum_rounds

    rounds = {}
    for name in dict.fromkeys(row.bound for row in table.rows if row.state in (*RANKED, NOT_MET)):
        bar.doing(f"rounds until {name} is informative")
        rounds[name] = minimum_rounds(book[name], table.scenario, table.target)
    return replace(
        table,
        rows=tuple(replace(row, minimum_rounds=rounds.get(row.bound)) for row in table.rows),
        formulas=tuple(formula_values(table.scenario, table.target, table.of)),
    )
