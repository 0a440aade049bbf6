"""One bound at one point: its number, its terms and the conditions that fail, in balls alone (``balls``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import BoundsError
from ..statement import Condition, Statement
from .balls import Point
from .evaluate import evaluator_of


@dataclass(frozen=True)
class AtPoint:
    """``value`` is NaN where a numeric condition fails; ``terms`` are what the formula gives all the same."""

    value: float
    terms: dict[str, float]
    failed: tuple[Condition, ...]


def at_point(bound: Statement, values: Mapping[str, Any], checked: bool = True) -> AtPoint:
    """The bound at one number for every quantity (a list for one that varies over clients).

    The number is the formula's to the last digit or two of its largest term, where a call of the bound is within 1e-9.
    Raises as a call does on nonsense, where values are ``checked``, and on a bound of one number per client.

    >>> from bounds.catalog import get
    >>> known = {"step_size": 0.7, "smoothness": 2.5, "strong_convexity": 0.4, "iterations": 9}
    >>> known |= {"initial_distance_sq": 1.3, "optimum_dissimilarity": 0.2}
    >>> at_point(get("classics.needell_2_1"), known).failed[0].words
    'the step size is below 1/L'
    """
    evaluator = evaluator_of(bound)
    if not evaluator.shared_target:
        raise BoundsError(f"{bound.name} bounds one {bound.target.name} per {bound.axis.removesuffix('s')}: call it")
    given = evaluator.given(values, checked=checked)
    (numbers,), formulas = given.points(), given.evaluator.at_points
    failing = {
        condition.words
        for condition, tape in zip(given.bound.numeric_conditions, formulas.tapes, strict=True)
        if not all(Point(tape, numbers, given.width).holds())
    }
    failed = tuple(condition for condition in bound.numeric_conditions if condition.words in failing)
    *terms, total = (members[0] for members in Point(formulas.value_tape, numbers, given.width).values())
    return AtPoint(float("nan") if failed else total, dict(zip(given.bound.terms, terms, strict=True)), failed)
