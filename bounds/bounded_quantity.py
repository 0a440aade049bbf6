"""Which bounds may be compared: the quantity that a bound is about, and conversions between such quantities.

Two bounds are about the same number only if they agree in target, statistic, index set, model, algorithm and reading.
Everything here is derived from the ``Bound`` object; no bound is treated by name.
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
from .classics.common import EQUAL_WEIGHTS
from .fedinit.stability import DECAYING_STEP
from .identities import evaluated, FEDAVG, KNOBS, SCAFFOLD, WITHOUT_REPLACEMENT
from .places import AVERAGE, LOCAL, SERVER, VIRTUAL
from .quantities import quantities_of
from .scenario import Scenario
from .scenario_values import ROUNDING

if TYPE_CHECKING:
    from .core import Bound, Condition

SERVER_SIDE = (SERVER, "averaged model", VIRTUAL)
"""Models that are unaffected by clients that train but are not averaged, provided that clients keep no state."""
WEIGHTED = "step-weighted sum"
WEIGHTED_MEAN, WEIGHTED_DRAW = "weighted mean", "weighted expectation"
"""A mean with unequal weights, and the expectation at a model that is drawn with these weights as probabilities."""
WITH_LAST = "rounds, the last included"
"""The models w(0) .. w(R). The minimum and the mean over rounds cover w(0) .. w(R-1), and the last model is w(R); the
minimum over iterations includes the last model as well."""
AFTER = "iterations, after their steps"
"""The averages w(1) .. w(T) of all clients, whereas a mean over iterations covers w(0) .. w(T-1). The two means differ
by (first - last)/T, so no factor converts one into the other. With partial participation, the last average of a round
is neither the server's model nor a model at which a step starts."""
ONE_AVERAGING = "the training samples"
"""What the expectation in a statement on a single averaging round is over."""
Place = tuple[str, str, str, str]
"""Which number of a run: the quantity, its statistic, the index set of the statistic, and the model."""
FOLDED: dict[str, Place] = {
    "mean_grad_norm_sq": ("grad_norm_sq", "mean", "rounds", SERVER),
    "weighted_grad_norm_sq": ("grad_norm_sq", WEIGHTED, "iterations", VIRTUAL),
    "mean_gap": ("optimality_gap", "mean", AFTER, VIRTUAL),
    "average_gap": ("optimality_gap", "expectation", "iterations", AVERAGE),
    "mean_divergence": ("divergence", "mean", "rounds", LOCAL),
    "final_divergence": ("divergence", "last", "rounds", LOCAL),
}
"""Quantities that include a statistic, such as a mean: the number of a run that each of them is."""


@dataclass(frozen=True, order=True)
class BoundedQuantity:
    """The number that a bound is about: a metric, its statistic over a run, the model it is taken at, the method."""

    target: str
    statistic: str
    over: str
    at: str
    algorithm: str
    reading: str
    weights: str = ""
    """The weights of a mean or an average, if they are unequal."""

    @classmethod
    def of(cls, bound: Bound) -> BoundedQuantity:
        """Return the quantity that a bound is about; fields that the bound does not declare are empty strings."""
        target, kind, over, at, weights = bound.target.name, "", "", "", ""
        if (statistic := bound.statistic) is not None:
            kind, over, at = statistic.kind, statistic.over, statistic.at
            weights = str(statistic.weights) if statistic.weights is not None else ""
        if target in FOLDED:
            target, kind, over, _ = FOLDED[target]
        if weights and kind == "mean":
            kind = WEIGHTED_MEAN
        if weights and kind == "expectation" and at != AVERAGE:
            kind = WEIGHTED_DRAW
        about = bound.about
        algorithm, reading = (about.algorithm, about.reading) if about is not None else ("", "")
        return cls(target, kind, over, at, algorithm, reading, weights)

    @property
    def place(self) -> Place:
        """The target, statistic, index set and model, without the method."""
        return self.target, self.statistic, self.over, self.at

    @property
    def joins(self) -> bool:
        """Whether both statements on means and statements on single models can be converted to this quantity."""
        return self.over == WITH_LAST or self.at == AVERAGE

    def place_of(self, word: str) -> Place | None:
        """Return which number of the same run the quantity ``word`` means in such a bound, or None if that is unclear.

        A statement on the local iterations of one round is about that round, not about a run.
        """
        if word in FOLDED and self.over != "local iterations":
            return FOLDED[word]
        return (word, self.statistic, self.over, self.at) if self.statistic == "last" else None

    def __str__(self) -> str:
        weights = f", weights {self.weights}" if self.weights else ""
        over = f" over {self.over}" if self.over else ""
        return f"{self.statistic}{over}, {self.at}{weights}"


