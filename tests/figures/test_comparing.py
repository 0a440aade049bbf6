"""Rank agreement against SciPy, and conclusions that must, must not and cannot be drawn."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau, t

from figures.comparing import agreement, Entry, judge, kendall, leads, Pair, Reproduction
from figures.regimes import Regime
from figures.sheets import entry, tidy

NAN = math.nan


def entries(table, column="c", std=NAN):
    return [Entry(row, column, reported, std, tuple(ours)) for row, (reported, ours) in table.items()]


def test_tau_is_scipys_also_with_ties_and_zero_of_a_constant():
    for seed in range(5):
        x, y = np.random.default_rng(seed).integers(0, 5, (2, 9)).astype(float)
        assert kendall(x[None], y[None])[0] == pytest.approx(kendalltau(x, y).statistic)
    assert kendall(np.full((1, 4), 2.5), np.arange(4.0)[None])[0] == 0


def test_noise_that_every_row_of_a_seed_shares_moves_no_rank():
    shared, own = (0.0, 7.3, -4.1), (0.011, -0.013, 0.002)
    table = {f"m{i}": (70.0 + i, [i + s + (own[(i + j) % 3]) for j, s in enumerate(shared)]) for i in range(4)}
    found = agreement("c", entries(table))
    assert (found.tau, found.low, found.high) == (1.0, 1.0, 1.0)


def test_a_conclusion_needs_every_comparison():
    clear, clear_too = (
        Pair("a over b", [5.1, 5.3, 5.2], [4.0, 4.1, 4.2]),
        Pair("a over c", [5.1, 5.3, 5.2], [3.0, 3.2, 3.0]),
    )
    assert judge("a is best", [clear, clear_too]).verdict is Reproduction.REPRODUCED
    near = Pair("a over d", [5.1, 5.3, 5.2], [5.2, 5.1, 5.3])
    assert judge("a is best", [clear, near]).verdict is Reproduction.UNDECIDED
    against = Pair("a over e", [5.1, 5.3, 5.2], [6.0, 6.3, 6.1])
    told = judge("a is best", [clear, near, against])
    assert told.verdict is Reproduction.CONTRADICTED
    assert "a over e" in told.why
    assert "1 of 3 comparisons surely so, 1 of 3 surely the other way" in told.why
    assert judge("at least 2 better", [replace(clear, margin=2.0)]).verdict is Reproduction.CONTRADICTED


def test_the_interval_is_the_pooled_t_interval_shared_among_the_pairs():
    one, two = np.array([0.9, 1.4, 1.1]), np.array([2.3, 2.0, 2.9])
    spread = math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 2)
    half = t.ppf(1 - 0.05 / 2 / 2, 4) * spread / math.sqrt(3)
    why = judge("x", [Pair("one", one, np.zeros(3)), Pair("two", two, np.zeros(3))]).why
    assert why.endswith(f"least: one {one.mean():+.3g} ± {half:.2g}")


def rate(count, draw, wrong, delta=None):
    """How often a judgement of drawn pairs is wrong."""
    told = [judge("x", draw(), **({} if delta is None else {"delta": delta})).verdict for _ in range(count)]
    return sum(map(wrong, told)) / count


def test_errors_stay_rare():
    """When nothing differs, with counts of few samples, with unequal spread, and of what differs by delta."""
    normal, counts, uneven, apart = (np.random.default_rng(seed) for seed in (7, 3, 11, 13))

    def row_0(values):
        return [Pair(str(i), values[0], values[i]) for i in (1, 2, 3)]

    def spread():
        values = uneven.normal(size=(4, 5)) * np.array([10.0, 1.0, 1.0, 1.0])[:, None]
        return [Pair(str(i), v, np.zeros(5)) for i, v in enumerate(values)]

    decided = lambda verdict: verdict is not Reproduction.UNDECIDED  # noqa: E731
    assert rate(400, lambda: row_0(normal.normal(size=(4, 3))), decided) < 0.05
    assert rate(600, lambda: [Pair("p", *counts.binomial(100, 0.98, (2, 2)) / 100)], decided) < 0.05
    assert rate(400, spread, lambda verdict: verdict is Reproduction.CONTRADICTED) < 0.04
    equal = lambda verdict: verdict is Reproduction.EQUAL  # noqa: E731
    assert rate(400, lambda: [Pair("p", 0.7 + apart.normal(size=4), np.zeros(4))], equal, delta=0.7) < 0.08


def test_what_was_not_measured_and_a_single_seed_decide_nothing():
    assert judge("x", []).verdict is Reproduction.UNDECIDED
    assert judge("x", [Pair("p", [1.0, 2.0], [])]).why == "not measured: p"
    assert judge("x", [Pair("p", [NAN, NAN], [0.1, 0.2])]).why == "not measured: p"
    assert judge("x", [Pair("p", [9.0], [1.0])]).why == "one seed has no spread"


def test_a_seed_that_left_the_finite_numbers_decides_nothing():
    ahead, burst = [5.0, 5.1, 5.3], [4.0, math.inf, 4.2]
    told = judge("x", [Pair("p", ahead, burst), Pair("q", ahead, [3.0, 3.2, 3.1])])
    assert (told.verdict, told.why.partition(";")[0]) == (
        Reproduction.UNDECIDED,
        "1 of 2 comparisons surely so, 0 of 2 surely the other way",
    )
    assert judge("x", [Pair("p", [9.0, math.inf, 9.3], [1.0, 1.2, 1.1])]).verdict is Reproduction.UNDECIDED
    assert judge("x", [Pair("p", [math.inf] * 3, [1.0, 1.2, 1.1])]).verdict is Reproduction.UNDECIDED
    assert judge("x", [Pair("p", [math.inf] * 3, [math.inf] * 3)]).why == "not measured: p"


def test_two_differences_that_coincide_are_no_proof_but_constants_are():
    assert judge("x", [Pair("p", [0.371, 0.374], [0.351, 0.354])]).verdict is Reproduction.UNDECIDED
    assert judge("x", [Pair("p", [0.371, 0.374], [0.351, 0.3541])]).verdict is Reproduction.REPRODUCED
    assert judge("x", [Pair("p", [12.0, 12.0], [7.0, 7.0])]).verdict is Reproduction.REPRODUCED


def test_a_pair_that_varies_more_than_the_others_counts_with_its_own_spread():
    steady = [Pair(f"q{i}", [2.0, 2.1 + i / 100, 2.05], [1.0, 1.0, 1.1]) for i in range(13)]
    lucky = Pair("one run of three broke down", [70.0, 70.5, 70.3], [0.0, 70.1, 70.2])
    told = judge("x", [*steady, lucky])
    assert told.verdict is Reproduction.UNDECIDED
    means = lucky.differences
    half = t.ppf(1 - 0.05 / 14 / 2, 28) * means.std(ddof=1) / math.sqrt(3)
    assert half > means.mean()


def test_a_missing_seed_leaves_the_others_paired():
    first = entry(None, "a", "x", [NAN, 3.3, 3.7])
    other = entry(None, "b", "x", [9.0, 2.0, 2.5])
    assert Pair("p", [5.0, NAN, 5.5], [4.0, 1.0, 4.2]).differences == pytest.approx([1.0, 1.3])
    (pair,) = leads([first, other], "a")
    assert pair.differences == pytest.approx([1.3, 1.2])
    assert (first.mean, len(first.known), first.error) == pytest.approx((3.5, 2, 0.2))
    assert entry(None, "a", "x", [NAN, NAN]).ours == ()
    assert [row["seeds"] for row in tidy([first, other])] == [2, 3]


def test_differences_that_are_surely_small_are_equal_within_delta():
    near = Pair("a over b", [50.11, 50.32, 50.23], [50.31, 50.12, 50.27])
    assert judge("a is best", [near]).verdict is Reproduction.UNDECIDED
    told = judge("a is best", [near], delta=1.5)
    assert told.verdict is Reproduction.EQUAL
    assert told.why.endswith("; 1 of 1 surely differ by less than 1.5")
    assert judge("a is best", [near], delta=0.2).verdict is Reproduction.UNDECIDED
    wide = Pair("a over c", [50.1, 52.3, 49.2], [51.3, 50.1, 50.2])
    assert judge("a is best", [near, wide], delta=1.5).verdict is Reproduction.UNDECIDED
    ahead = Pair("a over d", [50.11, 50.32, 50.23], [45.31, 45.12, 45.27])
    both = judge("a is best", [ahead, near], delta=1.5)
    assert both.verdict is Reproduction.EQUAL
    assert both.why.startswith("1 of 2 comparisons surely so, 0 of 2 surely the other way")
    assert both.why.endswith("; 1 of 2 surely differ by less than 1.5")
    assert judge("a is best", [ahead, near]).verdict is Reproduction.UNDECIDED
    assert judge("a is best", [ahead]).verdict is Reproduction.REPRODUCED


def test_a_regime_that_is_missed_comes_before_the_verdict():
    clear = Pair("a over b", [5.1, 5.3, 5.2], [4.0, 4.1, 4.2])
    told = judge("a is best", [clear], regimes=[Regime("drift", 0.25), Regime("learning", 1.25, 1.5)])
    assert told.verdict is Reproduction.REGIME
    assert [regime.missed for regime in told.regimes] == [False, True]
    assert told.why.startswith("learning: 1.25")
    assert "a over b +1.1" in told.why
    assert judge("a is best", [clear], regimes=[Regime("drift", 0.25)]).verdict is Reproduction.REPRODUCED
    assert judge("a is best", [clear], regimes=[Regime("drift", NAN)]).verdict is Reproduction.REPRODUCED
