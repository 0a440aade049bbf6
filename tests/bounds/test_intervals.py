"""Interval arithmetic: results contain exact values and slopes; sharp forms equal what they replace."""

from collections.abc import Iterator

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st
from toys import a, b, k, part, toy, x, y

from bounds import ClientMax, ClientMean, ClientSum
from bounds.errors import BoundsError
from bounds.numerics import intervals as iv
from bounds.numerics.enclosure import Enclosed
from bounds.numerics.intervals import Interval
from bounds.numerics.landscape import Landscape
from bounds.numerics.powers import expand_powers, sharpened

mpmath.mp.dps = 40
NUMBER = st.floats(-1e6, 1e6, allow_subnormal=False).map(lambda v: v if abs(v) > 1e-6 else 0.0)


def pair(low: float, high: float) -> Interval:
    return Interval(np.array([[min(low, high)]]), np.array([[max(low, high)]]))


@pytest.fixture(autouse=True, scope="module")
def _quiet_overflow() -> Iterator[None]:
    """As in the code that calls them: overflow gives an infinite end, which is what an interval needs."""
    with np.errstate(all="ignore"):
        yield


def contains(interval: Interval, value: object) -> bool:
    return mpmath.mpf(float(interval.lo.item())) <= value <= mpmath.mpf(float(interval.hi.item()))


@given(NUMBER, NUMBER, NUMBER, NUMBER, st.floats(0, 1), st.floats(0, 1))
def test_sums_and_products_contain_the_exact_result(p: float, q: float, r: float, s: float, t: float, u: float) -> None:
    one, two = pair(p, q), pair(r, s)
    left = float(np.clip(p + t * (q - p), min(p, q), max(p, q)))
    right = float(np.clip(r + u * (s - r), min(r, s), max(r, s)))
    exact = mpmath.mpf(left), mpmath.mpf(right)
    assert contains(iv.add(one, two), exact[0] + exact[1])
    assert contains(iv.multiply(one, two), exact[0] * exact[1])
    assert contains(iv.whole_power(one, 3), exact[0] ** 3)
    assert contains(iv.whole_power(one, 4), exact[0] ** 4)
    if left != 0:
        assert contains(iv.inverse(one), 1 / exact[0])
        assert contains(iv.whole_power(one, -3), exact[0] ** -3)


@given(st.floats(1e-8, 1e8), st.floats(1, 3), st.floats(0, 1), st.floats(-3, 3))
def test_functions_contain_the_exact_result(low: float, ratio: float, t: float, exponent: float) -> None:
    box, inside = pair(low, low * ratio), low + t * (low * ratio - low)
    inside = min(inside, low * ratio)
    exact = mpmath.mpf(inside)
    power = iv.point(np.array([[exponent]]))
    assert contains(iv.logarithm(box), mpmath.log(exact))
    assert contains(iv.square_root(box), mpmath.sqrt(exact))
    assert contains(iv.real_power(box, power), exact ** mpmath.mpf(exponent))
    assert contains(iv.log_ratio(box), mpmath.log1p(exact) / exact)
    slope = (1 / (1 + exact) - mpmath.log1p(exact) / exact) / exact
    assert contains(iv.log_ratio_slope(box), slope)
    small = pair(-low * 1e-9, -low * 1e-9)
    tiny = mpmath.mpf(float(small.lo.item()))
    assert contains(iv.log_ratio(small), mpmath.log1p(tiny) / tiny)
    assert contains(iv.log_ratio_slope(small), (1 / (1 + tiny) - mpmath.log1p(tiny) / tiny) / tiny)
    assert contains(iv.exponential(pair(-low / 1e6, low / 1e6)), mpmath.exp(mpmath.mpf(low / 1e6) * (2 * t - 1)))


def test_zero_times_the_unbounded_is_zero_and_overflow_stays_an_interval() -> None:
    zero, all_numbers = pair(0.0, 0.0), pair(-np.inf, np.inf)
    assert [end.item() for end in iv.multiply(zero, all_numbers)] == [0.0, 0.0]
    huge = iv.multiply(pair(1e300, 1e300), pair(1e300, 1e301))
    assert (huge.lo.item(), huge.hi.item()) == (pytest.approx(iv.MAX), np.inf)
    across = iv.inverse(pair(-1.0, 2.0))
    assert (across.lo.item(), across.hi.item()) == (-np.inf, np.inf)
    assert iv.inverse(pair(0.0, 2.0)).lo.item() == pytest.approx(0.5)


