"""The schedules of Table 3: exact ceilings, independent arithmetic for every round, costs, and polite refusals."""

from fractions import Fraction
from math import ceil, sqrt
from types import SimpleNamespace as Values

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st
from twins import TWINS

from bounds import BOUNDS
from bounds.decaying_k.schedules import SCHEDULES, steps_cubed_ratio
from bounds.errors import DomainError, MissingQuantityError
from bounds.numerics.rounding import round_up, RoundUp
from bounds.vocabulary import initial_local_steps as K_0, round_index as r

START = {"initial_local_steps": 47, "initial_step_size": 0.31}
LOSSES = [2.3, 1.9, 2.1, 1.3, 0.7, 0.9, 0.41, 0.23, 0.11]
GIVEN = {**START, "rounds": 9, "losses": LOSSES, "plateau_round": 6}
RATES = {"model_size": 6.71, "download_rate": 21.3, "upload_rate": 4.9, "minibatch_time": 0.017}
CLIENT_RATES = {
    "client_download_rate": [21.3, 17.7, 30.1, 9.9],
    "client_upload_rate": [4.9, 6.3, 3.7, 5.1],
    "client_minibatch_time": [0.017, 0.29, 0.11, 0.23],
}


def exact_steps(start, index):
    """The smallest whole k with k^3 r >= K_0^3, in whole numbers only."""
    k = round(start / index ** (1 / 3))
    while k**3 * index >= start**3:
        k -= 1
    while k**3 * index < start**3:
        k += 1
    return k


# ---- every round ----


@pytest.mark.parametrize("key", SCHEDULES)
def test_a_plan_follows_table_3_round_by_round(key):
    plan = SCHEDULES[key].plan(**GIVEN)
    rows = [
        Values(round_index=i + 1, current_loss=loss, initial_loss=LOSSES[0], plateau=int(i + 1 >= 6), **START)
        for i, loss in enumerate(LOSSES)
    ]
    assert plan.local_steps.dtype == np.int64
    for what, found in (("steps", plan.local_steps), ("step_size", plan.step_sizes)):
        name = f"decaying_k.schedule_{key}_{what}"
        assert found == pytest.approx([TWINS[name](row) for row in rows], rel=1e-14)
        assert BOUNDS[name].expr == (SCHEDULES[key].local_steps if what == "steps" else SCHEDULES[key].step_size)


def test_the_initial_loss_may_be_that_of_an_earlier_time():
    plan = SCHEDULES["eta_error"].plan(**GIVEN, initial_loss=4.7)
    assert plan.step_sizes == pytest.approx([0.31 * sqrt(f / 4.7) for f in LOSSES], rel=1e-14)


@pytest.mark.parametrize("when", [1, 4, 9])
def test_the_plateau_round_is_the_first_with_the_decayed_value(when):
    plan = SCHEDULES["k_step"].plan(**{**GIVEN, "plateau_round": when})
    assert plan.local_steps.tolist() == [47] * (when - 1) + [5] * (10 - when)


def test_a_plateau_beyond_the_last_round_never_comes():
    assert SCHEDULES["eta_step"].plan(**{**GIVEN, "plateau_round": 10}).step_sizes.tolist() == [0.31] * 9


# ---- ceilings ----


def test_perfect_cubes_round_up_to_the_whole_number_itself():
    plan = SCHEDULES["k_rounds"].plan(rounds=64, initial_local_steps=60, initial_step_size=0.31)
    assert plan.local_steps[[7, 26, 63]].tolist() == [30, 20, 15]


def test_the_rounds_schedule_equals_whole_number_arithmetic_for_thousands_of_rounds():
    for start in (1, 3, 50, 60, 80, 81, 999, 39916):
        plan = SCHEDULES["k_rounds"].plan(rounds=3000, initial_local_steps=start, initial_step_size=0.31)
        assert plan.local_steps.tolist() == [exact_steps(start, i) for i in range(1, 3001)]


@given(start=st.integers(1, 39999), root=st.integers(1, 400))
def test_dividing_by_a_whole_root_is_exact(start, root):
    steps = BOUNDS["decaying_k.schedule_k_rounds_steps"](initial_local_steps=start, round_index=root**3)
    assert steps == ceil(Fraction(start, root))