Needs = Callable[[BoundedQuantity, Scenario], bool | None]


@dataclass(frozen=True)
class Conversion:
    """A step from one bounded quantity to another: a bound on the first, times ``factor``, bounds the second.

    The first must have the field values ``source`` and none of ``unless``; ``result`` are the fields that change.
    ``needs`` is whether the scenario allows the step (None, undecidable, counts as no), and ``words`` describe this. A
    premise in ``premises`` that fails forbids the step; an undecidable one is assumed. If it ``renames``, both are the
    same number, and comparisons use the second name.
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
    def inputs(self) -> tuple[str, ...]:
        """The names of the quantities in the factor."""
        return tuple(each.name for each in quantities_of([self.factor]))

    def fits(self, quantity: BoundedQuantity) -> bool:
        """Whether the step starts from this quantity."""
        matches = all(getattr(quantity, name) == value for name, value in self.source.items())
        return matches and not any(getattr(quantity, name) == value for name, value in self.unless.items())

    def refusal(self, quantity: BoundedQuantity, scenario: Scenario) -> str:
        """Return why the step is not allowed in this scenario, or an empty string if it is."""
        lacking = [word for word in self.inputs if word not in scenario]
        if lacking:
            return f"{self.name} needs {', '.join(lacking)}"
        if self.needs is not None and not self.needs(quantity, scenario):
            return f"{self.name} needs that {self.words}"
        broken = [premise.words for premise in self.premises if premise.holds(*scenario.facts) is False]
        return f"{self.name} needs that {' and '.join(broken)}" if broken else ""

    def assumed_premises(self, scenario: Scenario) -> tuple[str, ...]:
        """Return the premises that the scenario leaves undecided, so that they are assumed."""
        return tuple(premise.words for premise in self.premises if premise.holds(*scenario.facts) is None)

    def apply(self, quantity: BoundedQuantity) -> BoundedQuantity:
        """Return the quantity that the step leads to."""
        return replace(quantity, **self.result)

    def at(self, scenario: Scenario) -> float:
        """Return the factor as a number, with every admissible constant at its weaker end."""
        safe = {word: scenario[word].safe for word in self.inputs}
        return float(evaluated(self.factor, safe) if safe else self.factor)


def full_participation(scenario: Scenario) -> bool:
    """Whether the server's model after a round is the average of all clients, and the next round starts there."""
    known = {"clients", "cohort"} <= scenario.keys() and scenario["relaxation"].value == 0
    each_once = known and (scenario.sampling == WITHOUT_REPLACEMENT or scenario["clients"].value == 1)
    return bool(each_once and scenario["cohort"].value == scenario["clients"].value)


def _all_run_or_server(quantity: BoundedQuantity, scenario: Scenario) -> bool:
    """Whether it makes no difference that clients outside the cohort train as well.

    It makes none if there are no such clients, or if clients are stateless and the server's model is evaluated.
    """
    known = {"clients", "cohort"} <= scenario.keys() and scenario.sampling == WITHOUT_REPLACEMENT
    all_run = known and scenario["cohort"].value == scenario["clients"].value
    plain = scenario.base == FEDAVG and all(scenario[knob].value == off for _, knob, off in KNOBS)
    return bool(all_run or (quantity.at in SERVER_SIDE and plain))


def _known(scenario: Scenario, word: str) -> bool:
    """Whether a finite, valid value of this constant is known."""
    constant = scenario.get(word)
    return constant is not None and not constant.only_estimated and bool(np.all(np.isfinite(constant.safe)))


