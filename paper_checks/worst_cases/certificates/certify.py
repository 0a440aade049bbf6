"""A worst case as a proof: multipliers in fractions whose inequalities add up to the metric and a sum of squares.

The solver's multipliers are rounded, the flow of function values is repaired exactly, and what is left is shown to be
a sum of squares by integers. So that rounding cannot lose definiteness the program is solved with a little of every
vector's square added to the metric; the bound pays for it with about a millionth of itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from ..formulation import Formulation
from ..program import Constraint, Program, WorstCaseError
from ..recording import Recorded
from ..refining import refined
from ..space import Array, triangle
from ..worst import Question, spoken, trimmed, WorstCase
from . import verify
from .definite import Factor, factored, BITS
from .exact import fraction, played, Run

BUMPS = (1e-8, 1e-7, 1e-6, 1e-5)
"""Shares of the value that the squares of all vectors add to the metric, the smallest that suffices is taken."""
DIGITS = 60
"""Binary digits after the point of a multiplier, relative to the largest."""
STATISTICS = ("last", "every", "min", "mean")


@dataclass(frozen=True, eq=False)
class Certificate:
    """``bound``, proved for every federation of the question's class; ``content`` is the file."""

    worst: WorstCase
    bound: Fraction
    content: dict[str, Any]

    @property
    def excess(self) -> float:
        """How far the bound is above the float worst case, relative to it."""
        return float(self.bound) / self.worst.value - 1

    @property
    def statement(self) -> str:
        return verify.said(self.content)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.content, indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


def certify(worst: WorstCase) -> Certificate:
    """The worst case with a proof; ``WorstCaseError`` says why there is none.

    What comes back has been accepted by the verifier, which shares no code with what makes it.
    """
    question = worst.question
    if not question.symmetric:
        raise WorstCaseError("certificates are made in symmetric coordinates: they prove the bound for any N of clients")
    run = played(question.method, question.recorded, tuple(path.shape[1] - 1 for path in question.recorded.path))
    exact = ExactProgram(question, run)
    said: WorstCaseError | None = None
    for bump in BUMPS:
        try:
            found = exact.proved(worst, bump)
            verify.check(found.content)
        except (WorstCaseError, verify.Refused) as error:
            said = error if isinstance(error, WorstCaseError) else WorstCaseError(f"the verifier refused it: {error}")
            continue
        return found
    raise WorstCaseError(f"no certificate with an excess below about {BUMPS[-1]:g}: {said}")


class ExactProgram:
    """A question's program twice: in floats for the solver, and in fractions, row by row the same."""

    def __init__(self, question: Question, run: Run) -> None:
        self.question, self.run = question, run
        recorded = _recorded(run, question.recorded)
        given = {word: fraction(x) for word, x in question.assumptions.items()}
        self.given = given
        self.formulation, self.program = replace(question, assumptions=given, exactly=recorded).stated()
        self.floats = question.stated()[1]

    def proved(self, worst: WorstCase, bump: float) -> Certificate:
        """The certificate from a solution with this bump."""
        solved = refined(_bumped(trimmed(self.floats), bump * abs(worst.value)), exactly=True)
        weights = _average(solved.weights, self.question.statistic.kind, len(self.program.objectives))
        largest = max(float(solved.multipliers.max()), 1e-300)
        unit = Fraction(2) ** (round(np.log2(largest)) - DIGITS)
        multipliers = [unit * max(0, round(Fraction(float(x)) / unit)) for x in solved.multipliers]
        goal = _sum(weights, self.program.objectives)
        _repair(self.program, multipliers, goal)
        rest = _sum(multipliers, [c.row for c in self.program.constraints]) - goal
        bound = sum((m * Fraction(c.limit) for m, c in zip(multipliers, self.program.constraints, strict=True)), Fraction(0))
        factors, begin = [], 0
        for size in self.program.blocks:
            length = size * (size + 1) // 2
            matrix = np.full((size, size), Fraction(0), dtype=object)
            i, j = triangle(size)
            matrix[i, j] = matrix[j, i] = rest[begin : begin + length]
            begin += length
            factors.append(factored(matrix))
        return Certificate(worst, bound, self._file(bound, weights, multipliers, factors))

    def _file(
        self, bound: Fraction, weights: Sequence[Fraction], multipliers: Sequence[Fraction], factors: Sequence[Factor]
    ) -> dict[str, Any]:
        q, f = self.question, self.formulation
        kind = "last" if q.statistic.kind == "every" else q.statistic.kind
        over = q.statistic.over if q.statistic.over == "iterations" else "rounds"
        models = f.averages if over == "iterations" else f.recorded.server
        first = len(models) - 1 if kind == "last" else 0
        spread = weights if kind != "mean" else [Fraction(1, len(models) - 1)] * (len(models) - 1)
        own = [e.name for e in f.evaluations if e.name not in ("*", "own") and e.name[0] != "g"]
        return {
            "claim": {
                "method": self.run.method,
                "parameter": str(self.run.parameter),
                "local_steps": list(self.run.steps),
                "step_size": str(self.run.step_size),
                "smoothness": str(self.given["smoothness"]),
                "strong_convexity": str(self.given["strong_convexity"]) if q.convex else None,
                "given": {w: str(x) for w, x in self.given.items() if w not in ("smoothness", "strong_convexity")},
                "metric": q.metric,
                "statistic": kind,
                "over": over,
            },
            "bound": str(bound),
            "change": str(f.space.change),
            "weights": {str(first + i): str(w) for i, w in enumerate(spread)},
            "multipliers": [
                ["lower" if c.name == "class" and len(c.of) == 1 else c.name, *c.of, str(m)]
                for c, m in zip(self.program.constraints, multipliers, strict=True)
                if m
            ],
            "blocks": [
                {
                    "vectors": [names[i] for i in factor.kept],
                    "bits": BITS,
                    "scale": list(factor.scale),
                    "factor": [list(row) for row in factor.rows],
                }
                for names, factor in zip(_names(f), factors, strict=True)
            ],
        }


