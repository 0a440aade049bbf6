"""What advice is asked for: what is to be small, within which budget or to which target, and what a round costs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bounds.anyway import HERE
from bounds.classes import FOLDED
from bounds.errors import BoundsError, DomainError, MissingQuantityError, unknown
from bounds.scenario import Scenario

BUDGETS = ("runtime", "rounds", "iterations")
"""Words that say how long a run is, the strongest first."""
TARGETS = ("optimality_gap", "grad_norm_sq", "distance_sq")
"""What a run may make small, read at the last server model."""
COSTS = ("rounds", "iterations", "seconds", "bytes", "gradients")
"""What may be spent until a target is reached."""
OVER = ("local_steps", "step_size")
FLOAT = 4
"""Bytes of a parameter on the network."""
MOST_STEPS = 4096


def given(scenario: Scenario, word: str) -> bool:
    """Whether a word was given, and does not follow from others."""
    return word in scenario and scenario[word].support == {word}


class Point(NamedTuple):
    """A plan and what an adviser says it leads to; ``open`` are the words that lie at an end of what was searched."""

    local_steps: int
    step_size: float
    rounds: int
    value: float
    open: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Goal:
    """``minimise`` a target within the budget that the scenario states, or a cost until ``to = (target, level)``.

    ``batch`` samples make a gradient of a step, for the cost in gradients.
    """

    scenario: Scenario
    minimise: str
    to: tuple[str, float] | None = None
    batch: int = 1

    @classmethod
    def of(cls, scenario: Scenario, minimise: str, to: tuple[str, float] | None, batch: int) -> Goal:
        """The goal, refused in one line where it cannot be told what a plan leads to or costs."""
        if minimise in FOLDED:
            minimise = FOLDED[minimise][0]
        if to is None:
            if minimise in COSTS:
                raise BoundsError(f"{minimise} is spent until something is reached: give to optimality_gap=NUMBER")
            if minimise not in TARGETS:
                raise unknown("target of an advice", minimise, (*TARGETS, *COSTS))
            if not any(given(scenario, word) for word in BUDGETS):
                raise MissingQuantityError("advice needs a budget: give runtime=, rounds= or iterations=")
        else:
            if minimise not in COSTS:
                raise unknown("cost", minimise, COSTS)
            if to[0] not in TARGETS:
                raise unknown("target of an advice", to[0], TARGETS)
            if not 0 < to[1] < math.inf:
                raise DomainError(f"{to[0]} must be a number > 0 to be reached; got {to[1]:g}")
            if told := [word for word in BUDGETS if given(scenario, word)]:
                raise BoundsError(f"how long a run to a target is follows from it: leave {told[0]} out")
        goal = cls(scenario, minimise, to, batch)
        if to is None:
            goal.rounds(1)
        else:
            goal.cost(1, 1)
        return goal

    @property
    def target(self) -> str:
        return self.minimise if self.to is None else self.to[0]

    @cached_property
    def words(self) -> str:
        """The goal in words."""
        if self.to is not None:
            return f"fewest {self.minimise} to {self.to[0]} <= {self.to[1]:g}"
        word = next(word for word in BUDGETS if given(self.scenario, word))
        return f"smallest {self.minimise} within {word} = {self.scenario[word].value:g}"

    def rounds(self, local_steps: int) -> int:
        """The whole rounds that the budget holds; ``BoundsError`` where it holds none."""
        if local_steps not in self._rounds:
            self._rounds[local_steps] = int(self.at(local_steps)["rounds"].value)
        return self._rounds[local_steps]

    def at(self, local_steps: int, **more: Any) -> Scenario:
        """The scenario at so many local steps; of a budget of iterations the whole rounds are run."""
        if self.to is None and given(self.scenario, "iterations"):
            more["iterations"] = local_steps * max(1, int(self.scenario["iterations"].value) // local_steps)
            if more["iterations"] > self.scenario["iterations"].value:
                raise BoundsError(f"a round of {local_steps} local steps exceeds the iterations of the budget")
        return self.scenario.at(local_steps=local_steps, **more)

    @cached_property
    def _rounds(self) -> dict[int, int]:
        return {}

    def cost(self, local_steps: int, rounds: Any) -> Any:
        """What so many rounds cost, in the unit that is minimised."""
        per_round = {
            "rounds": lambda: 1.0,
            "iterations": lambda: float(local_steps),
            "seconds": lambda: self._of("communication_time") + self._of("minibatch_time") * local_steps,
            "bytes": lambda: 2 * FLOAT * self._of("parameters") * self._of("cohort"),
            "gradients": lambda: local_steps * self.batch * self._of("cohort"),
        }
        return np.asarray(rounds, dtype=float) * per_round[self.minimise]()

    def _of(self, word: str) -> float:
        if word not in self.scenario:
            raise MissingQuantityError(f"{self.minimise} need {word}: give {word}=NUMBER")
        return float(self.scenario[word].value)

    def steps(self) -> Iterator[int]:
        """Numbers of local steps to look at: 1, 2, 3, 4, 6, 8, 12, ..., as far as the budget holds a round."""
        octave = 1
        while octave <= MOST_STEPS:
            for steps in (octave, octave * 3 // 2)[: 1 + (octave > 1)]:
                try:
                    if self.to is None:
                        self.rounds(steps)
                except BoundsError:
                    return
                yield steps
            octave *= 2

    @property
    def start(self) -> float:
        """The target before training, infinite where nobody knows."""
        stated = self.scenario.get(HERE[self.target])
        return math.inf if stated is None else float(stated.high)

    def within(self, scenario: Scenario) -> Goal:
        """The same goal in another scenario."""
        return replace(self, scenario=scenario)
