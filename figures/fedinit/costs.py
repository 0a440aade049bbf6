"""What a round costs by our own methods: vectors that they send and keep, and gradients that a step evaluates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from empirics.algorithms import algorithm as read_algorithm
from empirics.problems.tasks import task
from empirics.training.rounds import plan
from empirics.training.setting import Setting

TOY, CLIENTS, COHORT = "softmax(iris)", 4, 2
"""Small enough to ask a method in; the multiples do not depend on it."""


@dataclass
class Counted:
    """The gradient at any model, each call counted; its value does not matter here."""

    value: Tensor
    calls: int = 0

    def __call__(self, point: Tensor, objective: object = None) -> Tensor:
        self.calls += 1
        return self.value


@dataclass(frozen=True)
class Costs:
    """Multiples: of N d for ``communication`` (mean of both directions), of N K d for ``gradients``, else of C d.

    ``storage`` are the vectors that a client keeps between rounds or receives, with its model; ``kept`` the former.
    """

    communication: float
    gradients: int
    storage: int
    kept: int


def costs(text: str) -> Costs:
    """Of the method written as ``text``, asked in one round on a toy problem."""
    made = read_algorithm(text)
    dealt = task(TOY).deal("iid", CLIENTS, 0)
    state = made.begin(dealt.model.start(0), CLIENTS)
    drawn = np.arange(COHORT), np.ones(COHORT)
    work = plan(dealt.model, dealt.federation, made, Setting(1, COHORT), 0, state, drawn)
    starts = work.starts.clone()
    gradient = Counted(starts)
    made.direction(work, starts, gradient(starts), gradient)
    kept = sum(tensor.shape == (CLIENTS, dealt.model.dim) for tensor in state.memory.values())
    both_ways = (made.uploads + made.downloads) / 2
    return Costs(both_ways, gradient.calls, int(kept + made.downloads), kept)
