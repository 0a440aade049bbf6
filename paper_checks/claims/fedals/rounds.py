"""Many rounds: Theorem 4.3 in both versions, its proof (54) to (58), and what the two versions read off it."""

from __future__ import annotations

import sympy as sp

from bounds.assumptions import BOUNDED_VARIANCE, FIXED_LOCAL_STEPS, FRESH_SAMPLES, LOCAL_SGD, SMOOTH, STRONGLY_CONVEX
from bounds.operators import ClientMean as E_k
from bounds.units import LOSS, ONE
from bounds.vocabulary import (
    client_weight as w,
    complexity as C,
    condition_number as kappa,
    grad_cap_sq as G_sq,
    gradient_variance as sigma_sq,
    initial_gap as gap,
    local_gap as Delta,
    local_steps as tau,
    local_suboptimality as epsilon,
    non_iidness as delta,
    samples_per_round as Z,
    smoothness as L,
    strong_convexity as mu,
)

from ..checkers import At, ImpliedBy, MeasuredIn, MonotoneIn, Readings, Requires, resolve, Same, term, Total, undecided
from ..claim import Book, Claim, Kind, Status
from .common import alike, shared, SOLVER
from .inexact import BOUND as INEXACT

V1, V2, PRINTED = "fedals.rounds_v1", "fedals.rounds_v2", "fedals.rounds_inexact_printed"
NOISE = sigma_sq / (mu * tau)
CLASS = sp.sqrt(C / Z)
A, B = CLASS + NOISE, delta + NOISE
"""Theorem 4.3, v2, the constants hidden in the O taken to be one."""


def positive(book: Book) -> sp.Expr:
    """The bound of v2 for equal clients, with positive quantities in place of those that may be zero (or negative)."""
    return At(alike(V2), {shared(delta): gap, C: kappa, sigma_sq: G_sq})(book)


def ratio(new: sp.Expr, old: sp.Expr) -> sp.Expr:
    return shared(new) / shared(old)


def _substituted(extra: sp.Expr) -> At:
    """(58): (38) with A in place of every Delta + 2 epsilon and B in place of every delta + epsilon."""
    return At(INEXACT, {Delta: A + extra - 2 * epsilon, delta: B + extra - epsilon})


STATEMENT_V2 = Claim(
    "fedals.theorem_4_3.v2",
    "The bound of v2 is (38) with A for gap and suboptimality, and B for non-iidness and suboptimality.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9); eq. (58)", "v2"),
    Same(V2, _substituted(sp.S.Zero)),
    note="Constants and logarithms are hidden; rounds are taken to be alike.",
)

STATEMENT_V1 = Claim(
    "fedals.theorem_4_3.v1",
    "The bound of v1 is (38) with A and B in which the condition number is added.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9); eq. (58)", "v1"),
    Same(V1, _substituted(L / mu)),
)


def _added(book: Book) -> sp.Expr:
    root = sp.sqrt((A + L / mu) * (B + L / mu)) - sp.sqrt(A * B)
    return E_k(2 * L * w**2 / mu * (L / mu)) + E_k(sp.sqrt(8 * L / mu) * w * root)


VERSIONS = Claim(
    "fedals.theorem_4_3.versions",
    "The bound of v1 is that of v2 with L/mu added inside A and B: larger, however many samples a round has.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9), v1 against v2"),
    Same(V1, Total(((1, V2), (1, _added)))),
    note="Ours: two versions, two bounds; proof and text are the same in both.",
)


CONDITIONS = Claim(
    "fedals.theorem_4_3.conditions",
    "Theorem 4.3 asks for a smooth and strongly convex loss, bounded gradient variance, a fixed number of local SGD "
    "steps and samples that are drawn without replacement.",
    Kind.ASSUMPTION.at("Theorem 4.3"),
    {
        name: Requires(bound, numbers, (SMOOTH, STRONGLY_CONVEX, LOCAL_SGD, FIXED_LOCAL_STEPS, FRESH_SAMPLES, *more))
        for name, bound, numbers, more in (
            ("v2", V2, (sp.Ge(B, 0),), (BOUNDED_VARIANCE,)),
            ("v1", V1, (sp.Ge(B + L / mu, 0),), (BOUNDED_VARIANCE,)),
            ("(57)", PRINTED, SOLVER, ()),
        )
    },
)

