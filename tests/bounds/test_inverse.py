"""Inverse design: against formulas solved independently and brute force, for every shape of the feasible set."""

from itertools import product
from math import inf, sqrt

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings, strategies as st
from refusals import all_refused
from toys import a, b, below, c, capped, k, part, share, toy, valley, x, y, z

from bounds import ClientMean, quantity
from bounds.domains import Domain
from bounds.errors import BoundsError, MissingQuantityError, NoSolutionError, UnknownNameError
from bounds.showing.answers import solved

SIDES = ("largest", "smallest")


@settings(max_examples=12)
@given(st.floats(5.3, 90), st.sampled_from(SIDES))
def test_both_ends_of_an_interval_against_the_quadratic_formula(target, side):
    bound = toy(a / x, b * x)
    found = bound.solve(x, target=target, side=side, alpha=4.1, gamma=1.7)
    root = sqrt(target**2 - 4 * 4.1 * 1.7)
    assert found.at == pytest.approx((target + root if side == "largest" else target - root) / (2 * 1.7), rel=1e-9)
    assert found.value == bound(alpha=4.1, gamma=1.7, width=found.at) <= target
    assert bound(alpha=4.1, gamma=1.7, width=found.at * (1 + (1e-13 if side == "largest" else -1e-13))) > target
    assert not found.unbounded
    assert (found.binding, found.tolerance, found.up_to_constant) == ("", 0.0, False)


def test_whole_numbers_are_exact_on_both_sides():
    bound = toy(a / k, b * k**2)
    heights = {n: 37.0 / n + 0.11 * n**2 for n in range(1, 100)}
    for target in (12.0, 15.5, heights[9], heights[3]):
        allowed = [n for n, h in heights.items() if h <= target]
        for side, best in (("largest", max(allowed)), ("smallest", min(allowed))):
            found = bound.solve(k, target=target, side=side, alpha=37.0, gamma=0.11)
            assert (found.at, found.tolerance) == (best, 0.0)
            assert isinstance(found.at, int)
    assert toy(3 * k).solve(k, target=21.0).at == 7
    assert toy(3 * k).solve(k, target=20.999999).at == 6


def test_a_feasible_part_farther_out_is_not_missed():
    """Three separate intervals, the outermost 2e-5 wide; and whole numbers in two valleys."""
    bound = toy(sp.Integer(2), valley(x, 2.3, 0.4), valley(x, 9.1, 1.3), valley(x, 517.3, 1e-5), signed=True)
    assert bound.solve(x, target=1.5).at == pytest.approx(517.3 + 1e-5 * sqrt(np.log(2)), rel=1e-9)
    inner = bound.solve(x, target=1.5, side="smallest")
    assert inner.at == pytest.approx(2.3 - 0.4 * sqrt(np.log(2)), rel=1e-9)
    bound = toy(sp.Integer(2), valley(k, 5.2, 2.0), valley(k, 90210.4, 0.7), signed=True)
    assert [bound.solve(k, target=1.5, side=side).at for side in SIDES] == [90210, 4]


@pytest.mark.parametrize("target", [-0.4, 2.0])
def test_wild_functions_against_a_fine_grid(target):
    bound = toy((y - 1) * (y + 2) * (y - 4) / 5 + c * y**4 / 300, signed=True)
    grid = np.linspace(-60.0, 60.0, 1_200_001)
    allowed = grid[bound(place=grid, offset=3.7) <= target]
    assert bound.solve(y, target=target, offset=3.7).at == pytest.approx(allowed.max(), abs=2e-4)
    assert bound.solve(y, target=target, side="smallest", offset=3.7).at == pytest.approx(allowed.min(), abs=2e-4)


def test_the_bottom_of_a_valley_can_be_asked_for():
    bound = toy(a / x, b * x)
    lowest = bound.minimize(x, alpha=4.1, gamma=1.7)
    found = bound.solve(x, target=lowest.value, alpha=4.1, gamma=1.7)
    assert found.at == pytest.approx(sqrt(4.1 / 1.7), rel=1e-6)
    assert found.value <= lowest.value


def test_a_condition_that_stops_first_is_named_and_met():
    bound = toy(b / x, where=(x <= 1 / (4 * a),))
    found = bound.solve(x, target=50.0, alpha=1.7, gamma=0.6)
    assert found.at == pytest.approx(1 / (4 * 1.7), rel=2e-16)
    assert (found.binding, found.unbounded) == ("needs width <= 1/(4*alpha)", False)
    smallest = bound.solve(x, target=50.0, side="smallest", alpha=1.7, gamma=0.6)
    assert (smallest.at, smallest.binding) == (pytest.approx(0.012, rel=1e-14), "")
    strict = toy(b / x, where=(x < a,)).solve(x, target=50.0, alpha=1.7, gamma=0.6)
    assert strict.at == np.nextafter(1.7, 0)
    found = toy(a * below / capped).solve(capped, target=50.0, alpha=1.9, below=3.3)
    assert (found.at, found.unbounded, found.binding) == (3.3, True, "capped must be <= below")


def test_a_pole_at_the_limit_of_a_condition_does_not_blur_the_answer():
    found = toy(a / (1 - 7 * z**2), where=(7 * z**2 < 1,)).solve(z, target=5.3, alpha=1.9)
    assert (found.at, found.tolerance) == (pytest.approx(sqrt((1 - 1.9 / 5.3) / 7), rel=1e-13), 0.0)


