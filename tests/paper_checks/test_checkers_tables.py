"""Checkers of tables, trends and units, and those that combine others: correct inputs, planted errors, audited ways."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from checker_toys import cost, delay, run, speed, width
from scipy import stats

from bounds.units import LOSS, SECOND
from paper_checks.claims.checkers import (
    All,
    averages_to,
    Computed,
    counts_to,
    exact,
    mean,
    MeasuredIn,
    noise,
    Open,
    Ordered,
    Prints,
    Readings,
    Refuted,
    Same,
    SlopeIs,
    sums_to,
    TrendReproduces,
)  # fmt: skip
from paper_checks.claims.claim import ClaimError, Finding, Grade, Status
from paper_checks.reported import Reported

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN


# ---- printed numbers ----


@pytest.mark.parametrize("computed", ["12.345", 12.345, Fraction(2469, 200), Decimal("12.345"), np.float64(12.345)])
def test_a_number_rounds_to_the_printed_one(computed):
    assert run(Prints({"a": "12.35"}, {"a": computed})).status is HOLDS  # a tie may be rounded either way
    assert run(Prints({"a": "12.34"}, {"a": computed})).status is HOLDS
    assert run(Prints({"a": "12.36"}, {"a": computed})).status is FAILS  # one unit of the last digit off
    assert run(Prints({"a": "12.33"}, {"a": computed})).status is FAILS
    assert run(Prints({"a": "12.350"}, {"a": computed})).status is FAILS  # more digits claim more
    assert run(Prints({"a": "-12.35"}, {"a": computed})).status is FAILS


def test_floating_point_sums_are_not_blamed_for_ties():
    computed = 0.1 + 0.25 + 1e-16  # a little more than 0.35 by rounding alone
    assert computed > 0.35
    assert run(Prints({"a": "0.3"}, {"a": computed})).status is HOLDS
    assert run(Prints({"a": "0.3"}, {"a": 0.3500001})).status is FAILS


def test_the_wrong_entries_are_the_audited_ones_and_so_are_their_values():
    check = {"printed": {"a": "1.0", "b": "2.0"}, "computed": {"a": 1.0, "b": 2.7}}
    assert run(Prints(**check, wrong=("b",))).as_audited
    assert not run(Prints(**check, wrong=("a",))).as_audited
    assert not run(Prints({"a": "1.1", "b": "2.0"}, check["computed"], wrong=("b",))).as_audited
    assert run(Prints(**check, wrong={"b": "2.7"})).as_audited
    assert not run(Prints(**check, wrong={"b": "2.8"})).as_audited
    assert run(Prints(**check)).witness == {"b": "b: printed 2.0, found 2.7"}


def test_what_cannot_be_compared_is_refused_in_words():
    with pytest.raises(ClaimError, match="nothing is compared"):
        run(Prints({}, {"a": 1}))
    with pytest.raises(ClaimError, match=r"no computed number 'a'; there are 'b'"):
        run(Prints({"a": "1"}, {"b": 1}))
    with pytest.raises(ClaimError, match=r"'12\.3%' is not a finite number"):
        run(Prints({"a": "12.3%"}, {"a": 12.3}))
    with pytest.raises(ClaimError, match="nan is not a finite number"):
        exact(float("nan"))


def test_sums_and_means_allow_for_the_rounding_of_their_parts():
    parts = {"row": ("1.25", "2.25", "3.35")}
    assert run(sums_to(parts, {"row": "6.85"})).status is HOLDS
    assert run(sums_to(parts, {"row": "6.87"})).status is HOLDS  # 0.015 of the parts, 0.005 of the sum
    assert run(sums_to(parts, {"row": "6.88"})).status is FAILS
    assert run(averages_to(parts, {"row": "2.28"})).status is HOLDS
    assert run(averages_to(parts, {"row": "2.30"})).status is FAILS
    assert run(averages_to(parts, {"row": "6.85"}, wrong=("row",))).as_audited
    with pytest.raises(ClaimError, match="same keys"):
        sums_to(parts, {"raw": "6.85"})
    with pytest.raises(ClaimError, match="no parts for row"):
        averages_to({"row": ()}, {"row": "6.85"})


def test_counts_are_counted_when_the_check_runs():
    assert run(counts_to(lambda: {"weights": 7 * 11 + 11}, {"weights": "88"})).status is HOLDS
    assert run(counts_to(lambda: {"weights": 7 * 11}, {"weights": "88"})).status is FAILS
    assert run(counts_to(lambda: {"weights": 89}, {"weights": "88"}, wrong={"weights": "89"})).as_audited


def test_an_order_is_strict_and_its_exceptions_are_audited():
    numbers = {"a": "1.10", "b": "1.2", "c": "1.20"}
    assert run(Ordered(numbers, (("a", "b"),))).status is HOLDS
    assert run(Ordered(numbers, (("b", "a"),))).status is FAILS
    assert run(Ordered(numbers, (("b", "c"),))).status is FAILS  # equal
    assert run(Ordered(numbers, (("a", "b"), ("b", "c")), wrong=("b < c",))).as_audited
    assert not run(Ordered(numbers, (("b", "a"), ("b", "c")), wrong=("b < c",))).as_audited
    for pairs, words in (((), "nothing is compared"), ((("a", "d"),), "no reported number 'd'")):
        with pytest.raises(ClaimError, match=words):
            run(Ordered(numbers, pairs))


# ---- noise ----


@pytest.mark.parametrize(("one", "other", "runs"), [("0.31", "0.07", 3), ("2.4", "2.9", 20), ("0.0021", "0.0016", 7)])
def test_what_exceeds_noise_is_what_welchs_test_calls_different(one, other, runs):
    edge = noise(one, other, runs=runs)
    for share, different in ((0.98, False), (1.02, True)):
        tested = stats.ttest_ind_from_stats(share * edge, float(one), runs, 0, float(other), runs, equal_var=False)
        assert bool(tested.pvalue < 0.05) is different
    assert noise(one, other) == pytest.approx(1.96 * np.hypot(float(one), float(other)), rel=1e-4)
    with pytest.raises(ClaimError, match="two runs; got 1"):
        noise(one, runs=1)


def cell(value: str, std: str = "") -> Reported:
    return Reported("T", "row", "column", value, std, "", "", "")


NOISY = {  # 8 runs: noise is 1.07 deviations where both have the same
    "low": cell("60.1", "1.3"), "middle": cell("61.2", "1.3"), "high": cell("63.0", "1.3"), "bare": cell("62.9"),
    "gain": mean(cell("3.1", "0.4")).less(mean(cell("1.2", "0.4"))),
}  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "status", "significant"),
    [
        ((("low", "high"),), "HOLDS", "HOLDS"),
        ((("low", "high"), ("low", "middle")), "HOLDS", "FAILS"),
        ((("low", "middle"),), "OPEN", "FAILS"),  # in order, but by less than noise
        ((("middle", "low"), ("middle", "high")), "OPEN", "FAILS"),  # in reverse by less than noise
        ((("high", "low"), ("low", "middle")), "FAILS", "FAILS"),
        ((("low", "bare"),), "HOLDS", "HOLDS"),  # what has no deviation varies like the other
        ((("bare", "middle"),), "FAILS", "FAILS"),
        ((("bare", "high"),), "OPEN", "FAILS"),
    ],
)
def test_an_order_of_measured_means_is_refuted_beyond_noise_only(pairs, status, significant):
    assert run(Ordered(NOISY, pairs, runs=8)).status == status
    assert run(Ordered(NOISY, pairs, runs=8, significant=True)).status == significant


def test_an_order_says_of_how_many_runs_and_which_pairs_only_the_means_decide():
    told = run(Ordered(NOISY, (("low", "high"), ("low", "middle")), runs=8)).evidence
    assert "if the deviations are of 8 runs" in told
    assert "by the means only: low < middle" in told
    assert "runs" not in run(Ordered({"a": "1.1", "b": "1.3"}, (("a", "b"),), runs=8)).evidence


def test_pairs_without_deviations_are_not_counted_as_beyond_noise():
    found = run(
        Ordered({**NOISY, "other": cell("64.4")}, (("low", "high"), ("bare", "other"), ("low", "other")), runs=8)
    )
    assert found.status is HOLDS
    assert found.evidence.startswith("3 pairs, 2 in order beyond noise")
    assert "; 1 in order by the printed digits, without deviations" in found.evidence


def test_a_difference_has_the_noise_of_all_its_means():
    quiet, loud = {"gain": NOISY["gain"], "by": mean("1.3")}, {"gain": NOISY["gain"], "by": mean("1.6")}
    assert noise("0.4", "0.4", "0.4", "0.4", runs=8) == pytest.approx(0.579, abs=2e-3)
    assert run(Ordered(quiet, (("by", "gain"),), runs=8)).status is HOLDS
    assert run(Ordered(loud, (("by", "gain"),), runs=8)).status is OPEN
    assert run(Ordered(NOISY, (("low", "high"),), runs=8)).grade is Grade.SAMPLED


# ---- trends ----

X = np.geomspace(3, 900, 12)


def test_a_slope_is_recognised_whatever_the_order_of_the_points():
    shuffled = X[[5, 2, 9, 0, 11, 3, 1, 8, 4, 10, 7, 6]]
    assert run(SlopeIs(lambda book: (shuffled, 7 * shuffled**-0.5), -0.5)).status is HOLDS


@pytest.mark.parametrize(
    "curve",
    [
        lambda book: (X, 7 * X**-0.6),
        lambda book: (X, 7 * X**0.5),
        lambda book: (X, X**-0.5 + 0.05),  # ends in a floor
        lambda book: (X, np.where(X < 30, X**-0.5, 0.7 * X**-0.4)),
    ],
)
def test_another_slope_is_caught(curve):
    assert run(SlopeIs(curve, -0.5)).status is FAILS


def test_the_slope_that_is_there_is_audited():
    assert run(SlopeIs(lambda book: (X, X**-1.0), -0.5, found=-1.0)).as_audited
    assert not run(SlopeIs(lambda book: (X, X**-1.2), -0.5, found=-1.0)).as_audited


@pytest.mark.parametrize("x", [[1, 2, 3, -4], [1, 2, 3], [1, 1, 2, 3]])
def test_curves_without_a_slope_are_refused(x):
    with pytest.raises(ClaimError, match="curve"):
        run(SlopeIs(lambda book: (x, np.arange(1, len(x) + 1)), 1))


def trend(grade=Grade.EXACT, flips=(), **environments):
    return run(TrendReproduces(lambda book: environments, grade=grade, flips=flips))


ALIKE = ([1, 2, 5], [10, 30, 40], [1, 1, 1])
TURNED = ([1, 5, 2], [10, 30, 60], [1, 1, 1])


def test_the_worst_environment_decides():
    assert trend(a=ALIKE, b=ALIKE).status is HOLDS
    found = trend(a=ALIKE, b=TURNED, c=ALIKE)
    assert (found.status, found.witness) == (FAILS, {"b": "0.67"})
    assert trend(a=ALIKE, b=TURNED, flips=("b",)).as_audited
    assert not trend(a=TURNED, b=ALIKE, flips=("b",)).as_audited


def test_noise_and_silence_are_no_agreement():
    noisy = ([1, 2], [10, 11], [1, 1])
    assert trend(a=noisy).status is OPEN
    assert trend(a=ALIKE, b=noisy).status is OPEN
    assert trend(a=TURNED, b=noisy).status is FAILS
    assert trend().status is OPEN
    assert trend(a=([3, 3, 3], [10, 30, 60], [1, 1, 1])).status is FAILS  # a bound that ranks nothing


def test_a_sampled_trend_states_its_error_rate():
    sampled, precise = trend(a=ALIKE), trend(a=([1, 2], [10, 30], [0, 0]))
    assert (sampled.grade, precise.grade) == (Grade.SAMPLED, Grade.EXACT)
    assert "error rate at most 0.00019 over 3 pairs" in sampled.evidence
    with pytest.raises(ClaimError, match="must be finite"):
        trend(a=([1, float("nan")], [1, 2], [0, 0]))


# ---- units ----


def test_units_are_recognised_and_slips_caught():
    same = run(MeasuredIn(3 * cost + cost**2 / (cost + 2 * cost), cost))
    assert (same.status, same.grade) == (HOLDS, Grade.SEARCHED)  # one generic point proves no formula
    assert run(MeasuredIn(cost * delay, LOSS)).status is FAILS
    assert run(MeasuredIn(cost * delay, LOSS, off_by=SECOND)).as_audited
    assert not run(MeasuredIn(cost / delay, LOSS, off_by=SECOND)).as_audited
    assert run(MeasuredIn(sp.sqrt(delay) ** 2, delay)).status is HOLDS


def test_a_formula_that_is_zero_at_some_points_still_has_a_unit():
    positive = sp.Max(0, cost - speed * cost)
    assert run(MeasuredIn(positive, cost)).status is HOLDS
    assert run(MeasuredIn(positive, delay)).status is FAILS
    with pytest.raises(ClaimError, match="no unit of its own"):
        run(MeasuredIn(sp.Max(0, -cost), cost))


def test_adding_different_units_is_a_way_of_failing_of_its_own():
    mixed = cost + delay
    assert run(MeasuredIn(mixed, cost)).status is FAILS
    assert run(MeasuredIn(mixed, cost, mixed=True)).as_audited
    assert not run(MeasuredIn(mixed, cost, off_by=SECOND)).as_audited
    assert not run(MeasuredIn(cost * delay, cost, mixed=True)).as_audited


# ---- combinations ----


def said(status, grade=Grade.EXACT, as_audited=True, **witness):
    return Computed("says it", lambda book: Finding(status, grade, f"{status} indeed", witness, as_audited))


def test_all_hold_or_the_first_that_does_not_speaks():
    assert run(All({"a": said(HOLDS, Grade.PROVED), "b": said(HOLDS, Grade.SAMPLED)})).grade is Grade.SAMPLED
    found = run(All({"a": said(HOLDS), "b": said(OPEN), "c": said(FAILS, x="1")}))
    assert (found.status, found.witness) == (FAILS, {"x": "1"})
    assert run(All({"a": said(HOLDS), "b": said(OPEN)})).status is OPEN
    assert not run(All({"a": said(FAILS), "b": said(FAILS, as_audited=False)})).as_audited


def test_which_parts_fail_is_audited():
    checks = {"a": said(FAILS), "b": said(HOLDS)}
    assert run(All(checks, wrong=("a",))).as_audited
    assert not run(All(checks | {"b": said(FAILS)}, wrong=("a",))).as_audited
    assert not run(All({"a": said(HOLDS), "b": said(FAILS)}, wrong=("a",))).as_audited
    with pytest.raises(ClaimError, match="no check z"):
        run(All(checks, wrong=("z",)))


def test_readings_fail_only_together():
    assert run(Readings({"one": said(FAILS), "other": said(FAILS)})).status is FAILS
    assert run(Readings({"one": said(HOLDS, Grade.PROVED), "other": said(HOLDS)})).grade is Grade.EXACT
    mixed = {"one": said(FAILS, x="1"), "other": said(HOLDS)}
    assert run(Readings(mixed)).status is OPEN
    assert run(Readings(mixed, holding=("other",))).as_audited
    assert not run(Readings(mixed, holding=("one",))).as_audited


def test_a_reading_refuted_elsewhere_does_not_point_to_the_witness_shown():
    one, other = (
        Computed("says it", lambda book, x=x: Finding(FAILS, Grade.EXACT, f"at the witness {x}", {"x": x}))
        for x in ("7", "9")
    )
    found = run(Readings({"one": one, "alike": one, "other": other}))
    assert (found.witness, found.evidence.count("at the witness 7")) == ({"x": "7"}, 2)
    assert "at the witness 9" not in found.evidence


def test_what_is_refuted_must_fail_in_the_audited_way():
    found = run(Refuted(said(FAILS, Grade.SAMPLED, x="1")))
    assert (found.status, found.grade, found.witness, found.as_audited) == (HOLDS, Grade.SAMPLED, {"x": "1"}, True)
    assert not run(Refuted(said(FAILS, as_audited=False))).as_audited
    assert run(Refuted(said(HOLDS))).status is FAILS
    assert run(Refuted(said(OPEN))).status is OPEN


@pytest.mark.parametrize("empty", [All({}), Readings({})])
def test_nothing_is_no_evidence(empty):
    with pytest.raises(ClaimError, match="nothing is decided"):
        run(empty)


def test_computed_reads_the_book_and_open_only_says_why():
    doubled = Computed("twice", lambda book: Same("toys.f", 2 * speed)(book))
    assert run(doubled, f=2 * speed).status is HOLDS
    assert run(doubled, f=2 * width).status is FAILS
    found = run(Open("the data are not published"))
    assert (found.status, found.grade, found.evidence) == (OPEN, Grade.READ, "the data are not published")
