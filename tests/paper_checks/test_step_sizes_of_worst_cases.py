"""Worst cases of runs whose local steps have step sizes of their own: by hand, by another rule, played and proved."""

import json
from dataclasses import replace

import pytest

import bounds.vocabulary as v
import fedbounds
from bounds import About, ASSUMPTIONS, Bound, Condition, Source, Statistic
from bounds.catalog import get
from empirics.training.setting import Setting
from paper_checks.worst_cases import answer, worst_case, WorstCaseError
from paper_checks.worst_cases.instances import question_of_json, question_to_json
from paper_checks.worst_cases.places import Place, question
from paper_checks.worst_cases.tables import committed

GIVEN = {"smoothness": 1.4, "strong_convexity": 0.2, "initial_distance_sq": 0.9, "optimum_dissimilarity": 0.3}
SIZES = (0.5, 0.2, 0.35, 0.6)


def plan(rounds=2, steps=2, size=0.3, **more):
    return Setting(rounds=rounds, cohort=2, local_steps=steps, step_size=size, **more)


def test_steps_up_to_two_over_the_curvatures_contract_by_the_flattest_quadratic():
    """Up to 2/(L + mu) = 1.25 each step multiplies the distance by 1 - size mu at most; so do all of them together."""
    found = worst_case("fedavg()", plan(4, 1), GIVEN, "distance_sq", step_sizes=SIZES)
    shrunk = 1.0
    for size in SIZES:
        shrunk *= (1 - 0.2 * size) ** 2
    assert found.value == pytest.approx(0.9 * shrunk, rel=1e-6)
    proof = found.certificate()
    assert float(proof.attained) <= 0.9 * shrunk <= float(proof.bound)
    assert proof.width < 1e-5


def test_listed_sizes_of_a_rule_are_that_rule():
    falling = [0.3 * 7 / (7 + t) for t in range(4)]
    listed = worst_case("fedavg()", plan(), GIVEN, "optimality_gap", step_sizes=falling)
    ruled = worst_case("fedavg()", plan(step_offset=7), GIVEN, "optimality_gap")
    assert listed.value == pytest.approx(ruled.value, rel=1e-7)
    assert listed.value != pytest.approx(worst_case("fedavg()", plan(), GIVEN, "optimality_gap").value, rel=1e-3)
    assert listed.replay().agrees


def test_sizes_of_rounds_are_those_of_their_steps_however_many():
    by_round = worst_case("fedavg()", plan(), GIVEN, "distance_sq", steps=(3, 1), step_sizes=(0.4, 0.25))
    each = worst_case("fedavg()", plan(), GIVEN, "distance_sq", steps=(3, 1), step_sizes=(0.4, 0.4, 0.4, 0.25))
    assert by_round.value == each.value
    kept = question_of_json(question_to_json(each.question))
    assert kept == each.question
    assert "step_sizes" not in question_to_json(worst_case("fedavg()", plan(), GIVEN, "distance_sq").question)


@pytest.mark.parametrize(
    ("sizes", "more", "said"),
    [
        ((0.1, 0.2, 0.3), {}, "those of all 4 local steps, or of the 2 rounds; got 3"),
        ((0.1, -0.2), {}, "must be finite numbers > 0; got -0.2"),
        ((0.1, float("nan")), {}, "must be finite numbers > 0; got nan"),
        ((0.1, 0.2), {"step_offset": 3.0}, "leave step_offset, step_size_rule, step_size_decay out"),
    ],
)
def test_other_lists_are_refused(sizes, more, said):
    with pytest.raises(WorstCaseError, match=said):
        worst_case("fedavg()", plan(**more), GIVEN, "distance_sq", step_sizes=sizes)


def test_a_list_has_no_one_derivative():
    found = worst_case("fedavg()", plan(1, 2), GIVEN, "distance_sq", step_sizes=(0.1, 0.2))
    with pytest.raises(WorstCaseError, match="no one derivative in step_size"):
        found.sensitivity("step_size")


# ---- in the terminal ----


def told(capsys, tmp_path, *words):
    status = fedbounds.main(["tightness", *words, "--workers", "0", "--store", str(tmp_path / "s")])
    return status, capsys.readouterr()


