"""A worst case as a proof: multipliers in fractions whose inequalities add up to the metric and a sum of squares.

The solver's multipliers are rounded, the flow of function values is repaired exactly, and what is left is shown to be
a sum of squares by integers. Rounding does not lose definiteness: multipliers come from inside of the dual.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from ..runs.origins import ITERATION
from . import verify
from .coordinates import Array
from .interior_point import followed, optimum
from .methods import named
from .objectives import looked_at
from .program import Solved, spoken, trimmed, WorstCaseError
from .question import Question
from .rational_federation import attained
from .sum_of_squares import BITS, factored

GAPS = (3e-8, 1e-6, 1e-5)
"""How near to the worst case multipliers are sought, relative to it: the first from which a proof is made."""
DIGITS = 60
"""Binary digits after the point of a multiplier, relative to the largest."""
AGREE = 1e-11
"""How far a run in fractions may be from the same in floats, relative to its largest number."""
FEW = 38
"""Binary digits of a factor, where they suffice."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """``bound``, proved for every federation of the question's class; ``content`` is the file.

    ``value`` is the worst case in floats. ``open_below`` says why no federation is proved to come near the bound; it
    is empty where one is.
    """

    question: Question
    value: float
    bound: Fraction
    content: dict[str, Any]
    open_below: str = ""

    @property
    def attained(self) -> Fraction | None:
        """What a federation in fractions attains, proved; None where there is none."""
        return Fraction(self.content["attained"]["value"]) if "attained" in self.content else None

    @property
    def width(self) -> float:
        """How long the proved interval is, relative to its upper end: 1 where only that end is proved."""
        if not self.bound:
            return 0.0
        return float(1 - (self.attained or Fraction(0)) / self.bound)


def certify(question: Question, value: float) -> Certificate:
    """A proof of the worst case whose value in floats is known; ``WorstCaseError`` says why there is none.

    What comes back has been accepted by the verifier, which shares no code with what makes it.
    """
    if question.drawn:
        raise WorstCaseError("certificates are made where all clients take part, not where some are drawn")
    if not question.symmetric:
        raise WorstCaseError("certificates are made in symmetric coordinates: they hold for any number of clients")
    if question.statistic.weights is not None:
        raise WorstCaseError(
            "certificates are made of means in which all rounds have equal weight, not of weighted ones"
        )
    if question.setting.cohort == 1:
        raise WorstCaseError("a single client has no certificate: ask for two, whose mean is any such loss")
    exact = ExactProgram(question)
    said: Exception | None = None
    # where the worst case is 0 an objective of nothing comes first: it has its own solution
    for solve in (*(() if value else (optimum,)), *(partial(followed, gap=gap) for gap in GAPS)):
        try:
            solved = solve(exact.floats)
            found = exact.proved(value, solved)
            verify.check(found.content)
        except (WorstCaseError, verify.Refused, ArithmeticError, LookupError, ValueError) as error:
            said = error
            continue
        try:
            entry = attained(exact.floats, solved, found.content, exact.names, exact.values)
        except (WorstCaseError, ArithmeticError, LookupError, ValueError) as error:
            return replace(found, open_below=str(error))
        return replace(found, content={**found.content, "attained": entry})
    raise WorstCaseError(f"no certificate within {GAPS[-1]:g} of the worst case: {said}")


class ExactProgram:
    """A question's program in floats for the solver, and how its inequalities add up in fractions, by the verifier."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.formulation, whole = question.stated()
        columns, values = spoken(whole)
        self.floats = trimmed(whole)
        own = [f"g{j + 1}" for j in range(self.formulation.recorded.gradients)] + self.formulation.labels
        self.vectors = ["start", *own], own
        """The unknown vectors of both blocks, in the order of their columns."""
        self.names = tuple(
            [n for n, k in zip(own, alive, strict=True) if k] for own, alive in zip(self.vectors, columns, strict=True)
        )
        kept = {int(v): k for k, v in enumerate(np.flatnonzero(values))}
        places = {e.name: e.values[0] for e in self.formulation.evaluations if e.values[0] in kept}
        places |= {"floor": self.formulation.floor} if question.floored else {}
        self.values = {name: kept[int(v)] for name, v in places.items() if v is not None and v in kept}
        self.said = [
            ("lower" if c.name == "class" and len(c.of) == 1 else c.name, c.of) for c in self.floats.constraints
        ]
        self.content: dict[str, Any] = {
            "kind": verify.WORST_CASE,
            "claim": claimed(question),
            "change": str(Fraction(self.formulation.space.change)),
            "near": self.formulation.near,
        }
        self.run = verify.Run(self.content)
        self._check_same()

    def _check_same(self) -> None:
        """Refuse a method that is not what the verifier takes it for: its hooks make other models."""
        recorded = self.question.recorded
        pairs = [(self.run.servers, list(recorded.server))]
        pairs += [(mine, list(path.swapaxes(0, 1))) for mine, path in zip(self.run.paths, recorded.path, strict=True)]
        for vectors, rows in pairs:
            seen = np.array([self.formulation.points(row)[0] for row in rows])
            exact = [[float(x[b].get(n, 0)) for b, own in enumerate(self.vectors) for n in own] for x in vectors]
            if not np.allclose(exact, seen, rtol=0, atol=AGREE * (1 + np.abs(exact).max())):
                raise WorstCaseError(f"{self.question.method.name} makes other steps than its listing: no certificate")

    def proved(self, value: float, solved: Solved) -> Certificate:
        """The certificate from a solution's multipliers."""
        run, counted = self.run, self.run.metric_indices()
        weights = _average(solved.weights, len(self.floats.objectives))
        spread = weights if run.claim["statistic"] != "mean" else [Fraction(1, len(counted))] * len(counted)
        unit = Fraction(2) ** (round(np.log2(max(float(solved.multipliers.max()), 1e-300))) - DIGITS)
        multipliers = [unit * max(0, round(Fraction(float(x)) / unit)) for x in solved.multipliers]
        run.clear()
        for i, w in zip(counted, spread, strict=True):
            run.add_metric(-w, i)
        goal, products = dict(run.values), dict(run.products)
        self._repair(multipliers, goal)
        run.clear()
        run.products |= products
        bound = sum(
            (run.add_inequality(m, *said) for m, said in zip(multipliers, self.said, strict=True) if m), Fraction(0)
        )
        blocks = [factored(run.matrix(which), names, FEW, BITS) for which, names in enumerate(self.vectors)]
        content = self.content | {
            "bound": str(bound),
            "unit": str(unit),
            "multipliers": [  # whole numbers of units, but for those that were repaired
                [kind, *of, str(m) if m % unit else int(m / unit)]
                for (kind, of), m in zip(self.said, multipliers, strict=True)
                if m
            ],
            "blocks": blocks,
            "weights": {str(i): str(w) for i, w in zip(counted, spread, strict=True)},
        }
        return Certificate(self.question, value, bound, content)

    def _repair(self, multipliers: list[Fraction], goal: Mapping[str, Fraction]) -> None:
        """Makes the function values cancel exactly: what is left of one stands beside the value that is 0."""
        zero = "*" if self.run.convex else self.run.point_at("w0")
        self.run.clear()
        self.run.values |= goal
        for m, said in zip(multipliers, self.said, strict=True):
            self.run.add_inequality(m, *said)
        left = {name: x for name, x in self.run.values.items() if x and name != zero}
        if floor := left.pop("floor", None):  # of inf F it stands beside a model's, in the largest of such inequalities
            lower = [i for i, (kind, _) in enumerate(self.said) if kind == "lower"]
            largest = max(lower, key=lambda i: multipliers[i])
            multipliers[largest] -= floor
            name = self.run.point_at(self.said[largest][1][0])
            left[name] = left.get(name, Fraction(0)) + floor
            if multipliers[largest] < 0:
                raise WorstCaseError("repairing the function values made a multiplier negative")
        for name, x in left.items():
            if name != zero:
                multipliers[self.said.index(("class", (name, zero) if x > 0 else (zero, name)))] += abs(x)