def _names(f: Formulation) -> tuple[list[str], list[str]]:
    """The unknown vectors of both blocks, in the order of their columns."""
    own = [f"g{j + 1}" for j in range(f.recorded.gradients)] + f.labels
    return ["start", *own], own


def _recorded(run: Run, like: Recorded) -> Recorded:
    """The run in fractions in the recorder's form, for as many clients."""
    n, m = like.clients, like.gradients

    def row(vector: Any, client: int) -> Array:
        found = np.full(1 + n * m, Fraction(0), dtype=object)
        found[0] = vector.own[0] + vector.mean[0]
        for k in range(n):
            found[1 + k * m : 1 + (k + 1) * m] = vector.mean[1:] / n + (vector.own[1:] if k == client else 0)
        return found

    def rows(vectors: Sequence[Any]) -> Array:
        return np.array([[row(v, k) for v in vectors] for k in range(n)], dtype=object)

    server = np.array([row(v, 0) for v in run.servers], dtype=object)
    sizes = (run.step_size,) * len(run.paths)
    return Recorded(rows(run.asked), server, tuple(rows(path) for path in run.paths), sizes)


def _bumped(program: Program, bump: float) -> Program:
    """The program whose metric has a little of every vector's square added, each in its own unit."""
    extents = np.ones(sum(program.blocks)) if program.extents is None else program.extents
    more, begin, column = np.zeros(program.size), 0, 0
    for size in program.blocks:
        i, j = triangle(size)
        more[begin : begin + len(i)][i == j] = bump / extents[column : column + size][i[i == j]] ** 2
        begin, column = begin + len(i), column + size
    return replace(program, objectives=tuple(o + more for o in program.objectives))


def _average(weights: Array, kind: str, count: int) -> list[Fraction]:
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


def _repair(program: Program, multipliers: list[Fraction], goal: Array) -> None:
    """Makes the function values cancel exactly, by the largest multipliers of a tree that reaches every value.

    A class inequality says +1 of one value and -1 of another (or of the 0 at the origin): multipliers are a flow.
    """
    values = program.values
    rows = [c.row[program.packed :] for c in program.constraints]
    left = -goal[program.packed :]
    for m, row in zip(multipliers, rows, strict=True):
        if m:
            left = left + m * row
    edges = [
        (multipliers[i], i, tuple(int(k) for k in np.nonzero(row)[0]))
        for i, row in enumerate(rows)
        if program.constraints[i].name == "class"
    ]
    joined = list(range(values + 1))  # the last one is the 0 at the origin

    def root(v: int) -> int:
        while joined[v] != v:
            v = joined[v]
        return v

    tree: dict[int, list[tuple[int, int]]] = {v: [] for v in range(values + 1)}
    for _, i, ends in sorted(edges, key=lambda edge: -edge[0]):
        a, b = (*ends, values)[:2] if len(ends) < 2 else ends
        if root(a) != root(b):
            joined[root(a)] = root(b)
            tree[a].append((b, i))
            tree[b].append((a, i))
    order, seen = [(values, -1, -1)], {values}
    for v, _, _ in order:
        for other, i in tree[v]:
            if other not in seen:
                seen.add(other)
                order.append((other, v, i))
    if len(seen) <= values:
        raise WorstCaseError("a function value is in no inequality of the class")
    for v, _, i in reversed(order[1:]):
        change = -left[v] / rows[i][v]
        multipliers[i] += change
        left = left + change * rows[i]
    if any(m < 0 for m in multipliers):
        raise WorstCaseError("repairing the function values made a multiplier negative")
