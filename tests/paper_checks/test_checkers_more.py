"""Checkers of tables, trends and units, those that combine others, and the points that they all look at."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from checker_toys import all_are, audited, cost, delay, depth, offset, place, portion, repeats, run, speed, width
from loops import cases
from scipy import stats

from bounds.catalog import get
from bounds.errors import UnknownNameError
from bounds.operators import ClientMean
from bounds.units import LOSS, SECOND
from bounds.vocabulary import client_weight, local_gap, smoothness, strong_convexity
from paper_checks.claims.checkers import (
    All,
    Broken,
    Dominates,
    exact,
    instances,
    mean,
    MeasuredIn,
    noise,
    Open,
    Ordered,
    Prints,
    Readings,
    Refuted,
    SlopeIs,
)
from paper_checks.claims.checkers.clouds import Cloud, logs
from paper_checks.claims.checkers.numbers import excess, near, shown, true_at, value
from paper_checks.claims.checkers.points import points
from paper_checks.claims.claim import Book, ClaimError, Finding, Grade, Status
from paper_checks.falsifier import falsify, WitnessError
from paper_checks.reported import Reported

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN


@cases("computed", ["12.345", 12.345, Fraction(2469, 200), Decimal("12.345"), np.float64(12.345)])
def test_a_number_rounds_to_the_printed_one(computed):
    right = ("12.35", "12.34")  # a tie may be rounded either way
    wrong = ("12.36", "12.33", "12.350", "-12.35")  # the third claims more digits
    all_are(HOLDS, *(Prints({"a": printed}, {"a": computed}) for printed in right))
    all_are(FAILS, *(Prints({"a": printed}, {"a": computed}) for printed in wrong))


def test_the_wrong_entries_are_the_audited_ones_and_so_are_their_values():
    printed, computed = {"a": "1.0", "b": "2.0"}, {"a": 1.0, "b": 2.7}
    ways = [("b",), ("a",), {"b": "2.7"}, {"b": "2.8"}]
    assert audited(*(Prints(printed, computed, wrong=way) for way in ways)) == [True, False, True, False]
    assert not run(Prints({"a": "1.1", "b": "2.0"}, computed, wrong=("b",))).as_audited
    assert run(Prints(printed, computed)).witness == {"b": "b: printed 2.0, found 2.7"}


NUMBERS = {"a": "1.10", "b": "1.2", "c": "1.20"}


def test_an_order_is_strict_and_its_exceptions_are_audited():
    all_are(HOLDS, Ordered(NUMBERS, ("a < b",)), Ordered(NUMBERS, ("a < b", "a < c")))
    all_are(FAILS, Ordered(NUMBERS, ("b < a",)), Ordered(NUMBERS, ("b < c",)))  # which are equal
    ways = [("a < b", "b < c"), ("b < a", "b < c")]
    assert audited(*(Ordered(NUMBERS, way, wrong=("b < c",)) for way in ways)) == [True, False]


@cases("one other runs", [("0.31", "0.07", 3), ("2.4", "2.9", 20), ("0.0021", "0.0016", 7)])
def test_what_exceeds_noise_is_what_welchs_test_calls_different(one, other, runs):
    edge = noise(one, other, runs=runs)
    for share, different in ((0.98, False), (1.02, True)):
        tested = stats.ttest_ind_from_stats(share * edge, float(one), runs, 0, float(other), runs, equal_var=False)
        assert bool(tested.pvalue < 0.05) is different
    assert noise(one, other) == pytest.approx(1.96 * np.hypot(float(one), float(other)), rel=1e-4)


def cell(value: str, std: str = "") -> Reported:
    return Reported("T", "row", "column", value, std, "", "", "")


NOISY = {  # 8 runs: noise is 1.07 deviations where both have the same
    "low": cell("60.1", "1.3"), "middle": cell("61.2", "1.3"), "high": cell("63.0", "1.3"), "bare": cell("62.9"),
    "other": cell("64.4"), "gain": mean(cell("3.1", "0.4")).less(mean(cell("1.2", "0.4"))),
}  # fmt: skip


@cases(
    "pairs status significant",
    [
        (("low < high",), HOLDS, HOLDS),
        (("low < high", "low < middle"), HOLDS, FAILS),
        (("low < middle",), OPEN, FAILS),  # in order, but by less than noise
        (("middle < low", "middle < high"), OPEN, FAILS),  # in reverse by less than noise
        (("high < low", "low < middle"), FAILS, FAILS),
        (("low < bare",), HOLDS, HOLDS),  # what has no deviation varies like the other
        (("bare < high",), OPEN, FAILS),
    ],
)
def test_an_order_of_measured_means_is_refuted_beyond_noise_only(pairs, status, significant):
    all_are(status, Ordered(NOISY, pairs, runs=8))
    all_are(significant, Ordered(NOISY, pairs, runs=8, significant=True))


def test_a_difference_has_the_noise_of_all_its_means():
    assert noise("0.4", "0.4", "0.4", "0.4", runs=8) == pytest.approx(0.579, abs=2e-3)
    for number, status in (("1.3", HOLDS), ("1.6", OPEN)):
        all_are(status, Ordered({"gain": NOISY["gain"], "by": mean(number)}, ("by < gain",), runs=8))


X = np.geomspace(3, 900, 12)
SHUFFLED = X[[5, 2, 9, 0, 11, 3, 1, 8, 4, 10, 7, 6]]


def test_a_slope_is_recognised_and_another_caught():
    all_are(HOLDS, SlopeIs(lambda book: (SHUFFLED, 7 * SHUFFLED**-0.5), -0.5))
    others = (
        lambda book: (X, 7 * X**-0.6),
        lambda book: (X, 7 * X**0.5),
        lambda book: (X, X**-0.5 + 0.05),  # ends in a floor
        lambda book: (X, np.where(X < 30, X**-0.5, 0.7 * X**-0.4)),
    )
    all_are(FAILS, *(SlopeIs(curve, -0.5) for curve in others))
    ways = (SlopeIs(lambda book, s=slope: (X, X**s), -0.5, audited=-1.0) for slope in (-1.0, -1.2))
    assert audited(*ways) == [True, False]


def test_units_are_recognised_and_slips_caught():
    positive, mixed = sp.Max(0, cost - speed * cost), cost + delay
    same = MeasuredIn(3 * cost + cost**2 / (cost + 2 * cost), cost)
    all_are(HOLDS, same, MeasuredIn(sp.sqrt(delay) ** 2, delay), MeasuredIn(positive, cost))
    all_are(FAILS, MeasuredIn(cost * delay, LOSS), MeasuredIn(positive, delay), MeasuredIn(mixed, cost))
    assert run(same).grade is Grade.SEARCHED  # one generic point proves no formula
    right = (MeasuredIn(cost * delay, LOSS, off_by=SECOND), MeasuredIn(mixed, cost, mixed=True))
    wrong = (
        MeasuredIn(cost / delay, LOSS, off_by=SECOND),
        MeasuredIn(mixed, cost, off_by=SECOND),
        MeasuredIn(cost * delay, cost, mixed=True),
    )
    assert audited(*right, *wrong) == [True, True, False, False, False]


def said(status, grade=Grade.EXACT, as_audited=True, **witness):
    return lambda book: Finding(status, grade, f"{status} indeed", witness, as_audited)


def test_all_hold_or_the_first_that_does_not_decides():
    assert run(All({"a": said(HOLDS, Grade.PROVED), "b": said(HOLDS, Grade.SAMPLED)})).grade is Grade.SAMPLED
    found = run(All({"a": said(HOLDS), "b": said(OPEN), "c": said(FAILS, x="1")}))
    assert (found.status, found.witness) == (FAILS, {"x": "1"})
    all_are(OPEN, All({"a": said(HOLDS), "b": said(OPEN)}))
    checks, both = {"a": said(FAILS), "b": said(HOLDS)}, {"a": said(FAILS), "b": said(FAILS)}
    turned = {"a": said(HOLDS), "b": said(FAILS)}
    assert audited(*(All(each, wrong=("a",)) for each in (checks, both, turned))) == [True, False, False]
    assert not run(All({"a": said(FAILS), "b": said(FAILS, as_audited=False)})).as_audited


def test_readings_fail_only_together():
    mixed = {"one": said(FAILS, x="1"), "other": said(HOLDS)}
    all_are(FAILS, Readings({"one": said(FAILS), "other": said(FAILS)}))
    all_are(OPEN, Readings(mixed))
    assert run(Readings({"one": said(HOLDS, Grade.PROVED), "other": said(HOLDS)})).grade is Grade.EXACT
    assert audited(*(Readings(mixed, holding=(name,)) for name in ("other", "one"))) == [True, False]
    one, other = (lambda book, x=x: Finding(FAILS, Grade.EXACT, f"at the witness {x}", {"x": x}) for x in ("7", "9"))
    found = run(Readings({"one": one, "alike": one, "other": other}))  # of the witness that is shown, and no other
    assert (found.witness, found.evidence.count("at the witness 7")) == ({"x": "7"}, 2)
    assert "at the witness 9" not in found.evidence


def test_what_is_refuted_must_fail_in_the_audited_way():
    found = run(Refuted(said(FAILS, Grade.SAMPLED, x="1")))
    assert (found.status, found.grade, found.witness, found.as_audited) == (HOLDS, Grade.SAMPLED, {"x": "1"}, True)
    assert not run(Refuted(said(FAILS, as_audited=False))).as_audited
    all_are(FAILS, Refuted(said(HOLDS)))
    all_are(OPEN, Refuted(said(OPEN)), Open("the data are not published"))


@cases(
    "check said",
    [
        (Prints({}, {"a": 1}), ""),
        (Prints({"a": "1"}, {"b": 1}), "'a'"),
        (lambda book: exact(float("nan")), "nan"),
        (Ordered(NUMBERS, ()), ""),
        (Ordered(NUMBERS, ("a < d",)), "'d'"),
        (lambda book: noise("0.3", runs=1), "got 1"),
        (SlopeIs(lambda book: ([1, 2, 3, -4], [1, 2, 3, 4]), 1), "curve"),
        (SlopeIs(lambda book: ([1, 1, 2, 3], [1, 2, 3, 4]), 1), "curve"),
        (MeasuredIn(sp.Max(0, -cost), cost), "unit"),
        (All({"a": said(FAILS)}, wrong=("z",)), "z"),
        (Readings({}), ""),
    ],
)
def test_what_cannot_be_checked_is_refused(check, said):
    with pytest.raises((ClaimError, UnknownNameError)) as error:
        run(check)
    assert said in str(error.value)


def test_conditions_are_met_whatever_they_are():
    conditions = (speed < width, sp.Eq(depth, speed * width), repeats >= 400, sp.Or(place > 2, place < -2))
    for point in points([speed, width, depth, repeats, place], 20, conditions):
        assert point[speed] < point[width]
        assert point[depth] == point[speed] * point[width]
        assert point[repeats] >= 400
        assert abs(point[place]) > 2
    for point in points([ClientMean(local_gap)], 30, (local_gap <= 1, local_gap >= -1)):
        assert all(abs(x) <= 1 for x in point[local_gap])
    for point in points([speed, width], 20, (speed < width,), given={width: sp.Integer(3)}):
        assert point[speed] < point[width] == 3
    with pytest.raises(ClaimError, match="60"):
        list(points([speed], 5, (sp.sqrt(speed) < -1,)))


def test_undefined_values_are_no_numbers_and_only_real_differences_count():
    at = {speed: sp.Integer(3), width: sp.Integer(2)}
    assert value(speed / (width - 2), at) is value(sp.Max(sp.sqrt(width - speed), 1), at) is sp.nan
    assert not near(sp.oo, sp.Integer(5))
    assert not near(-sp.oo, sp.Integer(5))
    assert near(sp.Integer(7), 7 + sp.Rational(6, 10**40))
    assert not near(sp.Integer(7), 7 + sp.Rational(8, 10**40))
    assert not true_at(sp.Gt(1 / (speed - 1), 0), {speed: sp.Integer(1)})
    assert shown(sp.nan) == "nan"
    one, root = {speed: sp.Rational(1, 3), width: sp.Rational(2, 7)}, sp.sqrt(speed + width)
    assert excess(root**2 - speed - width, 0, one) == 0
    assert excess(root**2 - speed - width + sp.Rational(1, 10**60), 0, one) > 0  # tiny, but there
    assert excess(speed + sp.Rational(1, 10**39), speed, one) > 0
    assert true_at(sp.Le(root**2, speed + width), one)
    assert not true_at(sp.Lt(root**2, speed + width), one)


def test_the_cloud_only_names_points_that_meet_the_conditions_and_reaches_the_corner():
    terms = (strong_convexity * offset, smoothness * portion * ClientMean(local_gap**2))
    found = list(Cloud(terms, lambda both: logs(*both), (smoothness <= 7, local_gap <= portion)).best())
    assert found
    for point in found:
        assert 0 < point[strong_convexity] <= point[smoothness] <= 7
        assert 0 < point[portion] <= 1
        assert sum(point[client_weight]) == 1
        assert all(x <= point[portion] for x in point[local_gap])
    best = next(iter(Cloud((speed * portion, width), lambda both: logs(*both), (speed * width <= 5,)).best()))
    assert float(best[portion]) > 0.999
    assert float(best[speed] / best[width]) > 1e9


NAME = "fedals.one_round"


def scaled(factor):
    """The bound's twin with every term times a factor."""
    bound = get(NAME)
    return Book({NAME: replace(bound, terms={n: t * factor for n, t in bound.terms.items()})})


