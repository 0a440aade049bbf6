"""A worst-case problem: the method and its setting, the assumptions about the clients' losses, and the metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite

import numpy as np

from bounds.core import Statistic
from bounds.errors import unknown
from empirics.algorithms.algorithm import Algorithm
from empirics.training.setting import Setting

from .constraints import LIMITS
from .linear_run import LinearRun, record_run, record_tree, SettingWithStepSizes, with_steps
from .program import WorstCaseError

LAST = Statistic("last", "rounds")
LOWER = "F stays above inf F where a step of 1/L from a visited model leads, not everywhere"
OTHER_QUANTITIES = ("smoothness", "strong_convexity", "dissimilarity_factor")
"""Assumed quantities that belong to the function class or to another assumption."""


@dataclass(frozen=True)
class WorstCaseProblem:
    """The specification of a worst case.

    ``assumptions`` maps quantities to numbers; ``smoothness`` is required. With ``strong_convexity`` (0: convex) the
    clients' losses are convex, without it only smooth. In place of the setting's, ``steps`` gives the local steps of
    every round and ``step_sizes`` the step size of every local step of the run.
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
    """How many clients the setting's cohort is drawn from, without replacement in every round; None: all take part."""

    def __post_init__(self) -> None:
        _check(self.assumptions)
        clients, cohort = self.clients, self.setting.cohort
        integer = isinstance(clients, (int, np.integer)) and not isinstance(clients, bool)
        if clients is not None and not (integer and clients >= cohort):
            raise WorstCaseError(f"clients must be an integer >= the setting's cohort {cohort}; got {clients!r}")
        late = [name for name in LIMITS if LIMITS[name].late and name in self.assumptions]
        if late and self.draws_cohort:
            raise WorstCaseError(f"with a drawn cohort {late[0]} cannot be assumed: every run has another last round")
        if self.step_sizes is not None:
            sizes = per_local_step(self.step_sizes, self.steps_by_round)
            object.__setattr__(self, "step_sizes", sizes)
            _check_sizes(sizes, sum(self.steps_by_round), self.setting)

    @property
    def steps_by_round(self) -> tuple[int, ...]:
        return self.steps or (self.setting.steps,) * self.setting.rounds

    @property
    def plan(self) -> Setting:
        """The setting with the step sizes of this problem."""
        if self.step_sizes is None:
            return self.setting
        return SettingWithStepSizes(**vars(self.setting), all_sizes=self.step_sizes, steps_by_round=self.steps_by_round)

    @property
    def draws_cohort(self) -> bool:
        """Whether each round draws some of the clients; the metric is then the mean over all draws."""
        return self.clients is not None and self.clients > self.setting.cohort

    @property
    def convex(self) -> bool:
        return "strong_convexity" in self.assumptions

    @property
    def curvature(self) -> float:
        """The smallest curvature that the clients' losses may have."""
        return self.assumptions.get("strong_convexity", -self.assumptions["smoothness"])

    @property
    def method(self) -> Algorithm:
        return self.algorithm if self.steps is None else with_steps(self.algorithm, self.steps)

    @cached_property
    def run(self) -> LinearRun:
        if self.draws_cohort and self.clients is not None:
            return record_tree(self.method, self.plan, self.clients)
        return record_run(self.method, self.plan)

    @property
    def relaxations(self) -> tuple[str, ...]:
        """How the constraints are weaker than the assumptions; empty for an exact worst case."""
        assumed = [LIMITS[name].relaxed for name in self.assumptions if name in LIMITS]
        return (*filter(None, assumed), *([LOWER] if self.has_infimum else []))

    @property
    def has_infimum(self) -> bool:
        """Whether inf F, of functions that need not have a minimiser, is one of the values."""
        assumed = "initial_gap" in self.assumptions or "pl_constant" in self.assumptions
        return not self.convex and (assumed or self.metric == "optimality_gap")


def per_local_step(sizes: Sequence[float], steps_by_round: Sequence[int]) -> tuple[float, ...]:
    """Return the step size of every local step; one size per round is repeated for the steps of the round."""
    if len(sizes) != len(steps_by_round):
        return tuple(sizes)
    return tuple(size for size, count in zip(sizes, steps_by_round, strict=True) for _ in range(count))


def _check_sizes(sizes: tuple[float, ...], count: int, setting: Setting) -> None:
    if len(sizes) != count:
        raise WorstCaseError(
            f"step_sizes needs a number for each of {count} local steps or {setting.rounds} rounds; got {len(sizes)}"
        )
    for size in sizes:
        if not 0 < size < inf:
            raise WorstCaseError(f"step_sizes must be finite numbers > 0; got {size:g}")
    if (setting.step_offset, setting.step_size_rule, setting.step_size_decay) != (None, "constant", 1.0):
        raise WorstCaseError("step_sizes cannot be combined with step_offset, step_size_rule or step_size_decay")


def _check(assumptions: Mapping[str, float]) -> None:
    names = (*LIMITS, *OTHER_QUANTITIES)
    for name, number in assumptions.items():
        if name not in names:
            raise unknown("assumption", name, names)
        if not isfinite(number):
            raise WorstCaseError(f"{name} must be a finite number; got {number}")
        if number < 0 and name != "strong_convexity":
            raise WorstCaseError(f"{name} must be >= 0; got {number:g}")
    L, mu = assumptions.get("smoothness", 0), assumptions.get("strong_convexity")
    if not L > 0:
        raise WorstCaseError("smoothness must be given and > 0: without it nothing is bounded")
    if mu is not None and not 0 <= mu < L:
        raise WorstCaseError(f"strong_convexity must be >= 0 and < smoothness {L:g}; got {mu:g}")
    for name in assumptions:
        if name in LIMITS and LIMITS[name].convex and mu is None:
            raise WorstCaseError(f"{name} needs a minimiser: give strong_convexity too (0 for convex clients)")
    if "dissimilarity_factor" in assumptions and "dissimilarity_offset" not in assumptions:
        raise WorstCaseError("dissimilarity_factor needs dissimilarity_offset (0 if there is none)")
