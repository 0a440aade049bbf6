"""The cloud's coordinates: which value each stands for, and back."""

import numpy as np
import pytest
from checker_toys import inner, offset, place, portion, repeats, speed

from bounds.domains import FLAG, RELAXATION
from bounds.quantities import quantity
from bounds.vocabulary import client_weight, local_gap
from paper_checks.claims.checkers.clouds import _Axis, Cloud

lean = quantity("lean", "l", "between -1 and 1", domain=RELAXATION)
switch = quantity("switch", "b", "0 or 1", domain=FLAG)
SHARES = [10**1.2, 10**2.48, 10**0.36]


@pytest.mark.parametrize(
    ("q", "cloud", "u", "values"),
    [
        (speed, {}, [0.71, 0.23], [10 ** (9 * 0.42), 10 ** (-9 * 0.54)]),
        (speed, {"far": 4.0}, [0.71], [10 ** (4 * 0.42)]),
        (speed, {"within": {speed: (0.3, 700.0)}}, [0.41], [0.3 * (700 / 0.3) ** 0.41]),
        (speed, {"within": {speed: (0.3, 2.1)}}, [0.41], [0.3 + 1.8 * 0.41]),
        (offset, {}, [0.013, 0.31], [0, 10 ** (-9 * 0.38)]),
        (place, {}, [0.91, 0.23], [10 ** (9 * 0.64), -(10 ** (9 * 0.08))]),
        (repeats, {}, [0.37, 1.0], [165, 10**6]),
        (repeats, {"far": 3.0}, [0.21, 0.9], [18, 100]),
        (repeats, {"within": {repeats: (3, 17)}}, [0.29], [7]),
        (switch, {}, [0.41, 0.57], [0, 1]),
        (portion, {}, [0.0, 0.37, 1.0], [1e-9, 10 ** (-9 * 0.63), 1]),
        (inner, {}, [0.0, 0.37, 1.0], [1e-9, 10 ** (-9 * 0.63), 1 - 1e-9]),
        (lean, {}, [0.0, 0.37, 1.0], [-1 + 2e-9, -0.26 * (1 - 2e-9), 1 - 2e-9]),
        (local_gap, {}, [[0.71, 0.23, 0.91]], [[10 ** (-9 * 0.16), -(10 ** (9 * 0.08)), 10 ** (9 * 0.64)]]),
        (client_weight, {}, [[0.3, 0.62, 0.09]], [[s / sum(SHARES) for s in SHARES]]),
    ],
)
def test_a_coordinate_stands_for_this_value(q, cloud, u, values):
    axis = _Axis.of(q, Cloud((), sum, **cloud))
    np.testing.assert_allclose(axis.numbers(np.array(u)), values, rtol=1e-11, atol=1e-12)
    for row in values if q.card.axis else np.array(values)[:, None]:
        back = axis.back(tuple(row))
        np.testing.assert_allclose(axis.numbers(back[None])[0], row, rtol=1e-8, atol=1e-12)
        written = axis.rational(back, 17)
        np.testing.assert_allclose(np.array(written, dtype=float), np.squeeze(row), rtol=1e-8, atol=1e-12)
