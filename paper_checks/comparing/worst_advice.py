"""Advice by exact worst cases: the plan whose value in the worst federation with these constants is smallest.

There is no noise and all clients take part in every round, so only heterogeneity matters. Worst cases of more than a
few gradients take too long, so this is for short runs only. The value of the recommended plan is proved if time allows.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import asdict, dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import cached_property
from typing import Any

import numpy as np

from bounds.errors import BoundsError
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.progress import Progress
from empirics.training.setting import Setting

from ..worst_case.certificate import certify
from ..worst_case.constraints import LIMITS
from ..worst_case.exact import rounded
from ..worst_case.jobs import proof_seconds
from ..worst_case.problem import WorstCaseProblem
from ..worst_case.solve import solve, solve_seconds, WorstCase
from .goal import Goal, Point

GRADIENTS = 16
"""Maximum number of gradients of a client over all rounds."""
CLIENTS = 2
"""Two groups of identical clients represent any number of clients."""
START = ("initial_gap", "initial_distance_sq")
HETEROGENEITY = (
    ("optimum_dissimilarity",), ("heterogeneity",), ("dissimilarity_offset", "dissimilarity_factor"),
)  # fmt: skip
"""Quantities that can limit heterogeneity; the first that the scenario has and the class of losses admits are used."""
STEP_SIZES = (0.125, 0.25, 0.5, 1.0, 1.5, 1.9)
"""The first step sizes, times 1/L; from 2/L on a run need not converge."""
SMALLER, DOWN = 4.0, 4
"""If the smallest step size is best, one SMALLER times as small is tried, DOWN times in all."""
ZOOMS = 4
PROMISING = 1.3
"""The search zooms in on plans of at most this many times the best value so far."""
DIGITS = 3
"""Digits of a step size, so that the printed plan is the one that is proved."""
SHARE = 0.6
"""Share of the time for the search; the rest is for the proof."""
PATIENT = 1.5
"""Safety factor on the expected time of a proof."""


@dataclass(frozen=True)
class ProvedPlan:
    """The recommended plan and its worst case ``value`` over all federations with the constants in ``given``.

    ``lower`` and ``upper`` are proved: some federation attains the former, none exceeds the latter. Without a proof
    they are NaN, and ``unproved`` says why. If ``value`` is an upper estimate, ``estimate`` says how the class of
    federations is relaxed, and ``lower`` is about the visited models only.
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
        what = "an upper estimate over" if self.estimate else "worst of"
        low = "" if math.isnan(self.lower) else f"from {self.lower:.9g} "
        proof = f"not proved: {self.unproved}" if self.unproved else f"proved: {low}to {self.upper:.9g}"
        return [f"{what} all federations with this {', '.join(self.given)}", "no noise, all clients", proof]

    def as_json(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "point"}


def best(goal: Goal, over: tuple[str, ...], seconds: float, bar: Progress) -> ProvedPlan | str:
    """The plan with the smallest worst case found within ``seconds``, or the reason why there is none.

    With a target it is the cheapest plan whose worst case reaches the target. The point's ``open`` names quantities at
    an end of the searched range, or whose search ran out of time.
    """
    until = time.monotonic() + seconds
    search = _Search(goal, over, until - (1 - SHARE) * seconds, bar)
    if why := search.unsupported:
        return why
    by_rounds: dict[int, list[float]] = {}
    for steps, rounds in search.plans():
        before = by_rounds.setdefault(rounds, [])
        if len(before) > 2 and before[-3] < before[-2] < before[-1]:  # more local steps were worse twice in a row
            continue
        before.append(search.along_step_sizes(steps, rounds))
        if search.reached(before[-1]):
            break
    if not search.solved:
        return search.why or "the first worst case takes longer than its time: allow more seconds"
    (steps, rounds, size), worst = min(search.solved.items(), key=lambda one: (one[1].value, one[0][0]))
    if goal.to is not None and not search.reached(worst.value):
        more = "; not all plans were tried: allow more seconds" if search.late else ""
        return (f"no plan of at most {GRADIENTS} gradients reaches the target: the smallest worst case is "
                f"{worst.value:.3g}, local_steps={steps} rounds={rounds} step_size={size:g}{more}")  # fmt: skip
    sizes = [plan[2] for plan in search.solved if plan[:2] == (steps, rounds)]
    ends = ["local_steps, for lack of time"] * search.late
    ends += ["step_size"] * (len(sizes) > 1 and size == min(sizes) and not search.reached(worst.value))
    value = worst.value if goal.to is None else float(goal.cost(steps, rounds))
    point = Point(steps, size, rounds, value, tuple(ends), goal.cohort)
    proved = ProvedPlan(point, worst.value, tuple(search.given), "; ".join(worst.problem.relaxations))
    if until - time.monotonic() < PATIENT * proof_seconds(steps * rounds):
        return replace(proved, unproved="no time was left for a proof")
    bar.doing("proving the best of them")
    try:
        proof = certify(worst.problem, worst.value)
    except (BoundsError, EmpiricsError) as error:
        return replace(proved, unproved=str(error).partition(":")[0])
    lower = math.nan if proof.attained is None else rounded(proof.attained, ROUND_FLOOR)
    return replace(proved, lower=lower, upper=rounded(proof.bound, ROUND_CEILING))


