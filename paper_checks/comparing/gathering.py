"""Evidence, prices and recommendations for the rows of a comparison, as far as they were asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from bounds.core import Bound
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress

from .compare_rows import Price, RANKED, SILENT
from .compare_table import Compared
from .evidence import Found, with_evidence
from .exact_evidence import exact
from .price import price
from .recommended import recommended
from .run_evidence import measured, of_twin
from .worst_evidence import worst


class Asked(NamedTuple):
    """What is to stand beside the rows: see ``compare``."""

    exact: bool
    problem: FederatedProblem | None
    batch: int
    measure: int
    worst_case: float | None
    price: bool


def gathered(made: Compared, book: Mapping[str, Bound], asked: Asked, bar: Progress) -> Compared:
    """The comparison with all that was asked for beside its rows."""
    scenario, target = made.scenario, made.target
    found: list[Found] = []
    if asked.exact:
        bar.doing("exact moments of quadratics")
        found.append(exact(scenario, book))
    if asked.problem is not None:
        bar.doing("the quadratic twin")
        found.append(of_twin(scenario, target, asked.problem, asked.batch))
    if asked.worst_case is not None:
        bar.doing("exact worst cases")
        found.append(worst(scenario, made.rows, book, asked.worst_case))
    if asked.measure and asked.problem is not None:
        found.append(measured(scenario, target, asked.problem, asked.batch, asked.measure, bar))
    rows = with_evidence(made.rows, found)
    if asked.price:
        names = dict.fromkeys(row.bound for row in rows if row.state in (*RANKED, SILENT))
        prices = {name: _price(book[name], made, bar) for name in names}
        rows = tuple(replace(row, price=prices.get(row.bound)) for row in rows)
    return replace(
        made,
        rows=rows,
        kinds=tuple(one.kind for one in found),
        beside=tuple(one.beside for one in found if one.beside is not None),
        remarks=tuple(remark for one in found for remark in one.remarks),
        recommended=recommended(scenario, target, made.of) if asked.price else (),
    )


def _price(bound: Bound, made: Compared, bar: Progress) -> Price | None:
    bar.doing(f"rounds until {bound.name} speaks")
    return price(bound, made.scenario, made.target)
