"""Looking for a violation: corners of the box, draws all over it, then walks from the best place of every cell.

Same seed, same search.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from bounds.core import Bound
from empirics.progress import Progress, Silent

from .box import Box, Unit
from .cells import Cells
from .core import Evaluation, Instance
from .instances import Family

CORNERS, EVERYWHERE, CELLS, EDGES = 0.4, 0.1, 0.35, 0.05
"""Shares of the budget for corners of the box, for draws over all of it, for walks from the best place of every cell
and for the edges of stability; the rest goes to walks from the best places of all."""
HALVINGS, STABLE = 20, 1e-9
"""Halvings of a coordinate on the way to an edge of stability, and by how much a factor must exceed 1 to grow."""
WALKS = 4
"""Places from which the last walks start."""
STRIDE = 8
"""Steps of a walk before the next one's turn."""
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
    shares: dict[str, float] = field(default_factory=dict)
    """By term the largest share that an admissible instance needs of it."""
    cells: Cells = field(default_factory=Cells)

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
            self._drawn(max(4, int(self.evaluations * CORNERS)), lambda: self.box.corner(self.draws))
            self._drawn(max(4, int(self.evaluations * EVERYWHERE)), self._anywhere)
            self._walk_cells(int(self.evaluations * (CORNERS + EVERYWHERE + CELLS)))
            self._edges(int(self.evaluations * (CORNERS + EVERYWHERE + CELLS + EDGES)))
            self._polish()
        except OutOfBudget:
            pass
        except KeyboardInterrupt:
            self.found.interrupted = True
        return self.found

    def score(self, place: Unit) -> float:
        """The score at a place; the best one is kept, of the whole box and of its cell."""
        found = self.found
        if found.evaluations >= self.evaluations or time.monotonic() > self.deadline:
            raise OutOfBudget
        instance = self.family.instance(self.bound, self.box.point(place))
        evaluation = self._unkept(instance) or self.family.evaluate(self.bound, instance)
        found.evaluations += 1
        self.progress.step()
        cell = self.family.cell(self.bound, instance)
        visit = found.cells.seen(cell, instance, self.family.reach, evaluation.admissible)
        if not evaluation.admissible:
            for words in evaluation.failed:
                found.failed[words] = found.failed.get(words, 0) + 1
            return -float("inf")
        found.admissible += 1
        found.shares |= {t: max(share, found.shares.get(t, 0.0)) for t, share in evaluation.shares.items()}
        if evaluation.score > visit.score or visit.place is None:
            visit.score, visit.ratio, visit.place = evaluation.score, evaluation.ratio, place.copy()
        if evaluation.score > found.score or found.place is None:
            found.best, found.instance, found.place = evaluation, instance, place.copy()
            self.progress.doing(f"largest ratio {evaluation.ratio:.4g}")
            if evaluation.score > self.stop_at:
                raise OutOfBudget
        return evaluation.score

    def _unkept(self, instance: Instance) -> Evaluation | None:
        """What is said of an instance whose sizes are not those held; parameters may be relative to one another."""
        lost = [name for name in self.family.reach if instance.get(name) != self.pins.get(name, instance.get(name))]
        words = tuple(f"{name} can be {self.pins[name]:g}" for name in lost)
        return Evaluation(failed=words, relation=self.bound.relation) if lost else None

    def _anywhere(self) -> Unit:
        return self.box.draw(self.draws.random(len(self.box)), self.draws)

    def _drawn(self, count: int, place: Callable[[], Unit]) -> None:
        for _ in range(count):
            self.score(place())

    def _best(self) -> list[Walk]:
        """The best place of every cell, best first."""
        known = [visit for visit in self.found.cells.visits.values() if visit.place is not None]
        return [Walk(visit.score, visit.place) for visit in sorted(known, key=lambda visit: -visit.score)]

    def _walk_cells(self, until: int) -> None:
        """Walks from the best place of every cell, in turn: the best place of all never leaves the cell it is in."""
        walks = self._best()
        while walks and self.found.evaluations < until:
            for walk in walks:
                for _ in range(STRIDE):
                    walk.step(self.box, self.score, self.draws)
                if self.found.evaluations >= until:
                    return

    def _edges(self, until: int) -> None:
        """Both sides of where a run begins to grow for ever, along every share, from the best places of the cells."""
        for walk in self._best():
            for i, parameter in enumerate(self.box.parameters):
                if not parameter.name.endswith("share") or walk.place[i] > 1:
                    continue
                for end in (0.0, 1.0):
                    for place in self._bisected(walk.place, i, end):
                        if self.found.evaluations >= until:
                            return
                        self.score(place)

    def _bisected(self, place: Unit, i: int, end: float) -> tuple[Unit, ...]:
        """The two places next to each other, along one coordinate to its end, of which one run alone grows."""

        def grows(share: float) -> tuple[Unit, bool | None]:
            moved = place.copy()
            moved[i] = share
            radius = self.family.radius(self.bound, self.family.instance(self.bound, self.box.point(moved)))
            return moved, None if radius != radius else radius > 1 + STABLE

        one, other = float(place[i]), end
        first, last = grows(one)[1], grows(other)[1]
        if first is None or last is None or first == last:
            return ()
        for _ in range(HALVINGS):
            middle = (one + other) / 2
            one, other = (middle, other) if grows(middle)[1] == first else (one, middle)
        return grows(one)[0], grows(other)[0]

    def _polish(self) -> None:
        """Walks from the best places of all; the better a walk does, the more steps it gets."""
        walks = self._best()[:WALKS]
        while walks:
            for walk in sorted(walks, key=lambda w: -w.score)[: max(1, len(walks) - 1)]:
                for _ in range(STRIDE):
                    walk.step(self.box, self.score, self.draws)
            if all(walk.width < 1e-9 for walk in walks):
                walks = [Walk(self.found.score, walk.place, 0.3) for walk in walks[:1]]
            if len(walks) > 1 and self.found.evaluations > 0.95 * self.evaluations:
                walks = sorted(walks, key=lambda w: -w.score)[:1]
        self._drawn(self.evaluations, self._anywhere)  # nothing was admissible so far


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
