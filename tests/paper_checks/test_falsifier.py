"""The falsifier: what it finds, what it does not, its witnesses, and the verb."""

import json
from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path

import mpmath
import numpy as np
import pytest
import sympy as sp
from loops import cases
from tools.planted import false_statements, shortened, TIGHT, true_statements

import fedbounds
from bounds import vocabulary
from bounds.assumptions import FIXED_STEP_SIZE, HARMONIC_STEP_SIZE
from bounds.catalog import BOUNDS, get
from bounds.core import Condition
from bounds.errors import BoundsError
from bounds.operators import ClientSum
from bounds.quantities import Quantity
from bounds.showing.tables import to_json
from paper_checks.falsifier import CannotServeError, defined, falsify, replay
from paper_checks.falsifier.command import as_json
from paper_checks.falsifier.core import Evaluation, score
from paper_checks.falsifier.curves import SHAPES
from paper_checks.falsifier.falsify import FAMILIES, serving
from paper_checks.falsify_options import FAMILIES as IN_WORDS
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import CURVES, QUADRATICS

WITNESSES = Path(fedbounds.__file__).parent / "paper_checks" / "counterexamples"
QUICK_FALSE = ("descent, no noise term", "fedcog.smoothness_step_printed", "fedals.one_round_iid_claimed",
               "contraction, part of the clients", "fedals.one_round, constant cut")  # fmt: skip
QUICK_TRUE = ("descent", "step_length", "fedals.one_round")


@cases("name", QUICK_FALSE)
def test_planted_errors_are_caught_with_a_witness_in_exact_arithmetic(name):
    bound = false_statements()[name]
    found = falsify(bound, 1500, family="atoms" if "fedals" in name else "quadratics")
    assert found.violated, found
    again = replay(found.witness, bound)
    assert again.violated
    assert again.failed == ()
    assert all(isinstance(v, (int, Fraction)) for v in found.witness.instance.values())


@cases("name", QUICK_TRUE)
def test_true_statements_survive(name):
    found = falsify(true_statements()[name], 150)
    assert not found.violated
    assert found.admissible > 50
    assert found.ratio <= 1 + 1e-9 or found.ratio <= 0 or name == "descent"


def test_the_same_seed_gives_the_same_search():
    bound = TIGHT["jensen"]
    one, same, other = (falsify(bound, 40, seed, family="quadratics") for seed in (3, 3, 4))
    assert one.instance == same.instance
    assert one.score == same.score
    assert one.instance != other.instance


STEP = TIGHT["step_length"]
IMPOSSIBLE = replace(
    STEP, conditions=(Condition("at least 100/L", STEP.quantity("step_size") * vocabulary.smoothness >= 100),)
)
REFUSED = [
    (get("fedals.rounds_v2"), {}, "hides a constant"),
    (get("fedals.consensus_distance"), {}, "consensus_distance"),
    (get("fedinit.step_size_cap_lemma_2"), {}, "step_size"),
    (get("fedinit.theorem_3"), {}, "stability"),
    (IMPOSSIBLE, {"family": "quadratics"}, "none of 10 instances"),
    (get("fedals.participation_case1_counted"), {"pins": {"clients": 12}}, "from 1 to 3; got 12"),
    (get("fedals.one_round"), {"pins": {"local_steps": 4}}, "0; got 4"),
    (get("fedals.one_round"), {"family": "atoms", "pins": {"clients": 5, "cohort": 3}}, "clients can be 5"),
    (TIGHT["jensen"], {"family": "curves", "pins": {"clients": 3, "cohort": 2, "rounds": 39}}, "rounds can be 39"),
]


@cases("bound asked said", REFUSED)
def test_what_no_family_serves_or_no_instance_meets_is_refused_with_reasons(bound, asked, said):
    with pytest.raises((CannotServeError, BoundsError)) as error:
        falsify(bound, 10, **asked)
    assert said in str(error.value)


