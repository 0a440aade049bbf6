"""Certified minima: traps for a local search, nothing feasible, nothing lowest, and random bounds on fine grids."""

from math import exp, sqrt

import numpy as np
import pytest
import sympy as sp
from refusals import all_refused
from toys import a, b, c, k, part, share, toy, valley, x, y, z

from bounds import Bound, ClientMean
from bounds.errors import BoundsError, NoMinimumError, NoSolutionError

TWO_VALLEYS = toy((y - sp.Rational(13, 10)) ** 2 * (y - sp.Rational(71, 10)) ** 2 / 9, c * y, signed=True)
INSIDE = np.linspace(0, 1, 1_000_001)[1:-1]
SHARED = {"alpha": 1.9, "gamma": 0.4}
LISTS = {"client_weight": [0.2, 0.3, 0.5], "part": [0.4, 1.7, 5.2]}


def rugged(seed: int) -> Bound:
    """A sum of random powers with a bump."""
    rng = np.random.default_rng(seed)
    powers, weights = rng.uniform(-2.5, 2.5, 4), rng.uniform(0.2, 3.0, 4)
    terms = [sp.Float(w) * z ** sp.Rational(round(8 * p), 8) for p, w in zip(powers, weights, strict=True)]
    bump = 3 * sp.exp(-((sp.log(z + 1) - sp.Float(rng.uniform(0, 2))) ** 2))
    return toy(*terms, bump, z**3 / 50 + 1 / (9 * z))


@pytest.mark.parametrize(
    ("bound", "over", "grid", "values"),
    [
        (toy(a / (1 - share**2), -b / (1 - share**2), 1 / share, signed=True), share, INSIDE, SHARED),
        (TWO_VALLEYS, y, np.linspace(-3, 12, 300_001), {"offset": 0.07}),
        (TWO_VALLEYS, y, np.linspace(-3, 12, 300_001), {"offset": -0.07}),
        (toy(ClientMean(part / (x + part)), x / 7), x, np.geomspace(1e-3, 1e3, 100_001), LISTS),
        *((rugged(seed), z, np.geomspace(1e-4, 1e4, 200_001), {}) for seed in range(11, 16)),
        # poles at the end of the domain, and where a condition ends
        (toy(a / (1 - share**2), 1 / share), share, INSIDE, {"alpha": 2.7}),
        (toy(a / (1 - share - share**2 + share**3), (1 - share) / share), share, INSIDE, {"alpha": 2.7}),
        (toy(a * share / (1 - share**2), -sp.log(1 - share), 1 / share), share, INSIDE, {"alpha": 2.7}),
        (toy(a / (1 - b * x), 1 / x, where=(b * x < 1,)), x, INSIDE / 3.1, {"alpha": 2.7, "gamma": 3.1}),
    ],
)
def test_a_minimum_beats_a_fine_grid_and_keeps_its_certificate(bound, over, grid, values) -> None:
    found = bound.minimize(over, **values)
    heights = bound.compile()(**values, **{over.name: grid[:, None] if "part" in values else grid})
    best, size = grid[np.argmin(heights)], abs(heights.min())
    assert found.at == pytest.approx(best, rel=2e-3, abs=1e-4)
    assert heights.min() - 1e-7 * size <= found.value <= heights.min() + 1e-12 * size
    assert found.value - (2e-10 if over == z else 1e-6) * size <= found.lower <= found.value


def test_a_valley_much_narrower_than_any_grid_is_found() -> None:
    bound = toy(valley(x, 3.7251, 1e-6), valley(x, 40.0, 9.0) / 2, sp.Integer(3), signed=True)
    found = bound.minimize(x)
    assert found.at == pytest.approx(3.7251, abs=1e-8)
    assert found.value == pytest.approx(2 - exp(-((36.2749 / 9) ** 2)) / 2, rel=1e-12)


