"""The project's implementation of a method on parabolas without noise, followed exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TYPE_CHECKING

if TYPE_CHECKING:
    from empirics.exact import Run

Number = Fraction | float


def followed(
    written: str, curvatures: Sequence[Number], minima: Sequence[Number], start: Number, **setting: Any
) -> Run:
    """The run of the method that is ``written`` on clients ``curvature (x - minimum)^2 / 2``."""
    import numpy as np

    from empirics.algorithms import algorithm
    from empirics.exact import exact_run
    from empirics.problems.quadratics import Quadratics
    from empirics.training.setting import Setting

    bends, places = (np.array(v, dtype=float) for v in (curvatures, minima))
    problem = Quadratics(bends[:, None, None], places[:, None], start=np.array([float(start)]))
    return exact_run(problem, algorithm(written), Setting(**setting))
