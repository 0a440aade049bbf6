"""What may be compared: the class of a bound, and the conversions that lead from one class to another.

Two bounds are about the same number only if they agree in target, statistic, index set, model, algorithm and reading.
Everything here is read off the ``Bound``; no bound's name occurs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from .operators import ClientMax
from .quantities import quantities_of
from .scenario import FEDAVG, KNOBS, Scenario, WITHOUT_REPLACEMENT
from .stated import DEFINED
from .ties import evaluated
from .vocabulary import (
    client_weight,
    clients,
    cohort,
    grad_cap_sq,
    gradient_variance,
    initial_distance_sq,
    initial_divergence,
    initial_gap,
    iterations,
    local_steps,
    pl_constant,
    rounds,
    smoothness,
    step_scale,
    step_size,
    strong_convexity,
    uniform_dissimilarity,
)

if TYPE_CHECKING:
    from .core import Bound

SERVER, VIRTUAL = "server model", "virtual average of all clients"
SERVER_SIDE = (SERVER, "averaged model", VIRTUAL)
"""Models that are the same whether or not clients that are not averaged run, where clients keep nothing."""
WEIGHTED = "step-weighted sum"
FOLDED: dict[str, tuple[str, str, str]] = {
    "mean_grad_norm_sq": ("grad_norm_sq", "mean", "rounds"),
    "weighted_grad_norm_sq": ("grad_norm_sq", WEIGHTED, "iterations"),
    "mean_gap": ("optimality_gap", "mean", "iterations"),
    "average_gap": ("optimality_gap", "expectation", "iterations"),
    "mean_divergence": ("divergence", "mean", "rounds"),
    "final_divergence": ("divergence", "last", "rounds"),
}
"""Words with a statistic of their own: the word it is of, the statistic, and what it is over."""


@dataclass(frozen=True, order=True)
class ClassOf:
    """What number of which run a bound is about."""

    target: str
    statistic: str
    over: str
    at: str
    algorithm: str
    reading: str

    @classmethod
    def of(cls, bound: Bound) -> ClassOf:
        """The class of a bound; a statistic or an algorithm that it does not declare is empty."""
        target, at = bound.target.name, bound.statistic
        kind, over = (at.kind, at.over) if at is not None else ("", "")
        if target in FOLDED:
            target, kind, over = FOLDED[target]
        about = bound.about
        algorithm, reading = (about.algorithm, about.reading) if about is not None else ("", "")
        return cls(target, kind, over, at.at if at is not None else "", algorithm, reading)

    @property
    def place(self) -> tuple[str, str, str, str]:
        """Without the method: what is read, and how."""
        return self.target, self.statistic, self.over, self.at

    def __str__(self) -> str:
        return f"{self.statistic} over {self.over}, {self.at}" if self.over else f"{self.statistic}, {self.at}"


Needs = Callable[[ClassOf, Scenario], bool | None]


@dataclass(frozen=True)
class Conversion:
    """From a class to another one: ``bound in to <= factor * bound in from``.

    ``source`` and ``result`` are the fields of the class that it asks for and those that it changes. ``needs`` says
    whether the scenario allows it (None: cannot tell), ``words`` what it needs.
    """

    name: str
    source: Mapping[str, str]
    result: Mapping[str, str]
    factor: sp.Expr = sp.S.One
    needs: Needs | None = None
    words: str = ""

    def fits(self, found: ClassOf) -> bool:
        return all(getattr(found, name) == value for name, value in self.source.items())

    def refusal(self, found: ClassOf, scenario: Scenario) -> str:
        """Why it is not allowed here, empty if it is."""
        lacking = [q.name for q in quantities_of([self.factor]) if q.name not in scenario]
        if lacking:
            return f"{self.name} needs {', '.join(lacking)}"
        return "" if self.needs is None or self.needs(found, scenario) else f"{self.name} needs that {self.words}"

    def apply(self, found: ClassOf) -> ClassOf:
        return replace(found, **self.result)

    def at(self, scenario: Scenario) -> float:
        """The factor, with admissible constants at their weaker ends."""
        return float(evaluated(self.factor, {q.name: scenario[q.name].safe for q in quantities_of([self.factor])}))


def _starts_at_server(found: ClassOf, scenario: Scenario) -> bool:
    return bool(scenario["relaxation"].value == 0)


def _fixed_steps(found: ClassOf, scenario: Scenario) -> bool:
    return "step_size" in scenario and "iterations" in scenario


def _off(knob: str, off: float) -> Needs:
    def is_off(found: ClassOf, scenario: Scenario) -> bool:
        return bool(scenario[knob].value == off)

    return is_off


def _everyone_or_server(found: ClassOf, scenario: Scenario) -> bool:
    """Clients that keep nothing from round to round change no model at the server by running for themselves."""
    known = {"clients", "cohort"} <= scenario.keys() and scenario.sampling == WITHOUT_REPLACEMENT
    everyone = known and scenario["cohort"].value == scenario["clients"].value
    stateless = found.at in SERVER_SIDE and all(scenario[knob].value == off for _, knob, off in KNOBS)
    return bool(everyone or stateless)


def _is_known(word: str) -> Needs:
    def known(found: ClassOf, scenario: Scenario) -> bool:
        stated = scenario.get(word)
        return stated is not None and not stated.floor and bool(np.all(np.isfinite(stated.safe)))

    return known


_SMOOTH = (_is_known("smoothness"), "the global loss is L-smooth")
_STRONG = (_is_known("strong_convexity"), "the global loss is mu-strongly convex")

CONVERSIONS: tuple[Conversion, ...] = (
    Conversion("C1", {"statistic": "mean"}, {"statistic": "min"}),
    Conversion("C3", {"target": "grad_norm_sq", "statistic": WEIGHTED, "over": "iterations"},
               {"statistic": "mean"}, 1 / (step_size * iterations), _fixed_steps, "the step size is fixed"),
    Conversion("C4", {"statistic": "min", "over": "rounds", "at": SERVER}, {"over": "iterations", "at": VIRTUAL},
               needs=_starts_at_server, words="every client starts a round at the server model"),
    Conversion("C5", {"target": "optimality_gap"}, {"target": "grad_norm_sq"}, 2 * smoothness, *_SMOOTH),
    Conversion("C6", {"target": "grad_norm_sq"}, {"target": "optimality_gap"}, 1 / (2 * pl_constant),
               _is_known("pl_constant"), "the global loss satisfies the PL inequality"),
    Conversion("C7", {"target": "distance_sq"}, {"target": "optimality_gap"}, smoothness / 2, *_SMOOTH),
    Conversion("C7", {"target": "distance_sq"}, {"target": "grad_norm_sq"}, smoothness**2, *_SMOOTH),
    Conversion("C7", {"target": "optimality_gap"}, {"target": "distance_sq"}, 2 / strong_convexity, *_STRONG),
    Conversion("C7", {"target": "grad_norm_sq"}, {"target": "distance_sq"}, 1 / strong_convexity**2, *_STRONG),
    *(
        Conversion("C12", {"algorithm": name}, {"algorithm": "fedavg"}, needs=_off(knob, off),
                   words=f"{knob} is {off}: then {name} is FedAvg")
        for name, knob, off in KNOBS
    ),
    Conversion("C12", {"reading": "proof"}, {"reading": "intended"}, needs=_everyone_or_server,
               words="all clients take part, or keep nothing between rounds while the server's model is read"),
)  # fmt: skip
"""What leads from one class to another. Not allowed, and so not here: from the least or the mean to the last; from the
average of all clients to the server; from all clients to participants; from E min to min E; from an order to a level;
from one averaging round to the mean over rounds; from falling step sizes to fixed ones."""


@dataclass(frozen=True)
class Way:
    """A class, the conversions that lead there, and the factor that they multiply a bound by."""

    to: ClassOf
    names: tuple[str, ...] = ()
    factor: float = 1.0


def ways(start: ClassOf, scenario: Scenario) -> tuple[list[Way], list[str]]:
    """Every class within reach and the shortest way there, the start first; and why others are out of reach."""
    found = {start: Way(start)}
    refused: list[str] = []
    queue = [found[start]]
    while queue:
        here = queue.pop(0)
        for conversion in CONVERSIONS:
            if not conversion.fits(here.to) or (other := conversion.apply(here.to)) in found:
                continue
            if said := conversion.refusal(here.to, scenario):
                refused.append(said)
                continue
            names = here.names if conversion.name in here.names else (*here.names, conversion.name)
            found[other] = Way(other, names, here.factor * conversion.at(scenario))
            queue.append(found[other])
    return list(found.values()), list(dict.fromkeys(refused))


# ---- what is known without a theorem ----

TRIVIAL: dict[str, tuple[sp.Expr, ...]] = {
    "grad_norm_sq": (2 * smoothness * initial_gap, smoothness**2 * initial_distance_sq, grad_cap_sq),
    "optimality_gap": (initial_gap,),
    "distance_sq": (initial_distance_sq, 2 * initial_gap / strong_convexity),
    "divergence": (
        (local_steps * step_size) ** 2 * grad_cap_sq * (1 + (clients - cohort) / (cohort * sp.Max(clients - 1, 1))),
    ),
}
"""By target: what bounds it from the premises of a theorem alone, where one does not train. For the least over a run
that is proved; for a mean or the last one it is what not training gives. The divergence of clients that start together
is at most the way that they can go, and the way of the server's model beside their mean where only some are averaged:
the variance of a mean of N of C without replacement is (C - N)/(N (C - 1)) times that of one."""
HERE: dict[str, str] = {
    "grad_norm_sq": "initial_grad_norm_sq",
    "optimality_gap": "initial_gap",
    "distance_sq": "initial_distance_sq",
}
"""By target: the word of its value at the start of this federation: one evaluation, no theorem."""


def trivial(target: str, scenario: Scenario) -> tuple[float, float]:
    """What is known of a target without a theorem: from the premises alone, and at the start; infinite if nothing."""
    of_class = [_safely(expression, scenario) for expression in TRIVIAL.get(target, ())]
    word = HERE.get(target, "")
    stated = scenario.get(word)
    here = float(np.min(stated.low)) if stated is not None else np.inf  # what is below that is below the start
    least = min(of_class, default=np.inf)
    return least, (least if target == "divergence" else here)


def _safely(expression: sp.Expr, scenario: Scenario) -> float:
    names = [q.name for q in quantities_of([expression])]
    elsewhere = scenario.method != FEDAVG and grad_cap_sq.name in names  # a cap along the runs of FedAvg
    if elsewhere or any(name not in scenario or scenario[name].floor for name in names):
        return np.inf
    put = {n: scenario[n].high if scenario[n].role == DEFINED else scenario[n].safe for n in names}
    return float(evaluated(expression, put))


# ---- conditions in words that the plan decides ----

ALIKE = "all clients weigh the same, 1/C"
SAID: dict[str, tuple[sp.Expr, sp.Expr]] = {
    "the step size is 1/sqrt(tau T)": (step_size, 1 / sp.sqrt(local_steps * rounds)),
    "the step size is c/sqrt(tau T)": (step_size, step_scale / sp.sqrt(local_steps * rounds)),
    "the step size is sqrt(M)/(4 L sqrt(T))": (step_size, sp.sqrt(clients) / (4 * smoothness * sp.sqrt(iterations))),
    "the step size is the least of the four of the Field Guide, (16)": (
        step_size,
        sp.Min(
            1 / (4 * smoothness),
            sp.sqrt(clients * initial_distance_sq / (local_steps * rounds * gradient_variance)),
            sp.cbrt(initial_distance_sq / (local_steps**2 * rounds * smoothness * gradient_variance)),
            sp.cbrt(initial_distance_sq / (local_steps**3 * rounds * smoothness * uniform_dissimilarity)),
        ),
    ),
    "the run ends with a round: its iterations are a multiple of the local steps": (iterations, local_steps * rounds),
    ALIKE: (ClientMax(client_weight), 1 / clients),
    "before the first round every client holds the server model, so that Delta^0 = 0": (initial_divergence, sp.S.Zero),
}
"""By the words of a condition: two sides that must be equal."""


def unweighted(bound: Bound) -> bool:
    """Whether a bound counts clients and knows nothing of weights: its means over them are plain."""
    names = {q.name for q in bound.quantities}
    return bool(names & {"clients", "cohort"}) and "client_weight" not in names


def said(words: str, scenario: Scenario) -> tuple[float, float] | None:
    """The two sides of a condition in words, which holds if they are equal; None where nothing here decides it."""
    if words not in SAID or any(q.name not in scenario for q in quantities_of(SAID[words])):
        return None
    known = {q.name: scenario[q.name].value for q in quantities_of(SAID[words])}
    with np.errstate(all="ignore"):  # a step size of noise is infinite where there is none
        left, right = (float(evaluated(side, known)) for side in SAID[words])
    return left, right