def test_the_best_whole_number_need_not_be_next_to_the_best_real_one() -> None:
    bound = toy(2 * valley(k, 4.47, 0.11), valley(k, 11.2, 3.0), sp.Integer(5), signed=True)
    found = bound.minimize(k)
    whole = np.arange(1, 60)
    assert found.at == pytest.approx(4.47, abs=1e-3)
    assert found.integer_at == whole[np.argmin(bound(steps=whole))] == 11


def test_whole_numbers_that_a_condition_forbids_are_passed_over() -> None:
    bound = toy(a / k + b * k, where=(sp.Or(k <= 3, k >= 9),))
    found = bound.minimize(k, alpha=41.0, gamma=1.3)
    heights = {n: 41.0 / n + 1.3 * n for n in (1, 2, 3, 9, 10, 11)}
    assert found.integer_at == min(heights, key=lambda n: heights[n]) == 9 - 6 * (heights[3] < heights[9])


def test_steps_of_a_ceiling_are_no_obstacle() -> None:
    bound = toy(sp.ceiling(a / x) + b * x)
    found = bound.minimize(x, alpha=7.3, gamma=0.9)
    candidates = [n + 0.9 * 7.3 / n for n in range(1, 30)]
    assert found.value == pytest.approx(min(candidates), rel=1e-12)


def test_a_bound_that_is_level_at_its_bottom_has_a_minimum() -> None:
    found = toy(sp.Max(c, a / x)).minimize(x, alpha=2.3, offset=1.7)
    assert found.value == 1.7
    assert found.at >= 2.3 / 1.7


def test_nothing_feasible_is_a_finding_with_the_words_of_the_conditions() -> None:
    bound = toy(a / x + x, where=(x <= 3, x >= a))
    with pytest.raises(NoSolutionError, match="needs width >= alpha"):
        bound.minimize(x, alpha=3.1)
    with pytest.raises(NoSolutionError, match=r"needs alpha <= 2"):
        toy(a / x + x, where=(a <= 2, x >= 1)).minimize(x, alpha=3.1)
    with pytest.raises(NoSolutionError, match="no whole number"):
        toy(a / k + k, where=(k > 2.2, k < 2.8)).minimize(k, alpha=3.1)


def test_a_minimum_lies_at_a_condition_or_within_them_and_a_sweep_is_one_call_for_each_point() -> None:
    bound = toy(a / x + x, where=(x <= 3, x >= a))
    found = [bound.minimize(x, alpha=alpha) for alpha in (2.1, 0.7)]
    assert [(one.at, one.binding) for one in found] == [(2.1, "needs width >= alpha"), (pytest.approx(sqrt(0.7)), "")]
    with pytest.raises(BoundsError, match=r"fedbounds\.minimize"):
        bound.minimize(x, alpha=[2.1, 0.7])


LOWER = {"alpha": 1.9, "gamma": 0.4, "offset": 1.9}


def test_a_bound_without_a_minimum_is_refused():
    all_refused(
        [
            ((x, a / x + c), ""),
            ((x, sp.log(x)), ""),
            ((x, a - x), ""),
            # joined powers and shifted denominators show that nothing is lowest
            ((k, (a * k + b) / (k - sp.Rational(1, 2)), 7 * (k**2 - k + 1) / k**2 + 7 / k), "falling steps"),
        ],
        lambda case: toy(*case[1:], signed=True).minimize(
            case[0], **{q.name: LOWER[q.name] for q in toy(*case[1:], signed=True).quantities if q != case[0]}
        ),
        kind=NoMinimumError,
    )


def test_what_is_beyond_floating_point_or_declared_nonnegative_and_is_not_has_none():
    all_refused(
        [
            (lambda: toy(a * x, a / x).minimize(x, alpha=1.7e308), "floating-point"),
            # what is declared of a term is not relied on
            (lambda: toy(a / (1 - share**2), -b / (1 - share) ** 2).minimize(share, alpha=2.7, gamma=0.4), ""),
        ],
        kind=NoMinimumError,
    )