def test_an_answer_without_a_limit_or_at_the_end_of_the_domain_is_flagged():
    found = toy(a / x + c).solve(x, target=5.0, alpha=1.9, offset=2.2)
    assert (found.at, found.unbounded, found.value) == (inf, True, pytest.approx(2.2))
    assert found.binding
    assert toy(a / k).solve(k, target=0.3, alpha=1.9).at == inf
    low = {"target": 50.0, "side": "smallest", "alpha": 1.9}
    found = toy(a * k).solve(k, **low)
    assert (found.at, found.unbounded, found.binding) == (1, True, "steps must be a whole number >= 1")
    found = toy(a * x).solve(x, **low)
    assert (found.at, found.unbounded) == (1e-30, True)  # zero is not in the domain
    assert toy(a * x)(alpha=1.9, width=found.at) == found.value
    found = toy(a + z).solve(z, **low)
    assert (found.at, found.unbounded, found.value) == (0.0, True, 1.9)
    found = toy(a / share).solve(share, target=50.0, alpha=1.9)
    assert found.unbounded
    assert 0 < 1 - found.at < 1e-15  # 1 is not in the domain


@pytest.mark.parametrize(
    ("slope", "target", "side", "said"), [(1.3, 9.4, "largest", " 1;"), (-1.3, 9.4, "smallest", " -1;")]
)
def test_a_table_tells_what_lies_next_to_an_open_end_from_the_end(slope, target, side, said):
    domain = Domain("> -1 and < 1", low=-1, high=1, open_low=True, open_high=True)
    shift = quantity("shift", "w", "a shift", domain=domain)
    bound = toy(4.2 + slope * shift, signed=True)
    assert said in solved(bound, "shift", target, side)()["note"]
    assert said not in solved(bound, "shift", float(bound(shift=0.4321)), side)()["note"]


@pytest.mark.parametrize(
    ("term", "alpha", "at", "side"),
    [
        (sp.log(1 + x) / x, 1.7, 2.512862417252, "smallest"),
        (sp.log(1 + x) / x, 1.7, inf, "largest"),
        ((1 - (1 - x / 3) ** 7) / x * a, 1.7, 0.9, "smallest"),
        ((sp.exp(x) - 1) / x, 1.7, 0.9, "largest"),
    ],
)
def test_a_removable_singularity_hides_no_solution(term, alpha, at, side):
    """Next to zero these are 0/0 in floating point, and intervals know nothing of them."""
    target = 0.5 if at != 0.9 else float(term.subs({x: sp.Rational(9, 10), a: alpha}))
    values = {"alpha": alpha} if a in term.free_symbols else {}
    found = toy(term).solve(x, target=target, side=side, **values)
    assert found.at == pytest.approx(at, rel=1e-9)
    assert found.value <= target


@pytest.mark.parametrize("side", SIDES)
def test_a_target_that_rounding_alone_meets_at_an_open_end_is_undecided(side):
    """``x exp(-x) + 1/4`` is above a quarter everywhere, by less than a digit at both ends."""
    found = toy(x * sp.exp(-x) + sp.Rational(1, 4)).solve(x, target=0.25, side=side)
    assert not found.unbounded
    assert "decided" in found.binding


def test_the_largest_count_is_that_of_a_loop():
    bound = toy(a / k, b * k, where=(k >= 2,))
    for alpha, gamma in product((4.1, 19.0), (0.3, 1.7)):
        allowed = [n for n in range(2, 200) if alpha / n + gamma * n <= 12.5]
        assert bound.solve(k, target=12.5, alpha=alpha, gamma=gamma).at == max(allowed)
    with pytest.raises(NoSolutionError, match=r"12\.5"):
        bound.solve(k, target=12.5, alpha=77.0, gamma=1.7)


def test_values_of_clients_and_hidden_constants_enter():
    bound = toy(ClientMean(part) * x**2)
    found = bound.solve(x, target=3.0, client_weight=[0.2, 0.3, 0.5], part=[0.4, 1.7, 5.2])
    assert found.at == pytest.approx(sqrt(3.0 / (0.2 * 0.4 + 0.3 * 1.7 + 0.5 * 5.2)), rel=1e-13)
    assert toy(a * x, relation="<~").solve(x, target=3.0, alpha=1.5).up_to_constant


low = {"target": 5.2, "alpha": 4.1}


def test_nothing_that_meets_the_target_is_a_finding_with_the_best_there_is_or_undecided():
    all_refused(
        [
            (lambda: toy(a / x, b * x).solve(x, **low, gamma=1.7), "5.2 5.280151513 width 1.55299"),
            (lambda: toy(a / x, where=(x >= 3, x <= 2)).solve(x, **low), "width >= 3"),
            # there is none, and rounding next to zero leaves that open; beyond the end of the search
            (lambda: toy((sp.exp(x) - 1) / x).solve(x, target=0.9998, side="smallest"), "undecided"),
            (lambda: toy(1 / x).solve(x, target=1e-31, side="smallest"), "undecided"),
            (lambda: toy(+x).solve(x, target=1e-31, side="smallest"), "undecided"),
        ],
        kind=NoSolutionError,
    )


def test_the_target_must_be_a_finite_number():
    all_refused(
        [(target, "target") for target in (float("nan"), inf, "seven", "0.3", True, None, 10**400)],
        lambda target: toy(a * x).solve(x, target=target, alpha=1.5),
    )


line = toy(a * x)


def test_mistakes_are_named():
    all_refused(
        [
            (lambda: line.solve(x, target=3.0, side="largst", alpha=1.5), "'largst' 'largest'"),
            (lambda: line.solve("widht", target=3.0, alpha=1.5), "'widht' 'width'"),
            (lambda: line.solve(x, target=3.0), "alpha"),
            (lambda: toy(ClientMean(part)).solve(part, target=3.0, client_weight=[0.4, 0.6]), "clients"),
        ],
        kind=(UnknownNameError, MissingQuantityError, BoundsError),
    )