def claimed(question: Question) -> dict[str, Any]:
    """What a proof of a question proves, in the verifier's words."""
    metric, per = looked_at(question.metric, question.statistic)
    method, parameter = named(question.method)
    given = {word: str(fraction(x)) for word, x in question.assumptions.items()}
    sizes = [str(fraction(size)) for size in question.recorded.step_sizes]
    kind = "last" if question.statistic.kind == "every" else question.statistic.kind
    return {
        "method": method,
        "parameter": str(parameter),
        "local_steps": [path.shape[1] - 1 for path in question.recorded.path],
        "step_size": sizes[0] if len(set(sizes)) == 1 else sizes,
        "smoothness": given["smoothness"],
        "strong_convexity": given["strong_convexity"] if question.convex else None,
        "given": {w: x for w, x in given.items() if w not in ("smoothness", "strong_convexity")},
        "metric": metric,
        "statistic": "whole" if metric in verify.OF_A_RUN else kind,
        "over": "iterations" if per == ITERATION or metric == "consensus_distance" else "rounds",
    }


def _average(weights: Array, count: int) -> list[Fraction]:
    """Weights of the objectives in fractions that sum to 1."""
    if count == 1:
        return [Fraction(1)]
    short = [Fraction(max(0, round(float(w) * 2**40)), 2**40) for w in weights]
    short[int(np.argmax(weights))] += 1 - sum(short)
    return short
