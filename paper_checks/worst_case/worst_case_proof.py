"""A worst case as a proof: multipliers in fractions whose inequalities add up to the metric and a sum of squares.

The solver's multipliers are rounded, the flow of function values is repaired exactly, and what is left is shown to be
a sum of squares by integers. Rounding does not lose definiteness: multipliers come from inside of the dual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from ..runs.words import ITERATION
from . import verify
from .coordinates import Array, triangle
from .formulation import Formulation
from .interior_point import alone, Followed, followed
from .methods import rational_run, RationalRun
from .objectives import looked_at
from .program import Program, Solved, spoken, trimmed, WorstCaseError
from .question import Question
from .rational_federation import Inside
from .refining import refined
from .sum_of_squares import Factor, factored

GAPS = (3e-8, 1e-6, 1e-5)
"""How near to the worst case multipliers are sought, relative to it: the first from which a proof is made."""
DIGITS = 60
"""Binary digits after the point of a multiplier, relative to the largest."""
FEW = 38
"""Binary digits of a factor, where they suffice."""
NEAR = 1e-6
"""Width of the interval above which its lower end is looked for with more care."""
TURNS = 4
"""How often it is."""


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

    @property
    def excess(self) -> float:
        """How far the bound is above the float worst case, relative to it."""
        return float(self.bound) / self.value - 1 if self.value else float(self.bound)

    @property
    def statement(self) -> str:
        return verify.said(self.content)


def certify(question: Question, value: float) -> Certificate:
    """A proof of the worst case whose value in floats is known; ``WorstCaseError`` says why there is none.

    What comes back has been accepted by the verifier, which shares no code with what makes it.
    """
    if question.drawn:
        raise WorstCaseError("certificates are made where all clients take part, not where some are drawn")
    if not question.symmetric:
        raise WorstCaseError("certificates are made in symmetric coordinates: they hold for any number of clients")
    if question.statistic.weights is not None:
        raise WorstCaseError("certificates are made of means in which all rounds count alike, not of weighted ones")
    if question.setting.cohort == 1:
        raise WorstCaseError("a single client has no certificate: ask for two, whose mean is any such loss")
    exact = ExactProgram(question, rational_run(question.method, question.recorded))
    said: Exception | None = None
    for solve in _solvers(value):
        try:
            path = solve(exact.floats)
            found = exact.proved(value, path.solved)
            verify.check(found.content)
        except (WorstCaseError, verify.Refused, ArithmeticError, LookupError, ValueError) as error:
            said = error
            continue
        return exact.with_federation(found, path)
    raise WorstCaseError(f"no certificate within {GAPS[-1]:g} of the worst case: {said}")


def _solvers(value: float) -> Iterator[Callable[[Program], Followed]]:
    """Where the worst case is 0 an objective of nothing comes first: it has its own solution."""
    if not value:
        yield lambda program: alone(refined(program))
    for gap in GAPS:
        yield partial(followed, gap=gap)


class ExactProgram:
    """A question's program twice: in floats for the solver, and in fractions.

    Constraints are those of the pairs of points, then ``limits``, in one order in both.
    """

    def __init__(self, question: Question, run: RationalRun) -> None:
        self.question, self.run = question, run
        self.given: dict[str, Any] = {word: fraction(x) for word, x in question.assumptions.items()}
        rational = replace(question, assumptions=self.given, exactly=run.recorded)
        self.formulation, self.program = rational.stated()
        self.pairs = self.formulation.pairs()
        self.limits = self.program.constraints
        formulation, whole = question.stated()
        columns, values = spoken(whole)
        self.floats = trimmed(whole)
        self.names = tuple(
            [n for n, k in zip(own, alive, strict=True) if k]
            for own, alive in zip(_names(formulation), columns, strict=True)
        )
        kept = {int(v): k for k, v in enumerate(np.flatnonzero(values))}
        places = {e.name: e.values[0] for e in formulation.evaluations if e.values[0] in kept}
        places |= {"floor": formulation.floor} if question.floored else {}
        self.values = {name: kept[int(v)] for name, v in places.items() if v is not None and v in kept}
        said = [*(names for _, names in self.pairs), *(c.of for c in self.limits)]
        if [c.of for c in self.floats.constraints] != said:
            raise WorstCaseError("the program in fractions is not that in floats")

    def proved(self, value: float, solved: Solved) -> Certificate:
        """The certificate from a solution's multipliers."""
        weights = _average(solved.weights, len(self.program.objectives))
        unit = Fraction(2) ** (round(np.log2(max(float(solved.multipliers.max()), 1e-300))) - DIGITS)
        multipliers = [unit * max(0, round(Fraction(float(x)) / unit)) for x in solved.multipliers]
        goal = _sum(weights, self.program.objectives)
        self._repair(multipliers, goal)
        of_limits = multipliers[len(self.pairs) :]
        rest = _sum(of_limits, [c.row for c in self.limits]) - goal if self.limits else -goal
        bound = sum((m * Fraction(c.limit) for m, c in zip(of_limits, self.limits, strict=True)), Fraction(0))
        between = np.full((len(self.formulation.evaluations),) * 2, Fraction(0), dtype=object)
        for (place, _), m in zip(self.pairs, multipliers, strict=False):
            between[place] = m
        factors, begin = [], 0
        for matrix in self.formulation.combined(between):
            i, j = triangle(len(matrix))
            matrix[i, j] += rest[begin : begin + len(i)]
            matrix[j, i] = matrix[i, j]
            begin += len(i)
            factors.append(_short(matrix))
        return Certificate(self.question, value, bound, self._file(bound, weights, multipliers, unit, factors))

    def with_federation(self, found: Certificate, path: Followed) -> Certificate:
        """The certificate with a federation that comes near its bound, of several the best."""
        best, said = found, ""
        try:
            inside = Inside(self.floats, path.inside)
            for x in self._nearer(inside, path):
                try:
                    entry = inside.attained(found.content, self.names, self.values, x)
                except WorstCaseError as error:
                    said = str(error)
                    continue
                if best.attained is None or Fraction(entry["value"]) > best.attained:
                    best = replace(found, content={**found.content, "attained": entry})
                if best.width < NEAR:
                    break
        except (WorstCaseError, ArithmeticError, LookupError, ValueError) as error:
            said = str(error)
        return best if best.attained is not None else replace(found, open_below=said)

    def _nearer(self, inside: Inside, path: Followed) -> Iterator[Array]:
        """Solutions of which a federation may be made, those that cost nothing first."""
        program, x = self.floats, path.solved.x
        yield x
        yield path.near
        for _ in range(TURNS):
            program = inside.tightened(x, program)
            x = followed(program, GAPS[0]).solved.x
            yield x

    def _repair(self, multipliers: list[Fraction], goal: Array) -> None:
        """Makes the function values cancel exactly, by the largest multipliers of a tree that reaches every value.

        A class inequality says +1 of one value and -1 of another, or of the 0 at the origin: multipliers are a flow.
        """
        packed, origin = self.program.packed, self.program.values
        places = [e.values[0] for e in self.formulation.evaluations]
        edges = [(places[i], places[j]) for (i, j), _ in self.pairs]
        ends = [tuple(origin if v is None else v for v in edge) for edge in edges]
        left = [-x for x in goal[packed:]] + [Fraction(0)]
        for m, (a, b) in zip(multipliers, ends, strict=False):
            left[a], left[b] = left[a] - m, left[b] + m
        for m, c in zip(multipliers[len(ends) :], self.limits, strict=True):
            spoken = {int(k): c.row[packed + k] for k in np.nonzero(c.row[packed:])[0]}
            for k, x in spoken.items():
                left[k] += m * x
            down = [k for k, x in spoken.items() if x == -1]
            up = [k for k, x in spoken.items() if x == 1]
            flow = len(spoken) == len(down) + len(up) and len(down) < 2 and len(up) < 2
            ends.append(((*down, origin)[0], (*up, origin)[0]) if flow else (origin, origin))
        for v, i in reversed(_tree(ends, multipliers, origin)):
            a, b = ends[i]
            change = left[v] if v == a else -left[v]
            multipliers[i] += change
            left[a], left[b] = left[a] - change, left[b] + change
        for i, m in enumerate(multipliers):
            if m < 0:  # a flow the other way, where there is one
                back = next((k for k, edge in enumerate(ends) if edge == ends[i][::-1] and k != i), None)
                if back is None:
                    raise WorstCaseError("repairing the function values made a multiplier negative")
                multipliers[i], multipliers[back] = Fraction(0), multipliers[back] - m

    def _file(
        self,
        bound: Fraction,
        weights: Sequence[Fraction],
        multipliers: Sequence[Fraction],
        unit: Fraction,
        factors: Sequence[Factor],
    ) -> dict[str, Any]:
        f = self.formulation
        content: dict[str, Any] = {
            "kind": verify.WORST_CASE,
            "claim": claimed(self.question, self.run),
            "bound": str(bound),
            "change": str(f.space.change),
            "near": f.near,
            "unit": str(unit),
            "multipliers": [
                ["lower" if c.name == "class" and len(c.of) == 1 else c.name, *c.of, _in_units(m, unit)]
                for c, m in zip(self.floats.constraints, multipliers, strict=True)
                if m
            ],
            "blocks": [factor.entry(names) for names, factor in zip(_names(f), factors, strict=True)],
        }
        counted = verify.Run(content).counted()
        spread = weights if content["claim"]["statistic"] != "mean" else [Fraction(1, len(counted))] * len(counted)
        return content | {"weights": {str(i): str(w) for i, w in zip(counted, spread, strict=True)}}


