"""Generic points and exact comparisons: where the draws lie, what conditions they meet, what rounding cannot decide."""

import pytest
import sympy as sp
from checker_toys import depth, inner, limited, offset, place, portion, repeats, speed, width

from bounds.operators import ClientMean
from bounds.vocabulary import client_weight, clients, local_gap, smoothness, strong_convexity
from paper_checks.claims.checkers.clouds import Cloud, logs
from paper_checks.claims.checkers.points import excess, near, points, shown, true_at, value
from paper_checks.claims.claim import ClaimError

EVERY = (speed, offset, place, repeats, portion, inner, limited)


def test_points_are_rational_inside_the_domains_and_repeat():
    drawn = list(points(EVERY, 80, edges=0.4))
    assert drawn == list(points(EVERY, 80, edges=0.4))
    for point in drawn:
        assert all(v.is_Rational for v in point.values())
        assert point[repeats] >= 1
        assert point[repeats].is_Integer
        assert 0 < point[portion] <= 1
        assert 0 < point[inner] < 1
        assert 0 < point[limited] <= point[speed]
        assert point[offset] >= 0


def test_points_cover_small_large_and_the_ends_of_domains():
    drawn = list(points(EVERY, 200))
    speeds, counts = ([float(p[q]) for p in drawn] for q in (speed, repeats))
    assert min(speeds) < 0.01
    assert max(speeds) > 100
    assert sum(0.3 < s < 3.2 for s in speeds) > 80
    assert max(counts) > 500
    assert sum(c <= 31 for c in counts) > 120
    assert {float(p[place]) > 0 for p in drawn} == {True, False}
    edges = list(points(EVERY, 100, edges=0.3))
    assert any(p[repeats] == 1 for p in edges)
    assert any(p[offset] == 0 for p in edges)
    assert any(p[portion] == 1 for p in edges)
    assert any(p[limited] == p[speed] for p in edges)


def test_clients_vary_in_number_and_their_weights_sum_to_one():
    drawn = list(points([ClientMean(local_gap) * clients], 60, edges=0.3))
    for point in drawn:
        assert sum(point[client_weight]) == 1
        assert len(point[client_weight]) == len(point[local_gap]) == point[clients]
    assert {int(p[clients]) for p in drawn} == {1, 2, 3, 4, 5}
    assert any(0 in p[client_weight] for p in drawn)


def test_ranges_are_drawn_by_size_to_their_ends():
    counts = [int(p[repeats]) for p in points([repeats], 200, within={repeats: (1, 10**6)})]
    assert max(counts) > 10**5
    assert min(counts) < 100


def test_conditions_are_met_whatever_they_are():
    conditions = (speed < width, sp.Eq(depth, speed * width), repeats >= 400, sp.Or(place > 2, place < -2))
    for point in points([speed, width, depth, repeats, place], 20, conditions):
        assert point[speed] < point[width]
        assert point[depth] == point[speed] * point[width]
        assert point[repeats] >= 400
        assert abs(point[place]) > 2


def test_conditions_hold_for_every_client():
    for point in points([ClientMean(local_gap)], 30, (local_gap <= 1, local_gap >= -1)):
        assert all(abs(x) <= 1 for x in point[local_gap])


def test_given_values_stay():
    for point in points([speed, width], 20, (speed < width,), given={width: sp.Integer(3)}):
        assert point[width] == 3
        assert point[speed] < 3


def test_impossible_conditions_are_said_to_be_so_soon():
    with pytest.raises(ClaimError, match="in 60 draws"):
        list(points([speed], 5, (sp.sqrt(speed) < -1,)))


def test_undefined_values_are_no_numbers():
    assert value(speed / (width - 2), {speed: sp.Integer(3), width: sp.Integer(2)}) is sp.nan
    assert value(sp.Max(sp.sqrt(width - speed), 1), {speed: sp.Integer(3), width: sp.Integer(2)}) is sp.nan
    assert not near(sp.oo, sp.Integer(5))
    assert not near(-sp.oo, sp.Integer(5))
    assert near(sp.Integer(7), 7 + sp.Rational(6, 10**40))
    assert not near(sp.Integer(7), 7 + sp.Rational(8, 10**40))
    assert not true_at(sp.Gt(1 / (speed - 1), 0), {speed: sp.Integer(1)})
    assert shown(sp.nan) == "nan"


def test_only_real_differences_count():
    one = {speed: sp.Rational(1, 3), width: sp.Rational(2, 7)}
    root = sp.sqrt(speed + width)
    assert excess(root**2 - speed - width, 0, one) == 0
    assert excess(root**2 - speed - width + sp.Rational(1, 10**60), 0, one) > 0  # tiny, but there
    assert excess(speed + sp.Rational(1, 10**39), speed, one) > 0
    assert true_at(sp.Le(root**2, speed + width), one)
    assert not true_at(sp.Lt(root**2, speed + width), one)


def test_the_cloud_only_names_points_of_the_domain_that_meet_the_conditions():
    terms = (strong_convexity * offset, smoothness * portion * ClientMean(local_gap**2))
    conditions = (smoothness <= 7, local_gap <= portion)
    found = list(Cloud(terms, lambda both: logs(*both), conditions).best())
    assert found
    for point in found:
        assert 0 < point[strong_convexity] <= point[smoothness] <= 7
        assert 0 < point[portion] <= 1
        assert sum(point[client_weight]) == 1
        assert all(x <= point[portion] for x in point[local_gap])


def test_the_cloud_reaches_the_corner():
    best = next(iter(Cloud((speed * portion, width), lambda both: logs(*both), (speed * width <= 5,)).best()))
    assert float(best[portion]) > 0.999
    assert float(best[speed] / best[width]) > 1e9
