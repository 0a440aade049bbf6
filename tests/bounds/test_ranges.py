"""A bound at uncertain constants: corners, points inside, constants without an upper end."""

import math

import pytest
import sympy as sp

from bounds.catalog import get
from bounds.core import Bound, Condition
from bounds.errors import BoundsError
from bounds.numerics.ranges import bound_range
from bounds.papers import Source
from bounds.vocabulary import grad_norm_sq, gradient_variance, initial_gap, smoothness, step_size

ONE_ROUND = {"client_weight": [0.3, 0.7], "local_gap": [0.31, 0.47], "non_iidness": [0.12, 0.23]}


def made(expression, *conditions):
    source = Source("fedals", "nowhere")
    return Bound("toys.uncertain", grad_norm_sq, {"all": expression}, source, conditions, off_by={"all": None})


def test_monotone_constants_are_at_their_corners():
    found = bound_range(
        get("fedals.one_round"), {"smoothness": (1.3, 1.9), "strong_convexity": (0.4, 0.7)}, **ONE_ROUND
    )
    bound = get("fedals.one_round")
    assert found.low == pytest.approx(bound(smoothness=1.3, strong_convexity=0.7, **ONE_ROUND), rel=1e-12)
    assert found.high == pytest.approx(bound(smoothness=1.9, strong_convexity=0.4, **ONE_ROUND), rel=1e-12)
    assert found.proven


def test_a_valley_between_the_corners_is_seen():
    eta, gap = step_size, initial_gap
    bound = made(gap / eta + 3 * eta)
    found = bound_range(bound, {"step_size": (0.2, 2.5)}, initial_gap=1.7)
    least = 2 * math.sqrt(3 * 1.7)
    assert found.low == pytest.approx(least, rel=1e-9)
    assert found.high == pytest.approx(bound(step_size=0.2, initial_gap=1.7), rel=1e-12)
    assert found.proven


def test_no_upper_end_where_the_bound_grows_with_an_unbounded_constant():
    bound = made(initial_gap / step_size + step_size * gradient_variance)
    found = bound_range(bound, {"gradient_variance": (0.8, math.inf)}, initial_gap=1.7, step_size=0.3)
    assert found[:2] == (pytest.approx(bound(gradient_variance=0.8, initial_gap=1.7, step_size=0.3)), math.inf)
    found = bound_range(made(initial_gap / smoothness), {"smoothness": (0.8, math.inf)}, initial_gap=1.7)
    assert found.high == pytest.approx(1.7 / 0.8)


def test_points_outside_the_conditions_and_nonsense_pairs_do_not_count():
    bound = made(initial_gap / step_size, Condition("small steps", step_size <= sp.Rational(1, 2)))
    found = bound_range(bound, {"step_size": (0.25, 4.0)}, initial_gap=1.7)
    assert found == (pytest.approx(1.7 / 0.5, rel=1e-8), pytest.approx(1.7 / 0.25), True)
    with pytest.raises(BoundsError, match="interval"):
        bound_range(bound, {"step_size": (3.0, 4.0)}, initial_gap=1.7)
    bound = get("fedals.one_round")
    found = bound_range(bound, {"smoothness": (1.0, 2.0), "strong_convexity": (0.5, 1.5)}, **ONE_ROUND)
    assert found.high == pytest.approx(bound(smoothness=2.0, strong_convexity=0.5, **ONE_ROUND), rel=1e-12)
    equal = bound(smoothness=1.4, strong_convexity=1.4, **ONE_ROUND)  # the bound depends on L/mu alone
    assert 0.95 * equal < found.low <= equal
    assert not found.proven


def test_an_end_that_the_domain_leaves_out_is_approached():
    """mu in (0, 0.5]: the bound grows like 1/mu, so it has no upper end; where it falls with mu, it has one."""
    bound = get("fedals.one_round")
    found = bound_range(bound, {"strong_convexity": (0.0, 0.5)}, smoothness=1.3, **ONE_ROUND)
    assert found.low == pytest.approx(bound(smoothness=1.3, strong_convexity=0.5, **ONE_ROUND), rel=1e-12)
    assert found.high == math.inf
    rising = made(initial_gap + step_size)
    found = bound_range(rising, {"step_size": (0.0, 0.5)}, initial_gap=1.7)
    assert found.high == pytest.approx(1.7 + 0.5)
    assert found.low == pytest.approx(1.7)


def test_a_list_goes_from_end_to_end_as_a_whole():
    bound, others = get("fedals.one_round"), {"smoothness": 1.3, "strong_convexity": 0.4, "client_weight": [0.3, 0.7]}
    low, high = [0.31, 0.47], [0.52, 0.47]
    found = bound_range(bound, {"local_gap": (low, high)}, non_iidness=[0.12, 0.23], **others)
    assert found.low == pytest.approx(bound(local_gap=low, non_iidness=[0.12, 0.23], **others), rel=1e-12)
    assert found.high == pytest.approx(bound(local_gap=high, non_iidness=[0.12, 0.23], **others), rel=1e-12)
    assert found.low < found.high
    open_ = bound_range(bound, {"local_gap": (low, [math.inf, 0.47])}, non_iidness=[0.12, 0.23], **others)
    assert (open_.low, open_.high) == (found.low, math.inf)


def test_an_end_without_limit_counts_with_the_limit_of_the_bound_there():
    gap, eta, noise = initial_gap, step_size, gradient_variance
    endless = {"gradient_variance": (0.8, math.inf)}
    numbers = {"initial_gap": 1.7, "step_size": 0.3}
    falling = bound_range(made(gap / noise ** sp.Rational(2, 3)), endless, initial_gap=1.7)
    assert falling == (0.0, pytest.approx(1.7 / 0.8 ** (2 / 3)), True)
    level = bound_range(made(gap + eta * noise / (noise + 3)), endless, **numbers)
    assert level.high == pytest.approx(1.7 + 0.3, rel=1e-12)
    slowly = bound_range(made(gap + eta * sp.log(1 + noise)), endless, **numbers)
    assert slowly.high == math.inf
    both = bound_range(made(gap / noise), {"gradient_variance": (0.8, math.inf), "initial_gap": (0.4, math.inf)})
    assert both[:2] == (0.0, math.inf)
    bound = made(initial_gap / step_size + 3 * step_size)  # a valley near the known end
    found = bound_range(bound, {"step_size": (0.2, math.inf)}, initial_gap=1.7)
    assert found.low == pytest.approx(2 * math.sqrt(3 * 1.7), rel=1e-8)
    assert found.high == math.inf
