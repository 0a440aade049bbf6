"""Section 4: the losses (1) to (4), the range of the disagreement, and Lemma 5.5 on the objective (4).

The instances are linear models with softmax outputs; divergences and losses are computed in plain loops. A model is a
matrix of weights (classes, inputs); its outputs are the softmax of its products with an input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np

from bounds.domains import FRACTION
from bounds.fedcog.letters import F_next, js, L_c, L_dis, lambda_dis, Q_next
from bounds.quantities import quantity

from ..checkers import agree
from ..checkers.numbers import value
from ..claim import Book, fails, Finding, finding, Grade

Vector = Sequence[float]
Model = Sequence[Vector]
Data = Sequence[Vector]

OLD: Model = ((0.3, -1.1), (0.8, 0.4), (-0.5, 0.9))
NEW: Model = ((-0.2, 0.7), (1.3, -0.6), (0.1, 0.2))
FLAT: Model = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0))
FIRST_DATA: Data = ((1.0, 0.5), (-0.7, 1.2), (0.3, -2.0))
NEXT_DATA: Data = ((0.4, -0.9), (1.6, 0.2))
TASK_LOSS = 1.75


def outputs(model: Model, x: Vector) -> list[float]:
    powers = [exp(sum(w * v for w, v in zip(row, x, strict=True))) for row in model]
    return [power / sum(powers) for power in powers]


def divergence(p: Vector, q: Vector) -> float:
    return sum(a * log(a / b) for a, b in zip(p, q, strict=True))


def distillation(teacher: Model, student: Model, data: Data) -> float:
    """Return the second term of (3) without its weight: the mean divergence of both models' outputs."""
    return sum(divergence(outputs(teacher, x), outputs(student, x)) for x in data) / len(data)


def reversed_distillation(teacher: Model, student: Model, data: Data) -> float:
    """Return the same term as (10) and (11) print it, with the student's outputs first."""
    return sum(divergence(outputs(student, x), outputs(teacher, x)) for x in data) / len(data)


def lemma_instance(book: Book) -> Finding:
    """Lemma 5.5 holds if each round's teacher is the model it starts with: the left side is the task loss alone."""
    left = TASK_LOSS + distillation(NEW, NEW, NEXT_DATA)
    at = {F_next: TASK_LOSS, Q_next: distillation(OLD, NEW, FIRST_DATA)}
    right = float(value(book["fedcog.lemma_5_5"].expr, at))
    evidence = f"{left:.6g} on the next data with the next teacher, at most {right:.6g}"
    return finding(left <= right, evidence, grade=Grade.SEARCHED)


def lemma_value(book: Book) -> Finding:
    """The right side of Lemma 5.5 is the objective on the old data, (11)."""
    loss = distillation(OLD, NEW, FIRST_DATA)
    right = value(book["fedcog.lemma_5_5"].expr, {F_next: TASK_LOSS, Q_next: loss})
    return agree({"task loss plus distillation loss": (right, TASK_LOSS + loss)})


def fixed_teacher(book: Book) -> Finding:
    """Lemma 5.5 holds with one teacher on both sides and exchanged data."""
    left, right = (TASK_LOSS + distillation(OLD, NEW, data) for data in (FIRST_DATA, NEXT_DATA))
    evidence = f"with one teacher on both sides {left:.6g} on the new data against {right:.6g} on the old"
    witness = {"teacher": str(OLD), "student": str(NEW), "old data": str(NEXT_DATA), "new data": str(FIRST_DATA)}
    return finding(left <= right, evidence, witness)


def either_order_serves(book: Book) -> Finding:
    """The distillation loss is 0 for equal models and positive for others, in either order, as the lemma needs."""
    smallest = min(f(OLD, NEW, FIRST_DATA) for f in (distillation, reversed_distillation))
    if smallest <= 0:
        return fails(f"the loss of models that differ is {smallest:.3g}")
    return agree({f.__name__: (f(NEW, NEW, NEXT_DATA), 0.0) for f in (distillation, reversed_distillation)})


TARGETS = (2, 0, 1)
WEIGHT = 0.7


def jensen(p: Vector, q: Vector) -> float:
    """Return the Jensen-Shannon divergence with natural logarithms, where 0 ln 0 = 0."""
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sum(a * log(a / m) / 2 for one in (p, q) for a, m in zip(one, middle, strict=True) if a > 0)


def _pairs() -> list[tuple[list[float], list[float], int]]:
    """Return the outputs of the global and of the local model on each input, and its target."""
    return [(outputs(OLD, x), outputs(NEW, x), y) for x, y in zip(FIRST_DATA, TARGETS, strict=True)]


def _means() -> tuple[float, float]:
    """Return the mean cross-entropy of the global model and the mean disagreement loss."""
    pairs = _pairs()
    task = sum(-log(p[y]) for p, _, y in pairs) / len(pairs)
    return task, sum(1 - jensen(p, q) for p, q, _ in pairs) / len(pairs)


def mean_loss(book: Book) -> Finding:
    task, disagreement = _means()
    at = {L_c: task, L_dis: disagreement, lambda_dis: WEIGHT}
    pairs = _pairs()
    mean = sum(-log(p[y]) + WEIGHT * (1 - jensen(p, q)) for p, q, y in pairs) / len(pairs)
    return agree({"generation loss": (value(book["fedcog.generation_loss"].expr, at), mean)})


