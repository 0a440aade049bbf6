"""The goal of advice: a quantity to minimise within a budget or until a target, the plans to try, and their cost."""

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
from bounds.scenario import Scenario
from bounds.scenario_values import ADMISSIBLE, DEFINED, DOWN, PAIR, ROUNDING
from bounds.trivial_bounds import START_VALUES

BUDGETS = ("runtime", "rounds", "iterations", "communicated_bytes")
"""Quantities that limit a run; ``communicated_bytes`` are those of one participant."""
OF_ALL = ("bytes", "gradients")
"""Budgets of all participants together; with these a larger cohort costs more."""
TARGETS = ("optimality_gap", "grad_norm_sq", "distance_sq")
"""What a run can minimise, at the last server model."""
COSTS = ("rounds", "iterations", "seconds", *OF_ALL)
"""What can be spent until a target is reached."""
OVER = ("local_steps", "step_size")
"""What is optimised by default; the cohort can be, too."""
FREE = (*OVER, "cohort")
UNIT_PLAN = (*OVER, "rounds")
"""What conversions between bounded quantities depend on."""
RATES = ("client_download_rate", "client_upload_rate", "client_minibatch_time")
"""Quantities by which clients can differ in speed: a round then takes as long as its slowest participant."""
FLOAT = 4
"""Bytes of a parameter on the network."""
WINDOW = 1
"""Rounds over which a schedule averages its loss: on the surrogate, and so in the command that is printed."""
MOST_STEPS = 4096
ZERO = 1e-12
"""Values below this share of the start are numerically zero: runs in single precision do not resolve them."""
SHORT, MANY = 1e-6, 1e6
"""A short step, times 1/L; and many rounds."""
PATIENCE, LOST = 3, 12
"""A search of integers ends after so many that are worse than the best, or have no finite value."""
BETWEEN = 6
"""Integers tried between the best of the grid and either neighbour."""


def is_given(scenario: Scenario, word: str) -> bool:
    """Whether a quantity was given rather than derived from others."""
    return word in scenario and scenario[word].support == {word}


def number_of(scenario: Scenario, word: str) -> float:
    """The value of a quantity; NaN where there is none."""
    return float(scenario[word].value) if word in scenario else math.nan


def server_goes_beyond(scenario: Scenario) -> str:
    """Why no run here is that of the scenario: its server moves beyond the average; empty otherwise."""
    times = scenario["server_step_size"].value
    return "" if times == 1 else f"the server averages in these runs; here it goes {times:g} times as far"


def not_fedavg(scenario: Scenario) -> str:
    """Why the scenario is not FedAvg, which is run here; empty where it is."""
    if scenario.algorithm != FEDAVG:
        return f"only plans of fedavg are run here; this one is of {scenario.method}"
    return server_goes_beyond(scenario)


class Plan(NamedTuple):
    """Local steps, step size, participants of a round (0: those of the scenario).

    A schedule has the local steps and the step size of every round in ``schedule``, those of the first one in front.
    """

    local_steps: int
    step_size: float
    cohort: int = 0
    schedule: tuple[tuple[int, float], ...] = ()

    def of_round(self, number: int) -> tuple[int, float]:
        """Local steps and step size of a round, counted from 0; the last ones are used for all later rounds."""
        if not self.schedule:
            return self.local_steps, self.step_size
        return self.schedule[min(number, len(self.schedule) - 1)]


