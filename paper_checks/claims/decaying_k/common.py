"""What the claims on Decaying-K share: sources, the conditions a statement is to have, findings of computed checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import sympy as sp

from bounds.operators import bind
from bounds.papers import Source
from bounds.quantities import quantities_of
from bounds.vocabulary import (
    condition_number as kappa,
    current_loss as F_t0,
    download_rate as D,
    initial_loss as F_0,
    iterations as T,
    local_steps as K,
    minibatch_time as beta,
    model_size as x,
    optimal_loss as F_star,
    runtime as W,
    smoothness as L,
    step_size as eta,
    strong_convexity as mu,
    upload_rate as U,
)

from ..checkers.formulas import relations
from ..checkers.points import near, points, value
from ..claim import Book, Finding, Grade, Status

KAPPA = L / mu
TAU = x / D + x / U
CAP = eta <= 1 / (4 * L)
REAL_ROOT = sp.Gt(KAPPA * F_t0, F_star)
Exact: TypeAlias = int | Fraction
A1_TO_A3 = ("smooth", "strongly_convex", "bounded_variance")
SETTING = (*A1_TO_A3, "bounded_gradient", "fixed_step_size")

__all__ = [
    "A1_TO_A3",
    "CAP",
    "F_0",
    "KAPPA",
    "REAL_ROOT",
    "SETTING",
    "TAU",
    "D",
    "F_star",
    "F_t0",
    "K",
    "L",
    "States",
    "T",
    "U",
    "W",
    "at",
    "beta",
    "eta",
    "fails",
    "holds",
    "judged",
    "kappa",
    "mu",
    "number",
    "short",
    "x",
]  # fmt: skip


def at(place: str) -> Source:
    return Source("decaying_k", place)


def holds(evidence: str, grade: Grade = Grade.EXACT, witness: Mapping[str, str] | None = None) -> Finding:
    return Finding(Status.HOLDS, grade, evidence, witness or {})


def fails(evidence: str, witness: Mapping[str, str] | None = None, as_audited: bool = True) -> Finding:
    return Finding(Status.FAILS, Grade.EXACT, evidence, witness or {}, as_audited)


def judged(true: bool, evidence: str, witness: Mapping[str, str] | None = None, as_audited: bool = True) -> Finding:
    """HOLDS or FAILS by an exact computation."""
    return Finding(Status.HOLDS if true else Status.FAILS, Grade.EXACT, evidence, witness or {}, as_audited)


def number(book: Book, name: str, **values: Exact | Sequence[Exact]) -> sp.Expr:
    """A bound's right-hand side at exact numbers by quantity name; its conditions are not asked."""
    bound = book[name]
    used = {q: values[q.name] for q in quantities_of([bound.expr])}
    return bind(
        bound.expr, {q: tuple(map(_exact, v)) if isinstance(v, Sequence) else _exact(v) for q, v in used.items()}
    )


def _exact(given: Exact) -> sp.Rational:
    plain = Fraction(given)
    return sp.Rational(plain.numerator, plain.denominator)


def short(number_: Fraction | float | sp.Expr) -> str:
    """A number for evidence."""
    return str(number_) if isinstance(number_, (int, Fraction)) and len(str(number_)) < 10 else f"{float(number_):.6g}"


@dataclass(frozen=True)
class States:
    """A catalogue bound has this relation, exactly these numeric conditions and assumptions, and so many in words.

    Numeric conditions are compared as functions: same sense, and the same difference of the sides at generic points.
    That they can be met together is checked as well.
    """

    bound: str
    numbers: tuple[sp.Basic | Callable[[Book], sp.Basic], ...] = ()
    assumptions: tuple[str, ...] = ()
    words: int = 0
    relation: str = "<="

    def __call__(self, book: Book) -> Finding:
        bound = book[self.bound]
        found, wanted = list(relations(bound)), [n if isinstance(n, sp.Basic) else n(book) for n in self.numbers]
        off = [f"not asked for: {r}" for r in wanted if not _take(found, r)]
        off += [f"asked for besides: {r}" for r in found]
        named = {c.assumption.name for c in bound.conditions if c.assumption is not None}
        off += [f"assumption on one side only: {a}" for a in sorted(named ^ set(self.assumptions))]
        in_words = sum(c.kind == "words" for c in bound.conditions)
        if in_words != self.words:
            off.append(f"{in_words} conditions in words, not {self.words}")
        if bound.relation != self.relation:
            off.append(f"relation {bound.relation}, not {self.relation}")
        if off:
            return fails("; ".join(off), as_audited=False)
        if wanted:
            next(points((), 1, wanted))
        return holds(f"{len(wanted)} numeric conditions, met together at a point; {len(named)} assumptions")


def _take(found: list[sp.Basic], wanted: sp.Basic) -> bool:
    """Whether a condition like ``wanted`` is among those found, which is then taken out."""
    for relation in found:
        if type(_turned(relation)) is type(_turned(wanted)) and _alike(_side(relation), _side(wanted)):
            found.remove(relation)
            return True
    return False


def _turned(relation: sp.Basic) -> sp.Basic:
    return relation.reversed if isinstance(relation, (sp.Ge, sp.Gt)) else relation


def _side(relation: sp.Basic) -> sp.Expr:
    turned = _turned(relation)
    return turned.rhs - turned.lhs


def _alike(left: sp.Expr, right: sp.Expr) -> bool:
    return all(near(value(left, p), value(right, p)) for p in points((left, right), 4))