def _ends_with_round(quantity: BoundedQuantity, scenario: Scenario) -> bool:
    """Whether the last iteration completes a round, so that the last model is the server's."""
    if not {"iterations", "local_steps", "rounds"} <= scenario.keys():
        return False
    steps = scenario["local_steps"].value * scenario["rounds"].value
    whole = math.isclose(scenario["iterations"].value, steps, rel_tol=ROUNDING)
    return whole and (quantity.at == SERVER or full_participation(scenario))


def _one_step(scenario: Scenario) -> bool:
    return "local_steps" in scenario and bool(scenario["local_steps"].value == 1)


def _controls_cancel(_: BoundedQuantity, scenario: Scenario) -> bool:
    """Whether SCAFFOLD's corrections sum to zero before any client takes a second step."""
    weights = scenario.get("client_weight")
    equal = weights is not None and bool(np.ptp(np.asarray(weights.value)) <= ROUNDING)
    alone = "clients" in scenario and scenario["clients"].value == 1
    plain = scenario["server_step_size"].value == 1 and full_participation(scenario)
    return bool(plain and (alone or (_one_step(scenario) and equal)))


def _is_off(knob: str, off: float) -> Needs:
    return lambda _, s: s[knob].value == off


_SMOOTH: tuple[Needs, str] = (lambda _, s: _known(s, "smoothness"), "the global loss is smooth")
_STRONG: tuple[Needs, str] = (lambda _, s: _known(s, "strong_convexity"), "the global loss is strongly convex")
_ALL_CLIENTS: tuple[Needs, str] = (lambda _, s: full_participation(s), "all clients take part")
_STEPPED = {"over": AFTER}

OTHER_METHOD = "C12"
CONVERSIONS: tuple[Conversion, ...] = (
    Conversion("C1", {"statistic": "mean"}, {"statistic": "min"}, unless=_STEPPED),
    Conversion("C1", {"statistic": WEIGHTED_MEAN}, {"statistic": "min", "weights": ""}, unless=_STEPPED),
    Conversion("C1", {"statistic": "mean", **_STEPPED}, {"statistic": "min", "over": "iterations"},
               sp.S.One, *_ALL_CLIENTS),
    Conversion("C1", {"statistic": WEIGHTED_MEAN, **_STEPPED},
               {"statistic": "min", "over": "iterations", "weights": ""},
               sp.S.One, *_ALL_CLIENTS),
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
                   needs=_ends_with_round, words="all clients take part and the run ends with a round", renames=True)
        for at in (VIRTUAL, SERVER)
    ),
    *(
        Conversion("C14", {"statistic": kind, "over": "iterations", "at": at},
                   {"over": WITH_LAST if kind == "min" else "rounds", "at": SERVER},
                   needs=lambda c, s: _one_step(s) and (c.at == SERVER or full_participation(s)),
                   words="all clients take part with one local step a round", renames=True)
        for at in (VIRTUAL, SERVER)
        for kind in ("last", "min", "mean", "expectation", WEIGHTED_MEAN, WEIGHTED_DRAW, WEIGHTED)
    ),
    *(
        Conversion(OTHER_METHOD, {"algorithm": name}, {"algorithm": FEDAVG}, needs=_is_off(knob, off),
                   words=f"{knob} is {off}: then {name} is FedAvg")
        for name, knob, off in KNOBS
    ),
    Conversion(OTHER_METHOD, {"algorithm": SCAFFOLD, "at": SERVER}, {"algorithm": FEDAVG}, needs=_controls_cancel,
               words="all clients take part with equal weights and one local step per round, or there is only one "
               "client: then scaffold is FedAvg"),
    Conversion(OTHER_METHOD, {"reading": "proof"}, {"reading": "intended"}, needs=_all_run_or_server,
               words="all clients take part, or the bound is on the server's model and clients are stateless"),
)  # fmt: skip
"""The allowed steps between bounded quantities. ``NEVER`` lists steps that look plausible and are wrong."""
MEANING: dict[str, str] = {
    "C1": "the minimum is at most the mean",
    "C2": "the expectation at a random model of the run is the mean; the minimum is at most the value at any model",
    "C3": "a sum weighted by a fixed step size, divided by the sum of the weights",
    "C4": "the average of all clients passes through every server model",
    "C5": "a squared gradient norm is at most 2L times the optimality gap",
    "C6": "an optimality gap is at most the squared gradient norm over 2 mu",
    "C7": "between the distance and the gap or the gradient, by L or mu",
    "C9": "the value of a convex loss at the averaged model is at most the mean of its values, by the same weights",
    "C10": "stability bounds the generalization gap",
    "C11": "the mean of the clients' models minimises the mean squared distance to them",
    OTHER_METHOD: "another algorithm, or another reading of it, that does the same here",
    "C13": "after a round in which all clients take part, their average is the server's model",
    "C14": "with full participation and one local step, a round is an iteration",
    "C15": "with full participation and one local step, a round is a step of SGD on one machine",
}
"""The meaning of every conversion, by name. C15 is that of ``bounds.one_machine``."""


