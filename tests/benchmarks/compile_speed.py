"""Compiled bounds against the same formulas hand-written in NumPy, and against a SymPy ``subs`` loop.

    python tests/benchmarks/compile_speed.py [--points 1000000] [--repeats 11] [--write]

CPU time on one thread, repeats interleaved, medians. Every quantity is swept but the client weights; per-client
quantities have one row of clients per point. Both sides apply the theorem's conditions and are compared before they are
timed. ``--write`` puts the tables into RESULTS.md beside this file. Exit status 1 when a target is missed: geometric
mean of the ratios at most 1.00, none above 1.15, memory within 3 times inputs plus output.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
import tracemalloc
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import sympy as sp
from hand_written import HAND_WRITTEN
from results import machine, options, publish, table, turns

from bounds import Bound, BOUNDS
from bounds.points import POINTS

Inputs = dict[str, Any]


def sweep(bound: Bound, count: int, seed: int = 20_260) -> Inputs:
    """``count`` points around the bound's generic point, each quantity up to half as large or small again."""
    rng = np.random.default_rng(seed)
    inputs: Inputs = {}
    for q in bound.quantities:
        centre = np.asarray(POINTS[bound.name][q.name], dtype=float)
        if q.card.domain.simplex:
            inputs[q.name] = centre
            continue
        values = centre * rng.uniform(0.6, 1.5, (count, *centre.shape))
        values = np.rint(values) if q.card.domain.whole else values
        inputs[q.name] = np.where(q.card.domain.contains(values), values, centre)
    for q in bound.quantities:
        if q.card.at_most is not None and q.card.at_most.name in inputs:
            inputs[q.name] = np.minimum(inputs[q.name], inputs[q.card.at_most.name])
    return inputs


def subs_seconds(bound: Bound, points: int = 4) -> float:
    """CPU seconds that SymPy's ``subs`` takes at one point, sums over clients written out beforehand."""
    from bounds.operators import bind

    lists = {q: POINTS[bound.name][q.name] for q in bound.quantities if q.card.axis}
    shared = {q: POINTS[bound.name][q.name] for q in bound.quantities if not q.card.axis}
    formula = bind(sp.Add(*bound.spelled_terms.values()), lists)
    start = time.process_time()
    for i in range(points):
        float(formula.subs({q: value * (1 + i / 97) for q, value in shared.items()}))
    return (time.process_time() - start) / points


def speed_row(name: str, points: int, repeats: int) -> dict[str, Any]:
    bound, twin = BOUNDS[name], HAND_WRITTEN[name]
    inputs, compiled = sweep(bound, points), bound.compile()
    ours, hand = compiled(**inputs), twin(**inputs)
    np.testing.assert_allclose(ours, hand, rtol=1e-11, atol=0)
    work = {"ours": lambda: compiled(**inputs), "hand": lambda: twin(**inputs), "call": lambda: bound(**inputs)}
    spent = {name: statistics.median(times) for name, times in turns(work, repeats).items()}
    return {
        "bound": name,
        "compiled ms": spent["ours"] * 1e3,
        "hand ms": spent["hand"] * 1e3,
        "ratio": spent["ours"] / spent["hand"],
        "checks ms": (spent["call"] - spent["ours"]) * 1e3,
        "silent %": 100 * float(np.isnan(hand).mean()),
        "subs h": subs_seconds(bound) * points / 3600,
    }


def memory_row(name: str, points: int, swept: str) -> dict[str, Any]:
    """Peak memory while evaluating, over inputs plus output; ``swept`` names one quantity, or ``all``."""
    bound = BOUNDS[name]
    inputs = sweep(bound, points) if swept == "all" else dict(POINTS[name])
    if swept != "all":
        inputs[swept] = np.linspace(0.9, 1.1, points) * inputs[swept]
    size = sum(np.asarray(v, dtype=float).nbytes for v in inputs.values())
    row: dict[str, Any] = {"bound": name, "swept": swept, "inputs + output MB": (size + 8 * points) / 1e6}
    for label, function in (("compiled", bound.compile()), ("call with checks", bound)):
        tracemalloc.start()
        function(**inputs)
        row[f"{label}, times"] = (size + tracemalloc.get_traced_memory()[1]) / (size + 8 * points)
        tracemalloc.stop()
    return row


def main(arguments: list[str] | None = None) -> int:
    asked = options(__doc__, arguments, points=1_000_000, memory_points=10_000_000, repeats=11)
    speed = [speed_row(name, asked.points, asked.repeats) for name in HAND_WRITTEN]
    ratios = [row["ratio"] for row in speed]
    mean = statistics.geometric_mean(ratios)
    memory = [
        memory_row("fedals.one_round", asked.memory_points, "smoothness"),
        memory_row("fedinit.theorem_3", asked.memory_points, "step_size_scale"),
        memory_row("fedcog.theorem", asked.memory_points, "all"),
    ]
    met = mean <= 1 and max(ratios) <= 1.15 and all(v <= 3 for row in memory for k, v in row.items() if "times" in k)
    report = RESULTS.format(
        points=asked.points, repeats=asked.repeats, speed=table(speed), mean=mean, worst=max(ratios),
        memory_points=asked.memory_points, memory=table(memory),
        machine=f"{machine()}, NumPy {np.__version__}, SymPy {sp.__version__}",
    )  # fmt: skip
    publish(report, asked.write)
    return 0 if met else 1


RESULTS = """# Compiled bounds: speed and memory

Written by `python tests/benchmarks/compile_speed.py --write`, whose docstring says what is measured and how.
{machine}.

## Speed at {points:,} points

CPU time on one thread, medians of {repeats} interleaved repeats. *hand* is `hand_written.py`: whole arrays, same
conditions. *checks* is what a call spends on its arguments beyond the compiled function. *silent* is the share of
points where the conditions fail. *subs* is a loop of SymPy's `subs` over as many points, extrapolated from four.

{speed}

Geometric mean of the ratios {mean:.2f} (target at most 1.00), largest {worst:.2f} (target at most 1.15).

## Memory at {memory_points:,} points

Peak of inputs plus everything allocated during the evaluation, over inputs plus output (target at most 3).

{memory}
"""


if __name__ == "__main__":
    sys.exit(main())