def test_quantities_that_all_clients_make_are_held_by_scaling_them_and_unknown_ones_refused():
    pins = {"smoothness": 0.7, "gradient_variance": 3.5}
    found = falsify(get("fedinit.lemma_3"), 25, family="quadratics", pins=pins).instance
    kinds = range(found["kinds"])
    assert max(found[f"noise_{k}"] for k in kinds) == pytest.approx(3.5)
    assert max(found[f"curvature_{k}_{i}"] for k in kinds for i in range(found["dim"])) == pytest.approx(0.7)
    with pytest.raises(ValueError, match="'flor'"):
        falsify(get("decaying_k.theorem_1"), 5, family="quadratics", pins={"flor": 0})


@cases(
    "name", ["fedinit.lemma_3", "fedals.one_round_inexact_joined", "fedals.participation_case1_counted", "known.jensen"]
)
def test_every_word_of_the_vocabulary_that_an_instance_has_can_be_held(name):
    bound = TIGHT["jensen"] if name == "known.jensen" else get(name)
    words = {q.name for q in vars(vocabulary).values() if isinstance(q, Quantity)}
    for family in serving(bound)[0]:
        box = family.box(bound)
        place = np.random.default_rng(7).random(len(box))
        instance = family.instance(bound, box.point(place))
        for word in words & set(instance):
            pinned = box.pinned({word: float(instance[word])})
            assert family.instance(bound, pinned.point(place))[word] == instance[word], (family.name, word)


def test_a_definition_takes_the_place_of_the_assumption_it_makes_concrete():
    lemma = defined(get("decaying_k.lemma_1"), get("decaying_k.gradient_cap"))
    words = {q.name for q in lemma.quantities}
    assert ("grad_cap_sq" in words, "initial_distance_sq" in words) == (False, True)
    assert not any(c.assumption and c.assumption.name == "bounded_gradient" for c in lemma.conditions)
    assert falsify(lemma, 300, family="quadratics").violated
    with pytest.raises(ValueError, match="quantity"):
        defined(get("decaying_k.lemma_1"), get("fedals.gaussian_mean_gap"))


@cases("shape", SHAPES)
def test_a_shape_is_one_function_in_both_arithmetics_curved_as_it_says_and_least_at_zero(shape):
    assert (shape.value(0.0), shape.slope(0.0)) == (0, 0)
    with mpmath.workdps(40):
        for x in (-3.7, -0.6, 1e-5, 0.8, 1.3, 2.9):
            value, slope = shape.exact_value(mpmath.mpf(x)), shape.exact_slope(mpmath.mpf(x))
            assert (float(shape.value(x)), float(shape.slope(x))) == pytest.approx((float(value), float(slope)), 1e-12)
            assert float(mpmath.diff(shape.exact_value, x)) == pytest.approx(float(slope), rel=1e-12)
        bends = [float(mpmath.diff(shape.exact_slope, x / 8)) for x in range(-160, 161)]
    assert bends[160] == pytest.approx(1, rel=1e-12)
    assert shape.lowest <= min(bends) < shape.lowest + 0.01
    assert max(bends) <= 1 + 1e-12


def test_a_score_is_positive_exactly_where_the_relation_fails():
    assert score(3.0, 2.0, "<=") == pytest.approx(np.log(1.5))
    assert score(3.0, 2.0, ">=") == pytest.approx(-np.log(1.5))
    assert score(-3.0, -2.0, "<=") < 0 < score(-2.0, -3.0, "<=")
    assert score(1.0, -5.0, "<=") > 0
    assert score(2.0, 2.0, "=") == 0 < score(2.0, 2.1, "=")
    assert score(0.0, 0.0, "<=") < -10
    assert Evaluation(3.0, 2.0, ("a condition",)).score == -inf
    assert Evaluation(3.0, 2.0).violated


