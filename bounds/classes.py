"""What may be compared: the class of a bound, and the conversions that lead from one class to another.

Two bounds are about the same number only if they agree in target, statistic, index set, model, algorithm and reading.
Everything here is read off the ``Bound``; no bound's name occurs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from . import vocabulary as q
from .assumptions import Assumption, CONVEX, INDEPENDENT_SAMPLES
from .operators import ClientMax
from .places import AVERAGE, LOCAL, SERVER, VIRTUAL
from .quantities import quantities_of
from .scenario import Scenario
from .stated import ROUNDING
from .ties import evaluated, FEDAVG, KNOBS, SCAFFOLD, WITHOUT_REPLACEMENT

if TYPE_CHECKING:
    from .core import Bound

SERVER_SIDE = (SERVER, "averaged model", VIRTUAL)
"""Models that are the same whether or not clients that are not averaged run, where clients keep nothing."""
WEIGHTED = "step-weighted sum"
WEIGHTED_MEAN, WEIGHTED_DRAW = "weighted mean", "weighted expectation"
"""A mean whose entries have different weights, and what is expected of a model that is drawn by such shares."""
WITH_LAST = "rounds, the last included"
"""The models w(0) .. w(R): the least and the mean over rounds are of w(0) .. w(R-1), the last one is w(R). The least
over iterations is of all of them too."""
AFTER = "iterations, after their steps"
"""The averages w(1) .. w(T) of all clients; a mean over iterations is of w(0) .. w(T-1). The mean after is the mean
before less (first - last)/T, and no factor leads from one of them to the other. Where not all take part, a round's last
average is neither the server's model nor one that a step begins from."""
ONE_AVERAGING = "the training samples"
"""What a statement on one averaging round is an expectation over."""
FOLDED: dict[str, tuple[str, str, str]] = {
    "mean_grad_norm_sq": ("grad_norm_sq", "mean", "rounds"),
    "weighted_grad_norm_sq": ("grad_norm_sq", WEIGHTED, "iterations"),
    "mean_gap": ("optimality_gap", "mean", AFTER),
    "average_gap": ("optimality_gap", "expectation", "iterations"),
    "mean_divergence": ("divergence", "mean", "rounds"),
    "final_divergence": ("divergence", "last", "rounds"),
}
"""Words with a statistic of their own: the word it is of, the statistic, and what it is over."""


_AT = {
    "grad_norm_sq": SERVER, "weighted_grad_norm_sq": VIRTUAL, "divergence": LOCAL, "mean_gap": VIRTUAL,
    "average_gap": AVERAGE,
}  # fmt: skip
Place = tuple[str, str, str, str]


@dataclass(frozen=True, order=True)
class ClassOf:
    """What number of which run a bound is about."""

    target: str
    statistic: str
    over: str
    at: str
    algorithm: str
    reading: str
    weights: str = ""
    """Those of a mean or an average with unequal weights."""

    @classmethod
    def of(cls, bound: Bound) -> ClassOf:
        """The class of a bound; a statistic or an algorithm that it does not declare is empty."""
        target, at = bound.target.name, bound.statistic
        kind, over = (at.kind, at.over) if at is not None else ("", "")
        if target in FOLDED:
            target, kind, over = FOLDED[target]
        weights = str(at.weights) if at is not None and at.weights is not None else ""
        if weights and kind == "mean":
            kind = WEIGHTED_MEAN
        if weights and kind == "expectation" and at is not None and at.at != AVERAGE:
            kind = WEIGHTED_DRAW
        about = bound.about
        algorithm, reading = (about.algorithm, about.reading) if about is not None else ("", "")
        return cls(target, kind, over, at.at if at is not None else "", algorithm, reading, weights)

    @property
    def place(self) -> Place:
        """Without the method: what is read, and how."""
        return self.target, self.statistic, self.over, self.at

    @property
    def joins(self) -> bool:
        """Whether statements on means and on single models can meet in it, by conversions."""
        return self.over == WITH_LAST or self.at == AVERAGE

    def place_of(self, word: str) -> Place | None:
        """Which number of the same run a quantity means in a bound of this class; None where that is not said.

        A statement on the local iterations of one round is about that round, and not about a run.
        """
        if word in FOLDED and self.over != "local iterations":
            target, kind, over = FOLDED[word]
            return target, kind, over, _AT[word if word in _AT else target]
        return (word, self.statistic, self.over, self.at) if self.statistic == "last" else None

    def __str__(self) -> str:
        weights = f", weights {self.weights}" if self.weights else ""
        over = f" over {self.over}" if self.over else ""
        return f"{self.statistic}{over}, {self.at}{weights}"