FORMS = [
    a / x + b * x**2,
    sp.exp(-((x - b) ** 2)) * a + sp.sqrt(x),
    (1 + x) ** (a / x) + x / b,
    sp.log(a + x) / (x + b) ** 3,
    sp.Max(a * x, b / x) - sp.Min(x, a) + sp.Abs(x - b),
    (a**x / x) ** (1 / (1 + b * x)),
    x ** sp.Rational(2, 3) * a ** sp.Rational(-1, 7),
    ClientMean(part / (x + part)) + ClientMax(part * x - 2 * a) + 3 * a,
    ClientSum(sp.sqrt(part) * x**2),
]
NUMBERS = {"alpha": 1.37, "gamma": 2.41, "part": [0.3, 1.9, 4.4], "client_weight": [0.2, 0.3, 0.5]}


@pytest.mark.parametrize("form", FORMS)
def test_boxes_contain_values_and_slopes_of_many_points(form: sp.Expr) -> None:
    bound = toy(form, signed=True)
    land = Landscape(bound, x, {q.name: NUMBERS[q.name] for q in bound.quantities if q != x})
    rng = np.random.default_rng(3)
    lo = rng.uniform(0.05, 6.0, 300)
    hi = lo * (1 + 10.0 ** rng.uniform(-12, 0, 300))
    box = land.enclose(np.zeros(300, dtype=int), lo, hi)
    for share in (0.0, 0.21, 0.5, 0.87, 1.0):
        inside = np.clip(lo + share * (hi - lo), lo, hi)
        value = land.value(np.zeros(300, dtype=int), inside)
        slack = 1e-14 * np.abs(value) + 1e-14
        assert (box.value.lo <= value + slack).all()
        assert (value <= box.value.hi + slack).all()
    secant = (land.value(np.zeros(300, dtype=int), hi) - land.value(np.zeros(300, dtype=int), lo)) / (hi - lo)
    wide = hi > lo * (1 + 1e-5)
    assert (box.slope.lo <= secant + 1e-8 * (1 + np.abs(secant)))[wide].all()
    assert (secant - 1e-8 * (1 + np.abs(secant)) <= box.slope.hi)[wide].all()
    at = np.array([0.37, 1.91, 3.3])  # boxes shrink to the value
    box = land.enclose(np.zeros(3, dtype=int), at, at)
    assert (box.value.hi - box.value.lo < 1e-12).all()
    wide = land.enclose(np.zeros(3, dtype=int), at, at * 1.001)
    assert (wide.value.hi - wide.value.lo < 0.2).all()


def test_where_an_expression_is_not_real_is_told_apart() -> None:
    (jet,), domains = Enclosed([sp.sqrt(y - 2) + 1 / (y - 5)], y, {}).run(
        Interval(np.array([[0.0], [1.0], [3.0], [4.0]]), np.array([[1.5], [3.0], [4.0], [6.0]])), None, None
    )
    assert domains.empty.tolist() == [True, False, False, False]
    assert domains.partial.tolist() == [True, True, False, True]
    assert jet.value.lo[3, 0] == -np.inf
    with pytest.raises(BoundsError, match="sin"):
        Enclosed([sp.sin(y)], y, {})


@pytest.mark.parametrize(
    ("terms", "over"),
    [
        ((a * (k**2 - k) / k**2 + b / k,), k),
        (((a * k + b) / (k - sp.Rational(1, 2)), k / 3), k),
        ((ClientMean(part * (k * part + 3) ** 2 / k), (k + 1) / k), k),
        ((a * (2 * y - 3) / (2 * y + b), y * (y - 1)), y),
    ],
)
def test_sharper_forms_equal_what_they_replace(terms: tuple[sp.Expr, ...], over: sp.Symbol) -> None:
    sharper = sharpened(terms, over)
    assert sharper is not None
    assert sharper.count(over) < sum(term.count(over) for term in terms)
    first, second = toy(*terms, signed=True), toy(sharper, signed=True)
    values = {q.name: NUMBERS[q.name] for q in first.quantities if q != over}
    at = np.array([1.0, 3.0, 17.0])
    assert second(**values, **{over.name: at}) == pytest.approx(first(**values, **{over.name: at}), rel=1e-12)


def test_what_cannot_be_shortened_is_left_alone_and_roots_of_what_may_be_negative_stay_whole() -> None:
    assert sharpened((a / x + b * x,), x) is None
    assert sharpened((sp.exp(x) / (1 + x),), x) is None
    assert expand_powers(sp.sqrt(y**2 * a), y, positive=False) is None
    assert expand_powers((y + a) ** 2, y, positive=False) == {0: a**2, 1: 2 * a, 2: 1}
