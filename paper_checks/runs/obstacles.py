"""Why a bound cannot be compared with a kind of evidence: training, exact moments, a search or a worst case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bounds.assumptions import FULL_PARTICIPATION, HARMONIC_STEP_SIZE, ONE_CLIENT, SAMPLED_WITH_REPLACEMENT
from bounds.classics.scaffold import WARM_START
from bounds.core import Bound
from bounds.fedals.quadratic import SQUARED_DISTANCE
from bounds.fedinit.orders import STEP_WORDS
from bounds.vocabulary import step_size

from . import origins, schedules
from .methods import keeps_state, linear, LOCAL
from .origins import AVERAGE, ENDS, measurable, on_local_iterations, origin, ORIGINS
from .readings import ALONG

STEPS = ("step_size", "squared_step_sizes")
LENGTHS = ("rounds", "iterations")
MODELS_KEPT = ("divergence", "active_divergence", "global_step", "step_alignment", "mean_update_sq", "relaxation")
"""Quantities that the falsifier computes from the clients' last models or from how far each client moved."""


@dataclass(frozen=True)
class EvidenceRules:
    """What one kind of evidence measures, ``where`` it does ("a run"), and what it requires of a bound.

    A bound must have one of the ``relations``; its quantities may be fixed if ``given``; it must name an algorithm if
    ``named``: one of ``methods`` (None: any), which only adds and scales models and gradients if ``linear``. Its
    statistic must be among ``kinds`` and ``over``, and present if ``folded``. It must use a step size if ``stepped`` is
    "all", or "long" and it uses the length of a run.
    """

    name: str
    where: str
    relations: tuple[str, ...] = ("<=", "=", ">=", "<~")
    given: bool = False
    methods: tuple[str, ...] | None = None
    linear: bool = False
    named: bool = True
    over: tuple[str, ...] = ("", "rounds", "iterations")
    kinds: tuple[str, ...] = ("last", "min", "mean", "every", "expectation")
    folded: bool = False
    stepped: str = ""


SERVABLE = ("<=", "=", ">=")
"""Relations that a single number can violate."""
EVIDENCE = {
    e.name: e
    for e in (
        EvidenceRules(origins.RUNS, "a run", given=True, named=False,
                      over=("", "rounds", "iterations", "the training samples")),
        EvidenceRules(origins.EXACT, "an exact run", ("<=",), given=True, linear=True, over=("rounds", "iterations"),
                      folded=True, stepped="all"),
        EvidenceRules(origins.QUADRATICS, "a run", SERVABLE, linear=True, named=False, stepped="long"),
        EvidenceRules(origins.CURVES, "a run", SERVABLE, methods=LOCAL, named=False, stepped="long"),
        EvidenceRules(origins.ATOMS, "one round of learning", SERVABLE, methods=("fedavg",),
                      over=("", "rounds", "the training samples"), kinds=("expectation", "mean"), folded=True),
        EvidenceRules(origins.WORST, "a worst case", ("<=",), linear=True, stepped="all"),
    )
}  # fmt: skip


def obstacle(bound: Bound, evidence: str) -> str:
    """Why a bound cannot be compared with this kind of evidence; empty if it can."""
    return next(_reasons(bound, EVIDENCE[evidence]), "")


