"""Rows that are composed of others, and what classes without a number of their own say of the example's sites."""

import math
from pathlib import Path

import numpy as np
import pytest

from bounds import Bound, BOUNDS, Source
from bounds.assumptions import SMOOTH
from bounds.classes import ClassOf
from bounds.core import About, Condition, Statistic
from bounds.scenario import Scenario
from bounds.vocabulary import generalization_gap, mean_grad_norm_sq, optimality_gap, smoothness
from paper_checks.comparing import compare
from paper_checks.comparing.compare_rows import RANKED
from paper_checks.comparing.composing import filled, identity

SITES = f"@{Path(__file__).resolve().parents[2] / 'examples' / 'sites.json'}"
AT_SERVER = ("grad_norm_sq", "mean", "rounds", "server model")
RELAXED = {"cohort": 40, "local_steps": 2, "step_size": 3e-3, "rounds": 900, "relaxation": 0.04}
FALLING = {
    "clients": 6, "cohort": 6, "local_steps": 3, "rounds": 50, "relaxation": 0.05, "step_size_scale": 0.1,
    "lipschitz": 1.3, "loss_cap": 2.1, "samples": 400, "gradient_variance": 0.7, "smoothness": 1.9,
    "sample_smoothness": 2.6, "pl_constant": 0.3, "summed_divergence_root": 0.02,
}  # fmt: skip


def rows(scenario, target, name, **more):
    return [row for row in compare(scenario, target, **more).rows if row.bound == name]


def test_a_bound_on_the_divergence_takes_the_gradients_of_another_theorem():
    s = Scenario.of(SITES, **RELAXED)
    gradients = [row for row in compare(s, "grad_norm_sq").rows if row.state in RANKED]
    least = min((row for row in gradients if row.kind.place == AT_SERVER), key=lambda row: row.value)
    row = next(r for r in rows(s, "divergence", "fedinit.theorem_4_before") if r.kind.statistic == "mean")
    assert row.conversions == ("C12", least.bound)
    assert row.values["mean_grad_norm_sq"] == least.value
    assert row.value == pytest.approx(float(BOUNDS[row.bound](**row.values)), rel=1e-12)
    assert row.how["mean_grad_norm_sq"] == f"at most {least.value:.6g} by {least.bound}"
    assert row.low <= row.value == row.high
    measured = rows(s.at(mean_grad_norm_sq=1e-4), "divergence", "fedinit.theorem_4_before")[0]
    assert measured.value < row.value
    assert measured.conversions == ("C12",)


def test_an_excess_risk_is_the_sum_of_two_rows():
    s = Scenario.of(**FALLING, optimality_gap=0.37)
    (stable,) = rows(s, "stability", "fedinit.theorem_3")
    (gap,) = rows(s, "generalization_gap", "fedinit.theorem_3")
    assert (gap.value, set(gap.conversions)) == (stable.value, {*stable.conversions, "C10"})
    assert "every client draws its samples independently from a distribution of its own" in gap.trusted
    assert not rows(s, "generalization_gap", "fedinit.lemma_1")[0].values  # it is the conversion itself
    (risk,) = rows(s, "excess_risk", "fedinit.excess_risk_split")
    assert risk.value == pytest.approx(stable.value + 0.37)
    assert risk.conversions[-1] == "fedinit.theorem_3"
    assert set(gap.trusted) <= set(risk.trusted)
    given = s.at(generalization_gap=0.011, initial_gap=2.2)
    (row,) = rows(given, "excess_risk", "fedinit.excess_risk_split")
    assert (row.value, row.state, row.trivial_here) == (pytest.approx(0.381), "speaks", 2.2)
    lower = given.at(optimality_gap=2.9)
    assert rows(lower, "excess_risk", "fedinit.excess_risk_split")[0].state == "vacuous"


def test_a_fixed_step_size_silences_what_supposes_falling_ones():
    s = Scenario.of(**FALLING).at(step_size=0.02)
    (row,) = rows(s, "stability", "fedinit.theorem_3")
    assert row.state == "silent"
    assert row.failed[-1].words.endswith("is c/tau")


