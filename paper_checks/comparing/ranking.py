"""The comparison of all bounds on one quantity of a federation, and the evidence on each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bounds.anyway import trivial
from bounds.classes import ClassOf, CONVERSIONS, FOLDED
from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.scenario import Scenario
from empirics.progress import Progress

from .bound_rows import identity, in_order, rows_of, UPPER
from .rows import Evidence, NOT_MET, RANKED, Row
from .table import ComparisonTable

if TYPE_CHECKING:
    from empirics.problems.problem import FederatedProblem


def ranked(
    target: str, scenario: Scenario, book: Mapping[str, Bound], of: tuple[str, ...] = ()
) -> tuple[ComparisonTable, Mapping[str, Bound]]:
    """The rows of all bounds in ``book`` (or of the papers and bounds named in ``of``), and these bounds.

    Raises:
        BoundsError: where no bound is about such a quantity.
    """
    target = FOLDED[target][0] if target in FOLDED else target
    targets = {ClassOf.of(bound).target for bound in book.values() if bound.relation in UPPER or identity(bound)}
    targets |= {conversion.result["target"] for conversion in CONVERSIONS if "target" in conversion.result}
    if target not in targets:
        raise unknown("target of a comparison", target, targets)
    if of:
        papers = {name: name.partition(".")[0] for name in book}
        for name in of:
            if name not in {*papers, *papers.values()}:
                raise unknown("paper or bound", name, {*papers, *papers.values()})
        book = {name: bound for one in of for name, bound in book.items() if one in (name, papers[name])}
    rows = in_order(book, [row for bound in book.values() for row in rows_of(bound, scenario, target)])
    if of and not rows:
        about = sorted({ClassOf.of(bound).target for bound in book.values()})
        raise BoundsError(f"{', '.join(of)} is about {', '.join(about)}, which implies nothing for {target}: "
                          f"compare {about[0]}")  # fmt: skip
    return ComparisonTable(target, scenario, tuple(rows), trivial(target, scenario), of=of), book


def with_evidence(
    table: ComparisonTable,
    book: Mapping[str, Bound],
    exact: bool,
    problem: FederatedProblem | None,
    batch: int,
    measure: int,
    worst_case: float | None,
    bar: Progress,
) -> ComparisonTable:
    """The table with the evidence that is asked for."""
    from .evidence import Found

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

    def evidence(row: Row) -> dict[str, Evidence]:
        each = {one.kind: one.of(row) for one in found} if row.state in RANKED else {}
        return {kind: number for kind, number in each.items() if number is not None}

    return replace(
        table,
        rows=tuple(replace(row, evidence=evidence(row)) for row in table.rows),
        kinds=tuple(one.kind for one in found),
        server_model=tuple(one.server_model for one in found if one.server_model is not None),
        remarks=tuple(remark for one in found for remark in one.remarks),
    )


def with_minimum_rounds(table: ComparisonTable, book: Mapping[str, Bound], bar: Progress) -> ComparisonTable:
    """The table with the minimum rounds of every bound, and the values of the papers' formulas for plans."""
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