def claimed(question: Question, run: RationalRun) -> dict[str, Any]:
    """What a proof of a question proves, in the verifier's words; ``run`` is the question's method in fractions."""
    metric, per = looked_at(question.metric, question.statistic)
    given = {word: str(fraction(x)) for word, x in question.assumptions.items()}
    sizes = run.recorded.step_sizes
    kind = "last" if question.statistic.kind == "every" else question.statistic.kind
    return {
        "method": run.method,
        "parameter": str(run.parameter),
        "local_steps": list(run.steps),
        "step_size": str(sizes[0]) if len(set(sizes)) == 1 else [str(size) for size in sizes],
        "smoothness": given["smoothness"],
        "strong_convexity": given["strong_convexity"] if question.convex else None,
        "given": {w: x for w, x in given.items() if w not in ("smoothness", "strong_convexity")},
        "metric": metric,
        "statistic": "whole" if metric in verify.OF_A_RUN else kind,
        "over": "iterations" if per == ITERATION or metric == "consensus_distance" else "rounds",
    }


def _in_units(m: Fraction, unit: Fraction) -> int | str:
    """A multiplier as a whole number of units, or as it is."""
    count = m / unit
    return count.numerator if count.denominator == 1 else str(m)


def _short(matrix: Array) -> Factor:
    """A factor of few digits if there is one."""
    try:
        return factored(matrix, FEW)
    except WorstCaseError:
        return factored(matrix)