def test_stability_is_worth_something_below_the_largest_loss_alone():
    s = Scenario.of(**FALLING)
    (row,) = rows(s, "stability", "fedinit.theorem_3")
    assert (row.trivial_class, row.trivial_here) == (2.1, 2.1)
    assert row.state == ("speaks" if row.value < 2.1 else "vacuous")


def own(terms, signed=()):
    return Bound(name="own.sum", target=generalization_gap, terms=terms, source=Source("notes", "1"), signed=signed,
                 about=About("fedinit"), statistic=Statistic("mean", "rounds", "server model"),
                 conditions=(Condition.assume(SMOOTH),))  # fmt: skip


def test_a_bound_that_falls_in_what_a_run_gives_is_not_filled_with_an_upper_bound():
    s = Scenario.of(SITES, **RELAXED)

    def found(word):
        return compare(s, word).rows

    rising, falling = own({"a": mean_grad_norm_sq * smoothness}), own({"a": 3 - mean_grad_norm_sq}, signed=("a",))
    ranked = [row for row in found("grad_norm_sq") if row.state in RANKED]
    assert filled(rising, s, lambda word: ranked)[1]
    assert not filled(falling, s, lambda word: ranked)[1]
    assert not filled(own({"a": optimality_gap}), s, lambda word: ranked)[1]  # the mean of which gaps it does not say


def test_identities_add_up_numbers_of_one_run():
    assert {name for name, bound in BOUNDS.items() if identity(bound)} == {"fedinit.excess_risk_split"}


TARGETS = ("generalization_gap", "excess_risk", "stability", "divergence", "consensus_distance", "distance_sq")


@pytest.mark.parametrize("target", TARGETS)
def test_of_the_sites_every_bound_of_a_target_appears_with_a_reason(target):
    s = Scenario.of(SITES, cohort=10, local_steps=16, step_size=0.028, runtime=20)
    table = compare(s, target)
    shown = {name for row in table.rows for name in (row.bound, *row.alias)}
    assert {name for name, bound in BOUNDS.items() if ClassOf.of(bound).target == target} <= shown
    for row in table.rows:
        if row.state in RANKED:
            assert math.isfinite(row.value)
        else:
            assert row.state == "silent" or row.why
            assert row.state != "silent" or row.failed
    states = {row.bound: row.state for row in table.rows}
    why = {row.bound: row.why for row in table.rows}
    if target == "generalization_gap":
        assert "one averaging round" in why["fedals.one_round_inexact"]
        assert states["fedals.participation_case1_counted"] == "unlike"
        assert "give stability=NUMBER" in why["fedinit.lemma_1"]
    if target == "divergence":
        assert "C12 needs that all clients take part" in why["fedinit.theorem_4"]
        assert why["fedinit.theorem_4_recursion"] == "it is one step, given the divergence before"
    if target == "excess_risk":
        assert states == {
            "fedinit.excess_risk_split": "missing", "fedinit.theorem_6": "order", "classics.hardt_5_4": "missing",
        }  # fmt: skip


def test_the_consensus_distance_is_at_most_the_divergence_row_by_row():
    s = Scenario.of(SITES, **RELAXED)
    apart = {r.bound: r for r in compare(s, "consensus_distance").rows if r.state in RANKED}
    spread = {r.bound: r for r in compare(s, "divergence").rows if r.state in RANKED}
    assert apart
    assert {name: r.value for name, r in apart.items()} == {name: spread[name].value for name in apart}
    assert all("C11" in r.conversions for r in apart.values())


def test_classes_that_conversions_made_are_shown_where_two_kinds_of_statements_meet():
    s = Scenario.of(SITES, **{**RELAXED, "relaxation": 0, "rounds": 9000, "step_size": 1e-4})
    kinds = {row.kind for row in compare(s, "grad_norm_sq").rows if row.state in RANKED}
    both = {kind for kind in kinds if kind.over.endswith("the last included")}
    assert len(both) == 1  # Theorem 2 speaks of the last model, Theorem 1 of the mean
    lone = {kind for kind in kinds if kind.at == "average of the iterates"}
    assert not lone
    names = {row.bound for row in compare(s, "grad_norm_sq").rows if row.kind in both}
    assert {"fedinit.theorem_1", "fedinit.theorem_2"} <= names
    assert np.isfinite([row.value for row in compare(s, "grad_norm_sq").rows if row.kind in both]).all()