def test_a_bound_that_holds_is_not_broken():
    found = Dominates(NAME, evaluations=30)(Book())
    assert found.status is HOLDS
    assert float(found.evidence.split(">= ")[1].split()[0]) >= 1
    for evaluations in (0, -5, 2.5, True):
        with pytest.raises(ClaimError, match=f"got {evaluations}"):
            Dominates(NAME, evaluations=evaluations)


def test_a_bound_cut_to_pieces_is_broken_and_its_witness_replays(tmp_path, monkeypatch):
    cut = scaled(10**-6)
    found = Dominates(NAME, evaluations=40)(cut)
    assert found.status is FAILS
    assert found.witness
    witness = falsify(cut[NAME], evaluations=40).witness
    witness.save(tmp_path / "cut.json")
    monkeypatch.setattr(instances, "COUNTEREXAMPLES", tmp_path)
    assert Broken(NAME, "cut.json")(cut).status is FAILS
    ratio = float(witness.measured) / float(witness.value)
    assert Broken(NAME, "cut.json", ratio=ratio)(cut).as_audited
    assert not Broken(NAME, "cut.json", ratio=2 * ratio)(cut).as_audited
    for name in ("cut.json", "no_such.json"):  # of another formula, and none
        with pytest.raises(WitnessError):
            Broken(NAME, name)(Book())
