"""The exact worst case of a deterministic federated method over a whole class of federations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter

import numpy as np

from bounds.core import Statistic
from empirics.algorithms import algorithm as named
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import duration, Progress, progress
from empirics.training.setting import Setting

from . import symmetry
from .constraints import WORDS
from .interior_point import optimum
from .program import Program, Solved, spoken, trimmed, WorstCaseError
from .question import each, Question

PATIENCE = 600.0
"""Seconds that one worst case may take."""
STEP = 1e-5
"""Relative step of the derivatives of the Lagrangian, which is smooth: central differences are good to 1e-9."""


@dataclass(frozen=True, eq=False)
class WorstCase:
    """The worst case ``value`` of a question, with its dual certificate; ``gap`` is what the solver says of both.

    ``multipliers`` say by word how fast the worst case grows with the number an assumption gives, ``contributions``
    multiply them with it: where every assumption is homogeneous they add up to the value.
    """

    question: Question
    program: Program
    solved: Solved
    seconds: float

    @property
    def value(self) -> float:
        return self.solved.value

    @property
    def gap(self) -> float:
        return self.solved.gap

    @property
    def doubt(self) -> float:
        """How far the optimum may be from the value, by what the solution and its multipliers break."""
        return self.solved.doubt

    @property
    def exact(self) -> bool:
        return not self.question.relaxations

    @cached_property
    def multipliers(self) -> dict[str, float]:
        """By word, of the assumptions whose number stands on the right of its constraints alone."""
        found: dict[str, float] = {}
        for constraint, multiplier in zip(self.program.constraints, self.solved.multipliers, strict=True):
            if constraint.name in WORDS and WORDS[constraint.name].power is not None:
                found[constraint.name] = found.get(constraint.name, 0.0) + float(multiplier)
        return found

    @property
    def contributions(self) -> dict[str, float]:
        given = self.question.assumptions
        return {word: found * given[word] for word, found in self.multipliers.items()}

    def sensitivity(self, word: str) -> float:
        """Derivative of the worst case in ``word``: a number among the assumptions, or ``step_size``.

        By the envelope theorem: the Lagrangian at the solution, differentiated with solution and multipliers held.
        """

        def lagrangian(program: Program) -> float:
            goal = sum(w * (o @ self.solved.x) for w, o in zip(self.solved.weights, program.objectives, strict=True))
            slack = [c.row @ self.solved.x - c.limit for c in program.constraints]
            return float(goal - self.solved.multipliers @ np.array(slack))

        at = self.question.setting.step_size if word == "step_size" else self.question.assumptions[word]
        h = STEP * max(abs(at), 1e-3)
        places = (at + h, at - h if at > h else at)  # from 0 only upwards: nothing is below
        up, down = (lagrangian(moved(self.question, word, place).program()) for place in places)
        return (up - down) / (places[0] - places[1])


def moved(question: Question, word: str, value: float) -> Question:
    """The question with one number changed."""
    if word == "step_size" and question.step_sizes is not None:
        raise WorstCaseError("every local step has a step size of its own: there is no one derivative in step_size")
    if word == "step_size":
        return replace(question, setting=replace(question.setting, step_size=value))
    return replace(question, assumptions={**question.assumptions, word: value})


def worst_case(
    algorithm: Algorithm | str,
    setting: Setting,
    assumptions: Mapping[str, float],
    metric: str,
    statistic: str | Statistic = "last",
    *,
    steps: Sequence[int] | None = None,
    step_sizes: Sequence[float] | None = None,
    symmetric: bool = True,
    clients: int | None = None,
    patience: float = PATIENCE,
) -> WorstCase:
    """The largest value of ``metric`` over every federation that meets the assumptions.

    All ``setting.cohort`` clients take part in every round with full gradients; with more ``clients`` as many of them
    are drawn without replacement, and the metric is its mean over all draws. ``assumptions``: ``smoothness``;
    ``strong_convexity`` for convex clients; any of ``initial_distance_sq``, ``initial_gap``, ``optimum_dissimilarity``
    (mean squared client gradient at the minimiser), ``heterogeneity`` (Gamma), ``grad_cap_sq`` (G^2 along the run),
    ``dissimilarity_offset`` and ``dissimilarity_factor`` (G^2, B^2), ``pl_constant``; ``grad_norm_sq`` and
    ``divergence`` where the last round begins, ``distance_sq`` before the last iteration.
    ``steps`` are the local steps of every round, ``step_sizes`` the step sizes of all local steps, or of the rounds.
    ``symmetric=False`` keeps all clients apart: the same value, more slowly. ``patience``: seconds it may take.
    """
    method = named(algorithm) if isinstance(algorithm, str) else algorithm
    at = Statistic(statistic, "rounds") if isinstance(statistic, str) else statistic
    given = None if steps is None else tuple(steps)
    if given is not None and len(given) != setting.rounds:
        raise WorstCaseError(f"steps are those of each of the {setting.rounds} rounds; got {len(given)} of them")
    lengths = given or (setting.steps,) * setting.rounds
    sizes = None if step_sizes is None else each([float(size) for size in step_sizes], lengths)
    question = Question(method, setting, dict(assumptions), metric, at, given, symmetric, sizes, clients=clients)
    return answer(question, patience)


def answer(question: Question, patience: float = PATIENCE) -> WorstCase:
    """The worst case that a question asks for; one that would take longer than ``patience`` seconds is refused."""
    begun, drawn = perf_counter(), f"a worst case with {question.setting.cohort} of {question.clients} clients drawn"
    with progress(drawn, brief=True) if question.drawn else nullcontext(Progress()) as bar:
        program, orbit, expected = _made(question, patience)
        bar.doing(f"which takes about {duration(expected)}")
        solved = optimum(replace(orbit.program if orbit else program, until=perf_counter() + patience))
        solved = orbit.lifted(solved) if orbit else solved
    return WorstCase(question, program, solved, perf_counter() - begun)


def estimated(question: Question, patience: float) -> float:
    """About how many seconds a worst case takes; one that takes more than ``patience`` is refused."""
    return _made(question, patience)[2]


def _made(question: Question, patience: float) -> tuple[Program, symmetry.Orbits | None, float]:
    """The program, where drawn clients may be renamed a smaller one that represents it, and about how long it takes."""

    def refuse_long(expected: float) -> None:
        if expected > patience:
            raise WorstCaseError(
                f"too large: {question.recorded.gradients} gradients per client would take about {expected:.0f} s, "
                f"more than {patience:g} s; take fewer rounds or local steps, or raise the patience"
            )

    clients, orbit = question.clients or 0, None
    if question.drawn and not (question.symmetric and clients <= symmetry.MOST):  # what nothing makes smaller
        refuse_long(taking(1 + clients * (question.recorded.gradients + question.convex)))
    formulation, whole = question.stated()
    program = trimmed(whole)
    if question.drawn and question.symmetric:
        (columns,), values = spoken(whole)
        orbit = symmetry.smaller(formulation, program, columns, values)
    expected = taking(*(orbit.program if orbit else program).blocks)
    refuse_long(expected)
    return program, orbit, expected


def taking(*blocks: int) -> float:
    """About how many seconds of one core at 2 GHz a program with blocks of that many vectors takes.

    Fitted to pairs of blocks of 12, 22, 32 and 52 vectors, which took 0.1, 0.6, 4 and 50 s.
    """
    return sum((size / 40) ** 3 + (size / 27) ** 5 for size in blocks)
