"""Counterexamples meet every other hypothesis of the statement that they refute."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from checker_toys import bound, depth, run, speed, width
from loops import cases

from bounds import vocabulary
from bounds.catalog import BOUNDS
from bounds.operators import ClientMean
from bounds.quantities import quantities_of, Quantity
from bounds.vocabulary import client_weight, cohort, local_gap
from paper_checks.claims.checkers import ArgminIs, At, ImpliedBy, MonotoneIn, OrderIs, Same, TendsTo, term
from paper_checks.claims.checkers.clouds import Cloud
from paper_checks.claims.checkers.formulas import relations
from paper_checks.claims.checkers.numbers import true_at
from paper_checks.claims.checkers.points import points
from paper_checks.claims.claim import Status

QUANTITIES = {q.name: q for q in vars(vocabulary).values() if isinstance(q, Quantity)}
LEAST_LOSSES = (("optimal_loss", "initial_loss"), ("optimal_loss", "current_loss"))

ABOUT_A_CONDITION = {
    "fedinit.lemma_3.cap": ("fedinit.lemma_2",),
    "fedinit.t_0.admissible": ("fedinit.theorem_3",),
    "decaying_k.corollary_2_1_cap": ("decaying_k.eta_star", "decaying_k.eta_star_printed"),
    "decaying_k.a_3_root": ("decaying_k.k_star",),  # the repair's K* must fit into the runtime, the printed one does
    "fedcog.corollary.rounds": ("fedcog.corollary",),
    "fedcog.theorem.informative": ("fedcog.theorem",),
    "fedcog.labels.defined": ("fedcog.complementary_allocation",),
}
"""Claims whose subject is a condition of these bounds, which their counterexample breaks."""


def numbers(text):
    return tuple(Fraction(part) for part in text.strip("()").split(","))


def point_of(witness):
    """The numbers of a counterexample by name; none where it is an instance, or told in words."""
    try:
        return {name: numbers(text) for name, text in witness.items()} if set(witness) <= set(QUANTITIES) else {}
    except ValueError:
        return {}


def broken(witness, bounds):
    """The domains, identities and conditions of ``bounds`` that a counterexample does not meet."""
    point = point_of(witness)
    off = []
    for name, values in point.items():
        q = QUANTITIES[name]
        if not q.card.domain.contains(np.array([float(v) for v in values])).all():
            off.append(f"{name} is outside its domain")
        if q.card.domain.simplex and name == "client_weight" and len(values) > 1 and sum(values) != 1:
            off.append("the weights do not sum to 1")
        if q.card.at_most is not None and (cap := q.card.at_most.name) in point and values[0] > point[cap][0]:
            off.append(f"{name} > {cap}")
    members = [len(v) for n, v in point.items() if QUANTITIES[n].card.per_client and len(v) > 1]
    if "cohort" in point and any(point["cohort"][0] > n for n in members):
        off.append("more participants than clients")
    if "takes_part" in point and "cohort" in point and sum(point["takes_part"]) != point["cohort"][0]:
        off.append("other participants than are counted")
    off += [f"{low} > {high}" for low, high in LEAST_LOSSES if {low, high} <= set(point) and point[low] > point[high]]
    if any(gap < 0 for gap in point.get("local_gap", ())):
        off.append("a minimiser of the empirical risk with a negative local gap")
    exact = {
        QUANTITIES[n]: tuple(sp.Rational(v.numerator, v.denominator) for v in values) for n, values in point.items()
    }
    most = max(map(len, exact.values()), default=1)  # a number that clients share is told once
    exact = {q: (v if len(v) > 1 else v * most) if q.card.axis else v[0] for q, v in exact.items()}
    for name in bounds:
        for relation in relations(BOUNDS[name]):
            known = set(quantities_of([relation])) <= set(exact)
            if known and not true_at(relation, exact):
                off.append(f"{name}: {relation}")
    return off


def left_over(name, verdict):
    """What its counterexample does not meet, but for the condition that a claim is about."""
    subject = ABOUT_A_CONDITION.get(name, ())
    return [off for off in broken(verdict.finding.witness, verdict.bounds) if off.split(":")[0] not in subject]


@pytest.mark.slow
def test_every_counterexample_of_the_audit_meets_the_hypotheses(verdicts):
    failing = {name: v for name, v in verdicts.items() if v.finding.status is Status.FAILS}
    assert sum(bool(point_of(v.finding.witness)) for v in failing.values()) > 50
    assert {name: off for name, v in failing.items() if (off := left_over(name, v))} == {}
    assert all(broken(failing[name].finding.witness, failing[name].bounds) for name in ABOUT_A_CONDITION)


INSIDE = (speed * width <= sp.Rational(1, 7), speed >= 2)
STATED = {
    "fast": bound("toys.fast", speed**2 / width, *INSIDE),
    "curve": bound("toys.curve", speed * depth**2 + width / depth, *INSIDE),
    "product": bound("toys.product", speed * width, *INSIDE),
    "mean": bound("toys.mean", ClientMean(local_gap) / cohort, cohort >= 2),
}


@cases(
    "check",
    [
        Same("toys.fast", speed**2),
        Same(term("toys.fast", "whole"), speed**2),
        Same(lambda book: 2 * book["toys.fast"].expr, speed**2),
        ImpliedBy("toys.fast", 5 * speed**2),
        MonotoneIn("toys.fast", width, up=True),
        ArgminIs("toys.curve", depth, width / speed),
        OrderIs("toys.curve", depth, depth),
        TendsTo("toys.curve", depth, sp.oo, speed),
    ],
)
def test_a_checker_looks_where_the_bound_is_stated(check):
    found = run(check, **STATED)
    assert found.status is Status.FAILS
    point = {name: numbers(text)[0] for name, text in found.witness.items()}
    assert point["speed"] * point["width"] <= Fraction(1, 7)
    assert point["speed"] >= 2
    assert all(max(number.numerator, number.denominator) <= 1000 for number in point.values())


def test_what_is_put_in_for_a_quantity_stands_in_the_condition_too():
    found = run(Same(At("toys.fast", {speed: 3 * depth}), depth), **STATED)
    point = {name: numbers(text)[0] for name, text in found.witness.items()}
    assert point["depth"] * point["width"] <= Fraction(1, 21)
    assert point["depth"] >= Fraction(2, 3)


def test_participants_are_among_the_clients_that_lists_have():
    for seed in range(3):
        (point,) = points([ClientMean(local_gap) / cohort + seed], 1, (cohort >= 2,), seed=seed)
        assert 2 <= point[cohort] <= len(point[client_weight])
    cloud = Cloud((cohort * ClientMean(local_gap),), lambda terms: terms[0], (local_gap < 1,))
    assert all(p[cohort] <= len(p[client_weight]) for p in cloud.best())


def test_a_statement_that_fails_outside_its_hypotheses_alone_is_not_refuted():
    at_least = ImpliedBy(13 * speed**2, "toys.fast")  # width <= 1/14 inside
    assert run(at_least, **STATED).status is Status.HOLDS
    assert run(at_least, fast=STATED["fast"].expr).status is Status.FAILS
    assert run(Same("toys.mean", ClientMean(local_gap) / cohort - 2), **STATED).status is Status.FAILS


def test_a_condition_is_no_reason_for_itself():
    assert run(ImpliedBy("toys.product", sp.Rational(1, 7)), **STATED).status is Status.FAILS
