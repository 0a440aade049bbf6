"""Which worst case is meant: a method, its plan, what is assumed, and what is bounded; and its program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

from bounds.core import Statistic
from bounds.errors import unknown
from empirics.algorithms.algorithm import Algorithm
from empirics.training.setting import Setting

from . import constraints
from .formulation import Formulation
from .objectives import objectives
from .program import Constraint, Program, trimmed, WorstCaseError
from .symbolic_run import check_drawn, draw, Listed, record, Recorded, with_steps

LAST = Statistic("last", "rounds")


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
    clients: int | None = None
    """How many the setting's cohort is drawn from, without replacement in every round; None: all of them take part."""

    def __post_init__(self) -> None:
        _check(self.assumptions)
        if self.clients is not None:
            check_drawn(self.clients, self.setting.cohort)
        if self.drawn and (late := [word for word in constraints.LATE if word in self.assumptions]):
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
            return draw(self.method, self.plan, self.clients)
        return record(self.method, self.plan)

    @property
    def relaxations(self) -> tuple[str, ...]:
        """What the constraints lose of the assumptions; empty for an exact worst case."""
        lost = (constraints.WORDS[word].relaxed for word in self.assumptions if word in constraints.WORDS)
        return (*filter(None, lost), *([constraints.LOWER] if self.floored else []))

    @property
    def floored(self) -> bool:
        """Whether inf F of functions without a minimiser is one of the values."""
        asked = "initial_gap" in self.assumptions or "pl_constant" in self.assumptions
        return not self.convex and (asked or self.metric == "optimality_gap")

    # ---- the program ----

    def program(self) -> Program:
        """The semidefinite program, without columns that no row contains."""
        return trimmed(self.stated()[1])

    def stated(self) -> tuple[Formulation, Program]:
        """The formulation and the program over all its columns."""
        symmetric = self.symmetric and not self.drawn  # of a tree the whole program is made smaller afterwards
        facts = (self.recorded, self.assumptions["smoothness"], self.lower, self.convex, symmetric)
        more = 2 * self.recorded.gradients + len(self.recorded.server) + 10  # than any statement takes
        probe = Formulation(*facts, room=(more, 0))
        self._state(probe)
        whole = Formulation(*facts, room=probe.taken)
        return whole, self._state(whole)

    def _state(self, f: Formulation) -> Program:
        goal = objectives(f, self.metric, self.statistic)
        limits: list[Constraint] = []
        for word in self.assumptions:
            if word in constraints.WORDS:
                limits += constraints.limits(word, f, self.assumptions)
        if self.floored:
            limits += constraints.lower_bounded(f)
        rows = [*f.interpolation(), *limits] if f.room[1] else limits
        size, L = constraints.length_sq(self.assumptions), f.smoothness
        extents = f.space.extents(float(size) ** 0.5, float(L) * float(size) ** 0.5)
        return Program(f.space.blocks, f.room[1], goal, tuple(rows), extents, float(L * size))


def each(sizes: Sequence[float], lengths: Sequence[int]) -> tuple[float, ...]:
    """The step size of every local step, where one may be given for each of the rounds."""
    if len(sizes) != len(lengths):
        return tuple(sizes)
    return tuple(size for size, count in zip(sizes, lengths, strict=True) for _ in range(count))


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
    known = (*constraints.WORDS, *constraints.ALSO)
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
        if word in constraints.WORDS and constraints.WORDS[word].convex and "strong_convexity" not in given:
            raise WorstCaseError(f"{word} needs a minimiser: give strong_convexity too (0 for convex clients)")
    if "dissimilarity_factor" in given and "dissimilarity_offset" not in given:
        raise WorstCaseError("dissimilarity_factor goes with dissimilarity_offset (0 if there is none)")
