"""What a run gives for the words of a bound: one source each, one way of folding, one way of building the method."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from loops import cases

from bounds import BOUNDS, vocabulary
from bounds.core import About, Statistic
from empirics.algorithms import ALGORITHMS
from empirics.measuring import MEASUREMENTS
from paper_checks.runs import origins
from paper_checks.runs.methods import knob, KNOBS, method, takes
from paper_checks.runs.obstacles import EVIDENCE, obstacle
from paper_checks.runs.origins import measurable, on_local_iterations, origin, ORIGINS
from paper_checks.runs.readings import iterated, of_plan, target
from paper_checks.runs.statistics import COMBINE, statistic_of
from paper_checks.worst_case import objectives


@cases("evidence", EVIDENCE)
def test_every_word_of_a_bound_that_is_served_has_exactly_one_source_and_one_without_is_the_reason(evidence):
    served = [bound for bound in BOUNDS.values() if not obstacle(bound, evidence)]
    assert served
    for bound in served:
        assert measurable(bound.target.name, evidence, on_local_iterations(bound))
        for q in bound.quantities:
            word = ORIGINS.get(q.name)
            found_in = [who for who in ("problem", "plan", "proof", "run") if evidence in getattr(word, who, ())]
            assert len(found_in) <= 1, q.name
            measured = evidence == origins.RUNS and q.name in MEASUREMENTS
            iterated = on_local_iterations(bound) and measurable(q.name, evidence, iterated=True)
            assert found_in or measured or iterated, (bound.name, q.name)
    bound, unknown = served[0], vocabulary.disagreement_weight
    more = replace(bound, terms={**bound.terms, "planted": unknown * next(iter(bound.terms.values()))}, off_by={})
    assert "disagreement_weight" in obstacle(more, evidence)
    assert origin("disagreement_weight", evidence) == ""
    assert "step_size" in obstacle(BOUNDS["fedinit.step_size_cap_lemma_2"], evidence)


def test_the_table_speaks_the_vocabulary_and_knows_how_a_word_is_made():
    known = {q.name for q in vars(vocabulary).values() if hasattr(q, "card")}
    for word in ORIGINS.values():
        assert {word.name} <= known
        assert not word.of or word.of in known
        assert not word.how or word.how in {*COMBINE, "weighted", origins.ENDS, origins.AVERAGE}


def test_worst_cases_have_a_series_for_every_word_that_the_table_says_they_read():
    for word in ORIGINS:
        for over in ("rounds", "iterations"):
            if measurable(word, origins.WORST, iterated=over == "iterations"):
                base, per = objectives.metric_series(word, Statistic("last", over))
                more = objectives.RUN_METRICS if per == origins.ITERATION else objectives.SERIES
                assert base in {**objectives.MODEL_METRICS, **more}


SERIES = [5.0, 3.0, 8.0, 1.0]


@cases(
    "kind per value",
    [
        ("last", origins.STATE, 1.0),
        ("min", origins.STATE, 3.0),
        ("min", origins.ITERATION, 1.0),
        ("mean", origins.STATE, 16 / 3),
        ("mean", origins.ROUND, 17 / 4),
        ("expectation", origins.ITERATION, 16 / 3),
        ("every", origins.STATE, SERIES[:3]),
        ("every", origins.ROUND, SERIES),
    ],
)
def test_a_statistic_folds_numbers_of_any_kind(kind, per, value):
    floats, fractions = np.array(SERIES), np.array([Fraction(int(x)) for x in SERIES], dtype=object)
    forms = np.array([[x, 10 * x] for x in SERIES])  # linear forms in two unknowns
    np.testing.assert_allclose(statistic_of(floats, kind, per), value)
    exact = statistic_of(fractions, kind, per)
    np.testing.assert_allclose(np.asarray(exact, dtype=float), value)
    if kind != "every":
        assert isinstance(exact, Fraction)
    if kind in ("mean", "expectation", "last"):
        np.testing.assert_allclose(statistic_of(forms, kind, per), [value, 10 * value])


@cases(
    "how value",
    [
        ("now", [[3.0, 0.5], [1.0, 2.0], [4.0, 7.0]]),
        ("next", [[1.0, 2.0], [4.0, 7.0], [1.5, 6.0]]),
        ("first", [3.0, 0.5]),
        ("end", [1.5, 6.0]),
        ("latest", [4.0, 7.0]),
        ("mean", [8 / 3, 9.5 / 3]),
        ("decrease", [[2.0, -1.5], [-3.0, -5.0], [2.5, 1.0]]),
        ("largest", 7.0),
        ("roots", [3**0.5 + 1 + 2, 0.5**0.5 + 2**0.5 + 7**0.5]),
        ("steps", [3.0, 0.5, 1.0, 2.0, 4.0, 7.0]),
    ],
)
def test_three_rounds_of_a_longer_series_say_this(how, value):
    series = np.array([[3.0, 0.5], [1.0, 2.0], [4.0, 7.0], [1.5, 6.0], [9.0, 8.0]])
    np.testing.assert_allclose(COMBINE[how](series, 3), value, rtol=1e-12)


@cases("name read", [("decaying_k.lemma_1", True), ("decaying_k.theorem_1", False), ("fedinit.descent", False)])
def test_distances_of_local_iterations_are_read_for_bounds_that_speak_of_them(name, read):
    """The last is at the last server model, where no step begins."""
    distances = np.array([2.3, 1.9, 1.4, 0.8])
    run = SimpleNamespace(iterations=lambda word: {"distance_sq": distances}[word])
    found = iterated(BOUNDS[name], run)
    assert list(found) == ["distance_sq"] * read
    for value in found.values():
        np.testing.assert_array_equal(value, distances[:-1])
        np.testing.assert_array_equal(target(BOUNDS[name], run, None, {}), distances[1:])  # what a step ends at


def test_what_is_not_read_at_every_iteration_is_refused_and_nothing_else_is_read_instead():
    apart = replace(BOUNDS["decaying_k.theorem_1"], target=vocabulary.divergence)
    for evidence in (origins.RUNS, origins.EXACT, origins.QUADRATICS):
        assert "divergence is not measured" in obstacle(apart, evidence)


def test_a_weighted_target_is_the_sum_over_iterations_times_the_step_size():
    """At every model from which a step is made: not at the last."""
    run = SimpleNamespace(iterations=lambda word: {"grad_norm_sq": np.array([2.3, 1.9, 1.4, 0.8])}[word])
    assert target(BOUNDS["decaying_k.lemma_2"], run, 0.07, {}) == pytest.approx(0.07 * (2.3 + 1.9 + 1.4))


def test_the_words_of_a_plan_by_hand():
    told = of_plan(cohort=6, local_steps=5, rounds=7, step_size=0.3, relaxation=0.1)
    assert told["iterations"] == 35
    assert told["steps_cubed_ratio"] == 5**3 / 5
    assert told["squared_step_sizes"] == pytest.approx(sum(0.3**2 for _ in range(35)))


@cases("name", sorted({b.about.algorithm for b in BOUNDS.values() if b.about} & set(ALGORITHMS)))
def test_what_a_bound_is_about_is_built_from_the_words_it_takes(name):
    told = {"relaxation": 0.07, "adaptation": 3}
    made = method(About(name), **told)
    assert made.name.startswith(name)
    for word, value in told.items():
        assert takes(About(name), word) == (f"{value}" in str(made))
    assert knob(About(name, "proof"), "relaxation", 0.3) == (
        (0.3, "proof") if name in KNOBS and takes(About(name), "relaxation") else (0.0, "intended")
    )


def test_exact_evidence_is_of_the_method_a_bound_is_about():
    """A statement about SCAFFOLD is not held against FedAvg, and one about a server's Adam against nothing exact."""
    scaffold = replace(BOUNDS["decaying_k.theorem_1"], about=About("scaffold"))
    assert obstacle(scaffold, origins.EXACT) == ""
    assert str(method(scaffold.about, data=False)) == "scaffold()"
    assert "about fedadam" in obstacle(replace(scaffold, about=About("fedadam")), origins.EXACT)
    assert "names no algorithm" in obstacle(replace(scaffold, about=None), origins.EXACT)
