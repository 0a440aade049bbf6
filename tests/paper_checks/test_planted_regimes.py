"""Statements that are false in one regime only, and those whose proofs need more than they state."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from loops import cases
from regimes import counts, is_found, MEASURED
from tools.planted_regimes import mechanical, regimes

from bounds import vocabulary as q
from bounds.catalog import get
from bounds.core import Bound, Condition
from bounds.papers import Source
from paper_checks.claims.checkers import Dominates
from paper_checks.claims.claim import Book, Grade
from paper_checks.falsifier import falsify, replay
from paper_checks.falsifier.deciding import compare
from paper_checks.falsifier.detection_rate import measured
from paper_checks.falsifier.falsify import FAMILIES
from paper_checks.falsifier.quadratics import AT_MINIMISER
from paper_checks.falsifier.search import Searcher
from paper_checks.falsifier.weakened_assumptions import weakened, WEAKENED_ASSUMPTIONS
from paper_checks.falsify_options import EVALUATIONS

REGIMES, MECHANICAL = regimes(), mechanical()


@pytest.mark.slow
@pytest.mark.parametrize("name", REGIMES)
def test_every_planted_regime_is_found_in_the_usual_budget(name):
    found = falsify(REGIMES[name], simplify=False)
    assert found.violated
    assert replay(found.witness, REGIMES[name]).violated


def test_the_committed_outcomes_are_of_every_regime_in_every_budget_and_say_that_nearly_all_are_found():
    held = json.loads(MEASURED.read_text(encoding="utf-8"))
    plants, budgets = held["plants"], [Dominates.evaluations, EVALUATIONS]
    assert held["budgets"] == budgets
    assert len(REGIMES) == 18
    assert set(REGIMES) <= set(plants) <= {*REGIMES, *MECHANICAL}
    for name, plant in plants.items():
        assert plant["statement"] == (REGIMES.get(name) or MECHANICAL[name].bound).name
        assert {int(budget) for budget in plant["found"]} == set(budgets if plant["false"] else budgets[:1])
        assert plant["false"] or name in MECHANICAL
    assert sum(is_found(plants[name], EVALUATIONS) for name in REGIMES) >= 18
    assert sum(is_found(plants[name], Dominates.evaluations) for name in REGIMES) >= 16
    assert counts(held) == measured()


def test_a_search_reports_its_box_its_regimes_and_its_detection_rate():
    found = Dominates("fedinit.lemma_2", evaluations=60, family="quadratics")(Book())
    assert found.grade is Grade.SEARCHED
    assert "clients 1 to 1e+06" in found.evidence
    assert "cells" in found.evidence
    assert "detection rate: not measured for fewer than" in found.evidence


def test_a_run_may_start_at_the_minimiser_wherever_that_is():
    """Two minima a billion away whose mean floats round: nothing of the loss at the start is left."""
    family, bound = FAMILIES["quadratics"], get("fedinit.theorem_1")
    box = family.box(bound).pinned({"start_at": AT_MINIMISER, "kinds": 2, "clients": 7, "dim": 2, "spread": 1e9})
    for seed in range(8):
        draws = np.random.default_rng(seed)
        instance = family.instance(bound, box.point(draws.random(len(box))))
        known = family.static(instance, family.federation(instance))
        assert instance["start_0"] == instance["start_1"] == 0
        assert 0 <= known["initial_gap"] <= 1e-25 * known["optimal_loss"]
        assert known["initial_loss"] >= known["optimal_loss"] > 0


def test_cells_without_an_admissible_instance_are_named():
    bound = get("fedinit.lemma_3")
    few = Condition("one of many at most", 40 * q.cohort <= q.clients)
    (seen,) = falsify(replace(bound, conditions=(*bound.conditions, few)), 60, family="quadratics").visited
    assert any(cell.startswith("all clients") and not count for cell, count in seen.cells.items())
    assert any(cell.startswith("a few clients") and count for cell, count in seen.cells.items())
    assert "no admissible instance was drawn where" in seen.text


def test_a_search_says_which_terms_some_instance_needs():
    """Of SGD on one parabola noise and start are needed in full; a term that is added to them not at all."""
    bound = get("classics.bottou_4_8")
    added = replace(bound, terms={**bound.terms, "added": bound.terms["noise"] / 10**6})
    shares = falsify(added, 200, family="quadratics").shares
    assert shares["noise"] == pytest.approx(1, rel=1e-3)
    assert shares["start"] == pytest.approx(1, rel=1e-3)
    assert shares["added"] == 0
    loose = replace(bound, terms={name: 3 * term for name, term in bound.terms.items()})
    assert falsify(loose, 200, family="quadratics").shares["start"] == pytest.approx(1 / 3, rel=1e-3)


def test_the_share_of_a_term_is_what_the_measured_number_exceeds_the_others_by():
    """Terms 2 and 3 beside 4.2 in one round and 2.5 in the next: 1.2/2 and 2.2/3; 2.9 does not need the first."""
    terms = {"noise": q.step_size * q.gradient_variance, "start": q.smoothness * q.distance_sq}
    bound = Bound("own.two_terms", q.optimality_gap, terms, Source("own notes", "line 3"))
    values = {"step_size": 0.2, "gradient_variance": 10.0, "smoothness": 2.0, "distance_sq": np.full(2, 1.5)}
    shares = compare(bound, values, np.array([4.2, 2.5])).shares
    assert shares == pytest.approx({"noise": 0.6, "start": 2.2 / 3})
    assert compare(bound, values, np.array([2.9, 2.5])).shares == pytest.approx({"noise": 0.0, "start": 0.3})
    assert compare(replace(bound, signed=("start",)), values, np.array([4.2, 2.5])).shares == pytest.approx(
        {"noise": 0.6}
    )
    assert compare(replace(bound, relation=">="), values, np.array([4.2, 2.5])).shares == {}


FAR = {"clients": 40, "kinds": 2, "count_0": 1, "count_1": 39, "dim": 1, "cohort": 3, "with_replacement": 0,
       "local_steps": 3, "floor": 0, "step_size": 0.003, "relaxation": 0.01, "start_0": 1.3, "contraction": 0.1,
       "dissimilarity_factor": 3.1, "weight_0": 1, "weight_1": 1, "curvature_0_0": 1.1, "curvature_1_0": 0.8,
       "minimum_0_0": 0.9, "minimum_1_0": -0.2, "noise_0": 0.3, "noise_1": 0.11}  # fmt: skip


CALM = {"cohort": 40, "curvature_1_0": 1.1, "relaxation": 0, "rounds": 10**7, "local_steps": 1}
FAR_RUNS = [("fedinit.theorem_1", {"rounds": 4}), ("fedinit.theorem_1", {"rounds": 90_000}),
            ("fedinit.theorem_2_potential", {"rounds": 4}), ("fedinit.theorem_2_potential", {"rounds": 90_000}),
            ("decaying_k.theorem_1_repaired", CALM)]  # fmt: skip
"""The last is a minimum over very many rounds, which lies at an end."""


@cases("name changed", FAR_RUNS)
def test_many_clients_and_rounds_in_floats_and_in_exact_numbers(name, changed):
    family, bound, table = FAMILIES["quadratics"], get(name), {**FAR, **changed}
    fast = family.evaluate(bound, table)
    slow = family.exactly(bound, {n: v if isinstance(v, int) else Fraction(str(v)) for n, v in table.items()})
    assert fast.admissible, fast
    assert slow.failed == ()
    assert slow.ratio == pytest.approx(fast.ratio, rel=1e-7)


def test_the_edge_beyond_which_stale_models_grow_is_found_by_bisection():
    """As the step size falls, a run begins to grow at beta = N / (C - N): 1/29 here."""
    table = {n: v for n, v in FAR.items() if not n.endswith(("_1", "_1_0"))}
    table |= {"clients": 30, "kinds": 1, "count_0": 30, "cohort": 1, "rounds": 3, "step_size": 1e-7}
    family, bound = FAMILIES["quadratics"], get("fedinit.theorem_1")
    below, above = (family.radius(bound, {**table, "relaxation": beta}) for beta in (0.98 / 29, 1.02 / 29))
    assert below < 1 < above
    pins = {"clients": 30, "cohort": 1, "kinds": 1, "dim": 1, "step_size": 1e-7, "local_steps": 5, "rounds": 3}
    searcher = Searcher(bound, family, 100, pins=pins)
    place = searcher.box.corner(np.random.default_rng(3))
    share = [p.name for p in searcher.box.parameters].index("relaxation_share")
    place[share] = 1.0
    edge = searcher._bisected(place, share, 0.0)
    found = [family.instance(bound, searcher.box.point(side)) for side in edge]
    assert [float(instance["relaxation"]) for instance in found] == pytest.approx([1 / 29] * 2, rel=1e-3)


NEEDED = [
    ("fedals.one_round", "convexity in the parameters", "", 1.35, 0.04),
    ("fedals.one_round", "independent over clients (all hold the same)", "100 clients", 100**2, 1e-12),
    ("decaying_k.lemma_1", "common", "", 1000, 1e-12),
    ("fedinit.lemma_2", "one mini-batch", "200 steps", 200 / 11.5, 0.05),  # about K/12; at five steps nothing shows
]


@cases("name words case ratio within", NEEDED)
def test_what_the_proofs_need_is_shown_by_an_instance_without_it(name, words, case, ratio, within):
    (seen,) = [each for each in weakened(get(name)) if words in each.without]
    assert seen.exact.violated
    assert "FAILS" in seen.text
    assert seen.words.startswith(case)
    assert seen.exact.ratio == pytest.approx(ratio, rel=within)


def test_clipped_means_of_coins_have_the_gaps_counted_by_hand():
    (case,) = [values for words, values in WEAKENED_ASSUMPTIONS[1].cases() if words.startswith("3 clients")]
    assert case["generalization_gap"] == Fraction(1, 16)
    assert case["local_gap"] == [Fraction(3, 16)]


def test_a_statement_that_speaks_of_other_words_is_not_read_there():
    assert weakened(get("fedinit.theorem_1")) == []