_Fields = Mapping[str, str]
NEVER: tuple[tuple[_Fields, _Fields, str], ...] = (
    ({"statistic": "min"}, {"statistic": "last"}, "the minimum over a run does not bound its last model"),
    ({"statistic": "mean"}, {"statistic": "last"}, "the mean over a run does not bound its last model"),
    ({"statistic": WEIGHTED_MEAN}, {"statistic": "last"}, "the mean over a run does not bound its last model"),
    (
        {"statistic": "mean", "over": "iterations"},
        {"over": AFTER},
        "the mean before the steps includes the first model, not the last one",
    ),
    (
        {"statistic": "mean", "over": AFTER},
        {"statistic": "mean", "over": "iterations"},
        "the mean after the steps includes the last model, not the first one",
    ),
    (
        {"statistic": "mean", "over": AFTER},
        {"statistic": "expectation"},
        "the average is over the models before the steps, the mean over those after them",
    ),
    ({"at": VIRTUAL}, {"at": SERVER}, "the average of all clients is not a model of the server"),
    ({"over": ONE_AVERAGING}, {"over": "rounds"}, "it is about one averaging round, not about a run of several"),
    ({"target": "divergence"}, {"target": "active_divergence"}, "it is about all clients, not only the participants"),
    ({"target": "active_divergence"}, {"target": "divergence"}, "it is about the participants, not all clients"),
    ({"target": "next_divergence"}, {"target": "divergence"}, "it is about one step, given the divergence before"),
    ({"target": "next_distance_sq"}, {"target": "distance_sq"}, "it is about one step, given the distance before"),
    ({"target": "out_of_sample_gap"}, {"target": "generalization_gap"}, "it leaves out clients that never take part"),
    ({"target": "participation_gap"}, {"target": "generalization_gap"}, "it leaves out the gap of the participants"),
    (
        {"target": "round_averaged_gap"},
        {"target": "generalization_gap"},
        "it evaluates every round on the samples of that round only",
    ),
    ({"target": "train_loss"}, {"target": "test_loss"}, "a training loss does not bound a test loss"),
)
"""Invalid steps: fields of one bounded quantity, fields of another, and why the first does not bound the second.

Nor does anything lead from decreasing step sizes to fixed ones, from an exact local solver to K steps, or from a rate
to a value; conditions and relations of the bounds exclude these. Over seeds, the mean of the minima is at most the
minimum of the means, so a bound on the latter bounds the former and not conversely."""


def never(quantity: BoundedQuantity, **fields: str) -> str:
    """Return why ``quantity`` does not bound one with these ``fields``, or an empty string if nothing forbids it.

    >>> never(BoundedQuantity("grad_norm_sq", "min", "rounds", SERVER, "fedavg", "intended"), statistic="last")
    'the minimum over a run does not bound its last model'
    """
    for source, result, why in NEVER:
        if all(getattr(quantity, name) == word for name, word in source.items()) and result.items() <= fields.items():
            return why
    return ""


