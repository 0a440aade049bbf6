"""Whether a bound can be held against a kind of evidence: measured, searched, bounded from above. If not, why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bounds.assumptions import FULL_PARTICIPATION, HARMONIC_STEP_SIZE, ONE_CLIENT, SAMPLED_WITH_REPLACEMENT
from bounds.classics.scaffold import WARM_START
from bounds.core import Bound
from bounds.fedals.quadratic import SQUARED_DISTANCE

from . import schedules, words
from .methods import controlled, linear, LOCAL
from .readings import ALONG
from .words import along, AVERAGE, ENDS, giver, readable, WORDS

CHOICE_OF_STEP = "the step size is "
"""How conditions in words begin that put in a step size of their own."""
STEPS = ("step_size", "squared_step_sizes")
LENGTHS = ("rounds", "iterations")
MODELS_KEPT = ("divergence", "active_divergence", "global_step", "step_alignment", "mean_update_sq", "relaxation")
"""What the falsifier reads off the clients' last models, or off who moved how far."""


@dataclass(frozen=True)
class Evidence:
    """What one kind of evidence can say; ``where`` ends the sentence that nothing reads a word there.

    ``methods`` are those it runs (None: any), ``linear``: of those the linear ones; ``over`` and ``kinds`` the
    statistics it has; ``folded``: a bound must have one. ``stepped`` are the bounds that must mention a step size: all,
    or those on the length of a run.
    """

    name: str
    where: str
    relations: tuple[str, ...] = ("<=", "=", ">=", "<~")
    given: bool = False
    """Whether quantities of the bound may have been fixed."""
    methods: tuple[str, ...] | None = None
    linear: bool = False
    named: bool = True
    """Whether the bound must say which method it is about."""
    over: tuple[str, ...] = ("", "rounds", "iterations")
    kinds: tuple[str, ...] = ("last", "min", "mean", "every", "expectation")
    folded: bool = False
    stepped: str = ""


SERVABLE = ("<=", "=", ">=")
"""Relations that a single number can violate."""
EVIDENCE = {
    e.name: e
    for e in (
        Evidence(words.RUNS, "a run", given=True, named=False,
                 over=("", "rounds", "iterations", "the training samples")),
        Evidence(words.EXACT, "an exact run", ("<=",), given=True, linear=True, over=("rounds", "iterations"),
                 folded=True, stepped="all"),
        Evidence(words.QUADRATICS, "a run", SERVABLE, linear=True, named=False, stepped="long"),
        Evidence(words.CURVES, "a run", SERVABLE, methods=LOCAL, named=False, stepped="long"),
        Evidence(words.ATOMS, "one round of learning", SERVABLE, methods=("fedavg",),
                 over=("", "rounds", "the training samples"), kinds=("expectation", "mean"), folded=True),
        Evidence(words.WORST, "a worst case", ("<=",), linear=True, stepped="all"),
    )
}  # fmt: skip


def can(bound: Bound, evidence: str) -> str:
    """Why this kind of evidence can say nothing about the bound, in words; empty where it can."""
    kind = EVIDENCE[evidence]
    return next((reason for rule in RULES if (reason := rule(bound, kind))), "")


def _stated(bound: Bound, kind: Evidence) -> str:
    if bound.relation not in kind.relations:
        if bound.relation == "<~":
            return "it hides a constant (O of something), so that no single number can violate it"
        return f"it states {bound.relation!r}, not an upper bound"
    if bound.given and not kind.given:
        return f"it has fixed values ({', '.join(bound.given)}) which instances would have to meet"
    return ""


def _target(bound: Bound, kind: Evidence) -> str:
    if not readable(bound.target.name, kind.name, along(bound)):
        return f"nothing reads {bound.target.name} off {kind.where}" + (f", {bound.statistic}" if along(bound) else "")
    if kind.name == words.RUNS and bound.target.card.axis:
        return f"it bounds {bound.target.name} of every one of the {bound.target.card.axis}, not of the run"
    return ""


def _signed(bound: Bound, kind: Evidence) -> str:
    if kind.name == words.WORST and bound.target.card.domain.contains(np.array([-1.0])).all():
        return f"{bound.target.name} may be negative: no ratio says how far a worst case is from the bound"
    return ""