MINE = """
from bounds import Bound, Source
from bounds.core import Statistic
from bounds.vocabulary import grad_norm_sq, initial_gap, iterations, step_size

mine = Bound(
    name="mine.rate", target=grad_norm_sq, terms={"start": initial_gap / (step_size * iterations)},
    source=Source("textbook", "a guess"), statistic=Statistic("min", "rounds", "server model"),
)
"""


def test_a_bound_of_a_file_is_searched_kept_and_replayed(tmp_path, run, refused):
    path, kept = tmp_path / "mine.py", tmp_path / "witness.json"
    path.write_text(MINE)
    status, out, _ = run("falsify", f"{path}:mine", "--evaluations", "40", "-o", kept)
    assert (status, "VIOLATED" in out) == (1, True)
    assert json.loads(kept.read_text())["command"].startswith("fedbounds falsify")
    assert f"replay: fedbounds falsify {path}:mine --replay {kept}" in out
    status, out, _ = run("falsify", f"{path}:mine", "--replay", kept)
    assert (status, "VIOLATED" in out) == (1, True)
    path.write_text(MINE.replace("initial_gap /", "2 * initial_gap /"))
    assert "search again" in refused("falsify", f"{path}:mine", "--replay", kept)


@cases("word", ["bound", "definitions"])
def test_a_witness_runs_no_file_that_the_command_line_does_not_name(tmp_path, refused, word):
    trap, ran = tmp_path / "trap.py", tmp_path / "ran"
    trap.write_text(f"open({str(ran)!r}, 'w')\n{MINE}")
    held = json.loads((WITNESSES / "decaying_k.theorem_1.json").read_text())
    held[word] = f"{trap}:mine" if word == "bound" else [f"{trap}:mine"]
    (tmp_path / "sent.json").write_text(json.dumps(held))
    assert f"{trap}:mine" in refused("falsify", "--replay", tmp_path / "sent.json")
    assert not ran.exists()


def test_what_is_found_in_json(run):
    status, out, _ = run("falsify", "fedcog.smoothness_step", "--evaluations", "30", "--json")
    found = json.loads(out)
    assert (status, found["violated"], found["evaluations"], found["witness"]) == (0, False, 30, None)
    search = falsify(get("fedcog.smoothness_step"), 5)
    told = [json.loads(to_json(as_json(replace(search, ratio=ratio)))) for ratio in (0.7, inf)]
    assert [one["ratio"] for one in told] == [0.7, "inf"]


MISTAKES = [  # of a search of fedinit.lemma_2, unless another bound is named
    (["--evaluations", "0"], "from 1 to 1000000000"),
    (["--minutes", "0"], "> 0; got 0"),
    (["--family", "cubes"], "cubes"),
    (["floor"], "quantity=value"),
    (["clients=2", "clients=3"], "clients is given twice"),
    (["clients=1e7"], "from 1 to 1e+06; got 1e+07"),
    (["clients=3", "cohort=5"], "got 5 > 3"),
    (["noise=-2"], "from 0.0001 to 10000, or 0 or 1e+09; got -2"),
    (["cleints=2"], "'clients'"),
    (["-o", "no/such.json"], "no/such.json"),
]
OTHERS = [(["nope"], "nope"), ([], "name"), (["fedals.rounds_v2"], "hides a constant"),
          (["--replay", "missing.json"], "missing.json"), (["broken.py:b"], "line 1"),
          (["--replay", "broken.py"], "JSON")]  # fmt: skip