def engine_loss(book: Book) -> Finding:
    """The training engine's loss of the same outputs (it takes logits) is (1) as printed."""
    import torch

    from empirics.algorithms.consensus import Generate
    from empirics.models.network import Network

    pairs = _pairs()
    theirs, own = (torch.tensor([[pair[i] for pair in pairs]], dtype=torch.float64).log() for i in (0, 1))
    shares = torch.full((1, len(pairs)), 1 / len(pairs), dtype=torch.float64)
    logits = Network("logits", torch.nn.Identity)
    loss = Generate(disagreement=WEIGHT).loss(logits, theirs, own, torch.tensor([TARGETS]), shares)
    task, disagreement = _means()
    return agree({"generation loss of the engine": (loss, task + WEIGHT * disagreement)})


def disagreement(book: Book) -> Finding:
    """(2) of every pair of outputs is one minus half the sum of their divergences from their mean."""
    pairs = {}
    for i, (p, q, _) in enumerate(_pairs()):
        middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        halves = (divergence(p, middle) + divergence(q, middle)) / 2
        pairs[f"sample {i}"] = (value(book["fedcog.disagreement_loss"].expr, {js: jensen(p, q)}), 1 - halves)
    return agree(pairs)


FAR = {2: (-1.0, 1.0), 0: (0.0, -1.0), 1: (0.5, 1.0)}
"""For every target an input that the global model assigns to it and the local model does not."""


def falls_for_ever(book: Book) -> Finding:
    """Fails: (1) on the inputs ``FAR``, stretched, falls towards a value that no inputs attain."""
    least = WEIGHT * (1 - log(2))

    def loss(stretch: float) -> float:
        far = {y: [stretch * v for v in x] for y, x in FAR.items()}
        pairs = [(outputs(OLD, x), outputs(NEW, x), y) for y, x in far.items()]
        return sum(-log(p[y]) + WEIGHT * (1 - jensen(p, q)) for p, q, y in pairs) / len(pairs)

    gaps = {stretch: loss(stretch) - least for stretch in (1, 10, 50, 150)}
    evidence = f"(1) is above {least:.4f} by " + ", ".join(f"{gap:.3g} ({s} times as far)" for s, gap in gaps.items())
    falling = list(gaps.values()) == sorted(gaps.values(), reverse=True) and 0 < gaps[150] < 1e-9
    return finding(False, evidence, {"inputs": str(tuple(FAR.values())), "global model": str(OLD)}, as_audited=falling)


def divergence_range(book: Book) -> Finding:
    """The divergence of random outputs is between 0 and ln 2, which equal and disjoint outputs attain."""
    random = np.random.default_rng(3)
    drawn = [jensen(*random.dirichlet((0.3, 0.3, 0.3, 0.3), 2).tolist()) for _ in range(400)]
    if not 0 <= min(drawn) <= max(drawn) <= log(2):
        return fails(f"random outputs between {min(drawn)} and {max(drawn)}")
    p = [0.2, 0.5, 0.3]
    ends = {"agreeing": (jensen(p, p), 0.0), "disjoint": (jensen([0.4, 0.6, 0, 0], [0, 0, 0.1, 0.9]), log(2))}
    return replace(agree(ends), grade=Grade.SEARCHED)


def disjoint_in_bits(book: Book) -> Finding:
    bits = jensen([0.4, 0.6, 0, 0], [0, 0, 0.1, 0.9]) / log(2)
    return agree({"disagreement loss of disjoint outputs": (1 - bits, 0.0)})


def _generated(steps: int) -> tuple[Any, Any]:
    """Return the inputs after gradient steps on (1) from the data, and the outputs that the last step used."""
    import torch

    x = torch.tensor(FIRST_DATA, dtype=torch.float64)
    old, new = (torch.tensor(m, dtype=torch.float64) for m in (OLD, NEW))
    used = torch.softmax(x @ old.T, -1)
    for _ in range(steps):
        point = x.clone().requires_grad_()
        p, q = torch.softmax(point @ old.T, -1), torch.softmax(point @ new.T, -1)
        middle = (p + q) / 2
        divergences = ((p * (p / middle).log() + q * (q / middle).log()) / 2).sum(-1)
        loss = (-p[torch.arange(len(TARGETS)), list(TARGETS)].log() + WEIGHT * (1 - divergences)).mean()
        (gradient,) = torch.autograd.grad(loss, point)
        used, x = p.detach(), x - 0.5 * gradient
    return x, used


def left_over(book: Book, steps: int) -> Finding:
    """The outputs that the last of five generation steps used are those on the inputs after ``steps`` steps."""
    inputs, used = _generated(steps)[0].tolist(), _generated(5)[1].tolist()
    differences = [abs(np.subtract(row, outputs(OLD, x))).max() for x, row in zip(inputs, used, strict=True)]
    return agree({"largest difference of the outputs": (max(differences), 0)})


chance = quantity("target_chance", "s", "the chance that the local model gives to the target", domain=FRACTION)


def two_teachers(book: Book) -> Finding:
    """Two teachers give the same distillation loss of one model on one data set."""
    both = distillation(OLD, NEW, NEXT_DATA), distillation(FLAT, NEW, NEXT_DATA)
    return agree({"loss of one model on one data set, two teachers": both})


def two_orders(book: Book) -> Finding:
    """The distillation loss is the same with the student's and with the teacher's outputs first."""
    both = reversed_distillation(OLD, NEW, FIRST_DATA), distillation(OLD, NEW, FIRST_DATA)
    return agree({"distillation loss": both})
