"""Worst cases of runs whose local steps have step sizes of their own: by hand, by another rule, played and proved."""

import pytest

from empirics.training.setting import Setting
from paper_checks.worst_cases import worst_case, WorstCaseError
from paper_checks.worst_cases.instances import question_of_json, question_to_json

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
