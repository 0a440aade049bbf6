"""The verbs on one bound, ``show``, ``eval``, ``minimize`` and ``solve``, as Python functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .core import Bound
from .letters import quantity_named
from .showing import answers, cards
from .showing.answers import Answers
from .showing.command_line import Report
from .showing.loading import load
from .showing.printing import words as formula
from .showing.process import remark
from .showing.reading import given_values, Grid, grid, parse_number, substitution_remarks
from .showing.usage import UsageError


def show(name: str | Bound, *, latex: bool = False) -> Report:
    """Show a bound: terms, conditions, and every quantity with unit and domain.

    Args:
        name: A bound of the list, or path/file.py:variable.
        latex: Print formula, conditions and letters in LaTeX.
    """
    bound = load(name)
    return Report(cards.document(bound) if latex else [cards.text(bound)], cards.as_json(bound))


def evaluate(
    name: str | Bound,
    *words: str,
    outside: bool = False,
    zip_: bool = False,
    sample: bool = False,
    elasticity: bool = False,
    **quantities: Any,
) -> answers.Evaluation | Answers:
    """Evaluate a bound and its terms at your numbers; NaN where its conditions fail.

    Args:
        name: A bound of the list, or path/file.py:variable.
        words: Values as quantity=value, and files of constants as @file.json.
        outside: Evaluate the formula also where conditions fail, marked OUTSIDE.
        zip_: Pair the ranges and lists instead of combining each with each.
        sample: Use the bound's sample values for every quantity that is not given.
        elasticity: Percent of change of the bound per percent of change of every quantity, instead of its value.
        quantities: Values by name: numbers, lists, or texts such as ``"5:50:4"``.

    >>> evaluate("fedals.one_round", sample=True)
    generalization_gap <= 0.0623011   [loss]
      local generalization   0.0189733
      non-iidness            0.0433277
    """
    span = _grid(load(name), words, quantities, paired=zip_, sample=sample)
    result = answers.evaluate(span, outside)
    if not elasticity:
        return result
    title = "elasticity: percent of the bound per percent of the quantity"
    return answers.answer(span, span.bound.sensitivity, [*result.remarks, *span.remarks()], title=title)


def minimize(name: str | Bound, *words: str, over: str, zip_: bool = False, **quantities: Any) -> Answers | Report:
    """Find where a bound is smallest in one quantity; without numbers, as a formula.

    Args:
        name: A bound of the list, or path/file.py:variable.
        words: Values as quantity=value, and files of constants as @file.json.
        over: The quantity to choose.
        zip_: Pair the ranges and lists instead of combining each with each.
        quantities: Values by name: numbers, lists, or texts such as ``"5:50:4"``.
    """
    bound = load(name)
    over = quantity_named(over, [q.name for q in bound.quantities], bound.source.paper)
    if not words and not quantities and any(q.name != over for q in bound.quantities):
        return _closed_form(bound, over)
    span = _grid(bound, words, quantities, paired=zip_, free=[over])
    ask, remarks = answers.over_intervals(span, answers.smallest(span.bound, over))
    return answers.answer(span, ask, remarks, answers.heads_of(bound, over))


def solve(
    name: str | Bound,
    *words: str,
    for_: str,
    target: str | float,
    smallest: bool = False,
    zip_: bool = False,
    **quantities: Any,
) -> Answers:
    """Find the largest, or smallest, value of a quantity that keeps a bound at most at a target.

    Args:
        name: A bound of the list, or path/file.py:variable.
        words: Values as quantity=value, and files of constants as @file.json.
        for_: The quantity to solve for.
        target: The level that the bound must not exceed.
        smallest: Find the smallest such value instead of the largest.
        zip_: Pair the ranges and lists instead of combining each with each.
        quantities: Values by name: numbers, lists, or texts such as ``"5:50:4"``.
    """
    bound = load(name)
    for_ = quantity_named(for_, [q.name for q in bound.quantities], bound.source.paper)
    span = _grid(bound, words, quantities, paired=zip_, free=[for_])
    side = "smallest" if smallest else "largest"
    level = parse_number("target", target, "") if isinstance(target, str) else float(target)
    ask, remarks = answers.over_intervals(span, answers.solved(span.bound, for_, level, side))
    return answers.answer(span, ask, remarks, answers.heads_of(bound, for_, side))


def _grid(
    bound: Bound, words: Sequence[str], quantities: Mapping[str, Any], *, sample: bool = False, **options: Any
) -> Grid:
    """Return the grid of a command; its ``options`` are those of ``grid``."""
    given = given_values(words, quantities, [bound])
    if sample:
        from .points import POINTS

        if bound.name not in POINTS:
            raise UsageError(f"{bound.name} has no sample values: give its quantities")
        given = {**given_values((), POINTS[bound.name]), **given}
    span = grid(bound, given, **options)
    remark(substitution_remarks([bound], given))
    return span


def _closed_form(bound: Bound, over: str) -> Report:
    best: Any = bound.minimize(over)
    requires = [formula(relation) for relation in best.requires]
    pairs = zip(bound.numeric_conditions, bound.relations, strict=True)
    not_checked = [c.words for c, relation in pairs if best.over in relation.free_symbols]
    not_checked += [f"{over} is {best.over.card.domain.words}"] if best.over.card.domain.whole else []
    at, value = formula(best.at), formula(best.value)
    data = {"name": bound.name, "over": over, "at": at, "value": value, "requires": requires}
    lines = [f"{over} = {at}", f"{bound.target.name} {bound.relation} {value}", *(f"if {line}" for line in requires)]
    return Report([*lines, *(f"not checked: {line}" for line in not_checked)], {**data, "not_checked": not_checked})
