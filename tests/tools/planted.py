"""Statements whose truth is known, true and false: what the falsifier is measured by.

The true ones are textbook inequalities, most of them tight, and statements of the papers with a proof that was checked.
A false one is a true one with its tight constant cut, a needed condition or term left out, or a statement that an
exact counterexample refutes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from bounds.assumptions import FULL_PARTICIPATION, POLYAK_LOJASIEWICZ, STRONGLY_CONVEX
from bounds.catalog import get
from bounds.core import About, Bound, Condition, Statistic
from bounds.operators import ClientMean, ClientSum
from bounds.papers import Source
from bounds.quantities import Quantity
from bounds.vocabulary import (
    client_gradient_variance as s_k,
    client_weight as p_k,
    distance_sq,
    global_step,
    grad_norm_sq as g,
    gradient_variance,
    initial_gap,
    local_drift,
    local_gap,
    local_steps as K,
    loss_change,
    loss_decrease,
    mean_client_grad_sq,
    next_distance_sq,
    optimality_gap,
    pl_constant,
    rounds as R,
    smoothness as L,
    step_size as eta,
    strong_convexity as mu,
)
from paper_checks.falsifier.witness import loaded

CUT = sp.Rational(99, 100)
"""What is left of a tight constant."""

EVERY = Statistic("every", "rounds", "server model")
ALONG = Statistic("every", "iterations", "virtual average of all clients")
ONE_STEP = Condition("one local step", K <= 1)
SMALL = Condition("the step size is at most 1/L", eta * L <= 1)
FULL = Condition.assume(FULL_PARTICIPATION)
CONVEX = Condition.assume(STRONGLY_CONVEX)
NOISE = ClientSum(p_k**2 * s_k)


def textbook(name: str, target: Quantity, terms: dict[str, sp.Expr], *conditions: Condition, **fields: object) -> Bound:
    """A textbook inequality as a bound on a run of FedAvg."""
    given = {"statistic": EVERY, "about": About("fedavg"), **fields}
    return Bound("known." + name, target, terms, Source("textbook", name), conditions, **given)  # type: ignore[arg-type]


TIGHT: dict[str, Bound] = {
    b.name.removeprefix("known."): b
    for b in (
        textbook("gradient_by_gap", g, {"gap": 2 * L * optimality_gap}),
        textbook("gap_by_gradient", optimality_gap, {"gradient": g / (2 * pl_constant)},
                 Condition.assume(POLYAK_LOJASIEWICZ)),
        textbook("jensen", g, {"clients": mean_client_grad_sq}),
        textbook("step_length", global_step, {"gradient": eta**2 * g, "noise": eta**2 * NOISE}, ONE_STEP, FULL),
        textbook("contraction", next_distance_sq,
                 {"distance": (1 - eta * mu) ** 2 * distance_sq, "noise": eta**2 * NOISE},
                 ONE_STEP, FULL, SMALL, CONVEX, statistic=ALONG),
        textbook("descent", loss_change, {"gradient": -eta * (1 - L * eta / 2) * g, "noise": L * eta**2 / 2 * NOISE},
                 ONE_STEP, FULL, signed=("gradient",)),
        textbook("drift_of_two_steps", local_drift, {"first step": eta**2 * (mean_client_grad_sq + gradient_variance)},
                 Condition("two local steps", K <= 2)),
        textbook("decrease", g, {"decrease": loss_decrease / (eta * (1 - L * eta / 2)),
                                 "noise": L * eta * NOISE / (2 - L * eta)},
                 ONE_STEP, FULL, Condition("the step size is below 2/L", eta * L < 2), signed=("decrease",)),
    )
}  # fmt: skip
"""True inequalities that some quadratic federation meets with equality."""

LOOSE: dict[str, Bound] = {
    b.name.removeprefix("known."): b
    for b in (
        textbook("mean_gradient", g, {"start": 2 * initial_gap / (eta * R), "noise": L * eta * NOISE},
                 ONE_STEP, FULL, SMALL, statistic=Statistic("mean", "rounds", "server model")),
        textbook("smallest_gradient", g, {"start": 2 * initial_gap / (eta * R), "noise": L * eta * NOISE},
                 ONE_STEP, FULL, SMALL, statistic=Statistic("min", "rounds", "server model")),
        textbook("linear_rate", optimality_gap,
                 {"start": (1 - eta * pl_constant) ** R * initial_gap, "noise": L * eta * NOISE / (2 * pl_constant)},
                 ONE_STEP, FULL, SMALL, statistic=Statistic("last", "rounds", "server model")),
        textbook("gap_by_local_gaps", get("fedals.gaussian_mean_gap").target,
                 {"clients": L / mu * ClientMean(local_gap)}, *get("fedals.gaussian_mean_gap").conditions,
                 statistic=get("fedals.gaussian_mean_gap").statistic),
    )
}  # fmt: skip
"""True inequalities with room to spare."""

TIGHT_PAPERS = (
    "fedals.one_round", "fedals.participation_case1_counted", "fedals.gaussian_mean_bound", "fedals.gaussian_mean_gap",
    "decaying_k.lemma_1", "fedcog.smoothness_step", "fedcog.dissimilarity",
)  # fmt: skip
LOOSE_PAPERS = (
    "fedals.one_round_inexact", "fedals.gaussian_mean_local_gap", "fedals.participation_gap_quadratic",
    "fedinit.lemma_2", "fedinit.lemma_3", "fedinit.theorem_4_recursion", "fedcog.theorem", "fedcog.descent",
    "fedcog.mean_update", "fedcog.gradient_drift", "fedcog.descent_one_round",
)  # fmt: skip


def cut(bound: Bound, factor: sp.Expr = CUT) -> Bound:
    """The bound with every nonnegative term times a factor below one; an equation becomes an inequality."""
    scaled = {n: (t / factor if n in bound.signed else t * factor) for n, t in bound.terms.items()}
    return replace(bound, terms=scaled, relation="<=", off_by={})


def dropping(bound: Bound, words: str) -> Bound:
    """The bound without the condition of these words."""
    kept = tuple(c for c in bound.conditions if c.words != words)
    if len(kept) == len(bound.conditions):
        raise ValueError(f"{bound.name} has no condition {words!r}")
    return replace(bound, conditions=kept)


def shortened(bound: Bound, term: str) -> Bound:
    """The bound without one of its terms."""
    terms = {n: t for n, t in bound.terms.items() if n != term}
    if len(terms) == len(bound.terms):
        raise ValueError(f"{bound.name} has no term {term!r}")
    return replace(bound, terms=terms, signed=tuple(n for n in bound.signed if n in terms), off_by={})


def true_statements() -> dict[str, Bound]:
    """Thirty statements that hold."""
    return {**TIGHT, **LOOSE, **{name: get(name) for name in (*TIGHT_PAPERS, *LOOSE_PAPERS)}}


def false_statements() -> dict[str, Bound]:
    """Thirty statements that do not hold, by what was done to them."""
    full, step = FULL_PARTICIPATION.words, ONE_STEP.words
    small = SMALL.words
    removed: dict[str, Callable[[], Bound]] = {
        "step_length, any number of steps": lambda: dropping(TIGHT["step_length"], step),
        "step_length, part of the clients": lambda: dropping(TIGHT["step_length"], full),
        "step_length, no noise term": lambda: shortened(TIGHT["step_length"], "noise"),
        "contraction, any number of steps": lambda: dropping(TIGHT["contraction"], step),
        "contraction, part of the clients": lambda: dropping(TIGHT["contraction"], full),
        "contraction, any step size": lambda: dropping(TIGHT["contraction"], small),
        "contraction, no noise term": lambda: shortened(TIGHT["contraction"], "noise"),
        "descent, part of the clients": lambda: dropping(TIGHT["descent"], full),
        "descent, no noise term": lambda: shortened(TIGHT["descent"], "noise"),
        "drift, any number of steps": lambda: dropping(TIGHT["drift_of_two_steps"], "two local steps"),
        "mean_gradient, part of the clients": lambda: dropping(LOOSE["mean_gradient"], full),
        "linear_rate, no noise term": lambda: shortened(LOOSE["linear_rate"], "noise"),
        "one_round, no non-iidness term": lambda: shortened(get("fedals.one_round"), "non-iidness"),
        "fedcog.smoothness_step_printed": lambda: get("fedcog.smoothness_step_printed"),
        "fedals.one_round_iid_claimed": lambda: get("fedals.one_round_iid_claimed"),
        "fedals.participation_case1": lambda: get("fedals.participation_case1"),
        "fedals.participation_gap": lambda: get("fedals.participation_gap"),
        "decaying_k.lemma_1, its own G": lambda: loaded("decaying_k.lemma_1", ["decaying_k.gradient_cap"]),
    }
    tight = {**TIGHT, **{name: get(name) for name in TIGHT_PAPERS}}
    chosen = [
        name for name in tight if name not in ("decrease", "fedals.gaussian_mean_gap", "fedals.gaussian_mean_bound")
    ]
    return {
        **{f"{name}, constant cut": cut(tight[name]) for name in chosen},
        **{name: make() for name, make in removed.items()},
    }