def test_a_list_of_the_terminal_is_a_run_and_lists_of_lists_are_several(capsys, tmp_path):
    words = ("decaying_k.lemma_2", "rounds=2", "local_steps=2", "heterogeneity=0.3")
    status, seen = told(capsys, tmp_path, *words, "step_sizes=[[0.3,0.1],[0.2,0.15]]", "--json", "-o", str(tmp_path))
    assert status == 0
    rows = json.loads(seen.out)["rows"]
    assert [row["step_sizes"] for row in rows] == ["0.3 0.1", "0.2 0.15"]
    asked = question(get("decaying_k.lemma_2"), Place.of_row(rows[1]))
    assert asked.step_sizes == (0.2, 0.2, 0.15, 0.15)
    assert rows[1]["worst_case"] == pytest.approx(answer(asked).value, rel=1e-6)
    alone = told(capsys, tmp_path, *words, "step_sizes=0.2,0.2,0.15,0.15", "--json")[1]
    assert json.loads(alone.out)["rows"][0]["worst_case"] == pytest.approx(rows[1]["worst_case"], rel=1e-9)
    drift = rows[1]["term: drift"] / rows[0]["term: drift"]
    assert drift == pytest.approx((0.2**2 + 0.15**2) / (0.3**2 + 0.1**2))
    kept = committed("decaying_k.lemma_2", tmp_path)
    assert [Place.of_row(row).step_sizes for row in kept] == [(0.3, 0.1), (0.2, 0.15)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("decaying_k.lemma_2", "step_sizes=0.3,0.1,0.2"), "those of all 4 local steps, or of the 2 rounds; got 3"),
        (("decaying_k.lemma_2", "step_sizes=0.3,-0.1"), "step_sizes must be > 0"),
        (("decaying_k.lemma_2", "step_sizes=0.1:0.3:2"), "a list, one number for every round or local step"),
        (("decaying_k.lemma_2", "step_sizes=0.3,0.1", "step_share=0.7"), "step_share would change nothing"),
        (("decaying_k.theorem_1", "step_sizes=0.3,0.1"), "speaks of one step size"),
        (("decaying_k.theorem_1", "step_size=0.1"), "or fixed_step_size"),
        (("decaying_k.theorem_1", "strong_convexity=0.1"), "it is 1/condition_number"),
        (("decaying_k.theorem_1", "initial_distance_sq=1.7"), "would change nothing"),
    ],
)
def test_words_that_a_table_does_not_take_are_refused_with_what_helps(words, said, capsys, tmp_path):
    status, seen = told(capsys, tmp_path, words[0], "rounds=2", "local_steps=2", *words[1:])
    assert status == 2
    assert said in seen.err


# ---- where the start is bounded twice, and what a bound must assume ----

START = {"gap": v.initial_gap / v.rounds, "drift": v.step_size * v.optimum_dissimilarity}


def own(terms, *assumed, target=v.optimality_gap):
    small = Condition("the step size is at most 1/L", v.step_size * v.smoothness <= 1)
    conditions = (*(Condition.assume(ASSUMPTIONS[name]) for name in assumed), small)
    return Bound(
        name="mine.start", target=target, terms=terms, conditions=conditions, source=Source("mine", "note"),
        about=About("fedavg"), statistic=Statistic("last", "rounds"),
    )  # fmt: skip


def test_the_distance_of_the_start_is_a_word_beside_its_gap():
    bound = own({**START, "distance": v.initial_distance_sq * v.smoothness}, "convex")
    values = []
    for distance in (0.7, 1.9, 90.0):
        place = Place(rounds=2, local_steps=2, heterogeneity=0.3, initial_distance_sq=distance)
        asked = question(bound, place)
        assert (asked.assumptions["initial_distance_sq"], asked.assumptions["initial_gap"]) == (distance, 1.0)
        assert Place.of_row(place.as_row()) == place
        values.append(answer(asked).value)
    assert values[0] < values[1] < values[2]
    assert "initial_distance_sq" not in Place().as_row()
    far = replace(asked, assumptions={w: x for w, x in asked.assumptions.items() if w != "initial_gap"})
    assert answer(far).value > 3 * values[2]  # the gap is what holds the last one


@pytest.mark.parametrize(
    ("terms", "target", "word"),
    [
        ({**START, "distance": v.initial_distance_sq * v.smoothness}, v.optimality_gap, "optimum_dissimilarity"),
        ({"gap": v.initial_gap / v.smoothness}, v.distance_sq, "distance_sq"),
        ({"gap": v.initial_gap * (1 - v.step_size * v.strong_convexity)}, v.optimality_gap, "strong_convexity"),
    ],
)
def test_a_bound_that_speaks_of_a_minimiser_is_told_what_to_assume(terms, target, word):
    with pytest.raises(WorstCaseError, match=r'Condition.assume\(ASSUMPTIONS\["strongly_convex"\]\)') as refused:
        question(own(terms, target=target), Place())
    assert word in str(refused.value) or "initial_distance_sq" in str(refused.value)
    assert question(own(terms, "strongly_convex", target=target), Place()).assumptions["strong_convexity"] == 0.1
