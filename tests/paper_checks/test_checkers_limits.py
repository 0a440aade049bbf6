"""TendsTo, OrderIs, MonotoneIn: what they must pass, and planted errors they must catch."""

import pytest
import sympy as sp
from checker_toys import depth, offset, place, portion, repeats, run, speed, width

from bounds.operators import ClientMax, ClientMean
from bounds.vocabulary import client_weight, local_gap
from paper_checks.claims.checkers import MonotoneIn, OrderIs, TendsTo
from paper_checks.claims.claim import ClaimError, Grade, Status

HOLDS, FAILS = Status.HOLDS, Status.FAILS
FORMULA = (3 * width * repeats**2 + depth) / (2 * repeats**2 + sp.sqrt(repeats))


def test_a_limit_is_recognised():
    assert run(TendsTo("toys.f", repeats, sp.oo, 3 * width / 2), f=FORMULA).status is HOLDS
    assert run(TendsTo(sp.sin(speed * width) / speed, speed, 0, width)).status is HOLDS
    assert run(TendsTo(repeats * width, repeats, sp.oo, sp.oo)).status is HOLDS
    assert run(TendsTo(-repeats * width, repeats, sp.oo, -sp.oo)).status is HOLDS
    assert run(TendsTo(1 + offset * ClientMean(local_gap), offset, 0, 1)).status is HOLDS


@pytest.mark.parametrize(
    ("of", "limit"),
    [
        (FORMULA, 3 * width / 4),
        (FORMULA, 3 * width / 2 + sp.Rational(1, 10**9)),
        (FORMULA, 3 * depth / 2),
        (FORMULA, sp.Integer(0)),
        (FORMULA, sp.oo),
        (repeats * FORMULA, 3 * width / 2),
        (-repeats * width, sp.Integer(5)),
        (-repeats * width, sp.oo),
    ],
)
def test_a_wrong_limit_is_caught(of, limit):
    assert run(TendsTo(of, repeats, sp.oo, limit)).status is FAILS


def test_a_limit_is_taken_from_inside_the_domain_and_else_from_both_sides():
    step = sp.Piecewise((0, speed < 1), (1, True))
    assert run(TendsTo(sp.sqrt(1 - portion) + width, portion, 1, width)).status is HOLDS
    with pytest.raises(ClaimError, match="values on the way"):
        run(TendsTo(step, speed, 1, 1))
    assert run(TendsTo(width / place, place, 0, sp.oo)).status is FAILS


def test_values_on_the_way_that_are_not_real_say_nothing():
    """Real at 1 and at 1e-16, not at 1e-8."""
    root = sp.sqrt((speed - sp.Rational(1, 10**4)) * (speed - sp.Rational(1, 10**12)))
    assert run(TendsTo(root * width / speed, speed, 0, sp.oo)).status is HOLDS


def test_what_has_no_limit_is_said_in_words():
    with pytest.raises(ClaimError, match="there is no limit as speed -> oo"):
        run(TendsTo(sp.sin(speed) * width, speed, sp.oo, 0))
    with pytest.raises(ClaimError, match="cannot be given in terms of speed"):
        run(TendsTo(1 + 1 / speed, speed, sp.oo, 1 + 1 / speed))


def test_an_order_is_recognised_and_a_wrong_one_caught():
    of = width / repeats + depth / repeats**2
    assert run(OrderIs(of, repeats, 1 / repeats)).status is HOLDS
    assert run(OrderIs(of, repeats, 1 / sp.sqrt(repeats), at_most=True)).status is HOLDS
    for wrong in (1 / repeats**2, 1 / sp.sqrt(repeats), sp.log(repeats) / repeats, sp.Integer(1)):
        assert run(OrderIs(of, repeats, wrong)).status is FAILS
    assert run(OrderIs(of, repeats, 1 / repeats**2, at_most=True)).status is FAILS
    assert run(OrderIs(of, repeats, 1 / repeats**2, to=0)).status is HOLDS


def test_theta_asks_for_a_positive_ratio():
    assert run(OrderIs(-width / repeats, repeats, 1 / repeats)).status is FAILS


def test_monotone_where_every_term_has_the_sign_is_proved():
    found = run(MonotoneIn(width * speed**2 - depth / speed, speed, up=True))
    assert (found.status, found.grade) == (HOLDS, Grade.PROVED)
    assert run(MonotoneIn(width * speed**2 - depth / speed, speed, up=False)).status is FAILS
    assert run(MonotoneIn(ClientMean(local_gap**2) * speed, speed, up=True)).status is HOLDS


@pytest.mark.parametrize(
    "of",
    [
        speed + sp.Rational(1, 10**10) / speed,  # falls below 1e-5 only
        speed - speed**2 / 10**7,  # falls above 5e6 only
        width * speed - sp.log(1 + speed) * depth / 10**4,
        (speed - width) ** 3 - (speed - width) / 10**4,  # falls in a thin region about width
        (7 * speed - 3 * width) ** 3 - speed * width**2 / 10**9,  # in a thinner one, however large width is
    ],
)
@pytest.mark.parametrize("up", [True, False])
def test_a_thin_or_far_region_where_it_turns_is_found(of, up):
    found = run(MonotoneIn(of if up else -of, speed, up=up))
    assert found.status is FAILS
    here = {q: sp.Rational(found.witness[q.name]) for q in of.free_symbols}
    assert of.diff(speed).subs(here) < 0


def test_conditions_decide_where_it_must_be_monotone():
    of = depth * speed + width / speed
    assert run(MonotoneIn(of, speed, up=True, where=(depth * speed**2 > width,))).status is HOLDS
    assert run(MonotoneIn(of, speed, up=True, where=(depth * speed**2 > sp.Rational(99, 100) * width,))).status is FAILS


def test_a_count_is_judged_by_its_steps():
    turning = (repeats - sp.Rational(6, 5)) ** 2  # lowest between 1 and 2, nearer to 1
    assert run(MonotoneIn(turning * width, repeats, up=True)).status is HOLDS
    assert run(MonotoneIn((repeats - sp.Rational(8, 5)) ** 2, repeats, up=True)).status is FAILS
    assert run(MonotoneIn(turning, repeats, up=True, where=(repeats <= 9,))).status is HOLDS


def test_a_step_to_where_there_is_no_value_is_no_fall():
    assert run(MonotoneIn(-width / (repeats - 2) ** 2, repeats, up=True)).status is HOLDS


def test_flat_is_not_strict():
    flat = sp.Max(speed, width)
    assert run(MonotoneIn(flat, speed, up=True)).status is FAILS
    assert run(MonotoneIn(flat, speed, up=True, strict=False)).status is HOLDS
    assert run(MonotoneIn(offset * speed, speed, up=True)).status is HOLDS  # flat at the end of a domain only
    assert run(MonotoneIn(width, speed, up=True)).status is FAILS


def test_rounding_is_no_fall():
    flat = sp.sqrt(speed + width) ** 2 - sp.sqrt(speed**2 + 2 * speed * width + width**2)
    assert run(MonotoneIn(flat, speed, up=True, strict=False)).status is HOLDS
    assert run(MonotoneIn(flat, speed, up=True)).status is FAILS


def test_derivatives_in_weights_are_refused():
    with pytest.raises(ClaimError, match="sum to 1"):
        run(MonotoneIn(ClientMean(local_gap), client_weight, up=True))
    with pytest.raises(ClaimError, match="no derivative"):
        run(MonotoneIn(ClientMax(local_gap), local_gap, up=True))
