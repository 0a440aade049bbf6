"""Distillation on instances: softmax outputs of linear models, their divergences and gradients, by plain loops.

A model is a table of weights (classes, inputs); its outputs are the softmax of its products with an input.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp, log

import sympy as sp

from bounds.vocabulary import next_distillation, next_task_loss

from ..checkers import agreed
from ..checkers.points import value
from ..claim import Book, fails, Finding, Grade, judged, Status

Vector = Sequence[float]
Model = Sequence[Vector]

OLD: Model = ((0.3, -1.1), (0.8, 0.4), (-0.5, 0.9))
NEW: Model = ((-0.2, 0.7), (1.3, -0.6), (0.1, 0.2))
FLAT: Model = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
FIRST_DATA: Sequence[Vector] = ((1.0, 0.5), (-0.7, 1.2), (0.3, -2.0))
NEXT_DATA: Sequence[Vector] = ((0.4, -0.9), (1.6, 0.2))
TASK_LOSS = 1.75


def outputs(model: Model, x: Vector) -> list[float]:
    powers = [exp(sum(w * v for w, v in zip(row, x, strict=True))) for row in model]
    return [power / sum(powers) for power in powers]


def divergence(p: Vector, q: Vector) -> float:
    return sum(a * log(a / b) for a, b in zip(p, q, strict=True))


def distillation(teacher: Model, student: Model, data: Sequence[Vector]) -> float:
    """Eq. (3)'s second term without its weight: the teacher's outputs against the student's, mean over the data."""
    return sum(divergence(outputs(teacher, x), outputs(student, x)) for x in data) / len(data)


def reversed_distillation(teacher: Model, student: Model, data: Sequence[Vector]) -> float:
    """As (10) and (11) print it: the student's outputs first."""
    return sum(divergence(outputs(student, x), outputs(teacher, x)) for x in data) / len(data)


def lemma_instance(book: Book) -> Finding:
    """Lemma 5.5 where every round's teacher is the model that opens it: left is the task loss alone."""
    left = TASK_LOSS + distillation(NEW, NEW, NEXT_DATA)
    at = {next_task_loss: TASK_LOSS, next_distillation: distillation(OLD, NEW, FIRST_DATA)}
    right = float(value(book["fedcog.lemma_5_5"].expr, at))
    said = f"{left:.6g} on the next data with the next teacher, at most {right:.6g}"
    return judged(left <= right, said, grade=Grade.SEARCHED)


def lemma_value(book: Book) -> Finding:
    """Its right side is the objective on the old data, (11)."""
    apart = distillation(OLD, NEW, FIRST_DATA)
    found = value(book["fedcog.lemma_5_5"].expr, {next_task_loss: TASK_LOSS, next_distillation: apart})
    return agreed({"task loss plus distillation loss": (found, TASK_LOSS + apart)})


def fixed_teacher(book: Book) -> Finding:
    """Lemma 5.5 for an objective of model and data alone: one teacher on both sides, the data exchanged."""
    left, right = (TASK_LOSS + distillation(OLD, NEW, data) for data in (FIRST_DATA, NEXT_DATA))
    said = f"with one teacher on both sides {left:.6g} on the new data against {right:.6g} on the old"
    witness = {"teacher": str(OLD), "student": str(NEW), "old data": str(NEXT_DATA), "new data": str(FIRST_DATA)}
    return judged(left <= right, said, witness)


def data_alone(book: Book) -> Finding:
    """One model and one data set, two teachers."""
    return agreed({"loss of one model on one data set, two teachers": (
        distillation(OLD, NEW, NEXT_DATA), distillation(FLAT, NEW, NEXT_DATA)
    )})  # fmt: skip


def argument_order(book: Book) -> Finding:
    """(3) against (10) and (11), on the same models and data."""
    return agreed({"distillation loss": (
        reversed_distillation(OLD, NEW, FIRST_DATA), distillation(OLD, NEW, FIRST_DATA)
    )})  # fmt: skip


def either_order_serves(book: Book) -> Finding:
    """What the lemma uses of the loss: 0 where they agree, positive elsewhere, whichever comes first."""
    zero = {f.__name__: (f(NEW, NEW, NEXT_DATA), 0.0) for f in (distillation, reversed_distillation)}
    both = agreed(zero)
    apart = min(f(OLD, NEW, FIRST_DATA) for f in (distillation, reversed_distillation))
    if apart <= 0:
        return fails(f"the loss of models that differ is {apart:.3g}")
    return both


def gradient_at_teacher(book: Book) -> Finding:
    """Autograd of the distillation loss at the teacher (zero) and away from it (not zero)."""
    import torch

    def slope(student: Model) -> float:
        weights = torch.tensor(student, dtype=torch.float64, requires_grad=True)
        x = torch.tensor(FIRST_DATA, dtype=torch.float64)
        teacher = torch.softmax(x @ torch.tensor(OLD, dtype=torch.float64).T, -1)
        loss = (teacher * (teacher.log() - torch.log_softmax(x @ weights.T, -1))).sum(-1).mean()
        (gradient,) = torch.autograd.grad(loss, weights)
        return float(gradient.norm())

    there, away = slope(OLD), slope(NEW)
    said = f"its gradient is {there:.1e} at the teacher, {away:.3g} at another model"
    return judged(there < 1e-14 < away, said, grade=Grade.SEARCHED)


def least_factor(book: Book) -> Finding:
    """Assumption 5.4 without offset, clients' gradients all alike: the squared mean is the mean of the squares."""
    shares, gradient = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)), Fraction(7, 3)
    mean_square = sum((w * gradient**2 for w in shares), Fraction(0))
    needed = mean_square / sum((w * gradient for w in shares), Fraction(0)) ** 2
    return agreed({"least factor of clients that agree": (needed, 1)})


def scaled(book: Book) -> Finding:
    """Second differences of the distillation loss at the teacher, along one direction of the weights."""
    step = 1e-3

    def curvature(data: Sequence[Vector]) -> float:
        there, back = ([[sign * step * w for w in row] for row in NEW] for sign in (1, -1))
        return (distillation(FLAT, there, data) + distillation(FLAT, back, data)) / step**2

    small, large = curvature(FIRST_DATA), curvature([[3 * v for v in x] for x in FIRST_DATA])
    said = f"curvature {small:.4g} on data, {large:.4g} on data three times as large"
    alike = large <= small * (1 + 1e-6)
    status, nine = Status.HOLDS if alike else Status.FAILS, abs(large / small - 9) < 1e-3
    return Finding(status, Grade.EXACT, said, {"teacher": str(FLAT), "data": str(FIRST_DATA)}, nine)


def together(book: Book) -> Finding:
    """Clients a/2 (x - m_k)^2: the mean of squared gradients less the squared mean does not change with the model."""
    curvature, x, *minima = sp.symbols("a x m1:4", real=True)
    shares = sp.symbols("p1:4", positive=True)
    mean = sum(p * curvature * (x - m) for p, m in zip(shares, minima, strict=True))
    squares = sum(p * (curvature * (x - m)) ** 2 for p, m in zip(shares, minima, strict=True))
    change = sp.diff(squares - mean**2, x).subs(shares[-1], 1 - sum(shares[:-1]))
    same = sp.expand(change) == 0
    said = "the same offset at every model, for three clients of any weights, as polynomials"
    return judged(same, said if same else "the offset changes with the model", grade=Grade.PROVED)
