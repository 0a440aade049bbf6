"""FedCOG, Section 4: the losses (1) to (4), the range of the disagreement, and Lemma 5.5 on the objective (4).

Checks on instances compute softmax outputs of linear models, their divergences and losses in plain loops. A model is a
table of weights (classes, inputs); its outputs are the softmax of its products with an input.
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

from ..checkers import agreed
from ..checkers.points import value
from ..claim import Book, fails, Finding, Grade, judged

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
    """Eq. (3)'s second term without its weight: the teacher's outputs against the student's, mean over the data."""
    return sum(divergence(outputs(teacher, x), outputs(student, x)) for x in data) / len(data)


def reversed_distillation(teacher: Model, student: Model, data: Data) -> float:
    """As (10) and (11) print it: the student's outputs first."""
    return sum(divergence(outputs(student, x), outputs(teacher, x)) for x in data) / len(data)


def lemma_instance(book: Book) -> Finding:
    """Lemma 5.5 where every round's teacher is the model that opens it: left is the task loss alone."""
    left = TASK_LOSS + distillation(NEW, NEW, NEXT_DATA)
    at = {F_next: TASK_LOSS, Q_next: distillation(OLD, NEW, FIRST_DATA)}
    right = float(value(book["fedcog.lemma_5_5"].expr, at))
    said = f"{left:.6g} on the next data with the next teacher, at most {right:.6g}"
    return judged(left <= right, said, grade=Grade.SEARCHED)


def lemma_value(book: Book) -> Finding:
    """Its right side is the objective on the old data, (11)."""
    apart = distillation(OLD, NEW, FIRST_DATA)
    found = value(book["fedcog.lemma_5_5"].expr, {F_next: TASK_LOSS, Q_next: apart})
    return agreed({"task loss plus distillation loss": (found, TASK_LOSS + apart)})


def fixed_teacher(book: Book) -> Finding:
    """Lemma 5.5 for an objective of model and data alone: one teacher on both sides, the data exchanged."""
    left, right = (TASK_LOSS + distillation(OLD, NEW, data) for data in (FIRST_DATA, NEXT_DATA))
    said = f"with one teacher on both sides {left:.6g} on the new data against {right:.6g} on the old"
    witness = {"teacher": str(OLD), "student": str(NEW), "old data": str(NEXT_DATA), "new data": str(FIRST_DATA)}
    return judged(left <= right, said, witness)


def either_order_serves(book: Book) -> Finding:
    """What the lemma uses of the loss: 0 where they agree, positive elsewhere, whichever comes first."""
    apart = min(f(OLD, NEW, FIRST_DATA) for f in (distillation, reversed_distillation))
    if apart <= 0:
        return fails(f"the loss of models that differ is {apart:.3g}")
    return agreed({f.__name__: (f(NEW, NEW, NEXT_DATA), 0.0) for f in (distillation, reversed_distillation)})


TARGETS = (2, 0, 1)
WEIGHT = 0.7


def jensen(p: Vector, q: Vector) -> float:
    """Half the divergences of both to their mean, natural logarithm, 0 ln 0 = 0."""
    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return sum(a * log(a / m) / 2 for one in (p, q) for a, m in zip(one, middle, strict=True) if a > 0)


def _pairs() -> list[tuple[list[float], list[float], int]]:
    """Outputs of the global and of the local model on each input, and its target."""
    return [(outputs(OLD, x), outputs(NEW, x), y) for x, y in zip(FIRST_DATA, TARGETS, strict=True)]


def _means() -> tuple[float, float]:
    """Cross-entropy of the global model and disagreement loss, each a mean over the samples."""
    pairs = _pairs()
    task = sum(-log(p[y]) for p, _, y in pairs) / len(pairs)
    return task, sum(1 - jensen(p, q) for p, q, _ in pairs) / len(pairs)


def mean_loss(book: Book) -> Finding:
    task, disagreement = _means()
    at = {L_c: task, L_dis: disagreement, lambda_dis: WEIGHT}
    pairs = _pairs()
    whole = sum(-log(p[y]) + WEIGHT * (1 - jensen(p, q)) for p, q, y in pairs) / len(pairs)
    return agreed({"generation loss": (value(book["fedcog.generation_loss"].expr, at), whole)})


def engine_loss(book: Book) -> Finding:
    """The engine's loss of the same outputs (it takes logits), read as the paper prints it."""
    import torch

    from empirics.algorithms.consensus import Generate
    from empirics.models.network import Network

    pairs = _pairs()
    theirs, own = (torch.tensor([[pair[i] for pair in pairs]], dtype=torch.float64).log() for i in (0, 1))
    shares = torch.full((1, len(pairs)), 1 / len(pairs), dtype=torch.float64)
    logits = Network("logits", torch.nn.Identity)
    found = Generate(disagreement=WEIGHT).loss(logits, theirs, own, torch.tensor([TARGETS]), shares)
    task, disagreement = _means()
    return agreed({"generation loss of the engine": (found, task + WEIGHT * disagreement)})


