"""Compiled bounds against the same formulas hand-written in NumPy, and against a SymPy ``subs`` loop.

    python tests/benchmarks/compile_speed.py [--points 1000000] [--repeats 11] [--write]

CPU time on one thread, repeats interleaved, medians. Every quantity is swept but the client weights; per-client
quantities have one row of clients per point. Both sides apply the theorem's conditions and are compared before they are
timed. ``--write`` puts the tables into RESULTS.md beside this file. Exit status 1 when a target is missed: geometric
mean of the ratios at most 1.00, none above 1.15, memory within 3 times inputs plus output.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

import numpy as np  # noqa: E402
import sympy as sp  # noqa: E402
from benchmarks.hand_written import HAND_WRITTEN  # noqa: E402
from benchmarks.results import put  # noqa: E402

from bounds import Bound, BOUNDS  # noqa: E402
from bounds.points import POINTS  # noqa: E402

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


def medians(functions: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each, one run of all after another so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            start = time.process_time()
            function()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in times.items()}


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
    spent = medians(
        {"ours": lambda: compiled(**inputs), "hand": lambda: twin(**inputs), "call": lambda: bound(**inputs)}, repeats
    )
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


def table(rows: list[dict[str, Any]]) -> str:
    def cell(value: Any) -> str:
        return value if isinstance(value, str) else f"{value:.0f}" if value >= 1000 else f"{value:.3g}"

    lines = [list(rows[0]), ["---"] * len(rows[0]), *([cell(v) for v in row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}, SymPy {sp.__version__}"
    return f"{platform.system()} {platform.machine()}, {model}, {os.cpu_count()} cores; {versions}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--memory-points", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--write", action="store_true", help="put the tables into RESULTS.md")
    options = parser.parse_args(arguments)
    speed = [speed_row(name, options.points, options.repeats) for name in HAND_WRITTEN]
    ratios = [row["ratio"] for row in speed]
    mean = statistics.geometric_mean(ratios)
    memory = [
        memory_row("fedals.one_round", options.memory_points, "smoothness"),
        memory_row("fedinit.theorem_3", options.memory_points, "step_size_scale"),
        memory_row("fedcog.theorem", options.memory_points, "all"),
    ]
    met = mean <= 1 and max(ratios) <= 1.15 and all(v <= 3 for row in memory for k, v in row.items() if "times" in k)
    report = RESULTS.format(
        points=options.points, repeats=options.repeats, speed=table(speed), mean=mean, worst=max(ratios),
        memory_points=options.memory_points, memory=table(memory), machine=machine(),
    )  # fmt: skip
    print(report)
    if options.write:
        put(report)
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
