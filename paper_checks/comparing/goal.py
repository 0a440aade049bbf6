"""The goal of advice (a quantity within a budget, or the cost until a target), the plans to try, and their costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from bounds.bounded_quantity import FOLDED
from bounds.errors import BoundsError, DomainError, MissingQuantityError, unknown
from bounds.identities import FEDAVG
from bounds.letters import unknown_quantity
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, Role, ROUNDING
from bounds.trivial_bounds import START_VALUES

BUDGETS = ("runtime", "rounds", "iterations", "communicated_bytes")
"""Budgets of a run; ``communicated_bytes`` are those of one participant."""
OF_ALL = ("bytes", "gradients")
"""Budgets of all participants together, with which a larger cohort costs more."""
TARGETS = ("optimality_gap", "grad_norm_sq", "distance_sq")
"""Quantities that advice can minimise, at the last server model."""
COSTS = ("rounds", "iterations", "seconds", *OF_ALL)
"""Costs that advice can minimise until a target is reached."""
OVER = ("local_steps", "step_size")
"""What is optimised by default; ``CHOOSABLE`` is all that can be."""
CHOOSABLE = (*OVER, "cohort")
UNIT_PLAN = (*OVER, "rounds")
"""The quantities of a plan that conversions between bounded quantities depend on."""
RATES = ("client_download_rate", "client_upload_rate", "client_minibatch_time")
"""Speeds that may differ between clients; a round then takes as long as its slowest participant."""
FLOAT = 4
"""Bytes of a parameter on the network."""
WINDOW = 1
"""Rounds over which a schedule averages its loss, on the surrogate and in the printed command."""
MOST_STEPS = 4096
ZERO = 1e-12
"""Values below this share of the start count as zero: single precision does not resolve them."""
SHORT, MANY = 1e-6, 1e6
"""A small step size, times 1/L, and a large number of rounds."""
PATIENCE, LOST = 3, 12
"""A search over integers ends after this many values in a row that are worse than the best, or not finite."""
BETWEEN = 6
"""Integers tried between the best of the grid and either neighbour."""


def is_given(scenario: Scenario, word: str) -> bool:
    """Whether a quantity was given rather than derived from others."""
    return word in scenario and scenario[word].support == {word}


def number_of(scenario: Scenario, word: str) -> float:
    """The value of a quantity; NaN if it is unknown."""
    return float(scenario[word].value) if word in scenario else math.nan


def server_goes_beyond(scenario: Scenario) -> str:
    """Why our runs do not cover the scenario, if its server step size is not 1; else empty."""
    size = scenario["server_step_size"].value
    return "" if size == 1 else f"server_step_size is {size:g}, and these runs have 1: the server takes the average"


def not_fedavg(scenario: Scenario) -> str:
    """Why our runs, which are of FedAvg, do not cover the scenario; empty if they do."""
    if scenario.algorithm != FEDAVG:
        return f"only plans of fedavg are run; this one is of {scenario.method}"
    return server_goes_beyond(scenario)


class Plan(NamedTuple):
    """Local steps, step size and cohort (0: that of the scenario) of every round.

    A ``schedule`` has the local steps and the step size of every round; the other fields are then those of the first.
    """

    local_steps: int
    step_size: float
    cohort: int = 0
    schedule: tuple[tuple[int, float], ...] = ()

    def of_round(self, number: int) -> tuple[int, float]:
        """Local steps and step size of a round, from 0; beyond the schedule those of its last round."""
        if not self.schedule:
            return self.local_steps, self.step_size
        return self.schedule[min(number, len(self.schedule) - 1)]


class Point(NamedTuple):
    """A plan with its rounds and expected ``value``; ``open`` names quantities at an end of the searched range."""

    local_steps: int
    step_size: float
    rounds: int
    value: float
    open: tuple[str, ...] = ()
    cohort: int = 1
    schedule: tuple[tuple[int, float], ...] = ()

    @property
    def plan(self) -> Plan:
        return Plan(self.local_steps, self.step_size, self.cohort, self.schedule)


@dataclass(frozen=True, eq=False)
class Goal:
    """``minimise`` a target within the scenario's budget, or a cost until ``to = (target, level)`` is reached.

    The gradient of a step is the mean over ``batch`` samples. ``of_all`` is a budget of all participants together,
    ("bytes", 1e6) or ("gradients", 1e5).
    """

    scenario: Scenario
    minimise: str
    to: tuple[str, float] | None = None
    batch: int = 1
    of_all: tuple[str, float] | None = None
    _known: dict[Any, Any] = field(default_factory=dict, init=False)

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        minimise: str,
        to: tuple[str, float] | None,
        batch: int,
        within: Mapping[str, float] | None = None,
        over: Sequence[str] = (),
    ) -> Goal:
        """Make a goal; raises ``BoundsError`` if the value or the cost of a plan cannot be computed.

        The scenario must have local steps and step size unless they are optimised (``over``).
        """
        within = dict(within or {})
        minimise = FOLDED[minimise][0] if minimise in FOLDED else minimise
        for what, named, known in (
            ("quantity to optimise", over, CHOOSABLE),
            ("budget", within, (*BUDGETS, *OF_ALL)),
            ("target of an advice", [] if to is None else [to[0]], TARGETS),
            ("cost to minimise with --to", [] if to is None else [minimise], COSTS),
        ):
            if strange := [word for word in named if word not in known]:
                raise unknown_quantity(what, strange[0], known)
        for word, level in (within if to is None else {**within, to[0]: to[1]}).items():
            if not 0 < level < math.inf:
                raise DomainError(f"{word} must be a number > 0; got {level:g}")
        for word in OVER if over else ():
            if word not in over and word not in scenario:
                raise MissingQuantityError(f"{word} is not optimised: give {word}=NUMBER, or add it to over")
        of_all = next(((word, within.pop(word)) for word in OF_ALL if word in within), None)
        scenario = scenario.at(**within)
        budgets = [word for word in BUDGETS if is_given(scenario, word)] + ([of_all[0]] if of_all else [])
        if to is not None and budgets:
            raise BoundsError(f"a target determines the length of the run: leave {' and '.join(budgets)} out")
        if to is None:
            if minimise not in TARGETS:
                meant = "give --to optimality_gap=NUMBER, for which it is spent" if minimise in COSTS else ""
                raise unknown("target of an advice", minimise, (*TARGETS, *COSTS), meant)
            if len(budgets) != 1:
                got = f"; got {' and '.join(budgets)}" * bool(budgets)
                raise MissingQuantityError(f"give one budget, such as iterations=2000 ({', '.join(BUDGETS)}){got}")
        goal = cls(scenario, minimise, to, batch, of_all)
        goal.rounds(1) if to is None else goal.cost(1)
        if "cohort" in over:
            goal._check_cohort()
        return goal

    @property
    def target(self) -> str:
        return self.minimise if self.to is None else self.to[0]

    @cached_property
    def unit(self) -> str:
        """The budget or cost that is spent, such as ``rounds``."""
        if self.to is not None:
            return self.minimise
        return self.of_all[0] if self.of_all else next(word for word in BUDGETS if is_given(self.scenario, word))

    @property
    def budget(self) -> float:
        """The budget; infinite with a target."""
        if self.to is not None:
            return math.inf
        return self.of_all[1] if self.of_all else float(self.scenario[self.unit].value)

    def __str__(self) -> str:
        if self.to is not None:
            return f"fewest {self.minimise} to {self.to[0]} <= {self.to[1]:g}"
        return f"smallest {self.minimise} within {self.unit} = {self.budget:g}"

    @property
    def start(self) -> float:
        """The target before training; infinite if unknown."""
        stated = self.scenario.get(START_VALUES[self.target])
        return math.inf if stated is None else float(stated.high)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The result of ``make``, computed once per key."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    @cached_property
    def ends(self) -> list[Goal]:
        """The goal at every combination of ends of uncertain constants.

        Constants that define the problem take either end; admissible ones are all as given or all at their better end.
        """
        scenario = self.scenario
        better: dict[str, Any] = {}
        ends: dict[str, tuple[float, float]] = {}
        for word, stated in scenario.items():
            if stated.certain or not is_given(scenario, word):
                continue
            if stated.role in ADMISSIBLE:
                end = np.asarray(stated.high if stated.role == Role.DOWN else stated.low, dtype=float)
                if np.all(np.isfinite(end)) and np.all(end > 0):
                    better[word] = end.tolist()
            elif stated.role == Role.DEFINED and np.ndim(stated.value) == 0:
                ends[word] = stated.low, stated.high
        ends = {word: interval for word, interval in ends.items() if np.isfinite(interval).all()}
        pair = [word for word, stated in scenario.items() if stated.role == Role.PAIR and is_given(scenario, word)]
        if set(pair) & set(better):
            better = {**{word: scenario[word].value for word in pair}, **better}
        goals = []
        for corner, admissible in product(product(*ends.values()), ({}, better) if better else ({},)):
            if change := {**dict(zip(ends, corner, strict=True)), **admissible}:
                with suppress(BoundsError):  # ends that contradict each other
                    goals.append(replace(self, scenario=scenario.at(**change)))
        return goals

    def rounds(self, local_steps: int) -> int:
        """The number of rounds that the budget allows; raises ``BoundsError`` if it allows none."""

        def compute() -> int:
            scenario = self.at(local_steps)
            if "rounds" not in scenario:
                raise MissingQuantityError(
                    "seconds need communication_time and minibatch_time: give communication_time=NUMBER and "
                    "minibatch_time=NUMBER, or a budget in rounds= or iterations="
                )
            return int(scenario["rounds"].value)

        rounds: int = self._once(local_steps, compute)
        return rounds

    def affords(self, local_steps: int) -> bool:
        """Whether the budget allows a round of these local steps; always true with a target."""
        try:
            return self.to is not None or self.rounds(local_steps) > 0
        except BoundsError:
            return False

    def at(self, local_steps: int, **more: Any) -> Scenario:
        """The scenario with these local steps, the rounds that the budget allows, and the times of a round."""
        if self.to is None and "rounds" not in more:
            more |= self._length(local_steps)
        if self._slowest:
            beta = float(np.mean(self._times()[1]))
            rest = self.round_seconds(local_steps) - beta * local_steps
            more |= {"communication_time": rest, "minibatch_time": beta}
        return self.scenario.at(local_steps=local_steps, **more)

    def plan(self, local_steps: int, step_size: float = 0.0) -> Scenario:
        """``at`` these local steps and a step size (0: a small one), and with a target many rounds: placeholders."""

        def make() -> Scenario:
            size = step_size or SHORT / float(np.max(self.scenario["smoothness"].safe))
            return self.at(local_steps, step_size=size, **({} if self.to is None else {"rounds": MANY}))

        scenario: Scenario = self._once((local_steps, step_size), make)
        return scenario

    @cached_property
    def unit_plans(self) -> list[Scenario]:
        """The scenario with every quantity of ``UNIT_PLAN`` at 1, then with each of them in turn at 2."""
        budget = ("runtime", "iterations")
        words = {word: s for word, s in self.scenario.items() if is_given(self.scenario, word) and word not in budget}
        one = Scenario.of(words, also=(), **self.scenario.text_options).at(**dict.fromkeys(UNIT_PLAN, 1.0))
        return [one, *(one.at(**{word: 2.0}) for word in UNIT_PLAN)]

    def _length(self, local_steps: int) -> dict[str, float]:
        """Rounds or iterations within the budget if no identity of the scenario gives them."""
        if self.unit in ("rounds", "runtime"):
            return {}
        each = float(self.cost(local_steps))
        if each > self.budget * (1 + ROUNDING):
            raise BoundsError(f"a round costs {each:g} {self.unit}, more than the budget of {self.budget:g}")
        rounds = math.floor(self.budget / each * (1 + ROUNDING))
        return {"iterations": local_steps * rounds} if self.unit == "iterations" else {"rounds": rounds}

    def cost(self, local_steps: int, rounds: Any = 1) -> Any:
        """The cost of a number of rounds, in the unit of the goal."""
        unit = self.unit
        if unit in ("seconds", "runtime"):
            each = self.round_seconds(local_steps)
        elif unit in ("bytes", "communicated_bytes"):
            participants = self.cohort if unit == "bytes" else 1
            each = 2 * FLOAT * self._of("parameters", "bytes") * participants
        else:
            steps = {"rounds": 1, "iterations": local_steps, "gradients": local_steps * self.batch * self.cohort}
            each = float(steps[unit])
        return np.asarray(rounds, dtype=float) * each

    def round_seconds(self, local_steps: int) -> float:
        """The expected duration of a round: that of its slowest participant if clients differ."""
        tau, beta = self._times()
        times = np.sort(np.atleast_1d(tau + beta * local_steps))
        if len(times) == 1 or np.ptp(times) == 0:
            return float(times[0])
        count, cohort = len(times), self.cohort
        if self.scenario.sampling == "with_replacement":
            order = np.argsort(np.broadcast_to(tau + beta * local_steps, (count,)))
            below = np.cumsum(np.asarray(self.scenario["client_weight"].value)[order]) ** cohort
            return float(times @ np.diff(below, prepend=0.0))
        slowest = [math.comb(i, cohort - 1) / math.comb(count, cohort) for i in range(count)]
        return float(times @ np.array(slowest))

    def _times(self) -> tuple[Any, Any]:
        """Seconds of a round besides its local steps, and of a local step: numbers, or arrays over clients."""
        down, up, beta = (np.asarray(self.scenario[w].value) if w in self.scenario else None for w in RATES)
        if beta is None:
            beta = np.asarray(self._of("minibatch_time", "seconds"))
        if down is None and up is None:
            return np.asarray(self._of("communication_time", "seconds")), beta
        size = self._of("model_size", "seconds")
        tau = size / (self._of("download_rate", "seconds") if down is None else down)
        return tau + size / (self._of("upload_rate", "seconds") if up is None else up), beta

    @property
    def _slowest(self) -> bool:
        """Whether the slowest participant determines the duration of a round."""
        return self.unit in ("runtime", "seconds") and any(word in self.scenario for word in RATES)

    def _of(self, word: str, unit: str) -> float:
        if word not in self.scenario:
            raise MissingQuantityError(f"{unit} need {word}: give {word}=NUMBER")
        return float(self.scenario[word].value)

    def steps(self) -> Iterator[int]:
        """Numbers of local steps to try: 1, 2, 3, 4, 6, 8, 12, ..., while the budget allows a round."""
        octaves = (1 << i for i in range(MOST_STEPS.bit_length()))
        for steps in (steps for octave in octaves for steps in (octave, octave * 3 // 2)[: 1 + (octave > 1)]):
            if not self.affords(steps):
                return
            yield steps

    @property
    def cohort(self) -> int:
        return int(self.scenario["cohort"].value) if "cohort" in self.scenario else 1

    def cohorts(self) -> Iterator[int]:
        """Cohorts to try: all clients and smaller powers of two, if the budget allows a round."""
        count = int(self.scenario["clients"].value)
        numbers = dict.fromkeys([count, *(1 << i for i in reversed(range(count.bit_length())))])
        return (number for number in numbers if number <= count and self.of_cohort(number).affords(1))

    def of_cohort(self, cohort: int) -> Goal:
        """The same goal with this cohort."""
        if cohort == self.cohort:
            return self
        goal: Goal = self._once(("cohort", cohort), lambda: replace(self, scenario=self.scenario.at(cohort=cohort)))
        return goal

    def _check_cohort(self) -> None:
        """Raise if more participants cost nothing, because all clients would then be best."""
        if "clients" not in self.scenario:
            raise MissingQuantityError("optimising the cohort needs clients=NUMBER")
        if is_given(self.scenario, "participation"):
            raise BoundsError("cannot optimise the cohort when participation is given: leave it out")
        if not (self.unit in OF_ALL or self._slowest):
            raise BoundsError(
                f"in {self.unit} more participants cost nothing, so all clients would be best: to optimise the cohort, "
                "count bytes or gradients, or give client_minibatch_time or the client rates"
            )


def search_integers(
    numbers: Iterable[int], at: Callable[[int], Point | None], patience: int = PATIENCE, word: str = "local_steps"
) -> Point | None:
    """The point of the best number, or None if ``at`` gives none.

    Numbers are tried along the grid ``numbers`` until values have been worse ``patience`` times in a row, then between
    the best one and its neighbours. The smallest of equally good ones is taken. If it is the last of the grid (and not
    1), the point's ``open`` contains the ``word``.
    """
    tried: dict[int, Point | None] = {}

    def value(number: int) -> float:
        point = tried[number]
        return math.inf if point is None else point.value

    def best() -> int:
        return min(tried, key=lambda n: (tried[n] is None, value(n), n))

    for number in numbers:
        tried[number] = at(number)
        behind = len(tried) - 1 - list(tried).index(best())
        if behind >= patience if math.isfinite(value(best())) else len(tried) >= LOST:
            break
    if not any(tried.values()):
        return None
    last, center = next(reversed(tried)), best()
    for low, high in pairwise(sorted(tried)):
        if center in (low, high):
            width = (high - low) / (BETWEEN + 1)
            between = {round(low + i * width) for i in range(1, BETWEEN + 1)} - {low, high}
            tried |= {number: at(number) for number in sorted(between)}
    point = tried[best()]
    at_end = math.isfinite(value(best())) and best() == last > 1
    return point._replace(open=(*point.open, word)) if point is not None and at_end else point
