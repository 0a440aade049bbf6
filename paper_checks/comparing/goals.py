"""What advice is asked for: what is to be small, within which budget or to which target, and what a round costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bounds.anyway import HERE
from bounds.classes import FOLDED
from bounds.errors import BoundsError, DomainError, MissingQuantityError, unknown
from bounds.scenario import Scenario
from bounds.stated import ROUNDING

BUDGETS = ("runtime", "rounds", "iterations", "communicated_bytes")
"""Words that say how long a run is, the strongest first; ``communicated_bytes`` are those of one participant."""
TARGETS = ("optimality_gap", "grad_norm_sq", "distance_sq")
"""What a run may make small, read at the last server model."""
COSTS = ("rounds", "iterations", "seconds", "bytes", "gradients")
"""What may be spent until a target is reached."""
OF_ALL = ("bytes", "gradients")
"""What all participants together may spend: budgets that no word of the vocabulary names, and that price a cohort."""
OVER = ("local_steps", "step_size")
"""What is free unless it is said."""
FREE = (*OVER, "cohort")
"""What may be free."""
RATES = ("client_download_rate", "client_upload_rate", "client_minibatch_time")
"""Words by which clients may differ in how long they take: a round then lasts as long as its slowest participant."""
FLOAT = 4
"""Bytes of a parameter on the network."""
MOST_STEPS = 4096
SHORT, MANY = 1e-6, 1e6
"""Times 1/L, a short step; and many rounds."""


def given(scenario: Scenario, word: str) -> bool:
    """Whether a word was given, and does not follow from others."""
    return word in scenario and scenario[word].support == {word}


class Point(NamedTuple):
    """A plan and what an adviser says it leads to; ``open`` are the words that lie at an end of what was searched.

    ``replayed`` are the local steps and the step size of every round where they change: ``local_steps`` and
    ``step_size`` are then those of the first one.
    """

    local_steps: int
    step_size: float
    rounds: int
    value: float
    open: tuple[str, ...] = ()
    cohort: int = 1
    replayed: tuple[tuple[int, float], ...] = ()

    @property
    def plan(self) -> Plan:
        return Plan(self.local_steps, self.step_size, self.cohort, self.replayed)


class Plan(NamedTuple):
    """What is trained; see ``Point``. Without a ``cohort`` it is that of the scenario."""

    local_steps: int
    step_size: float
    cohort: int = 0
    replayed: tuple[tuple[int, float], ...] = ()

    def of_round(self, number: int) -> tuple[int, float]:
        """Local steps and step size of the round after ``number`` others; the last ones serve all later rounds."""
        if not self.replayed:
            return self.local_steps, self.step_size
        return self.replayed[min(number, len(self.replayed) - 1)]


@dataclass(frozen=True, eq=False)
class Goal:
    """``minimise`` a target within the budget that the scenario states, or a cost until ``to = (target, level)``.

    ``batch`` samples make a gradient of a step. ``all_spend`` is a budget in ``bytes`` or ``gradients`` of all
    participants.
    """

    scenario: Scenario
    minimise: str
    to: tuple[str, float] | None = None
    batch: int = 1
    all_spend: tuple[str, float] | None = None

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        minimise: str,
        to: tuple[str, float] | None,
        batch: int,
        within: Mapping[str, float] | None = None,
    ) -> Goal:
        """The goal, refused in one line where it cannot be told what a plan leads to or costs."""
        within = dict(within or {})
        if unlike := [word for word in within if word not in (*BUDGETS, *OF_ALL)]:
            raise unknown("budget", unlike[0], (*BUDGETS, *OF_ALL))
        for word, budget in within.items():
            if not 0 < budget < math.inf:
                raise DomainError(f"{word} must be a number > 0 to be spent; got {budget:g}")
        all_spend = next(((word, within.pop(word)) for word in OF_ALL if word in within), None)
        scenario = scenario.at(**within)
        minimise = FOLDED[minimise][0] if minimise in FOLDED else minimise
        told = [word for word in BUDGETS if given(scenario, word)] + ([all_spend[0]] if all_spend else [])
        if len(told) > 1:
            raise BoundsError(f"advice is within one budget; got {' and '.join(told)}: leave one of them out")
        _check(minimise, to, told)
        goal = cls(scenario, minimise, to, batch, all_spend)
        goal.rounds(1) if to is None else goal.cost(1, 1)
        return goal

    @property
    def target(self) -> str:
        return self.minimise if self.to is None else self.to[0]

    @property
    def unit(self) -> str:
        """What is spent."""
        if self.to is not None:
            return self.minimise
        return self.all_spend[0] if self.all_spend else next(word for word in BUDGETS if given(self.scenario, word))

    @cached_property
    def words(self) -> str:
        """The goal in words."""
        if self.to is not None:
            return f"fewest {self.minimise} to {self.to[0]} <= {self.to[1]:g}"
        budget = self.all_spend[1] if self.all_spend else self.scenario[self.unit].value
        return f"smallest {self.minimise} within {self.unit} = {budget:g}"

    # ---- how long a run is ----

    def rounds(self, local_steps: int) -> int:
        """The whole rounds that the budget holds; ``BoundsError`` where it holds none."""
        if local_steps not in self._rounds:
            scenario = self.at(local_steps)
            if "rounds" not in scenario:
                raise MissingQuantityError(
                    "seconds need communication_time and minibatch_time: give communication_time=NUMBER and "
                    "minibatch_time=NUMBER, or a budget in rounds= or iterations="
                )
            self._rounds[local_steps] = int(scenario["rounds"].value)
        return self._rounds[local_steps]

    def at(self, local_steps: int, **more: Any) -> Scenario:
        """The scenario at so many local steps, with whole rounds and with what a round costs its cohort."""
        if self.to is None and "rounds" not in more:
            more |= self._length(local_steps)
        if self._slowest:
            beta = float(np.mean(self._times()[1]))
            more |= {
                "communication_time": self.round_seconds(local_steps) - beta * local_steps,
                "minibatch_time": beta,
            }
        return self.scenario.at(local_steps=local_steps, **more)

    def plan(self, local_steps: int) -> Scenario:
        """A scenario at so many local steps with a step size, short and of any length, and on the way to a target with
        rounds: to be changed with ``at``."""
        if local_steps not in self._plans:
            short = {"step_size": SHORT / float(np.max(self.scenario["smoothness"].safe))}
            self._plans[local_steps] = self.at(local_steps, **short, **({} if self.to is None else {"rounds": MANY}))
        return self._plans[local_steps]

    @cached_property
    def _plans(self) -> dict[int, Scenario]:
        return {}

    def _length(self, local_steps: int) -> dict[str, float]:
        """Rounds or iterations where they do not follow by a tie."""
        if self.all_spend is not None or self.unit == "communicated_bytes":
            word = "bytes" if self.all_spend is None else self.all_spend[0]
            budget = self.scenario["communicated_bytes"].value if self.all_spend is None else self.all_spend[1]
            each = self._per_round(word, local_steps) / (self.cohort if self.all_spend is None else 1)
            if each > budget * (1 + ROUNDING):
                raise BoundsError(f"a round costs {each:g} {word}, more than the budget of {budget:g}: allow more")
            return {"rounds": math.floor(budget / each * (1 + ROUNDING))}
        if self.unit == "iterations":
            most = int(self.scenario["iterations"].value)
            if local_steps > most:
                raise BoundsError(f"a round of {local_steps} local steps exceeds the iterations of the budget")
            return {"iterations": local_steps * (most // local_steps)}
        return {}

    @cached_property
    def _rounds(self) -> dict[int, int]:
        return {}

    # ---- what a round costs ----

    def cost(self, local_steps: int, rounds: Any) -> Any:
        """What so many rounds cost, in the unit that is minimised."""
        return np.asarray(rounds, dtype=float) * self._per_round(self.unit, local_steps)

    def spent(self, local_steps: int) -> float:
        """What a round of so many local steps takes of the budget, in its unit."""
        unit = {"runtime": "seconds", "communicated_bytes": "bytes"}.get(self.unit, self.unit)
        share = self.cohort if self.unit == "communicated_bytes" else 1
        return self._per_round(unit, local_steps) / share

    @property
    def budget(self) -> float:
        """How much may be spent, infinite on the way to a target."""
        if self.to is not None:
            return math.inf
        return self.all_spend[1] if self.all_spend else float(self.scenario[self.unit].value)

    def _per_round(self, unit: str, local_steps: int) -> float:
        if unit == "seconds":
            return self.round_seconds(local_steps)
        per_round = {
            "rounds": lambda: 1.0,
            "iterations": lambda: float(local_steps),
            "bytes": lambda: 2 * FLOAT * self._of("parameters", unit) * self.cohort,
            "gradients": lambda: float(local_steps * self.batch * self.cohort),
        }
        return per_round[unit]()

    def round_seconds(self, local_steps: int) -> float:
        """How long a round takes, by its slowest participant where clients differ: in expectation over cohorts."""
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
        """Seconds of a round outside of the local steps, and of a step: numbers, or one for every client."""
        own = {word: np.asarray(self.scenario[word].value) for word in RATES if word in self.scenario}
        word = "client_minibatch_time"
        beta: Any = own[word] if word in own else self._of("minibatch_time", "seconds")
        if not {"client_download_rate", "client_upload_rate"} & own.keys():
            return np.asarray(self._of("communication_time", "seconds")), np.asarray(beta)
        size = self._of("model_size", "seconds")
        down = own.get("client_download_rate")
        tau = size / (self._of("download_rate", "seconds") if down is None else down)
        up = own.get("client_upload_rate")
        return tau + size / (self._of("upload_rate", "seconds") if up is None else up), np.asarray(beta)

    @property
    def _slowest(self) -> bool:
        """Whether a round takes another time than the ties say."""
        return self.unit in ("runtime", "seconds") and any(word in self.scenario for word in RATES)

    def _of(self, word: str, unit: str) -> float:
        if word not in self.scenario:
            raise MissingQuantityError(f"{unit} need {word}: give {word}=NUMBER")
        return float(self.scenario[word].value)

    # ---- what may be free ----

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
    def cohort(self) -> int:
        return int(self.scenario["cohort"].value) if "cohort" in self.scenario else 1

    def cohorts(self) -> Iterator[int]:
        """Numbers of participants to look at: all clients, a half, a quarter, ..., as far as the budget holds them."""
        count = int(self.scenario["clients"].value)
        for number in dict.fromkeys([count, *(1 << i for i in reversed(range(count.bit_length()))), 1]):
            try:
                if self.to is None:
                    self.of_cohort(number).rounds(1)
            except BoundsError:
                continue
            if number <= count:
                yield number

    def of_cohort(self, cohort: int) -> Goal:
        """The same goal with so many participants a round."""
        return self if cohort == self.cohort else self.within(self.scenario.at(cohort=cohort))

    def check_cohort(self) -> None:
        """Refuse to advise on the cohort where more participants cost nothing: then all clients are best."""
        if "clients" not in self.scenario:
            raise MissingQuantityError("a free cohort needs the number of clients: give clients=NUMBER")
        if given(self.scenario, "participation"):
            raise BoundsError("participation fixes the cohort, which is to be free: leave it out")
        if not (self.unit in OF_ALL or self._slowest):
            raise BoundsError(
                f"in {self.unit} more participants cost nothing here, so that all clients would be best: the cohort is "
                "free where bytes or gradients are counted, or client_minibatch_time or the client rates are given"
            )

    @property
    def start(self) -> float:
        """The target before training, infinite where nobody knows."""
        stated = self.scenario.get(HERE[self.target])
        return math.inf if stated is None else float(stated.high)

    def within(self, scenario: Scenario) -> Goal:
        """The same goal in another scenario."""
        return replace(self, scenario=scenario)


def _check(minimise: str, to: tuple[str, float] | None, told: list[str]) -> None:
    """Refuse what is no goal, and budgets that are missing or idle."""
    if to is None:
        if minimise in COSTS:
            raise BoundsError(f"{minimise} is spent until something is reached: give to optimality_gap=NUMBER")
        if minimise not in TARGETS:
            raise unknown("target of an advice", minimise, (*TARGETS, *COSTS))
        if not told:
            raise MissingQuantityError(f"advice needs a budget: give {'=, '.join(BUDGETS[:2])}= or {BUDGETS[2]}=")
        return
    if minimise not in COSTS:
        raise unknown("cost", minimise, COSTS)
    if to[0] not in TARGETS:
        raise unknown("target of an advice", to[0], TARGETS)
    if not 0 < to[1] < math.inf:
        raise DomainError(f"{to[0]} must be a number > 0 to be reached; got {to[1]:g}")
    if told:
        raise BoundsError(f"how long a run to a target is follows from it: leave {told[0]} out")
