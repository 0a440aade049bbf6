"""The one-round figure shows the numbers of the table, and draws."""

from dataclasses import replace

import numpy as np
import pytest

from bounds.catalog import get
from empirics.measuring.estimates import Estimate
from figures.one_round import CURVES, data, FIRST, GAP, save_figure, SECOND
from paper_checks.validation.comparison import Comparison, Line, Verdict

COUNTS = (1, 4, 11)


@pytest.fixture
def result():
    def estimate(value, error):
        return Estimate(np.asarray(value), np.asarray(error))

    lines = []
    for scale, (problem, partition) in enumerate(
        [("ridge(digits)", "iid()"), ("softmax(digits)", "dirichlet_replaced(alpha=0.3)")], 2
    ):
        for k in COUNTS:
            first, second = scale * 3.1 / k**2, scale * 0.9 * (k > 1) / k
            gap, value = estimate(scale * 0.17 / k, 0.013 / k), first + second
            parts = {"local generalization": estimate(first, 0.04 / k), "non-iidness": estimate(second, 0.03 / k)}
            lines.append(
                Line((problem, partition, k), gap, value, value, value, False, Verdict.UNDECIDED, error=0.05 / k,
                     parts=parts, extras={"something else": estimate(5.5, 0.0)})
            )  # fmt: skip
    return Comparison(get("fedals.one_round"), tuple(lines), "")


def test_panels_hold_the_rows(result):
    at = {(row["panel"], row["curve"], row["x"]): row for row in data(result.numbers())}
    assert len(at) == 2 * len(CURVES) * len(COUNTS)
    for k in COUNTS:
        gap, bound = (at["softmax, label skew", curve, k] for curve in (GAP, "bound (6)"))
        assert (gap["y"], gap["error"]) == pytest.approx((3 * 0.17 / k, 0.013 / k))
        terms = sum(at["softmax, label skew", curve, k]["y"] for curve in (FIRST, SECOND))
        assert bound["y"] == pytest.approx(terms) or k == 1
    assert np.isnan(at["ridge, iid", SECOND, 1]["y"])


def test_it_draws_the_same_file_twice_of_one_number_of_clients_too(result, tmp_path):
    svg, png = save_figure(result, tmp_path)
    assert (svg.name, png.name) == ("fedals.one_round.svg", "fedals.one_round.png")
    once = svg.read_text()
    assert save_figure(result, tmp_path)[0].read_text() == once
    assert once.count("<path") > 20
    for count in (1, 11):
        alone = replace(result, rows=tuple(line for line in result.rows if line.place[2] == count))
        assert save_figure(alone, tmp_path)[1].stat().st_size > 10_000