@dataclass
class _Search:
    """Worst cases of the plans of a goal by local steps, rounds and step size, solved until a time.

    ``why`` is the first reason why one was not solved; ``late``: time was up before all were solved.
    """

    goal: Goal
    over: tuple[str, ...]
    until: float
    bar: Progress
    solved: dict[tuple[int, int, float], WorstCase] = field(default_factory=dict)
    why: str = ""
    late: bool = False

    @cached_property
    def clients(self) -> int:
        return 1 if self.goal.scenario["clients"].value == 1 else CLIENTS

    @cached_property
    def given(self) -> dict[str, float]:
        """The constants of the class of federations: those of the scenario that one class admits together."""
        scenario = self.goal.scenario
        convex = "strong_convexity" in scenario

        def admitted(word: str) -> bool:
            return word in scenario and (convex or word not in LIMITS or not LIMITS[word].convex)

        words = ["smoothness", *(["strong_convexity"] if convex else []), *START]
        if self.clients > 1:
            words += next((group for group in HETEROGENEITY if admitted(group[0])), ())
        return {word: float(np.max(scenario[word].safe)) for word in words if admitted(word)}

    @property
    def unsupported(self) -> str:
        """Why no plan has a worst case here; empty if one has."""
        weights = self.goal.scenario.get("client_weight")
        if weights is not None and np.ptp(np.atleast_1d(weights.value)) > 1e-9 * np.max(weights.value):
            return "clients with different weights cannot be grouped"
        if "smoothness" not in self.given or not set(START) & self.given.keys():
            return "it needs smoothness, and initial_gap, or initial_distance_sq with strong_convexity (0: convex)"
        if not self.plans():
            return f"no plan within the budget has at most {GRADIENTS} gradients per client (local_steps times rounds)"
        return ""

    def reached(self, value: float) -> bool:
        return self.goal.to is not None and value <= self.goal.to[1]

    def plans(self) -> list[tuple[int, int]]:
        """Pairs of local steps and rounds, the shortest runs first, with a target the cheapest."""
        goal = self.goal
        fixed = "local_steps" not in self.over
        steps = [int(goal.scenario["local_steps"].value)] if fixed else range(1, GRADIENTS + 1)
        if goal.to is not None:
            plans = [(k, rounds) for k in steps for rounds in range(1, GRADIENTS // k + 1)]
            return sorted(plans, key=lambda plan: (float(goal.cost(*plan)), plan[0] * plan[1]))
        within = [(k, goal.rounds(k)) for k in steps if goal.affords(k)]
        return sorted((plan for plan in within if math.prod(plan) <= GRADIENTS), key=math.prod)

    def along_step_sizes(self, steps: int, rounds: int) -> float:
        """The smallest worst case over step sizes; the search zooms in while the plan may become the best of all."""
        solved = (one.value for one in self.solved.values())
        best = min(solved, default=math.inf) if self.goal.to is None else self.goal.to[1]
        sizes = [float(f"{share / self.given['smoothness']:.{DIGITS}g}") for share in STEP_SIZES]
        smaller, zooms = [sizes[0] / SMALLER**i for i in range(1, DOWN + 1)], ZOOMS
        if "step_size" not in self.over:
            sizes, smaller, zooms = [float(self.goal.scenario["step_size"].value)], [], 0
        values: dict[float, float] = {}
        failure = ""
        while sizes:
            for size in sizes:
                gradients, left = steps * rounds, self.until - time.monotonic()
                if left < solve_seconds(gradients + 1, gradients):
                    self.late = True
                    return min(values.values(), default=math.inf)
                try:
                    self.solved[steps, rounds, size] = self._solve(steps, rounds, size, left)
                except (BoundsError, EmpiricsError) as error:
                    failure = str(error)
                    continue
                values[size] = self.solved[steps, rounds, size].value
                if self.reached(values[size]):
                    return values[size]
            if not values:
                self.why = self.why or failure
                break
            zooms = zooms if min(values.values()) <= PROMISING * best else 0
            order = sorted(values)
            at = order.index(min(values, key=lambda size: values[size]))
            if at == 0 and smaller:
                sizes = [smaller.pop(0)]
            elif zooms:
                sizes = [math.sqrt(one * other) for one, other in itertools.pairwise(order[max(at - 1, 0) : at + 2])]
                zooms -= 1
            else:
                break
            sizes = [size for size in (float(f"{size:.{DIGITS}g}") for size in sizes) if size not in values]
        return min(values.values(), default=math.inf)

    def _solve(self, steps: int, rounds: int, size: float, left: float) -> WorstCase:
        self.bar.doing(f"exact worst case of {rounds} rounds of {steps} steps of {size:.3g}")
        given, setting = dict(self.given), Setting(rounds, self.clients, local_steps=steps, step_size=size)
        if self.clients == 1:
            # A single loss is the mean of two identical clients that communicate after every step, for which there are
            # proofs, and every such mean is a loss of the class, however much the clients differ.
            setting = Setting(steps * rounds, CLIENTS, local_steps=1, step_size=size)
            if "strong_convexity" in given:
                given["optimum_dissimilarity"] = given["smoothness"] * max(given.get(word, 0.0) for word in START)
        return solve(WorstCaseProblem(fedavg, setting, given, self.goal.target), max(left, 1.0))
