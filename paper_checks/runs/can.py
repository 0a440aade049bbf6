"""Whether a bound can be compared with a kind of evidence (measured, searched, bounded from above); if not, why."""

from __future__ import annotations

from collections.abc import Iterator
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
"""How conditions in words begin that substitute a step size of their own."""
STEPS = ("step_size", "squared_step_sizes")
LENGTHS = ("rounds", "iterations")
MODELS_KEPT = ("divergence", "active_divergence", "global_step", "step_alignment", "mean_update_sq", "relaxation")
"""What the falsifier reads off the clients' last models, or off who moved how far."""


@dataclass(frozen=True)
class Evidence:
    """What one kind of evidence measures, ``where`` it does.

    ``methods`` are the algorithms that it runs (None: any), ``over`` and ``kinds`` the statistics it has; ``folded``: a
    bound must have one. ``stepped`` are the bounds that must mention a step size: all, or those on the length of a run.
    """

    name: str
    where: str
    relations: tuple[str, ...] = ("<=", "=", ">=", "<~")
    given: bool = False
    """Whether quantities of the bound may have been fixed."""
    methods: tuple[str, ...] | None = None
    linear: bool = False
    """Whether it runs linear methods alone."""
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
    """Why a bound cannot be compared with this kind of evidence; empty where it can."""
    return next(_reasons(bound, EVIDENCE[evidence]), "")


def _reasons(bound: Bound, kind: Evidence) -> Iterator[str]:
    target, at, row, runs = bound.target.name, bound.statistic, WORDS.get(bound.target.name), kind.name == words.RUNS
    names, iterated = {q.name for q in bound.quantities}, along(bound)
    stated, assumed = {c.words for c in bound.conditions}, {c.assumption for c in bound.conditions}
    # what it states, and of what
    if bound.relation not in kind.relations:
        yield ("it hides a constant (O of something), so no single number can violate it" if bound.relation == "<~"
               else f"it states {bound.relation!r}, not an upper bound")  # fmt: skip
    if bound.given and not kind.given:
        yield f"it fixes {', '.join(bound.given)}, which instances would have to match"
    if not readable(target, kind.name, iterated):
        yield f"{target} is not measured in {kind.where}" + (f", {at}" if iterated else "")
    if runs and bound.target.card.axis:
        yield f"it bounds {target} of each of the {bound.target.card.axis}, not of the run"
    if kind.name == words.WORST and bound.target.card.domain.contains(np.array([-1.0])).all():
        yield f"{target} may be negative, so its ratio to the bound has no meaning"
    # by which statistic
    if at is None:
        yield from ["it does not state its statistic over the run"] * kind.folded
    elif at.over not in kind.over or at.kind not in kind.kinds:
        yield f"its statistic is {at}, which is not measured in {kind.where}"
    elif runs and iterated and at.kind in ("every", "last"):
        yield f"its statistic is {at}, and training measures only means and minima along local steps"
    if runs and SQUARED_DISTANCE.words in stated:
        yield f"it needs that {SQUARED_DISTANCE.words}, which holds for no trained model"
    # at which step sizes
    if schedules.harmonic(bound):
        yield from filter(None, [schedules.open_knobs(bound)])
    else:
        own = [c.words for c in bound.conditions if c.kind == "words" and c.words.startswith(CHOICE_OF_STEP)]
        stepped = kind.stepped == "all" or (kind.stepped == "long" and bool(names & {*LENGTHS}))
        if (stepped and not names & {*STEPS}) or (own and runs):
            yield "it substitutes a step size of its own" + (f": {own[0]}" if own else "")
        if falling := sorted(names & {schedules.SCALE, schedules.OFFSET}):
            yield f"it uses {', '.join(falling)} and does not assume that {HARMONIC_STEP_SIZE.words}"
    # at which models, with which clients
    if row is not None and row.how in (ENDS, AVERAGE):
        weights = None if at is None else at.weights
        if runs and row.how == AVERAGE and weights and (lengths := {*weights.words} & {*LENGTHS}):
            yield f"its weights depend on {min(lengths)}, and {row.name} is measured during the run"
        if not assumed & {FULL_PARTICIPATION, ONE_CLIENT}:
            yield f"it does not assume full participation, and {row.name} is measured with all clients only"
    if kind.name == words.WORST and SAMPLED_WITH_REPLACEMENT in assumed:
        yield "its participants are drawn with replacement, and in a worst case all clients take part"
    # with which quantities and controls
    if missing := [q.name for q in bound.quantities if not _known(q.name, kind.name, iterated)]:
        yield f"neither the problem nor the plan nor the run determines {', '.join(missing)}"
    if WARM_START.words in stated:
        yield f"it needs that {WARM_START.words}, and here controls start at zero"
    if kind.name == words.QUADRATICS and controlled(bound.about):
        if schedules.harmonic(bound):
            yield f"its step size decreases, and {bound.about} is searched with constant step sizes"
        told = sorted({target, *names})
        lacking = [word for word in told if {word, WORDS[word].of} & {*MODELS_KEPT} or WORDS[word].how == AVERAGE]
        yield from [f"{', '.join(lacking)} is not measured in searched runs of {bound.about}"] if lacking else []
    # of which algorithm
    if bound.about is None:
        yield from ["it names no algorithm"] * kind.named
    elif (kind.methods is not None and bound.about.algorithm not in kind.methods) or (
        kind.linear and not linear(bound.about)
    ):
        yield f"it is about {bound.about.algorithm}, which this kind of evidence does not cover"


def _known(word: str, evidence: str, iterated: bool) -> bool:
    """Whether a quantity beside the target has a value; the falsifier reads all quantities at the same moments."""
    who = giver(word, evidence)
    along_too = iterated and word in ALONG and readable(word, evidence, iterated)
    if evidence in words.SEARCHED and iterated and who in ("", words.RUN):
        return word == "grad_cap_sq" or along_too
    return bool(who) or (evidence == words.EXACT and along_too)
