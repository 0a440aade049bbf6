"""The exact worst case of a deterministic federated method over a whole class of federations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from time import perf_counter
from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.core import Statistic
from bounds.errors import unknown
from empirics.algorithms import algorithm as named
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import lasting, progress
from empirics.training.setting import Setting

from . import constraints as said, objectives as metrics, symmetry as orbits
from .cohort_tree import check_drawn, draw
from .coordinates import Array, triangle
from .formulation import Formulation
from .program import Constraint, lagrangian, Program, Solved, WorstCaseError
from .refining import refined
from .symbolic_run import Listed, record, Recorded, with_steps
from .tightness_options import PATIENCE

if TYPE_CHECKING:
    from .federation import Instance
    from .replay import Replay
    from .worst_case_proof import Certificate

LAST = Statistic("last", "rounds")
STEP = 1e-5
"""Relative step of the derivatives of the Lagrangian, which is smooth: central differences are good to 1e-9."""


@dataclass(frozen=True)
class Question:
    """Which worst case is meant: everything that was said, nothing that was found.

    ``assumptions`` maps vocabulary words to numbers. ``smoothness`` is needed; with ``strong_convexity`` (0: convex)
    the clients are convex, without it they are smooth only. ``steps`` gives local steps round by round, ``step_sizes``
    a step size for every local step of the run, in place of the setting's.
    """

    algorithm: Algorithm
    setting: Setting
    assumptions: Mapping[str, float]
    metric: str
    statistic: Statistic = LAST
    steps: tuple[int, ...] | None = None
    symmetric: bool = True
    step_sizes: tuple[float, ...] | None = None
    exactly: Recorded | None = None
    """The run in fractions, in place of the recorder's floats: rows are fractions, without those of pairs of points."""
    change: Any = None
    """The unit of the changes of gradients, where the coordinates are to be those of another question."""
    clients: int | None = None
    """How many the setting's cohort is drawn from, without replacement in every round; None: all of them take part."""

    def __post_init__(self) -> None:
        _check(self.assumptions)
        if self.clients is not None:
            check_drawn(self.clients, self.setting.cohort)
        if self.drawn and (late := [word for word in said.LATE if word in self.assumptions]):
            raise WorstCaseError(f"where clients are drawn {late[0]} is not assumed: every run has a last round")
        if self.step_sizes is not None:
            _check_sizes(self.step_sizes, sum(self.lengths), self.setting)

    @property
    def lengths(self) -> tuple[int, ...]:
        """Local steps of every round."""
        return self.steps or (self.setting.steps,) * self.setting.rounds

    @property
    def plan(self) -> Setting:
        """The setting as it is played."""
        if self.step_sizes is None:
            return self.setting
        return Listed(**vars(self.setting), each=self.step_sizes, lengths=self.lengths)

    @property
    def drawn(self) -> bool:
        """Whether some of the clients are drawn: the metric is then the mean over all that may be."""
        return self.clients is not None and self.clients > self.setting.cohort

    @property
    def convex(self) -> bool:
        return "strong_convexity" in self.assumptions

    @property
    def lower(self) -> float:
        """The least curvature of the clients' losses."""
        return self.assumptions.get("strong_convexity", -self.assumptions["smoothness"])

    @property
    def method(self) -> Algorithm:
        return self.algorithm if self.steps is None else with_steps(self.algorithm, self.steps)

    @cached_property
    def recorded(self) -> Recorded:
        if self.drawn and self.clients is not None:
            return self.exactly or draw(self.method, self.plan, self.clients)
        return self.exactly or record(self.method, self.plan)

    @property
    def relaxations(self) -> tuple[str, ...]:
        """What the constraints lose of the assumptions; empty for an exact worst case."""
        lost = [said.WORDS[w].relaxed for w in self.assumptions if w in said.WORDS and said.WORDS[w].relaxed]
        return (*lost, *([said.LOWER] if self.floored else []))

    @property
    def floored(self) -> bool:
        """Whether inf F of functions without a minimiser is one of the values."""
        asked = "initial_gap" in self.assumptions or "pl_constant" in self.assumptions
        return not self.convex and (asked or self.metric == "optimality_gap")

    # ---- the program ----

    def program(self) -> Program:
        """The semidefinite program, without columns that nothing speaks of."""
        return trimmed(self.stated()[1])

    def stated(self) -> tuple[Formulation, Program]:
        """The formulation and the program over all its columns."""
        symmetric = self.symmetric and not self.drawn  # of a tree the whole program is made smaller afterwards
        facts = (self.recorded, self.assumptions["smoothness"], self.lower, self.convex, symmetric)
        probe = Formulation.roomy(*facts, change=self.change)
        self._state(probe)
        whole = Formulation(*facts, room=probe.taken, change=self.change)
        return whole, self._state(whole)

    def _state(self, f: Formulation) -> Program:
        goal = metrics.objectives(f, self.metric, self.statistic)
        limits: list[Constraint] = []
        for word in self.assumptions:
            if word in said.WORDS:
                limits += said.WORDS[word].constraints(f, self.assumptions)
        if self.floored:
            limits += said.lower_bounded(f)
        rows = [*f.interpolation(), *limits] if f.room[1] and self.exactly is None else limits
        size, L = said.length_sq(self.assumptions), f.smoothness
        extents = f.space.extents(float(size) ** 0.5, float(L) * float(size) ** 0.5)
        return Program(f.space.blocks, f.room[1], goal, tuple(rows), extents, float(L * size))


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
    def status(self) -> str:
        return self.solved.status

    @property
    def exact(self) -> bool:
        return not self.question.relaxations

    @cached_property
    def multipliers(self) -> dict[str, float]:
        """By word, of the assumptions whose number stands on the right of its constraints alone."""
        found: dict[str, float] = {}
        for constraint, multiplier in zip(self.program.constraints, self.solved.multipliers, strict=True):
            if constraint.name in said.WORDS and said.WORDS[constraint.name].power is not None:
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
        at = self.question.setting.step_size if word == "step_size" else self.question.assumptions[word]
        h = STEP * max(abs(at), 1e-3)
        places = (at + h, at - h if at > h else at)  # from 0 only upwards: nothing is below
        up, down = (lagrangian(moved(self.question, word, place).program(), self.solved) for place in places)
        return (up - down) / (places[0] - places[1])

    def certificate(self) -> Certificate:
        """A proof in fractions that no federation does worse than the value, up to about a millionth of it."""
        from .worst_case_proof import certify

        return certify(self.question, self.value)

    def instance(self) -> Instance:
        """A federation in few dimensions that attains the worst case: every client's points, gradients and values."""
        from .replay import attained

        return attained(self)

    def replay(self) -> Replay:
        """The worst case read off a run of the training loop on that federation."""
        from .replay import replay

        return replay(self.instance())


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


