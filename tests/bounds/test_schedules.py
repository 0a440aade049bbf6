"""The schedules of Table 3: exact ceilings, independent arithmetic for every round, costs, and refusals."""

from math import sqrt
from types import SimpleNamespace as Values

import numpy as np
import pytest
import sympy as sp
from refusals import all_refused
from twins import TWINS

from bounds import BOUNDS
from bounds.decaying_k.schedules import SCHEDULES, steps_cubed_ratio
from bounds.errors import DomainError, MissingQuantityError
from bounds.numerics.functions import RoundUp
from bounds.vocabulary import initial_local_steps as K_0, round_index as r

START = {"initial_local_steps": 47, "initial_step_size": 0.31}
LOSSES = [2.3, 1.9, 2.1, 1.3, 0.7, 0.9, 0.41, 0.23, 0.11]
GIVEN = {**START, "rounds": 9, "losses": LOSSES, "plateau_round": 6}
RATES = {"model_size": 6.71, "download_rate": 21.3, "upload_rate": 4.9, "minibatch_time": 0.017}
PLAN = SCHEDULES["k_rounds"].plan(**GIVEN)


def exact_steps(start, index):
    """The smallest whole k with k^3 r >= K_0^3, in whole numbers only."""
    k = round(start / index ** (1 / 3))
    while k**3 * index >= start**3:
        k -= 1
    while k**3 * index < start**3:
        k += 1
    return k


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


def test_the_initial_loss_may_be_given_and_the_plateau_comes_when_it_is_said():
    plan = SCHEDULES["eta_error"].plan(**GIVEN, initial_loss=4.7)
    assert plan.step_sizes == pytest.approx([0.31 * sqrt(f / 4.7) for f in LOSSES], rel=1e-14)
    for when in (1, 4, 9):
        plan = SCHEDULES["k_step"].plan(**{**GIVEN, "plateau_round": when})
        assert plan.local_steps.tolist() == [47] * (when - 1) + [5] * (10 - when)
    assert SCHEDULES["eta_step"].plan(**{**GIVEN, "plateau_round": 10}).step_sizes.tolist() == [0.31] * 9


def test_the_rounds_schedule_equals_whole_number_arithmetic_for_thousands_of_rounds():
    for start in (1, 3, 60, 81, 999, 39916):  # with perfect cubes: 60 after 8, 27 and 64 rounds
        plan = SCHEDULES["k_rounds"].plan(rounds=3000, initial_local_steps=start, initial_step_size=0.31)
        assert plan.local_steps.tolist() == [exact_steps(start, i) for i in range(1, 3001)]


def test_an_eighth_of_the_loss_halves_the_steps_exactly_and_a_true_excess_is_not_forgiven():
    losses = [2.4, 0.3, 2.4 / 27, 2.4 / 64, 0.3 * (1 + 1e-13)]
    plan = SCHEDULES["k_error"].plan(rounds=5, initial_local_steps=60, initial_step_size=0.31, losses=losses)
    assert plan.local_steps.tolist() == [60, 30, 20, 15, 31]


def test_there_is_always_one_local_step_but_as_printed():
    few = {"initial_local_steps": 3, "initial_step_size": 0.31}
    assert SCHEDULES["k_error"].plan(rounds=2, losses=[2.3, 0.0], **few).local_steps.tolist() == [3, 1]
    assert SCHEDULES["k_step"].plan(rounds=2, plateau_round=2, **few).local_steps.tolist() == [3, 1]
    printed, ours = (BOUNDS[f"decaying_k.schedule_k_error_steps{end}"] for end in ("_printed", ""))
    losses = {"current_loss": [0.0, 1e-9, 0.31, 2.7], "initial_loss": 2.3, "initial_local_steps": 47}
    assert printed(**losses).tolist() == [0, *ours(**losses)[1:]]
    assert ours(**losses)[0] == 1


def test_round_up_is_exact_on_exact_numbers_and_arrays_and_prints_as_a_ceiling():
    assert RoundUp(sp.Rational(81) * sp.root(27, 3) ** -1) == 27
    assert RoundUp(sp.sqrt(2) * 5) == 8
    assert RoundUp(sp.Float("27.0000000000000036")) == 27
    assert r"\left\lceil" in sp.latex(RoundUp(K_0 / sp.cbrt(r)))
    assert RoundUp(K_0 / sp.cbrt(r)).diff(K_0) == 0
    numbers = [27.0, 81 * 27 ** (-1 / 3), 27.0000000000004, 26.2]
    assert [int(RoundUp(sp.Float(x))) for x in numbers] == [27, 27, 28, 27]


def test_the_total_and_the_cubed_ratio_are_plain_sums():
    steps = [exact_steps(47, i) for i in range(1, 10)]
    assert PLAN.total_steps == sum(steps)
    assert PLAN.steps_cubed_ratio == pytest.approx(sum(k**3 for k in steps) / sum(steps), rel=1e-15)
    assert steps_cubed_ratio([7, 7, 7]) == 49
    assert steps_cubed_ratio([3_000_007] * 4) == 3_000_007**2


def test_the_runtime_is_the_sum_over_the_rounds():
    total = sum(6.71 / 21.3 + 6.71 / 4.9 + 0.017 * exact_steps(47, i) for i in range(1, 10))
    assert PLAN.runtime(**RATES) == pytest.approx(total, rel=1e-14)


def test_schedules_ask_for_what_they_follow():
    all_refused(
        [("k_error", "losses"), ("eta_error", "losses"), ("k_step", "plateau_round"), ("eta_step", "plateau_round")],
        lambda key: SCHEDULES[key].plan(rounds=3, **START),
        kind=MissingQuantityError,
    )


def test_nonsense_is_refused():
    all_refused(
        [
            ({"losses": LOSSES[:-1]}, "losses 9 (8,)"),
            ({"losses": [*LOSSES[:-1], -0.2]}, "losses >= 0 -0.2"),
            ({"losses": [0.0, *LOSSES[1:]]}, "initial_loss > 0"),
            ({"initial_local_steps": "many"}, "initial_local_steps 'many'"),
            ({"initial_local_steps": [47, 50]}, "initial_local_steps [47, 50]"),
            ({"rounds": 0}, "rounds >= 1 0"),
            ({"plateau_round": 0}, "plateau_round >= 1"),
            ({"initial_step_size": -0.31}, "initial_step_size > 0 -0.31"),
        ],
        lambda wrong: SCHEDULES["k_error"].plan(**{**GIVEN, **wrong}),
        kind=DomainError,
    )


def test_the_cubed_ratio_needs_whole_numbers_of_steps():
    all_refused(
        [(steps, "local_steps") for steps in ([], [[3, 4]], [3, 0], [2.5])], steps_cubed_ratio, kind=DomainError
    )