Needs = Callable[[ClassOf, Scenario], bool | None]


@dataclass(frozen=True)
class Conversion:
    """From a class to another one: ``bound in to <= factor * bound in from``.

    ``source`` and ``result`` are the fields of the class that it asks for and those that it changes. ``needs`` says
    whether the scenario allows it (None: cannot tell), ``words`` what it needs. Where a predicate of its ``premises``
    is False it is not allowed either; where one cannot tell, the premise is assumed. One that ``renames`` leads
    to the same number under the name that is kept. A class with a field of ``unless`` is none that it leads from.
    """

    name: str
    source: Mapping[str, str]
    result: Mapping[str, str]
    factor: sp.Expr = sp.S.One
    needs: Needs | None = None
    words: str = ""
    premises: tuple[Assumption, ...] = ()
    renames: bool = False
    unless: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The words of the factor."""
        return tuple(each.name for each in quantities_of([self.factor]))

    def fits(self, found: ClassOf) -> bool:
        asked = all(getattr(found, name) == value for name, value in self.source.items())
        return asked and not any(getattr(found, name) == value for name, value in self.unless.items())

    def refusal(self, found: ClassOf, scenario: Scenario) -> str:
        """Why it is not allowed here, empty if it is."""
        lacking = [word for word in self.asked if word not in scenario]
        if lacking:
            return f"{self.name} needs {', '.join(lacking)}"
        if self.needs is not None and not self.needs(found, scenario):
            return f"{self.name} needs that {self.words}"
        broken = [premise.words for premise in self.premises if premise.holds(*scenario.facts) is False]
        return f"{self.name} needs that {' and '.join(broken)}" if broken else ""

    def trusted(self, scenario: Scenario) -> tuple[str, ...]:
        """The premises that nothing in the scenario decides."""
        return tuple(premise.words for premise in self.premises if premise.holds(*scenario.facts) is None)

    def apply(self, found: ClassOf) -> ClassOf:
        return replace(found, **self.result)

    def at(self, scenario: Scenario) -> float:
        """The factor, with admissible constants at their weaker ends."""
        safe = {word: scenario[word].safe for word in self.asked}
        return float(evaluated(self.factor, safe) if safe else self.factor)


def everyone(scenario: Scenario) -> bool:
    """Whether the server's model after a round is the average of all clients, and the next one starts there."""
    known = {"clients", "cohort"} <= scenario.keys() and scenario["relaxation"].value == 0
    drawn = known and (scenario.sampling == WITHOUT_REPLACEMENT or scenario["clients"].value == 1)
    return bool(drawn and scenario["cohort"].value == scenario["clients"].value)


def _everyone_or_server(found: ClassOf, scenario: Scenario) -> bool:
    """Clients that keep nothing from round to round change no model at the server by running for themselves."""
    known = {"clients", "cohort"} <= scenario.keys() and scenario.sampling == WITHOUT_REPLACEMENT
    all_run = known and scenario["cohort"].value == scenario["clients"].value
    plain = scenario.base == FEDAVG and all(scenario[knob].value == off for _, knob, off in KNOBS)
    return bool(all_run or (found.at in SERVER_SIDE and plain))


def _known(scenario: Scenario, word: str) -> bool:
    stated = scenario.get(word)
    return stated is not None and not stated.floor and bool(np.all(np.isfinite(stated.safe)))


def _ends_with_all(found: ClassOf, scenario: Scenario) -> bool:
    """Whether a run ends with a whole round, after which the server's model is read."""
    if not {"iterations", "local_steps", "rounds"} <= scenario.keys():
        return False
    steps = scenario["local_steps"].value * scenario["rounds"].value
    whole = math.isclose(scenario["iterations"].value, steps, rel_tol=ROUNDING)
    return whole and (found.at == SERVER or everyone(scenario))


