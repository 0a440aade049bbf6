"""Rank agreement against SciPy, and findings that are reproduced, contradicted and undecided."""

import math
from dataclasses import replace

import numpy as np
import pytest
from loops import cases
from scipy.stats import kendalltau, t

from figures.comparing import judge, Pair, Reproduction
from figures.guards import Guard
from figures.sheets import agreement, Entry, entry, entry_rows, kendall, leads

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
    ranks = agreement("c", entries(table))
    assert (ranks.tau, ranks.low, ranks.high) == (1.0, 1.0, 1.0)


HIGH, AHEAD = [5.1, 5.3, 5.2], [50.11, 50.32, 50.23]
CLEAR, CLEAR_TOO = Pair("a over b", HIGH, [4.0, 4.1, 4.2]), Pair("a over c", HIGH, [3.0, 3.2, 3.0])
OPEN, AGAINST = Pair("a over d", HIGH, [5.2, 5.1, 5.3]), Pair("a over e", HIGH, [6.0, 6.3, 6.1])
NEAR, FAR = Pair("a over b", AHEAD, [50.31, 50.12, 50.27]), Pair("a over d", AHEAD, [45.31, 45.12, 45.27])
WIDE = Pair("a over c", [50.1, 52.3, 49.2], [51.3, 50.1, 50.2])
LEFT = Pair("p", [5.0, 5.1, 5.3], [4.0, math.inf, 4.2])  # a seed that left the finite numbers
MET, MISSED = Guard("drift", 0.25), Guard("learning", 1.25, 1.5)
VERDICTS = [
    ([CLEAR, CLEAR_TOO], {}, "reproduced", ""),
    ([CLEAR, OPEN], {}, "undecided", ""),
    ([CLEAR, OPEN, AGAINST], {}, "contradicted", "1 of 3 comparisons surely so, 1 of 3 surely the other way"),
    ([replace(CLEAR, margin=2.0)], {}, "contradicted", ""),
    # what was not measured, one seed, and runs that left the numbers decide nothing
    ([], {}, "undecided", ""),
    ([Pair("p", [1.0, 2.0], [])], {}, "undecided", "not measured: p"),
    ([Pair("p", [9.0], [1.0])], {}, "undecided", "one seed has no spread"),
    ([LEFT, CLEAR], {}, "undecided", "1 of 2 comparisons surely so, 0 of 2 surely the other way;"),
    ([Pair("p", [math.inf] * 3, [math.inf] * 3)], {}, "undecided", "not measured: p"),
    # two differences that coincide are no proof, but constants are
    ([Pair("p", [0.371, 0.374], [0.351, 0.354])], {}, "undecided", ""),
    ([Pair("p", [0.371, 0.374], [0.351, 0.3541])], {}, "reproduced", ""),
    ([Pair("p", [12.0, 12.0], [7.0, 7.0])], {}, "reproduced", ""),
    # differences that are surely small are equal within delta
    ([NEAR], {"delta": 1.5}, "equal within delta", "; 1 of 1 surely differ by less than 1.5"),
    ([NEAR], {"delta": 0.2}, "undecided", ""),
    ([NEAR, WIDE], {"delta": 1.5}, "undecided", ""),
    ([FAR, NEAR], {"delta": 1.5}, "equal within delta", "; 1 of 2 surely differ by less than 1.5"),
    ([FAR, NEAR], {}, "undecided", ""),
    ([FAR], {}, "reproduced", ""),
    # a guard that is missed comes before the verdict
    ([CLEAR], {"guards": [MET, MISSED]}, "not judged", "learning: 1.25"),
    ([CLEAR], {"guards": [Guard("drift", NAN)]}, "reproduced", ""),
]


@cases("pairs options verdict why", VERDICTS)
def test_a_finding_is_decided_where_every_comparison_is_sure(pairs, options, verdict, why):
    finding = judge("a is best", pairs, **options)
    assert (str(finding.verdict), why in finding.why) == (verdict, True), finding.why


def test_the_interval_is_the_pooled_t_interval_shared_among_the_pairs():
    one, two = np.array([0.9, 1.4, 1.1]), np.array([2.3, 2.0, 2.9])
    spread = math.sqrt((one.var(ddof=1) + two.var(ddof=1)) / 2)
    half = t.ppf(1 - 0.05 / 2 / 2, 4) * spread / math.sqrt(3)
    finding = judge("x", [Pair("one", one, np.zeros(3)), Pair("two", two, np.zeros(3))])
    assert finding.least.words == "one"
    assert (finding.least.mean, finding.least.half) == pytest.approx((one.mean(), half))
    assert finding.why.endswith(f"least: one {one.mean():+.3g} ± {half:.2g}")


def rate(count, draw, wrong, delta=None):
    """How often a judgement of drawn pairs is wrong."""
    verdicts = [judge("x", draw(), **({} if delta is None else {"delta": delta})).verdict for _ in range(count)]
    return sum(map(wrong, verdicts)) / count


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


def test_a_pair_that_varies_more_than_the_others_counts_with_its_own_spread():
    steady = [Pair(f"q{i}", [2.0, 2.1 + i / 100, 2.05], [1.0, 1.0, 1.1]) for i in range(13)]
    lucky = Pair("one run of three broke down", [70.0, 70.5, 70.3], [0.0, 70.1, 70.2])
    assert judge("x", [*steady, lucky]).verdict is Reproduction.UNDECIDED
    means = lucky.differences
    half = t.ppf(1 - 0.05 / 14 / 2, 28) * means.std(ddof=1) / math.sqrt(3)
    assert half > means.mean()


def test_a_missing_seed_leaves_the_others_paired():
    first = entry(None, "a", "x", [NAN, 3.3, 3.7])
    other = entry(None, "b", "x", [9.0, 2.0, 2.5])
    assert Pair("p", [5.0, NAN, 5.5], [4.0, 1.0, 4.2]).differences == pytest.approx([1.0, 1.3])
    (pair,) = leads([first, other], "a")
    assert pair.differences == pytest.approx([1.3, 1.2])
    assert (first.mean, len(first.present), first.error) == pytest.approx((3.5, 2, 0.2))
    assert entry(None, "a", "x", [NAN, NAN]).ours == ()
    assert [row["seeds"] for row in entry_rows([first, other])] == [2, 3]
