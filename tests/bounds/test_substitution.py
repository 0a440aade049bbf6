"""The quick share of ``tests/benchmarks/substitution.py``: derived words keep bounds valid, wrong ties are caught."""

import pytest
from substitution import many

from bounds import BOUNDS
from bounds.scenario import Scenario

DRAWS = 40


def test_derived_words_keep_every_bound_valid():
    tally = many(DRAWS)
    assert not tally.faults
    assert tally.words > 3 * DRAWS
    assert tally.rows > 6 * DRAWS
    assert len(tally.spoken) >= 6
    assert 0.5 < tally.share <= 1


@pytest.mark.slow
def test_so_do_hundreds_of_draws():
    tally = many(400, first=DRAWS)
    assert not tally.faults
    assert len(tally.spoken) >= 8


def test_the_good_end_of_a_bound_is_no_less_than_what_it_bounds_can_be():
    known = Scenario.of(
        clients=7, cohort=7, relaxation=0.02, smoothness=1.3, strong_convexity=0.1, gradient_variance=0.2,
        dissimilarity_offset=0.3, dissimilarity_factor=1.2, step_size=0.001, local_steps=4, rounds=50,
        initial_gap=2.1, contraction=0.3, initial_divergence=0,
    )  # fmt: skip
    put = known.substituted(BOUNDS["fedinit.theorem_4"])
    assert put.low == 0 < put.value, "the divergence at the end is unknown, and counts against it"