def _reasons(bound: Bound, kind: EvidenceRules) -> Iterator[str]:
    target, statistic, row = bound.target.name, bound.statistic, ORIGINS.get(bound.target.name)
    runs, iterated = kind.name == origins.RUNS, on_local_iterations(bound)
    names = {q.name for q in bound.quantities}
    conditions, assumed = {c.words for c in bound.conditions}, {c.assumption for c in bound.conditions}
    # relation and target
    if bound.relation not in kind.relations:
        yield ("it hides a constant (O of something), so no single number can violate it" if bound.relation == "<~"
               else f"it states {bound.relation!r}, not an upper bound")  # fmt: skip
    if bound.given and not kind.given:
        yield f"it fixes {', '.join(bound.given)}, which instances would have to match"
    if not measurable(target, kind.name, iterated):
        yield f"{target} is not measured in {kind.where}" + (f", {statistic}" if iterated else "")
    if runs and bound.target.card.axis:
        yield f"it bounds {target} of each of the {bound.target.card.axis}, not of the run"
    if kind.name == origins.WORST and bound.target.card.domain.contains(np.array([-1.0])).all():
        yield f"{target} may be negative, so its ratio to the bound has no meaning"
    # statistic
    if statistic is None:
        if kind.folded:
            yield "it does not state its statistic over the run"
    elif statistic.over not in kind.over or statistic.kind not in kind.kinds:
        yield f"its statistic is {statistic}, which is not measured in {kind.where}"
    elif runs and iterated and statistic.kind in ("every", "last"):
        yield f"its statistic is {statistic}, and training measures only means and minima along local steps"
    if runs and SQUARED_DISTANCE.words in conditions:
        yield f"it needs that {SQUARED_DISTANCE.words}, which holds for no trained model"
    # step sizes
    if schedules.harmonic(bound):
        if unknown_steps := schedules.open_knobs(bound):
            yield unknown_steps
    else:
        own = [c.words for c in bound.conditions if c == STEP_WORDS or (c.sides and c.sides[0] == step_size)]
        stepped = kind.stepped == "all" or (kind.stepped == "long" and bool(names & {*LENGTHS}))
        if (stepped and not names & {*STEPS}) or (own and runs):
            yield f"it substitutes a step size of its own: {own[0]}" if own else "step_size is none of its quantities"
        if falling := sorted(names & {schedules.SCALE, schedules.OFFSET}):
            yield f"it uses {', '.join(falling)} and does not assume that {HARMONIC_STEP_SIZE.words}"
    # models and clients
    if row is not None and row.how in (ENDS, AVERAGE):
        weights = None if statistic is None else statistic.weights
        if runs and row.how == AVERAGE and weights and (lengths := {*weights.words} & {*LENGTHS}):
            yield f"its weights depend on {min(lengths)}, and {row.name} is measured during the run"
        if not assumed & {FULL_PARTICIPATION, ONE_CLIENT}:
            yield f"it does not assume full participation, and {row.name} is measured with all clients only"
    if kind.name == origins.WORST and SAMPLED_WITH_REPLACEMENT in assumed:
        yield "its participants are drawn with replacement, and in a worst case all clients take part"
    # quantities and control variates
    if missing := [q.name for q in bound.quantities if not _known(q.name, kind.name, iterated)]:
        yield f"neither the problem nor the plan nor the run determines {', '.join(missing)}"
    if WARM_START.words in conditions:
        yield f"it needs that {WARM_START.words}, and here controls start at zero"
    if kind.name == origins.QUADRATICS and keeps_state(bound.about):
        if schedules.harmonic(bound):
            yield f"its step size decreases, and {bound.about} is searched with constant step sizes"
        unmeasured = [name for name in sorted({target, *names})
                      if {name, ORIGINS[name].of} & {*MODELS_KEPT} or ORIGINS[name].how == AVERAGE]  # fmt: skip
        if unmeasured:
            yield f"{', '.join(unmeasured)} is not measured in searched runs of {bound.about}"
    # algorithm
    if bound.about is None:
        if kind.named:
            yield "it names no algorithm"
    elif (kind.methods is not None and bound.about.algorithm not in kind.methods) or (
        kind.linear and not linear(bound.about)
    ):
        yield f"it is about {bound.about.algorithm}, which this kind of evidence does not cover"


def _known(quantity: str, evidence: str, iterated: bool) -> bool:
    """Whether a quantity on the right side has a value; the falsifier measures it at the same moments as the target."""
    source = origin(quantity, evidence)
    at_iterations = iterated and quantity in ALONG and measurable(quantity, evidence, iterated)
    if evidence in origins.SEARCHED and iterated and source in ("", origins.RUN):
        return quantity == "grad_cap_sq" or at_iterations
    return bool(source) or (evidence == origins.EXACT and at_iterations)