@cases("words said", [*OTHERS, *((["fedinit.lemma_2", *words], said) for words, said in MISTAKES)])
def test_mistakes_are_one_line_and_status_2(words, said, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("import nothing_of_this_name\n")
    assert said in refused("falsify", *words)


def test_a_family_without_a_parameter_that_is_held_is_left_out():
    for pins, said in (({"noise": 0.7}, "'noise'"), ({"clients": 4}, "from 1 to 3; got 4")):
        found = falsify(get("fedinit.lemma_2"), 30, pins=pins)
        assert found.families == ("quadratics",)
        assert said in found.refusals["curves"]


def test_a_search_that_is_stopped_shows_its_best_and_says_so(run, monkeypatch):
    heard = []

    def stops(self):
        heard.append(self)
        if len(heard) == 23:
            raise KeyboardInterrupt

    monkeypatch.setattr("empirics.progress.Silent.step", stops)
    status, out, err = run("falsify", "fedcog.smoothness_step", "--evaluations", "70")
    assert (status, "largest ratio " in out, "after 23 evaluations" in out, "23 of 70" in err) == (
        130,
        True,
        True,
        True,
    )


def test_every_bound_of_the_catalogue_is_served_or_refused_with_a_reason():
    served = [n for n, b in BOUNDS.items() if any(not f.refuses(b) for f in FAMILIES.values())]
    assert {name.split(".")[0] for name in served} == {"fedals", "fedinit", "decaying_k", "fedcog", "classics"}
    assert len(served) > 35
    assert list(IN_WORDS) == list(FAMILIES)


# ---- SCAFFOLD: its controls in closed form and in fractions, true theorems and planted false ones ----

CONVEX, STRONG = get("classics.scaffold_convex"), get("classics.scaffold_strongly_convex")
CONTROLLED = {
    "clients": 4, "kinds": 2, "count_0": 3, "count_1": 1, "cohort": 2, "with_replacement": 0, "local_steps": 3,
    "rounds": 3, "step_size": 0.2, "floor": 0.0, "relaxation": 0.0, "dim": 2, "start_0": 1.5, "start_1": -0.5,
    "curvature_0_0": 1.2, "curvature_0_1": 0.4, "curvature_1_0": 0.7, "curvature_1_1": 1.9, "turn_0": 0.25,
    "turn_1": -0.5, "minimum_0_0": 0.6, "minimum_0_1": -1.1, "minimum_1_0": -0.7, "minimum_1_1": 0.9, "noise_0": 0.3,
    "noise_1": 0.5, "weight_0": 1.0, "weight_1": 1.0,
}  # fmt: skip


@cases("bound lost", [(CONVEX, "controls"), (STRONG, "noise")])
def test_the_theorems_stand_and_what_is_left_of_them_is_refuted(bound, lost):
    assert falsify(bound, evaluations=60).witness is None
    low = replace(bound, name="own.low", terms={n: sp.Rational(1, 30) * x for n, x in bound.terms.items()})
    for planted in (low, shortened(bound, lost)):
        search = falsify(replace(planted, name="own.planted"), evaluations=300)
        assert search.witness.ratio > 1
        assert FAMILIES["quadratics"].exactly(planted, search.witness.instance).violated


def test_what_searched_runs_of_it_do_not_have_is_the_reason():
    falls = tuple(
        Condition.assume(HARMONIC_STEP_SIZE) if c.assumption is FIXED_STEP_SIZE else c for c in CONVEX.conditions
    )
    late = {**CONVEX.terms, "late": vocabulary.step_offset * vocabulary.grad_norm_sq}
    assert "constant step sizes" in obstacle(replace(CONVEX, conditions=falls, terms=late), QUADRATICS)
    for target in (vocabulary.global_step, vocabulary.next_divergence):
        assert target.name in obstacle(replace(CONVEX, target=target), QUADRATICS)
    assert obstacle(replace(CONVEX, target=vocabulary.average_gap), QUADRATICS)
    assert obstacle(CONVEX, CURVES)


def test_controls_ask_for_clients_that_weigh_alike_and_are_drawn_once():
    weighted = replace(CONVEX, terms={**CONVEX.terms, "w": ClientSum(vocabulary.client_weight**2)})
    family = FAMILIES["quadratics"]
    assert family.impossible(CONVEX, {**CONTROLLED, "with_replacement": 1})
    assert family.impossible(weighted, {**CONTROLLED, "weight_0": 0.3})
    assert not family.impossible(CONVEX, CONTROLLED)
