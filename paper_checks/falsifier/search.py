"""The search for a violation: corners of the box, random places, then random walks from the best place of every cell.

The same seed gives the same search.
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
from .family import Family

CORNERS, EVERYWHERE, CELLS, EDGES = 0.4, 0.1, 0.35, 0.05
"""Shares of the budget for corners of the box, random places, walks from the best place of every cell, and places at
the limit of stability; the rest is for walks from the best places of all."""
HALVINGS, STABLE = 20, 1e-9
"""Bisection steps to a limit of stability; excess over 1 of the growth factor of an unstable run."""
WALKS = 4
"""Number of places from which the last walks start."""
STRIDE = 8
"""Steps of a walk before the next walk continues."""
CLEAR = 0.005
"""Score of a violation at which a search ends."""


@dataclass
class SearchState:
    """Counts of a search so far, its best place, and the visited cells."""

    evaluations: int = 0
    admissible: int = 0
    best: Evaluation = field(default_factory=Evaluation)
    instance: Instance = field(default_factory=dict)
    place: Unit | None = None
    interrupted: bool = False
    failed: dict[str, int] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    """For every term, the largest share of it that an admissible instance needs."""
    cells: Cells = field(default_factory=Cells)

    @property
    def score(self) -> float:
        return self.best.score if self.admissible else -float("inf")


class OutOfBudget(Exception):
    """The evaluations or the time are used up, or a violation is large enough."""


@dataclass
class Searcher:
    """A search for a violation of a bound in one family of instances."""

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
        self.state = SearchState()

    def run(self) -> SearchState:
        """Search until the budget is used up or a clear violation is found; Ctrl-C keeps the best so far."""
        try:
            self._score_many(max(4, int(self.evaluations * CORNERS)), lambda: self.box.corner(self.draws))
            self._score_many(max(4, int(self.evaluations * EVERYWHERE)), self._random_place)
            self._walk_cells(int(self.evaluations * (CORNERS + EVERYWHERE + CELLS)))
            self._edges(int(self.evaluations * (CORNERS + EVERYWHERE + CELLS + EDGES)))
            self._polish()
        except OutOfBudget:
            pass
        except KeyboardInterrupt:
            self.state.interrupted = True
        return self.state

    def score(self, place: Unit) -> float:
        """Return the score at a place, and keep the place if it is the best of the box or of its cell."""
        state = self.state
        if state.evaluations >= self.evaluations or time.monotonic() > self.deadline:
            raise OutOfBudget
        instance = self.family.instance(self.bound, self.box.point(place))
        evaluation = self._breaks_pins(instance) or self.family.evaluate(self.bound, instance)
        state.evaluations += 1
        self.progress.step()
        cell = self.family.cell(self.bound, instance)
        visit = state.cells.count(cell, instance, self.family.reach, evaluation.admissible)
        if not evaluation.admissible:
            for words in evaluation.failed:
                state.failed[words] = state.failed.get(words, 0) + 1
            return -float("inf")
        state.admissible += 1
        state.shares |= {term: max(share, state.shares.get(term, 0.0)) for term, share in evaluation.shares.items()}
        if evaluation.score > visit.score or visit.place is None:
            visit.score, visit.ratio, visit.place = evaluation.score, evaluation.ratio, place.copy()
        if evaluation.score > state.score or state.place is None:
            state.best, state.instance, state.place = evaluation, instance, place.copy()
            self.progress.doing(f"largest ratio {evaluation.ratio:.4g}")
            if evaluation.score > self.stop_at:
                raise OutOfBudget
        return evaluation.score

    def _breaks_pins(self, instance: Instance) -> Evaluation | None:
        """Return a failed evaluation if the instance, which other parameters restrict, lacks a fixed number."""
        changed = [name for name in self.family.reach if instance.get(name) != self.pins.get(name, instance.get(name))]
        words = tuple(f"{name} can be {self.pins[name]:g}" for name in changed)
        return Evaluation(failed=words, relation=self.bound.relation) if changed else None

    def _random_place(self) -> Unit:
        return self.box.draw(self.draws.random(len(self.box)), self.draws)

    def _score_many(self, count: int, place: Callable[[], Unit]) -> None:
        for _ in range(count):
            self.score(place())

    def _best(self) -> list[Walk]:
        """Return walks from the best place of every cell, best first."""
        visits = [visit for visit in self.state.cells.visits.values() if visit.place is not None]
        return [Walk(visit.score, visit.place) for visit in sorted(visits, key=lambda visit: -visit.score)]

    def _walk_cells(self, until: int) -> None:
        """Walk from the best place of every cell in turn, since a walk rarely leaves its cell."""
        walks = self._best()
        while walks and self.state.evaluations < until:
            for walk in walks:
                for _ in range(STRIDE):
                    walk.step(self.box, self.score, self.draws)
                if self.state.evaluations >= until:
                    return

    def _edges(self, until: int) -> None:
        """Score both sides of the limit of stability, along every share, from the best places of the cells."""
        for walk in self._best():
            for i, parameter in enumerate(self.box.parameters):
                if not parameter.name.endswith("share") or walk.place[i] > 1:
                    continue
                for end in (0.0, 1.0):
                    for place in self._bisected(walk.place, i, end):
                        if self.state.evaluations >= until:
                            return
                        self.score(place)

    def _bisected(self, place: Unit, i: int, end: float) -> tuple[Unit, ...]:
        """Return two neighbouring places along a coordinate, of which one is unstable; none if there is no limit."""

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
        """Walk from the best places of all; better walks get more steps."""
        walks = self._best()[:WALKS]
        while walks:
            for walk in sorted(walks, key=lambda w: -w.score)[: max(1, len(walks) - 1)]:
                for _ in range(STRIDE):
                    walk.step(self.box, self.score, self.draws)
            if all(walk.width < 1e-9 for walk in walks):
                walks = [Walk(self.state.score, walk.place, 0.3) for walk in walks[:1]]
            if len(walks) > 1 and self.state.evaluations > 0.95 * self.evaluations:
                walks = sorted(walks, key=lambda w: -w.score)[:1]
        self._score_many(self.evaluations, self._random_place)  # no place was admissible so far


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