def mismatch(quantity: BoundedQuantity, scenario: Scenario) -> str:
    """Return why a quantity is not one of the scenario's own run, or an empty string if it is."""
    if not quantity.algorithm:
        return "it names no method: declare about=About(...), such as About('fedavg')"
    if quantity.algorithm != scenario.algorithm or quantity.reading != "intended":
        reading = "" if quantity.reading in ("", "intended") else f" (reading: {quantity.reading})"
        return f"it is about {quantity.algorithm}{reading}"
    if not quantity.statistic:
        return "it does not say which models of a run it bounds: declare statistic=Statistic(...)"
    if quantity.statistic == WEIGHTED:
        return "it does not say which models of a run it bounds"
    if quantity.statistic == "every":
        return "it is about one step of a run, given the state before it"
    several = "rounds" in scenario and scenario["rounds"].value != 1
    return never(quantity, over="rounds") if several else ""


@dataclass(frozen=True)
class Route:
    """Conversions (``steps``, by name ``names``) to the quantity ``to``, with the product of their factors.

    ``trusted`` lists the premises that had to be assumed.
    """

    to: BoundedQuantity
    names: tuple[str, ...] = ()
    factor: float = 1.0
    trusted: tuple[str, ...] = ()
    steps: tuple[Conversion, ...] = ()


@cache
def _moves(quantity: BoundedQuantity) -> tuple[tuple[Conversion, BoundedQuantity], ...]:
    """Return the conversions that start from a quantity, each with the quantity it leads to."""
    return tuple((conversion, conversion.apply(quantity)) for conversion in CONVERSIONS if conversion.fits(quantity))


Refusal = tuple[str, str]
"""The name of a conversion that the scenario does not allow, and why."""


def routes(start: BoundedQuantity, scenario: Scenario) -> tuple[list[Route], list[Refusal]]:
    """Return the shortest route to every quantity that can be reached, and the steps that were refused.

    The first route is the empty one, at ``start`` (unless that quantity is known by another name).
    """
    found = {start: Route(start)}
    refused: list[Refusal] = []
    renamed: set[BoundedQuantity] = set()
    queue = [found[start]]
    while queue:
        here = queue.pop(0)
        for conversion, other in _moves(here.to):
            if other in found and not conversion.renames:
                continue
            if why := conversion.refusal(here.to, scenario):
                refused.append((conversion.name, why))
                continue
            if conversion.renames:
                renamed.add(here.to)
            if other in found:
                continue
            names = here.names if conversion.name in here.names else (*here.names, conversion.name)
            trusted = (*here.trusted, *conversion.assumed_premises(scenario))
            factor = here.factor * conversion.at(scenario)
            found[other] = Route(other, names, factor, trusted, (*here.steps, conversion))
            queue.append(found[other])
    return [route for route in found.values() if route.to not in renamed], list(dict.fromkeys(refused))


# ---- conditions in words that the plan decides ----


def implicit_conditions(bound: Bound) -> tuple[Condition, ...]:
    """Return equal weights, unless they are stated, if the bound depends on the number of clients, not on weights."""
    names = {each.name for each in bound.quantities}
    unweighted = bool(names & {"clients", "cohort"}) and "client_weight" not in names
    stated = any(condition.words == EQUAL_WEIGHTS.words for condition in bound.conditions)
    return (EQUAL_WEIGHTS,) if unweighted and not stated else ()


def sides_of(condition: Condition, scenario: Scenario) -> tuple[float, float] | None:
    """Return both sides of a condition that is given in words, or None if the scenario does not decide it.

    The condition holds if the sides are equal. Both are NaN if it fails for another reason, as a step size that falls
    does for a fixed one in a run of more than one step.
    """
    fixed = {"step_size", "iterations"} <= scenario.keys()
    if condition == DECAYING_STEP and fixed and scenario["iterations"].value > 1:
        return math.nan, math.nan
    if condition.sides is None or any(each.name not in scenario for each in quantities_of(condition.sides)):
        return None
    known = {each.name: scenario[each.name].value for each in quantities_of(condition.sides)}
    with np.errstate(all="ignore"):  # a step size of the form c/sigma is infinite without noise
        left, right = (float(evaluated(side, known)) for side in condition.sides)
    return left, right
