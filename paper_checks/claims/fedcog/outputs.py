"""Eq. (1) and (2) on outputs: divergences class by class in plain loops, beside the bounds and beside the engine."""

from __future__ import annotations

from dataclasses import replace
from math import log
from typing import Any

import numpy as np

from bounds.vocabulary import disagreement_loss, disagreement_weight, jensen_shannon, task_loss

from ..checkers import agreed
from ..checkers.points import value
from ..claim import Book, fails, Finding, Grade, judged
from .distilling import divergence, FIRST_DATA, NEW, OLD, outputs, Vector

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


def generation_loss(book: Book) -> Finding:
    task, disagreement = _means()
    at = {task_loss: task, disagreement_loss: disagreement, disagreement_weight: WEIGHT}
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
        found[f"sample {i}"] = (
            value(book["fedcog.disagreement_loss"].expr, {jensen_shannon: jensen(p, q)}),
            1 - halves,
        )
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
    """Gradient steps on (1) from the data: the inputs at the end, and the outputs that the last step looked at."""
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


def _teacher(x: Any) -> list[float]:
    return [v for row in x.tolist() for v in outputs(OLD, row)]


def _largest(one: list[float], other: list[float]) -> Finding:
    apart = max(abs(a - b) for a, b in zip(one, other, strict=True))
    return agreed({"largest difference of the outputs": (apart, 0)})


def stale_teacher(book: Book) -> Finding:
    x, seen = _generated(5)
    return _largest(seen.ravel().tolist(), _teacher(x))


def fresh_teacher(book: Book) -> Finding:
    before, _ = _generated(4)
    _, seen = _generated(5)
    return _largest(seen.ravel().tolist(), _teacher(before))
