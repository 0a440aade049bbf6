"""Exact values in federations of quadratics that satisfy a row's premises: a lower bound on how loose a theorem is.

Clients are of two types in one dimension, with curvatures within [mu, L], the gap at the start as given, noise and
heterogeneity as large as given. A true bound is not below the value of any such federation that it covers; the largest
is shown. Whether it covers one is checked row by row, with the values of the row.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.one_machine import NAME as MACHINE
from bounds.scenario import Scenario
from bounds.stated import DEFINED, DOWN, OUTCOME, PAIR, QUANTITIES, role_of, UP
from bounds.substituting import pairs
from bounds.ties import KNOBS, SCAFFOLD
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import Averaging, exact_run, Moments
from empirics.problems.quadratics import Quadratics
from empirics.training.setting import Setting

from ..runs.readings import of_problem
from .evidence import number, unread
from .goal import server_goes_beyond
from .rows import Evidence, EXACT, Found, Row

CLOSE = 1 + 1e-9
MOST_CLIENTS, MOST_WORK, MOST_ROUNDS = 1000, 2e7, 2e5
"""Limits on clients, on local steps times clients times rounds, and on rounds of an instance."""
MOST_RELAXED = 2000
"""Limit on clients times rounds of a method with state per client: it is run client by client."""
NEARLY_FLAT = 1e-4
"""Times L: the smallest curvature where strong convexity is not given."""


@dataclass(frozen=True, eq=False)
class Instance:
    """A federation of quadratics and its exact run by the scenario's plan."""

    problem: Quadratics
    description: str
    run: Moments

    @cached_property
    def values(self) -> dict[str, Any]:
        """Its constants by quantity."""
        caps = {"grad_cap_sq": float(np.max(self.run.rounds["grad_cap_sq"]))}
        p = self.problem
        start = {"initial_grad_norm_sq": float((p.gradient(p.start) ** 2).sum()), "sample_smoothness": p.smoothness}
        kappa = {"condition_number": p.smoothness / p.strong_convexity}
        return {**of_problem(p), **caps, **start, **kappa, "optimum_dissimilarity": p.optimum_dissimilarity}

    @cached_property
    def machine(self) -> Instance:
        """The same run as one of SGD on one machine: the mean loss, with the noise of the clients' mean."""
        p = self.problem
        alone = Quadratics(
            p.curvature[None], p.minimiser[None], noise=np.einsum("k,kij->ij", p.weights**2, p.noise)[None],
            floors=np.array([p.optimal_loss]), start=p.start,
        )  # fmt: skip
        return Instance(alone, self.description, self.run)


def exact(scenario: Scenario, book: Mapping[str, Bound]) -> Found:
    """For each row the largest exact number among the instances that its theorem covers."""
    try:
        instances = list(_instances(scenario))
    except EmpiricsError as error:
        return Found(EXACT, remarks=(f"exact: none, {error}",))

    def of(row: Row) -> Evidence | None:
        best: Evidence | None = None
        if unread(row.kind, scenario):
            return None
        for one in instances:
            value = number(row.kind, one.run)
            if value is None or math.isnan(value) or (best is not None and value <= best.value):
                continue
            if covers(row, book[row.bound], one, scenario):
                best = Evidence(value, f"the worst of {len(instances)} instances: {one.description}")
        return best

    return Found(EXACT, of)


def covers(row: Row, bound: Bound, one: Instance, scenario: Scenario) -> bool:
    """Whether the row's theorem covers the instance with the row's values.

    The constants of the instance must be on the admissible side of the row's; quantities that define a problem (the gap
    at the start) are its own, and with them the bound must not exceed the row.
    """
    if MACHINE in row.conversions and scenario.machine is not None:
        one, scenario = one.machine, scenario.machine[0]
    theirs: dict[str, Any] = {}
    for word, stated in row.values.items():
        if word not in QUANTITIES:  # a quantity of a user's bound: assumed
            continue
        role = role_of(word)
        mine: Any = one.values.get(bound.word_of(word), one.values.get(word))
        if role == OUTCOME or (role in (UP, DOWN, DEFINED) and mine is None):
            return False
        if role == UP and not np.all(np.asarray(mine) <= np.asarray(stated) * CLOSE):
            return False
        if role == DOWN and not np.all(np.asarray(mine) * CLOSE >= np.asarray(stated)):
            return False
        if role == DEFINED:
            theirs[word] = np.asarray(mine) if np.ndim(stated) else float(np.max(mine))
    if any(role_of(word) == PAIR for word in row.values):
        offset, factor = (row.values.get(f"dissimilarity_{word}") for word in ("offset", "factor"))
        if offset is None or factor is None:
            return False
        if one.problem.dissimilarity_offset_for(float(factor)) > float(offset) * CLOSE:
            return False
    facts = scenario.facts[1:]
    if any(c.assumption is not None and c.assumption.holds(one.problem, *facts) is False for c in bound.conditions):
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(bound(**{**row.values, **theirs})) * row.factor
    return value <= row.high * CLOSE  # false for NaN: conditions not met


# ---- the federations ----