def test_an_eighth_of_the_loss_halves_the_steps_exactly():
    losses = [2.4, 0.3, 2.4 / 27, 2.4 / 64]
    plan = SCHEDULES["k_error"].plan(rounds=4, initial_local_steps=60, initial_step_size=0.31, losses=losses)
    assert plan.local_steps.tolist() == [60, 30, 20, 15]


def test_a_true_excess_over_a_whole_number_is_not_forgiven():
    losses = [2.4, 0.3 * (1 + 1e-13)]
    plan = SCHEDULES["k_error"].plan(rounds=2, initial_local_steps=60, initial_step_size=0.31, losses=losses)
    assert plan.local_steps.tolist() == [60, 31]


def test_there_is_always_one_local_step():
    few = {"initial_local_steps": 3, "initial_step_size": 0.31}
    assert SCHEDULES["k_error"].plan(rounds=2, losses=[2.3, 0.0], **few).local_steps.tolist() == [3, 1]
    assert SCHEDULES["k_step"].plan(rounds=2, plateau_round=2, **few).local_steps.tolist() == [3, 1]
    assert SCHEDULES["k_rounds"].plan(rounds=5000, **few).local_steps.min() == 1


def test_as_printed_a_loss_of_zero_asks_for_no_local_step():
    printed, ours = (BOUNDS[f"decaying_k.schedule_k_error_steps{end}"] for end in ("_printed", ""))
    losses = {"current_loss": [0.0, 1e-9, 0.31, 2.7], "initial_loss": 2.3, "initial_local_steps": 47}
    assert printed(**losses).tolist() == [0, *ours(**losses)[1:]]
    assert ours(**losses)[0] == 1


def test_solving_a_schedule_is_exact_at_perfect_cubes():
    steps = BOUNDS["decaying_k.schedule_k_rounds_steps"]
    assert steps.solve("round_index", target=20, side="smallest", initial_local_steps=60).at == 27
    assert steps.solve("initial_local_steps", target=27, side="largest", round_index=27).at == 81


def test_round_up_is_exact_on_exact_numbers_and_prints_as_a_ceiling():
    assert RoundUp(sp.Rational(81) * sp.root(27, 3) ** -1) == 27
    assert RoundUp(sp.sqrt(2) * 5) == 8
    assert RoundUp(sp.Float("27.0000000000000036")) == 27
    assert RoundUp(sp.Float("27.0000000000004")) == 28
    assert r"\left\lceil" in sp.latex(RoundUp(K_0 / sp.cbrt(r)))
    assert RoundUp(K_0 / sp.cbrt(r)).diff(K_0) == 0


def test_round_up_of_an_array_is_that_of_its_numbers():
    numbers = [27.0, 81 * 27 ** (-1 / 3), 27.0000000000004, 26.2]
    assert round_up(np.array(numbers)).tolist() == [int(RoundUp(sp.Float(x))) for x in numbers] == [27, 27, 28, 27]


# ---- what a plan costs ----


def test_the_total_and_the_cubed_ratio_are_plain_sums():
    plan = SCHEDULES["k_rounds"].plan(**GIVEN)
    steps = [exact_steps(47, i) for i in range(1, 10)]
    assert plan.total_steps == sum(steps)
    assert plan.steps_cubed_ratio == pytest.approx(sum(k**3 for k in steps) / sum(steps), rel=1e-15)


def test_the_cubed_ratio_of_equal_steps_is_their_square_and_never_overflows():
    assert steps_cubed_ratio([7, 7, 7]) == 49
    assert steps_cubed_ratio([3_000_007] * 4) == 3_000_007**2


def test_the_runtime_is_the_sum_over_the_rounds_of_equal_clients():
    plan = SCHEDULES["k_rounds"].plan(**GIVEN)
    by_hand = sum(6.71 / 21.3 + 6.71 / 4.9 + 0.017 * exact_steps(47, i) for i in range(1, 10))
    assert plan.runtime(**RATES) == pytest.approx(by_hand, rel=1e-14)
    shared = {f"client_{name}": [value] * 3 for name, value in RATES.items() if name != "model_size"}
    assert plan.straggler_runtime(model_size=6.71, **shared) == pytest.approx(by_hand, rel=1e-14)


