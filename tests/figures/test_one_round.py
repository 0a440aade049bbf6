"""The one-round figure shows the numbers of the table, and draws."""

from dataclasses import replace

import numpy as np
import pytest

from bounds.catalog import get
from figures.one_round import CURVES, data, FIRST, GAP, save, SECOND
from paper_checks.validation.comparison import Comparison, Row

COUNTS = (1, 4, 11)


@pytest.fixture
def result():
    rows = []
    for scale, (problem, partition) in enumerate(
        [("ridge(digits)", "iid()"), ("softmax(digits)", "dirichlet_replaced(alpha=0.3)")], 2
    ):
        for k in COUNTS:
            first, second = scale * 3.1 / k**2, scale * 0.9 * (k > 1) / k
            for name, value, error in (
                ("generalization_gap", scale * 0.17 / k, 0.013 / k),
                ("bound", first + second, 0.05 / k),
                ("local generalization", first, 0.04 / k),
                ("non-iidness", second, 0.03 / k),
                ("something else", 5.5, None),
            ):
                rows.append(Row(problem, partition, k, name, value, error))
        rows.append(Row(problem, partition, None, "exponent", -1.02, 0.01))
    return Comparison(get("fedals.one_round"), (), "", numbers=tuple(rows))


def test_panels_hold_the_rows(result):
    at = {(row["panel"], row["curve"], row["x"]): row for row in data(result.rows())}
    assert len(at) == 2 * len(CURVES) * len(COUNTS)
    for k in COUNTS:
        gap, bound = (at["softmax, label skew", curve, k] for curve in (GAP, "bound (6)"))
        assert (gap["y"], gap["error"]) == pytest.approx((3 * 0.17 / k, 0.013 / k))
        terms = sum(at["softmax, label skew", curve, k]["y"] for curve in (FIRST, SECOND))
        assert bound["y"] == pytest.approx(terms) or k == 1
    assert np.isnan(at["ridge, iid", SECOND, 1]["y"])


def test_it_draws_the_same_file_twice_of_one_number_of_clients_too(result, tmp_path):
    svg, png = save(result, tmp_path)
    assert (svg.name, png.name) == ("fedals.one_round.svg", "fedals.one_round.png")
    once = svg.read_text()
    assert save(result, tmp_path)[0].read_text() == once
    assert once.count("<path") > 20
    for count in (1, 11):
        alone = replace(result, numbers=tuple(row for row in result.numbers if row.clients == count))
        assert save(alone, tmp_path)[1].stat().st_size > 10_000