def _instances(scenario: Scenario) -> Iterator[Instance]:
    words = ("clients", "cohort", "local_steps", "rounds", "step_size", "smoothness")
    lacking = [word for word in words if word not in scenario]
    if lacking or not {"initial_gap", "initial_distance_sq"} & scenario.keys():
        raise EmpiricsError(f"it needs {', '.join(lacking) or 'initial_gap'}")
    clients, cohort, steps, rounds = (int(scenario[word].value) for word in words[:4])
    step_size = float(scenario["step_size"].value)
    if clients > MOST_CLIENTS or clients * steps * rounds > MOST_WORK or rounds > MOST_ROUNDS:
        raise EmpiricsError(f"{clients} clients, {rounds} rounds of {steps} steps are too many")
    if "client_weight" in scenario and np.ptp(np.asarray(scenario["client_weight"].value)) > 1e-12:
        raise EmpiricsError("the clients weigh differently")
    if why := server_goes_beyond(scenario):
        raise EmpiricsError(why)
    relaxed = [knob for _, knob, off in KNOBS if scenario[knob].value != off]
    kept = [*relaxed, *([SCAFFOLD] if scenario.base == SCAFFOLD else [])]
    if kept and (kept not in (["relaxation"], [SCAFFOLD]) or clients * rounds > MOST_RELAXED):
        raise EmpiricsError(f"runs of {scenario.method} this long take too much time")
    plan = Setting(rounds, cohort, local_steps=steps, step_size=step_size, sampling=scenario.sampling)
    for problem, description in _federations(scenario, clients, 1 / (step_size * steps * rounds), few=bool(kept)):
        if kept:
            method = algorithm(f"fedinit(beta={float(scenario['relaxation'].value)!r})" if relaxed else "scaffold()")
            yield Instance(problem, description, exact_run(problem, method, plan))
        else:
            run = Averaging(problem, cohort, scenario.sampling).run(steps, step_size, rounds)
            yield Instance(problem, description, run)


def _federations(scenario: Scenario, clients: int, slow: float, few: bool) -> Iterator[tuple[Quadratics, str]]:
    """Two types of clients: curvatures on a grid, gradients at the minimiser zero or as large as allowed, and noise.

    ``slow`` is the curvature at which the plan covers about a third of the distance; ``few``: a smaller grid, and noise
    that is the same for all clients.
    """
    top = float(np.max(scenario["smoothness"].safe))
    least = float(scenario["strong_convexity"].safe) if "strong_convexity" in scenario else NEARLY_FLAT * top
    inside = np.clip([least, slow, (least * top) ** 0.5, top / 4, top], least, top)
    grid = [least, top] if few else sorted({float(a) for a in inside})
    first = (clients + 1) // 2
    noise = np.zeros(clients)
    words = [word for word in ("client_gradient_variance", "gradient_variance") if word in scenario]
    if words and not scenario[words[0]].floor:
        stated = np.broadcast_to(np.asarray(scenario[words[0]].safe, dtype=float), (clients,))
        noise = np.full(clients, stated.min()) if few else np.array(stated)
    for i, low in enumerate(grid):
        for high in grid[i:]:
            most = _largest_gradient(scenario, low, high, first, clients)
            for pull in dict.fromkeys((0.0, most, -most)) if high > low else dict.fromkeys((0.0, most)):
                for variance in (noise, np.zeros(clients)) if noise.any() else (noise,):
                    yield _federation(scenario, low, high, pull, variance, first)


def _federation(
    scenario: Scenario, low: float, high: float, pull: float, variance: np.ndarray, first: int
) -> tuple[Quadratics, str]:
    """The minimiser is 0; the first type's gradient there is ``pull``."""
    clients = len(variance)
    of_first = np.arange(clients) < first
    curves = np.where(of_first, low, high)
    gradients = np.where(of_first, pull, -pull * first / max(clients - first, 1))
    if "initial_gap" in scenario:
        start = math.sqrt(2 * float(scenario["initial_gap"].value) / curves.mean())
    else:
        start = math.sqrt(float(scenario["initial_distance_sq"].value))
    least = float(scenario["optimal_loss"].value) if "optimal_loss" in scenario else 0.0
    problem = Quadratics(
        curvatures=curves[:, None, None], minima=(-gradients / curves)[:, None], noise=variance[:, None, None],
        start=np.array([start]), floors=np.full(clients, least - np.mean(gradients**2 / curves) / 2),
    )  # fmt: skip
    kind = f"curvature {low:.3g}" if low == high else f"curvatures {low:.3g} and {high:.3g}"
    apart = f"gradients at the minimiser {pull:+.2g} and {gradients[-1]:+.2g}" if pull else "one minimum"
    return problem, f"{kind}, {apart}, {'noise as given' if variance.any() else 'no noise'}"


def _largest_gradient(scenario: Scenario, low: float, high: float, first: int, clients: int) -> float:
    """The largest gradient of the first type at the minimiser that the given heterogeneity allows."""
    if first == clients:
        return 0.0
    share = first / clients
    ratio = share / (1 - share)
    square = share + (1 - share) * ratio**2  # of the clients' gradients, in units of the first type's squared
    limits = []
    if "optimum_dissimilarity" in scenario:
        limits.append(float(scenario["optimum_dissimilarity"].value) / square)
    elif known := pairs(scenario):
        limits.append(max(pair.offset for pair in known) / square)
    if "heterogeneity" in scenario:
        of_gap = share / (2 * low) + (1 - share) * ratio**2 / (2 * high)
        limits.append(float(scenario["heterogeneity"].value) / of_gap)
    return math.sqrt(min(limits)) if limits else 0.0