def disagreement(book: Book) -> Finding:
    """(2) of every pair of outputs: the bound at the pair's divergence against one minus half of both."""
    found = {}
    for i, (p, q, _) in enumerate(_pairs()):
        middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
        halves = (divergence(p, middle) + divergence(q, middle)) / 2
        found[f"sample {i}"] = (value(book["fedcog.disagreement_loss"].expr, {js: jensen(p, q)}), 1 - halves)
    return agreed(found)


FAR = {2: (-1.0, 1.0), 0: (0.0, -1.0), 1: (0.5, 1.0)}
"""For every target an input that the global model gives it and the local model does not."""


def falls_for_ever(book: Book) -> Finding:
    """(1) on these inputs, stretched: it falls towards its value at outputs that no input has."""
    least = WEIGHT * (1 - log(2))

    def loss(stretch: float) -> float:
        far = {y: [stretch * v for v in x] for y, x in FAR.items()}
        pairs = [(outputs(OLD, x), outputs(NEW, x), y) for y, x in far.items()]
        return sum(-log(p[y]) + WEIGHT * (1 - jensen(p, q)) for p, q, y in pairs) / len(pairs)

    seen = {stretch: loss(stretch) - least for stretch in (1, 10, 50, 150)}
    said = f"(1) is above {least:.4f} by " + ", ".join(f"{gap:.3g} ({s} times as far)" for s, gap in seen.items())
    falling = list(seen.values()) == sorted(seen.values(), reverse=True) and 0 < seen[150] < 1e-9
    return judged(False, said, {"inputs": str(tuple(FAR.values())), "global model": str(OLD)}, as_audited=falling)


def divergence_range(book: Book) -> Finding:
    """Random outputs stay inside, equal and disjoint ones reach the ends."""
    random = np.random.default_rng(3)
    drawn = [jensen(*random.dirichlet((0.3, 0.3, 0.3, 0.3), 2).tolist()) for _ in range(400)]
    if not 0 <= min(drawn) <= max(drawn) <= log(2):
        return fails(f"random outputs between {min(drawn)} and {max(drawn)}")
    p = [0.2, 0.5, 0.3]
    ends = {"agreeing": (jensen(p, p), 0.0), "disjoint": (jensen([0.4, 0.6, 0, 0], [0, 0, 0.1, 0.9]), log(2))}
    return replace(agreed(ends), grade=Grade.SEARCHED)


def disjoint_in_bits(book: Book) -> Finding:
    apart = jensen([0.4, 0.6, 0, 0], [0, 0, 0.1, 0.9]) / log(2)
    return agreed({"disagreement loss of disjoint outputs": (1 - apart, 0.0)})


def _generated(steps: int) -> tuple[Any, Any]:
    """Gradient steps on (1) from the data: the inputs at the end, and the outputs that the last step used."""
    import torch

    x = torch.tensor(FIRST_DATA, dtype=torch.float64)
    old, new = (torch.tensor(m, dtype=torch.float64) for m in (OLD, NEW))
    seen = torch.softmax(x @ old.T, -1)
    for _ in range(steps):
        point = x.clone().requires_grad_()
        p, q = torch.softmax(point @ old.T, -1), torch.softmax(point @ new.T, -1)
        middle = (p + q) / 2
        apart = ((p * (p / middle).log() + q * (q / middle).log()) / 2).sum(-1)
        loss = (-p[torch.arange(len(TARGETS)), list(TARGETS)].log() + WEIGHT * (1 - apart)).mean()
        (gradient,) = torch.autograd.grad(loss, point)
        seen, x = p.detach(), x - 0.5 * gradient
    return x, seen


def left_over(book: Book, steps: int) -> Finding:
    """The outputs that the last of five generation steps used, against those on the inputs after ``steps``."""
    inputs, seen = _generated(steps)[0].tolist(), _generated(5)[1].tolist()
    apart = max(
        abs(a - b) for x, row in zip(inputs, seen, strict=True) for a, b in zip(row, outputs(OLD, x), strict=True)
    )
    return agreed({"largest difference of the outputs": (apart, 0)})


chance = quantity("target_chance", "s", "the chance that the local model gives to the target", domain=FRACTION)


def two_teachers(book: Book) -> Finding:
    """The distillation loss of one model on one data set, by two teachers."""
    both = distillation(OLD, NEW, NEXT_DATA), distillation(FLAT, NEW, NEXT_DATA)
    return agreed({"loss of one model on one data set, two teachers": both})


def two_orders(book: Book) -> Finding:
    """The distillation loss with the student's outputs first, and with the teacher's."""
    both = reversed_distillation(OLD, NEW, FIRST_DATA), distillation(OLD, NEW, FIRST_DATA)
    return agreed({"distillation loss": both})
