"""Rates that theorems state: as they print them, silent outside their conditions, never below what is certified."""

from dataclasses import replace
from math import exp

import pytest

from bounds.vocabulary import strong_convexity
from empirics.algorithms import algorithm
from paper_checks.rates import published as home
from paper_checks.rates.published import published
from paper_checks.rates.search import Case, certified

L, MU = 2.6, 0.23


def rates(text, steps, share):
    """The rates stated at a step size of so many 1/L."""
    found = published(Case(algorithm(text), steps, share / L, L, MU))
    assert [told.contraction for told in found] == sorted(told.contraction for told in found)
    return {told.bound: told.contraction for told in found}


@pytest.mark.parametrize(("text", "bound", "share", "left"), [
    ("fedavg()", "classics.local_sgd_theorem_1", 0.21, lambda eta: (1 - eta * MU) ** 3),
    ("scaffold()", "classics.scaffold_strongly_convex", 0.004, lambda eta: 1 - 3 * eta * MU / 2),
])  # fmt: skip
def test_a_theorems_rate_is_what_it_prints(text, bound, share, left):
    assert rates(text, 3, share)[bound] == pytest.approx(left(share / L), rel=1e-12)
    assert bound not in rates(text, 3, 0.26)  # neither allows 1/(4L) and more


def test_fedinits_rate_is_that_of_its_best_contraction():
    """exp(-lambda mu eta K) with lambda below 1, and of any reading where everybody is heard."""
    found = rates("fedinit(beta=0.03)", 5, 0.002)
    assert {name.partition(".")[0] for name in found} == {"fedinit"}
    assert "fedinit.theorem_5" not in found  # about the divergence
    assert all(exp(-0.002 / L * MU * 5) < contraction < 1 for contraction in found.values())
    assert not rates("fedinit(beta=0.03)", 5, 0.02)


def test_theorems_of_one_machine_speak_of_one_local_step():
    assert "classics.bottou_4_6" in rates("fedavg()", 1, 0.09)
    assert "classics.bottou_4_6" not in rates("fedavg()", 2, 0.09)


@pytest.mark.parametrize(("text", "share"), [("fedavg()", 0.23), ("scaffold()", 0.003), ("fedinit(beta=0.03)", 0.002)])
def test_no_theorem_is_faster_than_two_quadratics(text, share):
    case = Case(algorithm(text), 4, share / L, L, MU)
    slowest = certified(case).slowest
    assert all(told.contraction > slowest for told in published(case))


def test_a_theorem_that_states_too_much_would_be_seen(monkeypatch):
    """A rate of (1 - 3 eta mu)^K, planted."""
    true = home.BOUNDS["classics.local_sgd_theorem_1"]
    start = true.terms["start"].subs(strong_convexity, 3 * strong_convexity)
    monkeypatch.setattr(home, "BOUNDS", {"own.false": replace(true, name="own.false", terms={"start": start})})
    case = Case(algorithm("fedavg()"), 4, 0.1 / L, L, MU)
    assert [told.contraction < certified(case).slowest for told in published(case)] == [True]
