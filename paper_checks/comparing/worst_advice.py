"""The exact worst case as an adviser: where it is smallest over short plans, whatever federation has these constants.

Without noise, with all clients in every round: what is left is the worst that unlike clients can do. A plan of more
than a few gradients is out of reach, so that this advises on tiny budgets alone.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np

from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.progress import Progress
from empirics.training.setting import Setting

from ..worst_cases.worst import answer, Question
from .goals import Goal, Point

GRADIENTS = 16
"""Gradients of a client over all rounds, at most."""
CLIENTS = 2
"""Two clients that are alike stand for any number of them."""
ASSUMED = ("smoothness", "strong_convexity", "initial_gap", "initial_distance_sq", "optimum_dissimilarity")
SHARES = (0.125, 0.25, 0.5, 1.0, 1.5)
"""Step sizes looked at first, times 1/L."""
CLOSER = 2
"""How often the search looks between the best step size and its neighbours."""


def best(goal: Goal, over: tuple[str, ...], seconds: float, bar: Progress) -> Point | str:
    """The plan of the smallest worst case that was found within ``seconds``; in words why there is none.

    The point's ``open`` says where time ended before the search did.
    """
    if goal.to is not None:
        return "it advises within a budget, not on the way to a target"
    plans = list(_plans(goal, over))
    if not plans:
        return f"no plan within the budget has at most {GRADIENTS} gradients of a client (local_steps times rounds)"
    given = {word: float(np.max(goal.scenario[word].safe)) for word in ASSUMED if word in goal.scenario}
    if "smoothness" not in given or not {"initial_gap", "initial_distance_sq"} & given.keys():
        return "it needs smoothness, and initial_gap or initial_distance_sq"
    until, found, cut = time.monotonic() + seconds, [], False
    for steps, rounds in sorted(plans, key=lambda plan: plan[0] * plan[1]):
        look = _looker(goal, given, steps, rounds, until)
        try:
            for one in _searched(goal.scenario, over, given["smoothness"], look, bar):
                found.append(one)  # what was found before time ended stays
        except _Late:
            cut = True
    if not found:
        return f"the first worst case takes longer than {seconds:g} s: allow more seconds"
    value, steps, rounds, size = min(found)
    ends = ("local_steps, for lack of time",) if cut else ()
    return Point(steps, size, rounds, value, ends, goal.cohort)


class _Late(Exception):
    """Nothing more can be told in time."""


def _plans(goal: Goal, over: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    held = [int(goal.scenario["local_steps"].value)] if "local_steps" not in over else range(1, GRADIENTS + 1)
    for steps in held:
        try:
            rounds = goal.rounds(steps)
        except BoundsError:
            continue
        if steps * rounds <= GRADIENTS:
            yield steps, rounds


def _looker(
    goal: Goal, given: dict[str, float], steps: int, rounds: int, until: float
) -> Callable[[float], tuple[float, int, int, float]]:
    """The worst case at a step size, with the plan; late where it would end after its time."""

    def look(size: float) -> tuple[float, int, int, float]:
        clients = 1 if goal.scenario["clients"].value == 1 else CLIENTS
        setting = Setting(rounds=rounds, cohort=clients, local_steps=steps, step_size=size)
        question = Question(fedavg, setting, given, goal.target)
        try:
            value = answer(question, until - time.monotonic()).value
        except (BoundsError, EmpiricsError):  # it would end too late, or the solver certified nothing
            raise _Late from None
        return value, steps, rounds, size

    return look


def _searched(
    scenario: Scenario,
    over: tuple[str, ...],
    smoothness: float,
    look: Callable[[float], tuple[float, int, int, float]],
    bar: Progress,
) -> Iterator[tuple[float, int, int, float]]:
    """Worst cases at step sizes that come closer to the best one."""
    if "step_size" not in over:
        yield look(float(scenario["step_size"].value))
        return
    known: dict[float, tuple[float, int, int, float]] = {}
    sizes = [share / smoothness for share in SHARES]
    for _ in range(CLOSER + 1):
        for size in sizes:
            if size not in known:
                known[size] = look(size)
                _, steps, rounds, _ = known[size]
                bar.doing(f"exact worst case of {rounds} rounds of {steps} steps of {size:.3g}")
                yield known[size]
        order = sorted(known)
        place = order.index(min(known, key=lambda size: known[size]))
        around = order[max(place - 1, 0) : place + 2]
        sizes = [float(np.sqrt(one * other)) for one, other in itertools.pairwise(around)]
