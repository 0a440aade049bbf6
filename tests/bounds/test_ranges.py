"""A bound at uncertain constants: corners, points inside, constants without an upper end."""

import math

import pytest
import sympy as sp

from bounds.catalog import get
from bounds.core import Bound, Condition
from bounds.errors import BoundsError
from bounds.numerics.monotone import is_monotone
from bounds.numerics.ranges import bound_range
from bounds.papers import Source
from bounds.points import POINTS
from bounds.vocabulary import grad_norm_sq, gradient_variance, initial_gap, smoothness, step_size

ONE_ROUND = {"client_weight": [0.3, 0.7], "local_gap": [0.31, 0.47], "non_iidness": [0.12, 0.23]}


def made(expression, *conditions):
    return Bound(
        name="toys.uncertain",
        target=grad_norm_sq,
        terms={"all": expression},
        conditions=conditions,
        source=Source("fedals", "nowhere"),
        off_by={"all": None},
    )


def test_monotone_constants_are_at_their_corners():
    found = bound_range(
        get("fedals.one_round"), {"smoothness": (1.3, 1.9), "strong_convexity": (0.4, 0.7)}, **ONE_ROUND
    )
    bound = get("fedals.one_round")
    assert found.low == bound(smoothness=1.3, strong_convexity=0.7, **ONE_ROUND)
    assert found.high == bound(smoothness=1.9, strong_convexity=0.4, **ONE_ROUND)
    assert found.at_corners


def test_a_valley_between_the_corners_is_seen():
    eta, gap = step_size, initial_gap
    bound = made(gap / eta + 3 * eta)
    found = bound_range(bound, {"step_size": (0.2, 2.5)}, initial_gap=1.7)
    least = 2 * math.sqrt(3 * 1.7)
    assert found.low == pytest.approx(least, rel=1e-3)
    assert found.high == bound(step_size=0.2, initial_gap=1.7)
    assert not found.at_corners


def test_no_upper_end_where_the_bound_grows_with_an_unbounded_constant():
    bound = made(initial_gap / step_size + step_size * gradient_variance)
    found = bound_range(bound, {"gradient_variance": (0.8, math.inf)}, initial_gap=1.7, step_size=0.3)
    assert found[:2] == (bound(gradient_variance=0.8, initial_gap=1.7, step_size=0.3), math.inf)
    found = bound_range(made(initial_gap / smoothness), {"smoothness": (0.8, math.inf)}, initial_gap=1.7)
    assert found.high == 1.7 / 0.8


def test_points_outside_the_conditions_and_nonsense_pairs_do_not_count():
    bound = made(initial_gap / step_size, Condition("small steps", step_size <= sp.Rational(1, 2)))
    found = bound_range(bound, {"step_size": (0.25, 4.0)}, initial_gap=1.7)
    assert found.high == 1.7 / 0.25
    assert 1.7 / 0.5 <= found.low < 1.75 / 0.5
    with pytest.raises(BoundsError, match="interval"):
        bound_range(bound, {"step_size": (3.0, 4.0)}, initial_gap=1.7)
    bound = get("fedals.one_round")
    found = bound_range(bound, {"smoothness": (1.0, 2.0), "strong_convexity": (0.5, 1.5)}, **ONE_ROUND)
    assert found.high == bound(smoothness=2.0, strong_convexity=0.5, **ONE_ROUND)
    equal = bound(smoothness=1.4, strong_convexity=1.4, **ONE_ROUND)  # the bound depends on L/mu alone
    assert equal <= found.low < 1.05 * equal
    assert not found.at_corners
    with pytest.raises(BoundsError, match=r"smoothness.* 2 > 1"):
        bound_range(bound, {"smoothness": (2, 1)}, strong_convexity=0.4, **ONE_ROUND)