def _one_step(scenario: Scenario) -> bool:
    return "local_steps" in scenario and bool(scenario["local_steps"].value == 1)


def _controls_cancel(found: ClassOf, scenario: Scenario) -> bool:
    """Whether SCAFFOLD's corrections add up to nothing before any client takes a second step."""
    weights = scenario.get("client_weight")
    alike = weights is not None and bool(np.ptp(np.asarray(weights.value)) <= ROUNDING)
    alone = "clients" in scenario and scenario["clients"].value == 1
    plain = scenario["server_step_size"].value == 1 and everyone(scenario)
    return bool(plain and (alone or (_one_step(scenario) and alike)))


def _is_off(knob: str, off: float) -> Needs:
    return lambda _, s: s[knob].value == off


_SMOOTH: tuple[Needs, str] = (lambda _, s: _known(s, "smoothness"), "the global loss is L-smooth")
_STRONG: tuple[Needs, str] = (lambda _, s: _known(s, "strong_convexity"), "the global loss is mu-strongly convex")
_EVERYONE: tuple[Needs, str] = (lambda _, s: everyone(s), "all clients take part")
_STEPPED = {"over": AFTER}

CONVERSIONS: tuple[Conversion, ...] = (
    Conversion("C1", {"statistic": "mean"}, {"statistic": "min"}, unless=_STEPPED),
    Conversion("C1", {"statistic": WEIGHTED_MEAN}, {"statistic": "min", "weights": ""}, unless=_STEPPED),
    Conversion("C1", {"statistic": "mean", **_STEPPED}, {"statistic": "min", "over": "iterations"},
               sp.S.One, *_EVERYONE),
    Conversion("C1", {"statistic": WEIGHTED_MEAN, **_STEPPED},
               {"statistic": "min", "over": "iterations", "weights": ""},
               sp.S.One, *_EVERYONE),
    Conversion("C2", {"statistic": "expectation", "over": "rounds", "at": SERVER}, {"statistic": "mean"}),
    Conversion("C2", {"statistic": "expectation", "over": "iterations", "at": VIRTUAL}, {"statistic": "mean"}),
    Conversion("C2", {"statistic": WEIGHTED_DRAW, "over": "rounds", "at": SERVER}, {"statistic": WEIGHTED_MEAN}),
    Conversion("C2", {"statistic": WEIGHTED_DRAW, "over": "iterations", "at": VIRTUAL}, {"statistic": WEIGHTED_MEAN}),
    Conversion("C2", {"statistic": "min", "over": "rounds"}, {"over": WITH_LAST}),
    Conversion("C2", {"statistic": "last", "over": "rounds"}, {"statistic": "min", "over": WITH_LAST}),
    Conversion("C3", {"target": "grad_norm_sq", "statistic": WEIGHTED, "over": "iterations"},
               {"statistic": "mean"}, 1 / (q.step_size * q.iterations),
               lambda _, s: {"step_size", "iterations"} <= s.keys(), "the step size is fixed"),
    Conversion("C4", {"statistic": "min", "over": "rounds", "at": SERVER}, {"over": "iterations", "at": VIRTUAL},
               needs=lambda _, s: s["relaxation"].value == 0, words="every client starts a round at the server model"),
    Conversion("C5", {"target": "optimality_gap"}, {"target": "grad_norm_sq"}, 2 * q.smoothness, *_SMOOTH),
    Conversion("C6", {"target": "grad_norm_sq"}, {"target": "optimality_gap"}, 1 / (2 * q.pl_constant),
               lambda _, s: _known(s, "pl_constant"), "the global loss satisfies the PL inequality"),
    Conversion("C7", {"target": "distance_sq"}, {"target": "optimality_gap"}, q.smoothness / 2, *_SMOOTH),
    Conversion("C7", {"target": "distance_sq"}, {"target": "grad_norm_sq"}, q.smoothness**2, *_SMOOTH),
    Conversion("C7", {"target": "optimality_gap"}, {"target": "distance_sq"}, 2 / q.strong_convexity, *_STRONG),
    Conversion("C7", {"target": "grad_norm_sq"}, {"target": "distance_sq"}, 1 / q.strong_convexity**2, *_STRONG),
    *(
        Conversion("C9", {"target": "optimality_gap", "statistic": kind}, {"statistic": "expectation", "at": AVERAGE},
                   needs=lambda _, s: CONVEX.holds(*s.facts), words="the loss is convex", unless=_STEPPED)
        for kind in ("mean", WEIGHTED_MEAN)
    ),
    *(
        Conversion("C9", {"target": "distance_sq", "statistic": kind}, {"statistic": "expectation", "at": AVERAGE},
                   unless=_STEPPED)
        for kind in ("mean", WEIGHTED_MEAN)
    ),
    Conversion("C10", {"target": "stability"}, {"target": "generalization_gap"}, premises=(INDEPENDENT_SAMPLES,)),
    Conversion("C11", {"target": "divergence", "at": LOCAL}, {"target": "consensus_distance"}),
    *(
        Conversion("C13", {"statistic": "last", "over": "iterations", "at": at}, {"over": "rounds", "at": SERVER},
                   needs=_ends_with_all, words="all clients take part and the run ends with a round", renames=True)
        for at in (VIRTUAL, SERVER)
    ),
    *(
        Conversion("C14", {"statistic": kind, "over": "iterations", "at": at},
                   {"over": WITH_LAST if kind == "min" else "rounds", "at": SERVER},
                   needs=lambda c, s: _one_step(s) and (c.at == SERVER or everyone(s)),
                   words="all clients take part with one local step a round", renames=True)
        for at in (VIRTUAL, SERVER)
        for kind in ("last", "min", "mean", "expectation", WEIGHTED_MEAN, WEIGHTED_DRAW, WEIGHTED)
    ),
    *(
        Conversion("C12", {"algorithm": name}, {"algorithm": "fedavg"}, words=f"{knob} is {off}: then {name} is FedAvg",
                   needs=_is_off(knob, off))
        for name, knob, off in KNOBS
    ),
    Conversion("C12", {"algorithm": SCAFFOLD, "at": SERVER}, {"algorithm": FEDAVG}, needs=_controls_cancel,
               words="all clients take part and weigh the same, with one local step a round, or that there is one "
               "alone: then scaffold is FedAvg"),
    Conversion("C12", {"reading": "proof"}, {"reading": "intended"}, needs=_everyone_or_server,
               words="all clients take part, or keep nothing between rounds while the server's model is read"),
)  # fmt: skip
"""What leads from one class to another; what does not, and why, is in ``NEVER``."""
MEANING: dict[str, str] = {
    "C1": "the least is at most the mean",
    "C2": "of a model drawn at random the expectation is the mean; the last model, or any other, is one of the run's",
    "C3": "a sum weighted by a fixed step size, divided by it",
    "C4": "the average of all clients passes through every server model",
    "C5": "a squared gradient is at most 2L times the gap",
    "C6": "a gap is at most the squared gradient over 2 mu",
    "C7": "between the distance and the gap or the gradient, by L or mu",
    "C9": "of a convex loss, at the average of the models it is at most its mean over them, by the same weights",
    "C10": "stability bounds the generalization gap",
    "C11": "the clients' mean is their best centre",
    "C12": "another method, or another reading of one, that does the same here",
    "C13": "after a round of all clients their average is the server's model",
    "C14": "with one local step of all clients a round is an iteration",
    "C15": "one local step of all clients is a step of SGD on one machine",
}
"""What a conversion says, by name; the last one takes a federation for one machine (``bounds.one_machine``)."""


