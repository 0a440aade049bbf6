"""The exact worst case as an adviser: the plan at which no federation with these constants does badly.

Without noise, with all clients in every round: what is left is the worst that unlike clients can do. A plan of more
than a few gradients is out of reach, so that this advises on short runs alone. What is recommended is proved from both
sides where time allows it.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import cached_property
from typing import Any

import numpy as np

from bounds.errors import BoundsError
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.progress import Progress
from empirics.training.setting import Setting

from ..worst_case.constraints import WORDS
from ..worst_case.jobs import proof_time
from ..worst_case.question import Question
from ..worst_case.solve import answer, taking, WorstCase
from ..worst_case.tightness_table import rounded
from ..worst_case.worst_case_proof import certify
from .goals import Goal, Point

GRADIENTS = 16
"""Gradients of a client over all rounds, at most."""
CLIENTS = 2
"""Two clients that are alike stand for any number of them."""
START = ("initial_gap", "initial_distance_sq")
UNLIKE = (("optimum_dissimilarity",), ("heterogeneity",), ("dissimilarity_offset", "dissimilarity_factor"))
"""What may say how unlike clients are: the first of these that the scenario knows and the class admits."""
SHARES = (0.125, 0.25, 0.5, 1.0, 1.5, 1.9)
"""Step sizes looked at first, times 1/L. From 2/L on no run need come closer to its goal."""
SMALLER, DOWN = 4.0, 4
"""Where the least of them is best, one so many times smaller is looked at, so often."""
CLOSER = 4
"""How often the search looks between the best step size and its neighbours."""
PROMISING = 1.3
"""How many times the best number so far a plan may have for that."""
DIGITS = 3
"""Of a step size, as it is shown: the plan that is printed is the one that is proved."""
SHARE = 0.6
"""Of the time that the search may take; the rest is for the proof."""
PATIENT = 1.5
"""How many times longer than it should a proof may take."""


@dataclass(frozen=True)
class Worst:
    """The recommended plan, and its worst case ``value`` over all federations with the constants in ``given``.

    ``lower`` and ``upper`` are proved of the worst case: a federation attains the one, none exceeds the other. They are
    NaN without a proof, and ``unproved`` says why. ``estimate`` says what the class loses, where ``value`` is no more
    than an upper estimate: what ``lower`` says is then of the visited models alone.
    """

    point: Point
    value: float
    given: tuple[str, ...]
    estimate: str = ""
    lower: float = math.nan
    upper: float = math.nan
    unproved: str = ""

    @property
    def notes(self) -> list[str]:
        """What the number is, in a few words each."""
        what = "an upper estimate over" if self.estimate else "worst of"
        said = [f"{what} all federations with this {', '.join(self.given)}", "no noise, all clients"]
        if self.unproved:
            return [*said, f"not proved: {self.unproved}"]
        return [*said, f"proved: {self.interval}"]

    @property
    def interval(self) -> str:
        """Both proved ends in words."""
        low = "" if math.isnan(self.lower) else f"from {self.lower:.9g} "
        return f"{low}to {self.upper:.9g}"

    def as_json(self) -> dict[str, Any]:
        """What the row's ``worst_case`` has in ``fedbounds advise --json``."""
        words = ("value", "lower", "upper", "unproved", "given", "estimate")
        return {word: getattr(self, word) for word in words}


def best(goal: Goal, over: tuple[str, ...], seconds: float, bar: Progress) -> Worst | str:
    """The plan of the smallest worst case that was found within ``seconds``, or the cheapest whose worst case is at the
    target; in words why there is none.

    The point's ``open`` says what lies at an end of what was searched, or where time ended before the search did.
    """
    until = time.monotonic() + seconds
    asked = _Asked(goal, over, until - (1 - SHARE) * seconds, bar)
    if refused := asked.refused:
        return refused
    found = asked.searched()
    return found if isinstance(found, str) else _proved(*found, until, bar)


class _Late(Exception):
    """Nothing more can be told in time."""


@dataclass(frozen=True)
class _Found:
    """A plan with a worst case."""

    worst: WorstCase
    steps: int
    rounds: int
    size: float
    ends: tuple[str, ...] = ()

    @property
    def value(self) -> float:
        return self.worst.value