UNITS_V2 = Claim(
    "fedals.theorem_4_3.units",
    "A is a generalization gap: its two parts have the unit of a loss.",
    Kind.DEFINITION.at("Theorem 4.3, definition of A", "v2"),
    Readings({"sampling noise": MeasuredIn(NOISE, LOSS), "model class": MeasuredIn(term(V2, "model class"), LOSS)}),
    Status.OPEN,
    note="sigma^2/(mu tau) is a loss, the root of complexity over samples a pure number: the O hides a loss there (the "
    "range of the loss, say), and another constant elsewhere.",
)

UNITS_V1 = Claim(
    "fedals.theorem_4_3.units_v1",
    "What v1 adds to A and B, the condition number, is a loss as A and B are.",
    Kind.DEFINITION.at("Theorem 4.3, definition of A", "v1"),
    Readings(
        {
            "as printed": MeasuredIn(term(V1, "condition number"), LOSS, off_by=ONE / LOSS),
            "times a loss that the O hides": MeasuredIn(term(V1, "condition number"), ONE),
        },
        holding=("times a loss that the O hides",),
    ),
    Status.OPEN,
    note="A pure number, as the root beside it is: only if the O hides a loss for both does the bound follow the unit "
    "in which the loss is measured. v2 has dropped it.",
)

STEPS = Claim(
    "fedals.theorem_4_3.local_steps",
    "At a given non-iidness the bound falls with the number of local steps.",
    Kind.REMARK.at("Section 5; eq. (9)", "v2"),
    MonotoneIn(positive, tau, up=False),
)

SAMPLES = Claim(
    "fedals.theorem_4_3.samples",
    "The bound falls with the number of samples of a round.",
    Kind.REMARK.at("Section 5; eq. (9)"),
    MonotoneIn(positive, shared(Z), up=False),
)

COMPLEXITY = Claim(
    "fedals.theorem_4_3.complexity",
    "The bound grows with the complexity of the model class, so a simpler part needs fewer samples.",
    Kind.REMARK.at("Section 5", "v1"),
    {
        "grows": MonotoneIn(positive, kappa, up=True),
        "by their ratio": Same(At(alike(V2), {C: 7 * C, shared(Z): 7 * shared(Z)}), alike(V2)),
    },
)

LOOSER = Claim(
    "fedals.theorem_4_3.non_iid",
    "The bound is looser for non-iid clients: it grows with their non-iidness.",
    Kind.REMARK.at("Section 5; eq. (9)"),
    MonotoneIn(positive, gap, up=True),
)


CLIENTS = Claim(
    "fedals.theorem_4_3.clients",
    "On the clients the bound depends as the one-round bound does: both fall alike when uniform clients are added.",
    Kind.REMARK.at("Section 4.2, after Theorem 4.3"),
    {
        "first terms": Same(
            alike(term(V2, "model class", "local optimization")),
            lambda book: 2 * resolve(alike(term("fedals.one_round", "local generalization")), book) * ratio(A, Delta),
        ),
        "second terms": Same(
            alike(term(V2, "non-iidness")),
            lambda book: (
                sp.sqrt(2)
                * resolve(alike(term("fedals.one_round", "non-iidness")), book)
                * sp.sqrt(ratio(A, Delta) * ratio(B, delta))
            ),
            where=tuple(sp.Gt(shared(x), 0) for x in (Delta, delta, B)),
        ),
    },
    note="The same caveat holds for the 1/K^2 that was read off there.",
)

SQUARED_DISTANCES = Claim(
    "fedals.theorem_4_3.squared_distances",
    "For squared distances and fresh samples (9) is above the gap with all hidden constants one.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9)", "v2"),
    ImpliedBy(alike(E_k(w * sigma_sq / (mu * tau))), At(alike(V2), {C: 0, L: mu}), where=(sp.Ge(shared(delta), 0),)),
    note="The gap is the weighted mean of gradient variance over L |Z_k| times a factor of at most one, and |Z_k| is "
    "at least the number of steps. It even holds at complexity zero: that term is not needed here.",
)

LIKENESS = undecided(
    "fedals.section_5.extractor",
    "More local steps for the extractor alone do not raise the non-iidness significantly.",
    Kind.REMARK.at("Section 5", "v2"),
    "a statement about trained networks: no measurement of the non-iidness of extractor and head is published",
    note="Table 3 does not support it: with the first layers, which agree best, averaged less often, accuracy falls: "
    "fedals.table_3.initial_layers.",
)
