"""FedALS: one test per statement or remark, against arithmetic by hand (the enumerations have their own file)."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
import sympy as sp

from bounds.errors import DomainError
from bounds.fedals import BOUNDS
from bounds.points.fedals import POINTS
from bounds.vocabulary import clients, cohort, local_gap, smoothness, strong_convexity

BY_NAME = {b.name.removeprefix("fedals."): b for b in BOUNDS}


def point(name: str) -> dict[str, Any]:
    return dict(POINTS[f"fedals.{name}"])


# ---- Theorem 4.1 and its discussion ----


@pytest.mark.parametrize("name", ["one_round", "participation_case1", "participation_case2"])
@pytest.mark.parametrize("word", ["local_gap", "non_iidness"])
def test_a_negative_measurement_leaves_the_theorem_silent(name: str, word: str) -> None:
    v = point(name)
    v[word] = [v[word][0], -v[word][1], v[word][2]]
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME[name](**v))
    assert len(BY_NAME[name].failed(**v)) == 1


def test_the_claimed_iid_reading_has_the_square_of_the_number_of_equal_clients() -> None:
    claimed = BY_NAME["one_round_iid_claimed"].equal_clients()
    gap = claimed.quantity("local_gap")
    assert sp.simplify(claimed.expr - smoothness * gap / (strong_convexity * clients**2)) == 0


def test_equal_clients_gain_only_their_number_in_the_second_term() -> None:
    term = BY_NAME["one_round"].equal_clients().terms["non-iidness"]
    assert sp.simplify(clients * term).diff(clients) == 0


def test_the_bound_keeps_its_first_term_alone_without_non_iidness() -> None:
    v = point("one_round") | {"non_iidness": 0.0}
    claimed = {k: v[k] for k in POINTS["fedals.one_round_iid_claimed"]}
    assert BY_NAME["one_round"](**v) == pytest.approx(BY_NAME["one_round_iid_claimed"](**claimed), rel=1e-14)


# ---- Theorem C.1, Theorem 4.3 ----


def test_the_inexact_bound_with_exact_solvers_is_two_and_root_two_times_the_exact_one() -> None:
    v = point("one_round")
    loose = BY_NAME["one_round_inexact"].parts(**v, local_suboptimality=0.0)
    tight = BY_NAME["one_round"].parts(**v)
    ratios = [loose[name] / tight[name] for name in tight]
    assert ratios == pytest.approx([2, sqrt(2)], rel=1e-13)


def test_inexact_solvers_admit_a_slightly_negative_non_iidness() -> None:
    v = point("one_round_inexact") | {"non_iidness": [-0.003, 0.029, 0.071]}
    assert np.isfinite(BY_NAME["one_round_inexact"](**v))
    with pytest.warns(match="silent"):
        assert np.isnan(BY_NAME["one_round_inexact"](**v | {"non_iidness": [-0.004, 0.029, 0.071]}))


def test_more_samples_and_steps_remove_the_second_versions_bound_but_not_the_firsts() -> None:
    v = point("rounds_v1") | {"samples_per_round": 1e15, "local_steps": 1e12, "non_iidness": 0.0}
    kappa = v["smoothness"] / v["strong_convexity"]
    assert BY_NAME["rounds_v2"](**v) < 1e-5
    floor = 2 * kappa**2 * sum(w**3 for w in v["client_weight"])
    floor += sqrt(8 * kappa) * kappa * sum(w**2 for w in v["client_weight"])
    assert BY_NAME["rounds_v1"](**v) == pytest.approx(floor, rel=1e-5)


def test_the_rate_quoted_for_the_empirical_risk_grows_with_the_local_steps_and_falls_with_the_iterations() -> None:
    rate = BY_NAME["optimization_rate"]
    assert rate(local_steps=3, iterations=700) == pytest.approx(
        3 / 700 + np.cbrt((3 / 700) ** 2) + 1 / sqrt(700), rel=1e-13
    )
    steps = rate(local_steps=np.arange(1, 40), iterations=700)
    far = rate.parts(local_steps=3, iterations=[7e9, 7e11])
    assert np.all(np.diff(steps) > 0)
    assert far["sampling"][1] / far["sampling"][0] == pytest.approx(0.1)
    assert far["drift"][1] < far["sampling"][1] / 10


# ---- partial participation ----


def test_with_equal_weights_case_one_replaces_the_number_of_clients_by_the_cohort() -> None:
    full = BY_NAME["one_round"].equal_clients()
    partial = BY_NAME["participation_case1"].equal_clients()
    for name, term in full.terms.items():
        assert sp.simplify(partial.terms[name].subs(cohort, clients) - term) == 0


def test_case_two_with_everyone_taking_part_is_the_full_bound() -> None:
    full, partial = BY_NAME["one_round"], BY_NAME["participation_case2"]
    for name, term in full.terms.items():
        assert partial.terms[name].subs(cohort, clients) == term
        assert partial.terms[name] != term


def test_a_cohort_larger_than_the_federation_is_refused() -> None:
    with pytest.raises(DomainError, match="cohort must be <= clients"):
        BY_NAME["participation_case2"](**point("participation_case2") | {"cohort": 4})


def test_a_growing_cohort_with_replacement_tends_to_the_full_bound_and_the_printed_case_to_nothing() -> None:
    v = point("participation_case1") | {"cohort": 10**9}  # more than there are clients: no call would take it
    full = BY_NAME["one_round"](**point("one_round"))
    assert BY_NAME["participation_case1_counted"].compile()(**v) == pytest.approx(full, rel=1e-6)
    assert BY_NAME["participation_case1"].compile()(**v) < 1e-6 * full


def test_one_participant_cannot_be_drawn_twice() -> None:
    v = point("participation_case1") | {"cohort": 1}
    counted = BY_NAME["participation_case1_counted"].parts(**v)
    assert counted == pytest.approx(BY_NAME["participation_case1"].parts(**v), rel=1e-13)


# ---- squared distances ----


def test_for_many_iid_clients_the_bound_is_root_two_times_the_gap() -> None:
    gap = BY_NAME["gaussian_mean_gap"].equal_clients()
    bound = BY_NAME["gaussian_mean_bound"].equal_clients()
    iid = bound.expr.subs(bound.quantity("client_distance_sq"), 0)
    assert sp.simplify(gap.expr * clients - gap.quantity(local_gap.name)) == 0
    ratio = sp.simplify((iid / gap.expr).subs(gap.quantity(local_gap.name), sp.Rational(7, 10)))
    assert ratio.subs(clients, 1) == 1
    assert sp.limit(ratio, clients, sp.oo) == sp.sqrt(2)
    assert float(ratio.subs(clients, 7)) == pytest.approx(1 / 7 + sqrt(2 * 6 / 7), rel=1e-12)


# ---- rescaling, consensus, communication ----


def test_the_r_round_bound_does_not_scale_with_the_loss() -> None:
    v = point("rounds_v2")
    powers = {"smoothness": 1, "strong_convexity": 1, "non_iidness": 1, "gradient_variance": 2}
    scaled = {k: 3.7 ** powers.get(k, 0) * np.asarray(x) for k, x in v.items()}
    before, after = BY_NAME["rounds_v2"].parts(**v), BY_NAME["rounds_v2"].parts(**scaled)
    assert after["local optimization"] == pytest.approx(3.7 * before["local optimization"], rel=1e-12)
    assert after["model class"] == pytest.approx(before["model class"], rel=1e-12)
    assert before["non-iidness"] < after["non-iidness"] < 3.7 * before["non-iidness"]


def test_without_adaptation_the_whole_model_is_sent_every_round() -> None:
    v = point("communicated_parameters") | {"adaptation": 1}
    model = v["extractor_size"] + v["head_size"]
    assert BY_NAME["communicated_parameters"](**v) == model * v["iterations"] // v["local_steps"]


PRINTED = {1: "2.344", 5: "0.473", 10: "0.239", 25: "0.099", 50: "0.052", 100: "0.029"}
"""Table 2: billions of parameters per client for each alpha."""


def resnet20_extractor(shortcut: int | None) -> int:
    """Parameters of the CIFAR ResNet-20 before its dense layer; ``shortcut`` is the kernel size, None for none."""

    def block(kernel: int, inputs: int, outputs: int) -> int:
        return kernel**2 * inputs * outputs + 2 * outputs

    total = block(3, 3, 16) + 6 * block(3, 16, 16)
    for inputs, outputs in ((16, 32), (32, 64)):
        total += block(3, inputs, outputs) + 5 * block(3, outputs, outputs)
        total += block(shortcut, inputs, outputs) if shortcut else 0
    return total


def billions(name: str, extractor: int, head: int) -> dict[int, str]:
    values = BY_NAME[name](
        adaptation=list(PRINTED), local_steps=5, iterations=20_000, extractor_size=extractor, head_size=head
    )
    return {a: f"{v / 1e9:.3f}" for a, v in zip(PRINTED, values, strict=True)}


@pytest.mark.parametrize("shortcut", [None, 1, 3])
def test_no_usual_resnet_gives_table_2_in_one_direction(shortcut: int | None) -> None:
    assert billions("communicated_parameters", resnet20_extractor(shortcut), 650) != PRINTED


@pytest.mark.parametrize(("shortcut", "size"), [(None, 269_072), (1, 271_824)])
def test_the_usual_shortcuts_miss_table_2_in_both_directions(shortcut: int | None, size: int) -> None:
    assert resnet20_extractor(shortcut) == size
    assert billions("communicated_parameters_table_2", size, 650) != PRINTED


def test_the_digits_of_table_2_pin_the_sizes() -> None:
    from scipy.optimize import linprog

    rows = np.array([[8000 / a, 8000.0] for a in PRINTED])
    printed = 1e9 * np.array([float(b) for b in PRINTED.values()])
    limits = np.r_[rows, -rows], np.r_[printed + 5e5, -(printed - 5e5)]
    ends = [linprog(c, *limits).fun for c in ([1, 0], [-1, 0], [0, 1], [0, -1])]
    assert np.ceil(ends[0]) == 292_223
    assert np.floor(-ends[1]) == 292_424
    assert np.ceil(ends[2]) == 639
    assert np.floor(-ends[3]) == 715
