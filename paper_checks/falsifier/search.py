"""Looking for a violation: draws over the whole box, then narrow walks from the best places. Same seed, same search."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bounds.core import Bound
from empirics.progress import Progress, Silent

from .box import Box, Unit
from .core import Evaluation, Family, Instance

GLOBAL = 0.35
"""Share of the budget that is spent on draws over the whole box."""
BLOCK = 256
"""Places that are drawn at once."""
WALKS = 6
"""Places from which narrow walks start."""
CLEAR = 0.005
"""A score at which a violation is clear enough to stop looking for a larger one."""


@dataclass
class Found:
    """The best places so far, and what it took."""

    evaluations: int = 0
    admissible: int = 0
    best: Evaluation = field(default_factory=Evaluation)
    instance: Instance = field(default_factory=dict)
    place: Unit | None = None
    interrupted: bool = False
    failed: dict[str, int] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return self.best.score if self.admissible else -float("inf")


class OutOfBudget(Exception):
    """The evaluations or the minutes are spent, or a violation is clear."""


@dataclass
class Searcher:
    """One search of one bound in one family."""

    bound: Bound
    family: Family
    evaluations: int
    seed: int = 0
    deadline: float = float("inf")
    progress: Progress = field(default_factory=Silent)
    pins: Mapping[str, float] = field(default_factory=dict)
    stop_at: float = CLEAR

    def __post_init__(self) -> None:
        self.box: Box = self.family.box(self.bound).pinned(self.pins)
        self.draws = np.random.default_rng([self.seed, 20])
        self.found = Found()

    def run(self) -> Found:
        """Search until the budget is spent or a violation is clear; Ctrl-C keeps the best so far."""
        try:
            self._walk_from(self._everywhere(max(8, int(self.evaluations * GLOBAL))))
        except OutOfBudget:
            pass
        except KeyboardInterrupt:
            self.found.interrupted = True
        return self.found

    def score(self, place: Unit) -> float:
        """The score at a place; the best one is kept."""
        found = self.found
        if found.evaluations >= self.evaluations or time.monotonic() > self.deadline:
            raise OutOfBudget
        instance = self.family.instance(self.bound, self.box.point(place))
        evaluation = self.family.evaluate(self.bound, instance)
        found.evaluations += 1
        self.progress.step()
        if not evaluation.admissible:
            for words in evaluation.failed:
                found.failed[words] = found.failed.get(words, 0) + 1
            return -float("inf")
        found.admissible += 1
        if evaluation.score > found.score or found.place is None:
            found.best, found.instance, found.place = evaluation, instance, place.copy()
            self.progress.doing(f"largest ratio {evaluation.ratio:.4g}")
            if evaluation.score > self.stop_at:
                raise OutOfBudget
        return evaluation.score

    def _everywhere(self, count: int) -> list[tuple[float, Unit]]:
        """The best of ``count`` places over the whole box, best first."""
        from scipy.stats import qmc

        sobol = qmc.Sobol(len(self.box), rng=self.draws)
        scored: list[tuple[float, Unit]] = []
        left = count
        for _ in range(0, count, BLOCK):  # drawn as they are needed: a budget may be huge, and time may stop it
            for row in sobol.random(BLOCK)[:left]:
                place = self.box.draw(row, self.draws)
                if np.isfinite(score := self.score(place)):
                    scored.append((score, place))
                left -= 1
            scored = sorted(scored, key=lambda pair: -pair[0])[:WALKS]
        return scored

    def _walk_from(self, scored: Sequence[tuple[float, Unit]]) -> None:
        """Walks from the best places; the better a walk does, the more steps it gets."""
        walks = [Walk(score, place) for score, place in scored]
        while walks:
            for walk in sorted(walks, key=lambda w: -w.score)[: max(1, len(walks) - 2)]:
                for _ in range(12):
                    walk.step(self.box, self.score, self.draws)
            if all(walk.width < 1e-9 for walk in walks):
                walks = [Walk(self.found.score, walk.place, 0.3) for walk in walks[:1]]
            if len(walks) > 1 and self.found.evaluations > 0.7 * self.evaluations:
                walks = sorted(walks, key=lambda w: -w.score)[:1]


@dataclass
class Walk:
    """A (1+1) evolution strategy: the width grows on success and shrinks on failure."""

    score: float
    place: Unit
    width: float = 0.15

    def step(self, box: Box, score: Callable[[Unit], float], draws: np.random.Generator) -> None:
        moved = box.move(self.place, self.width, draws)
        now = score(moved)
        if now > self.score:
            self.score, self.place, self.width = now, moved, min(self.width * 1.5, 0.5)
        else:
            self.width = max(self.width * 0.93, 1e-10)
