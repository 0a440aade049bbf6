"""The papers' step-size rules."""

import numpy as np
import pytest

from empirics.training.step_sizes import geometric, harmonic


def test_rules_over_time():
    assert harmonic(3.0, 250) == pytest.approx(3 / 12.5)
    assert harmonic(3.0, np.array([0, 1000])) == pytest.approx([0.3, 0.15])
    assert geometric(0.1, 0.998, 3) == pytest.approx(0.1 * 0.998 * 0.998 * 0.998)
    assert geometric(0.1, 0.5, np.array([0, 2])) == pytest.approx([0.1, 0.025])
