"""A table of the falsifier's quadratic runs for the tests of those who compute them, and those who compute one."""

from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms import algorithm
from empirics.exact import exact_run
from paper_checks.falsifier.kinds import counts
from paper_checks.falsifier.runs import instance as tables
from paper_checks.falsifier.runs.moments import Moments
from paper_checks.falsifier.runs.plain import Table
from paper_checks.falsifier.runs.readings import FallingReadings, MomentReadings
from paper_checks.falsifier.runs.twin import PlainRun
from paper_checks.runs import schedules

TABLE = {
    "clients": 3, "dim": 2, "cohort": 2, "with_replacement": 0, "local_steps": 3, "rounds": 2, "floor": 0.7,
    "step_size": 0.13, "relaxation": 0.06, "start_0": 1.3, "start_1": -0.4,
    **{f"curvature_{k}_{i}": [0.9, 0.31, 1.7, 0.23, 0.57, 1.1][2 * k + i] for k in range(3) for i in range(2)},
    **{f"minimum_{k}_{i}": [0.3, -1.1, 0.8, 0.45, -0.6, 0.2][2 * k + i] for k in range(3) for i in range(2)},
    **{f"turn_{k}": [0.21, -0.4, 0.7][k] for k in range(3)},
    **{f"noise_{k}": [0.5, 0.11, 0.83][k] for k in range(3)},
    **{f"weight_{k}": 1 for k in range(3)},
}  # fmt: skip
"""Nothing zero or equal, but for the weights, which a plain mean over clients asks for."""

FALLS = {**TABLE, "cohort": 3, "relaxation": 0.0, "step_offset": 2.7}
"""Three clients, two rounds of three steps, step sizes 0.13 * 2.7/(2.7 + t)."""
CURVE = {
    "clients": 2, "cohort": 2, "with_replacement": 0, "local_steps": 3, "rounds": 2, "shape": 1, "bowl": 0.2,
    "height": 1.3, "start": 2.1, "floor": 0.0, "relaxation": 0.0, "step_size": 0.4, "step_offset": 2.7,
    "tilt_0": 0.7, "tilt_1": -0.2, "weight_0": 1.0, "weight_1": 1.5,
}  # fmt: skip


def averaging(falls: bool) -> tuple[Any, Any, Any]:
    """``FALLS``, or it with one step size, by the exact moments, in closed form and in fractions."""
    table = FALLS if falls else {name: value for name, value in FALLS.items() if name != "step_offset"}
    problem, setting = tables.problem(table), tables.setting(table)
    exact = exact_run(problem, algorithm("fedavg()"), setting)
    base = Moments(problem, np.array(counts(table), dtype=float), tables.drawn(table, problem), table["local_steps"],
                   table["step_size"], table["rounds"], memory=False, averaging=True)  # fmt: skip
    sizes = np.reshape(schedules.sizes(table["step_size"], FALLS["step_offset"], 6), (2, 3))
    closed = FallingReadings(base, sizes) if falls else MomentReadings(base)
    rational = Table({n: v if isinstance(v, int) else Fraction(str(v)) for n, v in table.items()}, Fraction)
    return exact, closed, PlainRun(rational, rational.beta, "intended", averaging=True)