def test_the_straggler_of_every_round_sets_its_time():
    plan = SCHEDULES["k_rounds"].plan(**GIVEN)
    cohorts = [[0, 2], [1, 3], [2, 3], [0, 1], [3, 0], [1, 2], [0, 3], [2, 0], [1, 0]]
    down, up, step = CLIENT_RATES.values()
    times = [
        max(6.71 / down[c] + k * step[c] + 6.71 / up[c] for c in who)
        for who, k in zip(cohorts, plan.local_steps.tolist(), strict=True)
    ]
    measured = plan.straggler_round_times(model_size=6.71, cohorts=cohorts, **CLIENT_RATES)
    assert measured == pytest.approx(times, rel=1e-14)
    assert plan.straggler_runtime(model_size=6.71, cohorts=cohorts, **CLIENT_RATES) == pytest.approx(sum(times))
    assert plan.straggler_runtime(model_size=6.71, **CLIENT_RATES) > sum(times)


def test_one_rate_may_be_shared_by_all_clients():
    plan = SCHEDULES["k_eta_fixed"].plan(**GIVEN)
    shared = {**CLIENT_RATES, "client_download_rate": 21.3}
    listed = {**CLIENT_RATES, "client_download_rate": [21.3] * 4}
    cohorts = [[1, 3]] * 9
    expected = plan.straggler_runtime(model_size=6.71, cohorts=cohorts, **listed)
    assert plan.straggler_runtime(model_size=6.71, cohorts=cohorts, **shared) == expected


# ---- refusals ----


@pytest.mark.parametrize(
    ("key", "needed"),
    [("k_error", "losses"), ("eta_error", "losses"), ("k_step", "plateau_round"), ("eta_step", "plateau_round")],
)
def test_schedules_ask_for_what_they_follow(key, needed):
    with pytest.raises(MissingQuantityError, match=f"schedule {key} needs {needed}"):
        SCHEDULES[key].plan(rounds=3, **START)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"losses": LOSSES[:-1]}, r"losses must be one number for each of the 9 rounds; got shape \(8,\)"),
        ({"losses": [*LOSSES[:-1], -0.2]}, "losses must be >= 0; got -0.2"),
        ({"losses": [0.0, *LOSSES[1:]]}, "initial_loss must be > 0 to divide by; got 0"),
        ({"losses": [*LOSSES[:-1], float("nan")]}, "losses must be .*; got nan"),
        ({"initial_loss": -3.1}, "initial_loss must be > 0; got -3.1"),
        ({"losses": ["low"] * 9}, "losses must be a number or a list of numbers"),
        ({"initial_local_steps": "many"}, "initial_local_steps must be a number or a list of numbers; got 'many'"),
        ({"initial_local_steps": [47, 50]}, r"initial_local_steps must be one number; got \[47, 50\]"),
        ({"rounds": 0}, "rounds must be a whole number >= 1; got 0"),
        ({"rounds": 2.5}, "rounds must be a whole number >= 1; got 2.5"),
        ({"plateau_round": 0}, "plateau_round must be a whole number >= 1; got 0"),
        ({"initial_local_steps": 4.5}, "initial_local_steps must be a whole number >= 1; got 4.5"),
        ({"initial_step_size": -0.31}, "initial_step_size must be > 0; got -0.31"),
    ],
)
def test_nonsense_is_refused_in_words(wrong, words):
    with pytest.raises(DomainError, match=words):
        SCHEDULES["k_error"].plan(**{**GIVEN, **wrong})


@pytest.mark.parametrize(
    ("cohorts", "words"),
    [
        ([[0, 1]] * 8, r"cohorts must have 9 rows of client numbers; got shape \(8, 2\)"),
        ([[0.5, 1]] * 9, "cohorts must have 9 rows of client numbers"),
        ([[0, 4]] * 9, "cohorts must hold client numbers from 0 to 3; got 4"),
        ([[-1, 2]] * 9, "cohorts must hold client numbers from 0 to 3; got -1"),
    ],
)
def test_cohorts_that_are_no_client_numbers_are_refused(cohorts, words):
    plan = SCHEDULES["k_rounds"].plan(**GIVEN)
    with pytest.raises(DomainError, match=words):
        plan.straggler_runtime(model_size=6.71, cohorts=cohorts, **CLIENT_RATES)


@pytest.mark.parametrize("steps", [[], [[3, 4]], [3, 0], [2.5]])
def test_the_cubed_ratio_needs_whole_numbers_of_steps(steps):
    with pytest.raises(DomainError, match="local_steps must be"):
        steps_cubed_ratio(steps)
