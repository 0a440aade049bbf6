"""Exact worst cases of 20 gradients (two clients, K R = 10), in seconds, and how much longer PEPit takes for the same.

    python tests/benchmarks/worst_cases.py [--write]

PEPit's numbers must agree to 1e-3, or the program stops. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from results import machine, options, publish, table
from tools.pepit_reference import by_pepit

from bounds.core import Statistic
from empirics.algorithms import algorithm
from empirics.training.setting import Setting
from paper_checks.worst_cases import answer, Question

METHODS = ("fedavg()", "fedprox(mu=0.3)", "scaffold()", "fedinit(beta=0.1)")
STRONG = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_distance_sq": 1.0, "optimum_dissimilarity": 1.0}
SMOOTH = {"smoothness": 1.0, "initial_gap": 1.0, "dissimilarity_offset": 1.0, "dissimilarity_factor": 2.0}
CHAPTER = """\
# Exact worst cases

Written by `python tests/benchmarks/worst_cases.py --write`: two clients, K R = 10, step size 0.1/L. The target is 10 s.
"""


def timed(what: Any, question: Question) -> tuple[float, float]:
    begin = time.perf_counter()
    value = what(question)
    return float(getattr(value, "value", value)), time.perf_counter() - begin


def main() -> None:
    asked, rows = options(__doc__), []
    for method in METHODS:
        for words, given, metric, statistic in (
            ("strongly convex, loss gap", STRONG, "optimality_gap", Statistic("last", "rounds")),
            ("smooth, mean squared gradient", SMOOTH, "grad_norm_sq", Statistic("mean", "rounds")),
        ):
            for steps, rounds in ((5, 2), (2, 5)):
                plan = Setting(rounds, 2, local_steps=steps, step_size=0.1)
                question = Question(algorithm(method), plan, given, metric, statistic)
                ours, seconds = timed(answer, question)
                theirs, longer = timed(by_pepit, question)
                if abs(ours - theirs) > 1e-3 * abs(ours):
                    raise SystemExit(f"{method}, {words}: {ours} here, {theirs} by PEPit")
                shown = {"method": method, "question": words, "K": steps, "R": rounds}
                rows.append({**shown, "seconds": seconds, "PEPit / ours": longer / seconds})
    load = os.getloadavg()[0]
    versions = ", ".join(f"{name} {version(name)}" for name in ("clarabel", "pepit"))
    publish(f"{CHAPTER}{machine()}; {versions}; load {load:.1f} as it ended.\n\n{table(rows)}\n", asked.write)


if __name__ == "__main__":
    main()