@dataclass(frozen=True)
class _Asked:
    """What is asked, and until when."""

    goal: Goal
    over: tuple[str, ...]
    until: float
    bar: Progress

    @cached_property
    def clients(self) -> int:
        return 1 if self.goal.scenario["clients"].value == 1 else CLIENTS

    @cached_property
    def given(self) -> dict[str, float]:
        """The class: what the scenario says of its federation, as far as one class has it together."""
        scenario = self.goal.scenario
        words = ["smoothness", *(["strong_convexity"] if "strong_convexity" in scenario else []), *START]
        if self.clients > 1:
            words += next((unlike for unlike in UNLIKE if self._has(unlike[0])), ())
        return {word: float(np.max(scenario[word].safe)) for word in words if self._has(word)}

    def _has(self, word: str) -> bool:
        scenario = self.goal.scenario
        convex = "strong_convexity" in scenario
        return word in scenario and (convex or word not in WORDS or not WORDS[word].convex)

    @cached_property
    def refused(self) -> str:
        """Why no plan can be asked about; empty where one can."""
        weights = self.goal.scenario.get("client_weight")
        if weights is not None and np.ptp(np.atleast_1d(weights.value)) > 1e-9 * np.max(weights.value):
            return "clients of unlike weights do not stand for one another"
        if "smoothness" not in self.given or not set(START) & self.given.keys():
            return "it needs smoothness, and initial_gap, or initial_distance_sq with strong_convexity (0: convex)"
        if not list(self._plans()):
            return f"no plan within the budget has at most {GRADIENTS} gradients of a client (local_steps times rounds)"
        return ""

    # ---- what is looked at ----

    def searched(self) -> tuple[_Found, Worst] | str:
        """The best plan; it is open in local_steps where time ended first."""
        found: list[_Found] = []
        why, late = "", False
        by_rounds: dict[int, list[float]] = {}
        for steps, rounds in self._plans():
            if _rising(by_rounds.get(rounds, [])):
                continue
            least = min((one.value for one in found), default=math.inf) if self.goal.to is None else self.goal.to[1]
            here: list[_Found] = []
            try:
                for one in self._along(steps, rounds, least):
                    here.append(one)  # what was found before time ended stays
            except _Late:
                late = True
            except (BoundsError, EmpiricsError) as error:
                why = why or str(error)
            found += here
            by_rounds.setdefault(rounds, []).append(min((one.value for one in here), default=math.inf))
            if here and self._reached(min(one.value for one in here)):
                break
        chosen = min(found, key=lambda one: (one.value, one.steps), default=None)
        if chosen is None:
            return why or "the first worst case takes longer than its time: allow more seconds"
        if self.goal.to is not None and not self._reached(chosen.value):
            return f"{self._not_reached(chosen)}{'; not all were looked at: allow more seconds' if late else ''}"
        return chosen, self._told(chosen, found, late)

    def _reached(self, value: float) -> bool:
        return self.goal.to is not None and value <= self.goal.to[1]

    def _not_reached(self, least: _Found) -> str:
        plan = f"local_steps={least.steps} rounds={least.rounds} step_size={least.size:g}"
        return f"no plan of at most {GRADIENTS} gradients reaches the target: the least is {least.value:.3g}, {plan}"

    def _plans(self) -> Iterator[tuple[int, int]]:
        """Local steps and rounds: the shortest runs first, on the way to a target the cheapest."""
        held = [int(self.goal.scenario["local_steps"].value)] if "local_steps" not in self.over else None
        steps = held or range(1, GRADIENTS + 1)
        if self.goal.to is not None:
            plans = [(k, r) for k in steps for r in range(1, GRADIENTS // k + 1)]
            yield from sorted(plans, key=lambda plan: (float(self.goal.cost(*plan)), plan[0] * plan[1]))
            return
        within = []
        for k in steps:
            try:
                within.append((k, self.goal.rounds(k)))
            except BoundsError:
                continue
        yield from sorted((p for p in within if p[0] * p[1] <= GRADIENTS), key=lambda plan: plan[0] * plan[1])

    def _along(self, steps: int, rounds: int, least: float) -> Iterator[_Found]:
        """Worst cases at step sizes that come closer to the best one, as far as it may be better than ``least``."""
        if "step_size" not in self.over:
            yield self._look(steps, rounds, float(self.goal.scenario["step_size"].value))
            return
        known: dict[float, _Found | None] = {}
        why: Exception = _Late()
        sizes = [share / self.given["smoothness"] for share in SHARES]
        further = [sizes[0] / SMALLER**i for i in range(1, DOWN + 1)]
        closer = CLOSER
        while sizes:
            for size in map(_rounded, sizes):
                if size not in known:
                    try:
                        known[size] = self._look(steps, rounds, size)
                    except (BoundsError, EmpiricsError) as error:
                        known[size], why = None, error
                        continue
                    yield known[size]  # type: ignore[misc]
                    if self._reached(known[size].value):  # type: ignore[union-attr]
                        return
            worsts = {size: one.value for size, one in known.items() if one is not None}
            if not worsts:
                raise why
            sizes, closer = _next(worsts, further, closer if min(worsts.values()) <= PROMISING * least else 0)

    def _look(self, steps: int, rounds: int, size: float) -> _Found:
        """The worst case of a plan; late where it would end after its time."""
        gradients = steps * rounds
        if (left := self.until - time.monotonic()) < taking(gradients + 1, gradients):
            raise _Late
        self.bar.doing(f"exact worst case of {rounds} rounds of {steps} steps of {size:.3g}")
        setting = Setting(rounds=rounds, cohort=self.clients, local_steps=steps, step_size=size)
        asked = Question(fedavg, setting, self.given, self.goal.target)
        found = answer(_of_mean(asked) if self.clients == 1 else asked, max(left, 1.0))
        return _Found(found, steps, rounds, size)

    # ---- what is told ----

    def _told(self, chosen: _Found, found: list[_Found], late: bool) -> Worst:
        mine = [one.size for one in found if (one.steps, one.rounds) == (chosen.steps, chosen.rounds)]
        ends = ["local_steps, for lack of time"] * late
        ends += ["step_size"] * (len(mine) > 1 and chosen.size == min(mine) and not self._reached(chosen.value))
        says = chosen.value if self.goal.to is None else float(self.goal.cost(chosen.steps, chosen.rounds))
        point = Point(chosen.steps, chosen.size, chosen.rounds, says, tuple(ends), self.goal.cohort)
        return Worst(point, chosen.value, tuple(self.given), "; ".join(chosen.worst.question.relaxations))


def _of_mean(asked: Question) -> Question:
    """The same of the mean of two clients that communicate after every step, for which there are proofs.

    Any single loss is such a mean, of clients that are alike, and every such mean is a loss of the class: how unlike
    they may be at most changes nothing.
    """
    gradients = asked.setting.rounds * (asked.setting.local_steps or 1)
    given = dict(asked.assumptions)
    if asked.convex:
        given["optimum_dissimilarity"] = given["smoothness"] * max(given.get(word, 0.0) for word in START)
    return replace(
        asked, setting=replace(asked.setting, rounds=gradients, cohort=CLIENTS, local_steps=1), assumptions=given
    )


def _rising(values: list[float]) -> bool:
    """Whether in as many rounds more local steps were worse twice in a row: still more are not looked at."""
    return len(values) > 2 and values[-3] < values[-2] < values[-1]


def _next(worsts: Mapping[float, float], further: list[float], closer: int) -> tuple[list[float], int]:
    """Step sizes to look at next, and how often it is still looked closer."""
    order = sorted(worsts)
    place = order.index(min(worsts, key=lambda size: worsts[size]))
    if place == 0 and further:
        return [further.pop(0)], closer
    if not closer:
        return [], 0
    around = order[max(place - 1, 0) : place + 2]
    return [math.sqrt(one * other) for one, other in itertools.pairwise(around)], closer - 1


def _rounded(size: float) -> float:
    return float(f"{size:.{DIGITS}g}")


def _proved(chosen: _Found, told: Worst, until: float, bar: Progress) -> Worst:
    """The same with both ends of a proof, or why there is none."""
    if until - time.monotonic() < PATIENT * proof_time(chosen.steps * chosen.rounds):
        return replace(told, unproved="no time was left for a proof")
    bar.doing("proving the best of them")
    try:
        proof = certify(chosen.worst.question, chosen.worst.value)
    except (BoundsError, EmpiricsError) as error:
        return replace(told, unproved=str(error).partition(":")[0])
    lower = math.nan if proof.attained is None else rounded(proof.attained, ROUND_FLOOR)
    return replace(told, lower=lower, upper=rounded(proof.bound, ROUND_CEILING))