_Fields = Mapping[str, str]
NEVER: tuple[tuple[_Fields, _Fields, str], ...] = (
    ({"statistic": "min"}, {"statistic": "last"}, "the least over a run does not bound its last model"),
    ({"statistic": "mean"}, {"statistic": "last"}, "the mean over a run does not bound its last model"),
    ({"statistic": WEIGHTED_MEAN}, {"statistic": "last"}, "the mean over a run does not bound its last model"),
    (
        {"statistic": "mean", "over": "iterations"},
        {"over": AFTER},
        "the mean before the steps counts the first model, and leaves out the last one",
    ),
    (
        {"statistic": "mean", "over": AFTER},
        {"statistic": "mean", "over": "iterations"},
        "the mean after the steps counts the last model, and leaves out the first one",
    ),
    (
        {"statistic": "mean", "over": AFTER},
        {"statistic": "expectation"},
        "the average is of the models before the steps, the mean is over those after them",
    ),
    ({"at": VIRTUAL}, {"at": SERVER}, "the average of all clients is not a model of the server"),
    ({"over": ONE_AVERAGING}, {"over": "rounds"}, "it is about one averaging round, not about a run of several"),
    ({"target": "divergence"}, {"target": "active_divergence"}, "it is about all clients, not those that took part"),
    ({"target": "active_divergence"}, {"target": "divergence"}, "it is about those that took part, not all clients"),
    ({"target": "next_divergence"}, {"target": "divergence"}, "it is one step, given the divergence before"),
    ({"target": "next_distance_sq"}, {"target": "distance_sq"}, "it is one step, given the distance before"),
    ({"target": "out_of_sample_gap"}, {"target": "generalization_gap"}, "it leaves out clients that take no part"),
    (
        {"target": "participation_gap"},
        {"target": "generalization_gap"},
        "it leaves out the gap of those that take part",
    ),
    ({"target": "round_averaged_gap"}, {"target": "generalization_gap"}, "a round is judged on its own samples alone"),
    ({"target": "train_loss"}, {"target": "test_loss"}, "a training loss bounds no test loss"),
)
"""What does not follow: fields of a class, fields of another one, and why. From falling step sizes to fixed ones, from
an exact local solver to K steps, and from an order to a level nothing leads either: conditions and relations of the
bounds say so. Over seeds, the mean of the least is at most the least of the means: what bounds the latter bounds the
former, and never the other way."""