def each(sizes: Sequence[float], lengths: Sequence[int]) -> tuple[float, ...]:
    """The step size of every local step, where one may be given for every round of so many."""
    if len(sizes) != len(lengths):
        return tuple(sizes)
    return tuple(size for size, count in zip(sizes, lengths, strict=True) for _ in range(count))


def answer(question: Question, patience: float = PATIENCE) -> WorstCase:
    """The worst case that a question asks for; one that would take longer than ``patience`` seconds is refused."""
    if question.drawn:
        with progress(
            f"a worst case with {question.setting.cohort} of {question.clients} clients drawn", brief=True
        ) as bar:
            return _answer(question, patience, bar.doing)
    return _answer(question, patience, lambda words: None)


def _answer(question: Question, patience: float, step: Callable[[str], None]) -> WorstCase:
    begun = perf_counter()
    _refuse_long(question, _apart(question), patience)
    program, orbit = _made(question)
    expected = taking(*(orbit.program if orbit else program).blocks)
    _refuse_long(question, expected, patience)
    step(f"which takes about {lasting(expected)}")
    solved = refined(program) if orbit is None else orbit.lifted(refined(orbit.program))
    return WorstCase(question, program, solved, perf_counter() - begun)


def _made(question: Question) -> tuple[Program, orbits.Orbits | None]:
    """The program, and where clients that are drawn may be renamed a smaller one that stands for it."""
    formulation, whole = question.stated()
    program = trimmed(whole)
    if not (question.drawn and question.symmetric):
        return program, None
    (columns,), values = spoken(whole)
    return program, orbits.smaller(formulation, program, columns, values)