class Point(NamedTuple):
    """A plan, its rounds, and its expected ``value``; ``open`` are quantities at an end of the searched range."""

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

    A step's gradient is the mean of ``batch`` samples. ``of_all`` is a budget of all participants, ("bytes", 1e6) or
    ("gradients", 1e5).
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
        """The goal; ``BoundsError`` where the value or the cost of a plan cannot be computed.

        Local steps and step size must be given unless they are optimised (``over``).
        """
        within = dict(within or {})
        minimise = FOLDED[minimise][0] if minimise in FOLDED else minimise
        for what, named, known in (
            ("quantity to optimise", over, FREE),
            ("budget", within, (*BUDGETS, *OF_ALL)),
            ("target of an advice", [] if to is None else [to[0]], TARGETS),
            ("cost", [] if to is None else [minimise], COSTS),
        ):
            if strange := [word for word in named if word not in known]:
                raise unknown(what, strange[0], known)
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
            if minimise in COSTS:
                raise BoundsError(f"{minimise} is spent until a target is reached: give --to optimality_gap=NUMBER")
            if minimise not in TARGETS:
                raise unknown("target of an advice", minimise, (*TARGETS, *COSTS))
            if not budgets:
                raise MissingQuantityError(f"advice needs a budget: give {'=, '.join(BUDGETS[:2])}= or {BUDGETS[2]}=")
            if len(budgets) > 1:
                raise BoundsError(f"give one budget; got {' and '.join(budgets)}: leave one of them out")
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
        """What is spent."""
        if self.to is not None:
            return self.minimise
        return self.of_all[0] if self.of_all else next(word for word in BUDGETS if is_given(self.scenario, word))

    @property
    def budget(self) -> float:
        """The budget, infinite with a target."""
        if self.to is not None:
            return math.inf
        return self.of_all[1] if self.of_all else float(self.scenario[self.unit].value)

    def __str__(self) -> str:
        if self.to is not None:
            return f"fewest {self.minimise} to {self.to[0]} <= {self.to[1]:g}"
        return f"smallest {self.minimise} within {self.unit} = {self.budget:g}"

    @property
    def start(self) -> float:
        """The target before training, infinite where it is not known."""
        stated = self.scenario.get(START_VALUES[self.target])
        return math.inf if stated is None else float(stated.high)

    def within(self, scenario: Scenario) -> Goal:
        """The same goal in another scenario."""
        return replace(self, scenario=scenario)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What ``make`` gives, computed once for a key."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    @cached_property
    def ends(self) -> list[Goal]:
        """The same goal with its uncertain constants at either end, admissible ones all at their better ends."""
        scenario = self.scenario
        better: dict[str, Any] = {}
        ends: dict[str, tuple[float, float]] = {}
        for word, stated in scenario.items():
            if stated.certain or not is_given(scenario, word):
                continue
            if stated.role in ADMISSIBLE:
                end = np.asarray(stated.high if stated.role == DOWN else stated.low, dtype=float)
                if np.all(np.isfinite(end)) and np.all(end > 0):
                    better[word] = end.tolist()
            elif stated.role == DEFINED and np.ndim(stated.value) == 0 and np.isfinite([stated.low, stated.high]).all():
                ends[word] = stated.low, stated.high
        pair = [word for word, stated in scenario.items() if stated.role == PAIR and is_given(scenario, word)]
        if set(pair) & set(better):
            better = {**{word: scenario[word].value for word in pair}, **better}
        found = []
        for corner, admissible in product(product(*ends.values()), ({}, better) if better else ({},)):
            if change := {**dict(zip(ends, corner, strict=True)), **admissible}:
                with suppress(BoundsError):  # ends that contradict each other
                    found.append(self.within(scenario.at(**change)))
        return found

    # ---- the length of a run ----

    def rounds(self, local_steps: int) -> int:
        """The number of rounds that the budget allows; ``BoundsError`` where it allows none."""

        def counted() -> int:
            scenario = self.at(local_steps)
            if "rounds" not in scenario:
                raise MissingQuantityError(
                    "seconds need communication_time and minibatch_time: give communication_time=NUMBER and "
                    "minibatch_time=NUMBER, or a budget in rounds= or iterations="
                )
            return int(scenario["rounds"].value)

        found: int = self._once(local_steps, counted)
        return found

    def affords(self, local_steps: int) -> bool:
        """Whether the budget allows a round of these local steps; always true with a target."""
        try:
            return self.to is not None or self.rounds(local_steps) > 0
        except BoundsError:
            return False

    def at(self, local_steps: int, **more: Any) -> Scenario:
        """The scenario with these local steps, an integer number of rounds, and the times of a round."""
        if self.to is None and "rounds" not in more:
            more |= self._length(local_steps)
        if self._slowest:
            beta = float(np.mean(self._times()[1]))
            rest = self.round_seconds(local_steps) - beta * local_steps
            more |= {"communication_time": rest, "minibatch_time": beta}
        return self.scenario.at(local_steps=local_steps, **more)

    def plan(self, local_steps: int, step_size: float = 0.0) -> Scenario:
        """``at`` these local steps and this step size (0: a short one), and with a target many rounds: placeholders."""

        def made() -> Scenario:
            size = step_size or SHORT / float(np.max(self.scenario["smoothness"].safe))
            return self.at(local_steps, step_size=size, **({} if self.to is None else {"rounds": MANY}))

        found: Scenario = self._once((local_steps, step_size), made)
        return found

    @cached_property
    def unit_plans(self) -> list[Scenario]:
        """The scenario with every quantity of ``UNIT_PLAN`` at 1, and with each of them at 2."""
        budget = ("runtime", "iterations")
        words = {word: s for word, s in self.scenario.items() if is_given(self.scenario, word) and word not in budget}
        one = Scenario.of(words, also=(), **self.scenario.text_options).at(**dict.fromkeys(UNIT_PLAN, 1.0))
        return [one, *(one.at(**{word: 2.0}) for word in UNIT_PLAN)]

    def _length(self, local_steps: int) -> dict[str, float]:
        """Rounds or iterations where no identity gives them."""
        if self.unit in ("rounds", "runtime"):
            return {}
        each = float(self.cost(local_steps))
        if each > self.budget * (1 + ROUNDING):
            raise BoundsError(f"a round costs {each:g} {self.unit}, more than the budget of {self.budget:g}")
        rounds = math.floor(self.budget / each * (1 + ROUNDING))
        return {"iterations": local_steps * rounds} if self.unit == "iterations" else {"rounds": rounds}

    # ---- the cost of a round ----

    def cost(self, local_steps: int, rounds: Any = 1) -> Any:
        """The cost of these rounds of the cohort, in the unit of the goal."""
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
        """The expected duration of a round, that of its slowest participant where clients differ."""
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
        """Seconds of a round besides the local steps, and of a step: numbers, or one for every client."""
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

    # ---- what can be optimised ----

    def steps(self) -> Iterator[int]:
        """Numbers of local steps to try: 1, 2, 3, 4, 6, 8, 12, ..., as far as the budget allows a round."""
        octaves = (1 << i for i in range(MOST_STEPS.bit_length()))
        for steps in (steps for octave in octaves for steps in (octave, octave * 3 // 2)[: 1 + (octave > 1)]):
            if not self.affords(steps):
                return
            yield steps

    @property
    def cohort(self) -> int:
        return int(self.scenario["cohort"].value) if "cohort" in self.scenario else 1

    def cohorts(self) -> Iterator[int]:
        """Numbers of participants to try: all clients, powers of two below, as far as the budget allows a round."""
        count = int(self.scenario["clients"].value)
        numbers = dict.fromkeys([count, *(1 << i for i in reversed(range(count.bit_length())))])
        return (number for number in numbers if number <= count and self.of_cohort(number).affords(1))

    def of_cohort(self, cohort: int) -> Goal:
        """The same goal with this number of participants."""
        if cohort == self.cohort:
            return self
        found: Goal = self._once(("cohort", cohort), lambda: self.within(self.scenario.at(cohort=cohort)))
        return found

    def _check_cohort(self) -> None:
        """Refuse to optimise the cohort where more participants cost nothing, so that all clients are best."""
        if "clients" not in self.scenario:
            raise MissingQuantityError("optimising the cohort needs clients=NUMBER")
        if is_given(self.scenario, "participation"):
            raise BoundsError("cannot optimise the cohort when participation is given: leave it out")
        if not (self.unit in OF_ALL or self._slowest):
            raise BoundsError(
                f"in {self.unit} more participants cost nothing, so all clients would be best: to optimise the cohort, "
                "count bytes or gradients, or give client_minibatch_time or the client rates"
            )


# ---- the best integer ----


def search_integers(
    numbers: Iterable[int], at: Callable[[int], Point | None], patience: int = PATIENCE, word: str = "local_steps"
) -> Point | None:
    """The point of the best number: along ``numbers`` until values increase several times in a row, then between.

    Of equally good ones the smallest; None where ``at`` gives none. At the end of the grid, except at 1, the point's
    ``open`` has the ``word``.
    """
    found: dict[int, Point | None] = {}

    def value(number: int) -> float:
        point = found[number]
        return math.inf if point is None else point.value

    def best() -> int:
        return min(found, key=lambda n: (found[n] is None, value(n), n))

    for number in numbers:
        found[number] = at(number)
        behind = len(found) - 1 - list(found).index(best())
        if behind >= patience if math.isfinite(value(best())) else len(found) >= LOST:
            break
    if not any(found.values()):
        return None
    last, center = next(reversed(found)), best()
    for low, high in pairwise(sorted(found)):
        if center in (low, high):
            width = (high - low) / (BETWEEN + 1)
            between = {round(low + i * width) for i in range(1, BETWEEN + 1)} - {low, high}
            found |= {number: at(number) for number in sorted(between)}
    point = found[best()]
    at_end = math.isfinite(value(best())) and best() == last > 1
    return point._replace(open=(*point.open, word)) if point is not None and at_end else point