def _names(f: Formulation) -> tuple[list[str], list[str]]:
    """The unknown vectors of both blocks, in the order of their columns."""
    own = [f"g{j + 1}" for j in range(f.recorded.gradients)] + f.labels
    return ["start", *own], own


def _average(weights: Array, count: int) -> list[Fraction]:
    """Weights of the objectives in fractions that sum to 1."""
    if count == 1:
        return [Fraction(1)]
    short = [Fraction(max(0, round(float(w) * 2**40)), 2**40) for w in weights]
    short[int(np.argmax(weights))] += 1 - sum(short)
    return short


def _sum(factors: Sequence[Fraction], rows: Sequence[Array]) -> Array:
    total = 0 * rows[0]
    for factor, row in zip(factors, rows, strict=True):
        if factor:
            at = np.nonzero(row)[0]
            total[at] += factor * row[at]
    return total


# ---- values ----


def _tree(ends: Sequence[tuple[int, ...]], sizes: Sequence[Fraction], root: int) -> list[tuple[int, int]]:
    """A spanning tree of the largest edges, from the root on: every vertex and the edge that leads to it."""
    group = list(range(root + 1))
    near: list[list[tuple[int, int]]] = [[] for _ in group]
    for i in sorted(range(len(ends)), key=lambda i: -sizes[i]):
        a, b = ends[i]
        if group[a] != group[b]:
            old = group[a]
            group = [group[b] if g == old else g for g in group]
            near[a].append((b, i))
            near[b].append((a, i))
    found, seen = [(root, -1)], {root}
    for v, _ in found:
        for other, i in near[v]:
            if other not in seen:
                seen.add(other)
                found.append((other, i))
    if len(seen) <= root:
        raise WorstCaseError("a function value is in no inequality of the class")
    return found[1:]