def never(found: ClassOf, **wanted: str) -> str:
    """Why a number of a class does not bound one with the fields that are ``wanted``; empty where nothing forbids it.

    >>> never(ClassOf("grad_norm_sq", "min", "rounds", SERVER, "fedavg", "intended"), statistic="last")
    'the least over a run does not bound its last model'
    """
    for source, result, why in NEVER:
        if all(getattr(found, name) == word for name, word in source.items()) and result.items() <= wanted.items():
            return why
    return ""


def unlike(found: ClassOf, scenario: Scenario) -> str:
    """Why a class is not about the run of a scenario as it is meant; empty where it is."""
    if not found.algorithm:
        return "it names no method: declare about=About(...), such as About('fedavg')"
    if found.algorithm != scenario.algorithm or found.reading != "intended":
        method = found.algorithm
        return f"it is about {method if found.reading in ('', 'intended') else f'{method} (reading: {found.reading})'}"
    if not found.statistic:
        return "it does not say which models of a run it bounds: declare statistic=Statistic(...)"
    if found.statistic == WEIGHTED:
        return "it does not say which models of a run it bounds"
    if found.statistic == "every":
        return "it is about one step of a run, given what the run gave before it"
    several = "rounds" in scenario and scenario["rounds"].value != 1
    return never(found, over="rounds") if several else ""


@dataclass(frozen=True)
class Way:
    """A class, the conversions that lead there, one by one and by name, and the factor they multiply a bound by."""

    to: ClassOf
    names: tuple[str, ...] = ()
    factor: float = 1.0
    trusted: tuple[str, ...] = ()
    steps: tuple[Conversion, ...] = ()


@cache
def _moves(found: ClassOf) -> tuple[tuple[Conversion, ClassOf], ...]:
    """The conversions that lead from a class, and where to."""
    return tuple((conversion, conversion.apply(found)) for conversion in CONVERSIONS if conversion.fits(found))


