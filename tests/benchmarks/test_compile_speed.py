"""The benchmark measures equal things: hand-written formulas agree with the bounds, and some points are silent."""

import numpy as np
import pytest
from compile_speed import memory_row, sweep
from hand_written import HAND_WRITTEN

from bounds import BOUNDS


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_formulas_agree_with_the_compiled_bound(name):
    inputs = sweep(BOUNDS[name], 3000)
    hand = HAND_WRITTEN[name](**inputs)
    np.testing.assert_allclose(BOUNDS[name].compile()(**inputs), hand, rtol=1e-11, atol=0)
    assert np.isfinite(hand).sum() > 300


def test_memory_stays_near_inputs_and_output():
    row = memory_row("fedals.one_round", 400_000, "smoothness")
    assert 1 <= row["compiled, times"] < 3
    assert 1 <= row["call with checks, times"] < 3