def test_an_end_that_the_domain_leaves_out_is_approached():
    """mu in (0, 0.5]: the bound grows like 1/mu, so it has no upper end; where it falls with mu, it has one."""
    bound = get("fedals.one_round")
    found = bound_range(bound, {"strong_convexity": (0.0, 0.5)}, smoothness=1.3, **ONE_ROUND)
    assert found.low == bound(smoothness=1.3, strong_convexity=0.5, **ONE_ROUND)
    assert found.high == math.inf
    rising = made(initial_gap + step_size)
    found = bound_range(rising, {"step_size": (0.0, 0.5)}, initial_gap=1.7)
    assert found.high == 1.7 + 0.5
    assert found.low == 1.7


def test_a_list_goes_from_end_to_end_as_a_whole():
    bound, others = get("fedals.one_round"), {"smoothness": 1.3, "strong_convexity": 0.4, "client_weight": [0.3, 0.7]}
    low, high = [0.31, 0.47], [0.52, 0.47]
    found = bound_range(bound, {"local_gap": (low, high)}, non_iidness=[0.12, 0.23], **others)
    assert found.low == bound(local_gap=low, non_iidness=[0.12, 0.23], **others)
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
    assert found.low == pytest.approx(2 * math.sqrt(3 * 1.7), rel=1e-2)
    assert found.high == math.inf


UNCERTAIN = {"smoothness": (1.1, 1.9), "strong_convexity": (0.3, 0.5)}


def test_a_bound_is_proven_monotone_where_every_slope_keeps_its_sign():
    one_round = get("fedals.one_round")
    assert is_monotone(one_round, UNCERTAIN, **ONE_ROUND)
    endless = {"smoothness": (1.1, math.inf), "strong_convexity": (0.0, 0.5)}
    assert is_monotone(one_round, endless, **ONE_ROUND)
    lists = {"local_gap": ([0.31, 0.4], [0.35, math.inf])}
    others = {"strong_convexity": 0.4, "client_weight": [0.3, 0.7], "non_iidness": [0.12, 0.23]}
    assert is_monotone(one_round, lists, smoothness=[1.3, 1.9, 2.3], **others).tolist() == [True] * 3
    assert is_monotone(one_round, {"local_gap": (0.3, 0.6)}, clients=7, **{**others, "smoothness": 1.3,
                       "client_weight": 1 / 7, "non_iidness": 0.2})  # fmt: skip


def test_there_is_no_proof_across_a_valley_a_condition_or_a_limit_between_constants():
    valley = made(initial_gap / step_size + 3 * step_size)
    for reach in ((0.2, 2.5), (0.2, 0.85), (0.7, 2.5)):  # lowest at 0.753
        assert not is_monotone(valley, {"step_size": reach}, initial_gap=1.7)
    assert is_monotone(valley, {"step_size": (0.2, 0.4)}, initial_gap=1.7)
    limited = made(initial_gap / step_size, Condition("small steps", step_size <= sp.Rational(1, 2)))
    reach = {"step_size": (0.25, 4.0)}
    assert not is_monotone(limited, reach, initial_gap=1.7)
    assert is_monotone(limited, reach, outside=True, initial_gap=1.7)
    crossing = {"smoothness": (1.1, 1.9), "strong_convexity": (0.3, 1.5)}
    assert not is_monotone(get("fedals.one_round"), crossing, **ONE_ROUND)


def test_what_is_proven_monotone_has_its_extremes_at_corners():
    for name in ("fedals.one_round", "fedcog.theorem", "decaying_k.k_star", "fedinit.theorem_1"):
        bound, point = get(name), POINTS[name]
        chosen = [n for n, v in point.items() if not isinstance(v, (list, int)) and n != "client_weight"][:3]
        ends = {n: (point[n] * 0.999, point[n] * 1.001) for n in chosen}
        others = {n: v for n, v in point.items() if n not in ends}
        assert is_monotone(bound, ends, **others)
        assert bound_range(bound, ends, **others).at_corners
