"""Step size rules of the papers."""

from __future__ import annotations

from typing import Any

import numpy as np


def harmonic(step_size: float, iteration: Any) -> Any:
    """``step_size / (iteration/100 + 10)``: the rule of FedALS's language model (Table 5), iterations from 0."""
    return step_size / (np.asarray(iteration) / 100 + 10)


def falling(first: Any, offset: Any, iteration: Any) -> Any:
    """``first * offset / (offset + iteration)``, iterations from 0: the classic rule ``scale / (offset + t)``.

    ``scale`` is ``first * offset``. The rule of FedALS's language model has offset 1000; a huge offset gives a constant
    step size. Arguments may be floats, arrays or fractions.
    """
    return first * offset / (offset + iteration)


def geometric(step_size: float, decay: float, round_: Any) -> Any:
    """``step_size * decay**round``, rounds from 0: FedInit's rule, with a decay of 0.998 on CIFAR-10."""
    return step_size * decay ** np.asarray(round_)