def _apart(question: Question) -> float:
    """About how many seconds a program takes that nothing makes smaller, without stating it; 0 where something does."""
    clients = question.clients or 0
    if not question.drawn or (question.symmetric and clients <= orbits.MOST):
        return 0.0
    return taking(1 + clients * (question.recorded.gradients + question.convex))


def _refuse_long(question: Question, expected: float, patience: float) -> None:
    if expected > patience:
        raise WorstCaseError(
            f"too large: {question.recorded.gradients} gradients per client would take about {expected:.0f} s, more "
            f"than {patience:g} s; take fewer rounds or local steps, or raise the patience"
        )


def estimated(question: Question) -> float:
    """About how many seconds a worst case takes."""
    if apart := _apart(question):
        return apart
    program, orbit = _made(question)
    return taking(*(orbit.program if orbit else program).blocks)


def taking(*blocks: int) -> float:
    """About how many seconds of one core at 2 GHz a program with blocks of so many vectors takes.

    Fitted to pairs of blocks of 12, 22, 32 and 52 vectors, which took 0.1, 0.6, 4 and 50 s.
    """
    return sum((size / 40) ** 3 + (size / 27) ** 5 for size in blocks)


def trimmed(program: Program) -> Program:
    """The program without unknown vectors and values that no row speaks of."""
    columns, values = spoken(program)
    pairs = [alive[i] & alive[j] for alive in columns for i, j in [triangle(len(alive))]]
    chosen = np.concatenate([*pairs, values])
    return replace(
        program,
        blocks=tuple(int(alive.sum()) for alive in columns if alive.any()),
        values=int(values.sum()),
        objectives=tuple(o[chosen] for o in program.objectives),
        constraints=tuple(replace(c, row=c.row[chosen]) for c in program.constraints),
        extents=None if program.extents is None else program.extents[np.concatenate(columns)],
    )


def spoken(program: Program) -> tuple[list[Array], Array]:
    """Which vectors of every block, and which values, any row speaks of."""
    rows = [*program.objectives, *(c.row for c in program.constraints)]
    used = np.any(np.array(rows) != 0, axis=0)
    columns, begin = [], 0
    for size in program.blocks:
        i, j = triangle(size)
        here = used[begin : begin + len(i)]
        alive = np.zeros(size, dtype=bool)
        alive[i[here]] = alive[j[here]] = True
        columns.append(alive)
        begin += len(i)
    return columns, used[begin:]


def _check_sizes(sizes: tuple[float, ...], count: int, setting: Setting) -> None:
    if len(sizes) != count:
        raise WorstCaseError(
            f"step_sizes are those of all {count} local steps, or of the {setting.rounds} rounds; got {len(sizes)}"
        )
    for size in sizes:
        if not 0 < size < inf:
            raise WorstCaseError(f"step_sizes must be finite numbers > 0; got {size:g}")
    if (setting.step_offset, setting.step_size_rule, setting.step_size_decay) != (None, "constant", 1.0):
        raise WorstCaseError("step_sizes are all there is: leave step_offset, step_size_rule, step_size_decay out")


def _check(given: Mapping[str, float]) -> None:
    known = (*said.WORDS, *said.ALSO)
    for word, number in given.items():
        if word not in known:
            raise unknown("assumption", word, known)
        if not isfinite(number):
            raise WorstCaseError(f"{word} must be a finite number; got {number}")
        if number < 0 and word != "strong_convexity":
            raise WorstCaseError(f"{word} must be >= 0; got {number:g}")
    if not given.get("smoothness", 0) > 0:
        raise WorstCaseError("smoothness must be given and > 0: without it nothing is bounded")
    if "strong_convexity" in given and not 0 <= given["strong_convexity"] < given["smoothness"]:
        raise WorstCaseError(
            f"strong_convexity must be >= 0 and < smoothness {given['smoothness']:g}; got {given['strong_convexity']:g}"
        )
    for word in given:
        if word in said.WORDS and said.WORDS[word].convex and "strong_convexity" not in given:
            raise WorstCaseError(f"{word} speaks of a minimiser: give strong_convexity too (0 for convex clients)")
    if "dissimilarity_factor" in given and "dissimilarity_offset" not in given:
        raise WorstCaseError("dissimilarity_factor goes with dissimilarity_offset (0 if there is none)")


__all__ = ["Question", "WorstCase", "WorstCaseError", "answer", "worst_case"]