def ways(start: ClassOf, scenario: Scenario) -> tuple[list[Way], list[str]]:
    """Every class within reach and the shortest way there, the start first; and why others are out of reach."""
    found = {start: Way(start)}
    refused: list[str] = []
    renamed: set[ClassOf] = set()
    queue = [found[start]]
    while queue:
        here = queue.pop(0)
        for conversion, other in _moves(here.to):
            if other in found and not conversion.renames:
                continue
            if said := conversion.refusal(here.to, scenario):
                refused.append(said)
                continue
            renamed |= {here.to} if conversion.renames else set()
            if other in found:
                continue
            names = here.names if conversion.name in here.names else (*here.names, conversion.name)
            trusted = (*here.trusted, *conversion.trusted(scenario))
            factor = here.factor * conversion.at(scenario)
            found[other] = Way(other, names, factor, trusted, (*here.steps, conversion))
            queue.append(found[other])
    return [way for way in found.values() if way.to not in renamed], list(dict.fromkeys(refused))


# ---- conditions in words that the plan decides ----

ALIKE = "all clients weigh the same, 1/C"
SAID: dict[str, tuple[sp.Expr, sp.Expr]] = {
    "the step size is 1/sqrt(tau T)": (q.step_size, 1 / sp.sqrt(q.local_steps * q.rounds)),
    "the step size is c/sqrt(tau T)": (q.step_size, q.step_scale / sp.sqrt(q.local_steps * q.rounds)),
    "the step size is sqrt(M)/(4 L sqrt(T))": (
        q.step_size,
        sp.sqrt(q.clients) / (4 * q.smoothness * sp.sqrt(q.iterations)),
    ),
    "the step size is the least of the four of the Field Guide, (16)": (
        q.step_size,
        sp.Min(
            1 / (4 * q.smoothness),
            sp.sqrt(q.clients * q.initial_distance_sq / (q.local_steps * q.rounds * q.gradient_variance)),
            sp.cbrt(q.initial_distance_sq / (q.local_steps**2 * q.rounds * q.smoothness * q.gradient_variance)),
            sp.cbrt(q.initial_distance_sq / (q.local_steps**3 * q.rounds * q.smoothness * q.uniform_dissimilarity)),
        ),
    ),
    "the step size is 1/(mu a)": (q.step_size, 1 / (q.strong_convexity * q.inverse_step)),
    "there are 2 a log a iterations": (q.iterations, 2 * q.inverse_step * sp.log(q.inverse_step)),
    "the step size is D/(L sqrt(n))": (q.step_size, sp.sqrt(q.initial_distance_sq / q.samples) / q.lipschitz),
    "there are as many steps as samples": (q.iterations, q.samples),
    "the step size is D sqrt(n)/(L sqrt(T (n + 2 T)))": (
        q.step_size,
        sp.sqrt(q.initial_distance_sq * q.samples / (q.iterations * (q.samples + 2 * q.iterations))) / q.lipschitz,
    ),
    "the run ends with a round: its iterations are a multiple of the local steps": (
        q.iterations,
        q.local_steps * q.rounds,
    ),
    ALIKE: (ClientMax(q.client_weight), 1 / q.clients),
    "before the first round every client holds the server model, so that Delta^0 = 0": (
        q.initial_divergence,
        sp.S.Zero,
    ),
}
"""By the words of a condition: two sides that must be equal."""


def unweighted(bound: Bound) -> bool:
    """Whether a bound counts clients and has no weights: its means over them are plain."""
    names = {each.name for each in bound.quantities}
    return bool(names & {"clients", "cohort"}) and "client_weight" not in names


FALLING = ("the step size of local iteration tau (counted over all rounds) is c/tau",)
"""Words of conditions that no fixed step size meets, but in a single step."""


def said(words: str, scenario: Scenario) -> tuple[float, float] | None:
    """The two sides of a condition in words, which holds if they are equal; None where nothing here decides it.

    Both are NaN where it fails and has no sides.
    """
    if words in FALLING and {"step_size", "iterations"} <= scenario.keys() and scenario["iterations"].value > 1:
        return math.nan, math.nan
    if words not in SAID or any(each.name not in scenario for each in quantities_of(SAID[words])):
        return None
    known = {each.name: scenario[each.name].value for each in quantities_of(SAID[words])}
    with np.errstate(all="ignore"):  # a step size of noise is infinite where there is none
        left, right = (float(evaluated(side, known)) for side in SAID[words])
    return left, right