def _statistic(bound: Bound, kind: Evidence) -> str:
    at = bound.statistic
    if at is None:
        return "it does not say which statistic of a run it is on" if kind.folded else ""
    if at.over not in kind.over or at.kind not in kind.kinds:
        return f"its statistic is {at}, which nothing reads off {kind.where}"
    if kind.name == words.RUNS and along(bound) and at.kind in ("every", "last"):
        return f"its statistic is {at}, and training reads means and least values along local steps alone"
    return ""


def _method(bound: Bound, kind: Evidence) -> str:
    about = bound.about
    if about is None:
        return "it names no method" if kind.named else ""
    if (kind.methods is not None and about.algorithm not in kind.methods) or (kind.linear and not linear(about)):
        return f"it is about {about.algorithm}, of which there is no such evidence"
    return ""


def _distances(bound: Bound, kind: Evidence) -> str:
    if kind.name == words.RUNS and any(c.words == SQUARED_DISTANCE.words for c in bound.conditions):
        return f"it needs that {SQUARED_DISTANCE.words}, which no trained model has"
    return ""


def _step(bound: Bound, kind: Evidence) -> str:
    names = {q.name for q in bound.quantities}
    if schedules.harmonic(bound):
        return schedules.open_knobs(bound)
    own = [c.words for c in bound.conditions if c.kind == "words" and c.words.startswith(CHOICE_OF_STEP)]
    lacking = not names & {*STEPS} and (kind.stepped == "all" or (kind.stepped == "long" and bool(names & {*LENGTHS})))
    if lacking or (own and kind.name == words.RUNS):
        return "it has put in a step size of its own" + (f": {own[0]}" if own else "")
    if falling := sorted(names & {schedules.SCALE, schedules.OFFSET}):
        return f"it speaks of {', '.join(falling)} and does not assume that {HARMONIC_STEP_SIZE.words}"
    return ""


def _averaged(bound: Bound, kind: Evidence) -> str:
    row = WORDS.get(bound.target.name)
    if row is None or row.how not in (ENDS, AVERAGE):
        return ""
    weights = None if bound.statistic is None else bound.statistic.weights
    if kind.name == words.RUNS and row.how == AVERAGE and weights and (told := {*weights.words} & {*LENGTHS}):
        return f"its weights change with {min(told)}, and {row.name} is read off a run while it goes on"
    assumed = {c.assumption for c in bound.conditions}
    if assumed & {FULL_PARTICIPATION, ONE_CLIENT}:
        return ""
    return f"it does not assume that all clients take part: {row.name} is read off runs of all of them"


def _drawn(bound: Bound, kind: Evidence) -> str:
    if kind.name == words.WORST and any(c.assumption is SAMPLED_WITH_REPLACEMENT for c in bound.conditions):
        return "its participants are drawn with replacement, and in a worst case all clients take part"
    return ""


def _controls(bound: Bound, kind: Evidence) -> str:
    if any(c.words == WARM_START.words for c in bound.conditions):
        return f"it needs that {WARM_START.words}, and here controls start at zero"
    if kind.name != words.QUADRATICS or not controlled(bound.about):
        return ""
    if schedules.harmonic(bound):
        return f"its step size falls, and {bound.about} is searched with one step size"
    told = {bound.target.name, *(q.name for q in bound.quantities)}
    lacking = sorted(word for word in told if {word, WORDS[word].of} & {*MODELS_KEPT} or WORDS[word].how == AVERAGE)
    return f"nothing reads {', '.join(lacking)} off searched runs of {bound.about}" if lacking else ""


def _words(bound: Bound, kind: Evidence) -> str:
    iterated = along(bound)
    missing = [q.name for q in bound.quantities if not _given(q.name, kind.name, iterated)]
    return f"neither problem, setting nor run gives {', '.join(missing)}" if missing else ""


def _given(word: str, evidence: str, iterated: bool) -> bool:
    """Whether there is a value of a word beside the target; the falsifier reads all of a bound at the same moments."""
    who = giver(word, evidence)
    along_too = iterated and word in ALONG and readable(word, evidence, iterated)
    if evidence in words.SEARCHED and iterated and who in ("", words.RUN):
        return word == "grad_cap_sq" or along_too
    return bool(who) or (evidence == words.EXACT and along_too)


RULES: tuple[Callable[[Bound, Evidence], str], ...] = (
    _stated, _target, _signed, _statistic, _distances, _step, _averaged, _drawn, _words, _controls, _method,
)  # fmt: skip
