"""Exact worst cases of two clients, in CPU seconds of one thread, and how much longer PEPit takes for the same.

    python tests/benchmarks/worst_cases.py [--most 20] [--write]

The sizes grow up to ``MOST`` gradients of a client; PEPit, which answers in minutes beyond, is asked up to ``--most``.
Its numbers must agree to 1e-5, or the program stops: it solves to about 1e-6. ``--write`` puts the chapter into
RESULTS.md.
"""

from __future__ import annotations

import os
import sys
import time
from importlib.metadata import version
from math import nan
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from results import machine, options, publish, table
from threadpoolctl import threadpool_limits
from tools.pepit_reference import by_pepit

from bounds.core import Statistic
from empirics.algorithms import algorithm
from empirics.training.setting import Setting
from paper_checks.worst_case.problem import WorstCaseProblem
from paper_checks.worst_case.solve import solve

STRONG = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_distance_sq": 1.0, "optimum_dissimilarity": 1.0}
SMOOTH = {"smoothness": 1.0, "initial_gap": 1.0, "dissimilarity_offset": 1.0, "dissimilarity_factor": 2.0}
ASKED = {
    "strongly convex, loss gap": (STRONG, "optimality_gap", Statistic("last", "rounds")),
    "smooth, mean squared gradient": (SMOOTH, "grad_norm_sq", Statistic("mean", "rounds")),
}
SIZES = ((1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (7, 2), (10, 2), (15, 2), (10, 5))
METHODS = ("fedprox(mu=0.3)", "scaffold()", "fedinit(beta=0.1)")
PLACES = [("fedavg()", words, *size) for size in SIZES for words in ASKED]
PLACES += [(method, words, *size) for method in METHODS for words in ASKED for size in ((5, 2), (2, 5))]
CHAPTER = """\
# Exact worst cases

Written by `python tests/benchmarks/worst_cases.py --write`: two clients, step size 0.1/L, CPU seconds of one thread (up
to four gradients the least of five runs). The targets are 60 s for K R = 50 and a fourth of PEPit's time at every size.
``doubt`` is how far the value may be from the worst case, and ``apart`` how far PEPit's is from it, both relative.
"""


def timed(what: Any, question: WorstCaseProblem) -> tuple[Any, float]:
    least = float("inf")
    for _ in range(5 if question.run.gradients <= 4 else 1):
        begin = time.process_time()
        found = what(question)
        least = min(least, time.process_time() - begin)
    return found, least


def main() -> None:
    asked, rows = options(__doc__, most=20), []
    for method, words, steps, rounds in PLACES:
        given, metric, statistic = ASKED[words]
        plan = Setting(rounds, 2, local_steps=steps, step_size=0.1)
        question = WorstCaseProblem(algorithm(method), plan, given, metric, statistic)
        ours, seconds = timed(solve, question)
        theirs, longer = timed(by_pepit, question) if steps * rounds <= asked.most else (nan, nan)
        apart = abs(theirs / ours.value - 1)
        if apart > 1e-5:
            raise SystemExit(f"{method}, {words}: {ours.value} here, {theirs} by PEPit")
        shown = {"method": method, "question": words, "K": steps, "R": rounds, "seconds": seconds}
        doubt = ours.solution.doubt / ours.value
        rows.append({**shown, "doubt": doubt, "PEPit / ours": longer / seconds, "apart": apart})
    load = os.getloadavg()[0]
    versions = ", ".join(f"{name} {version(name)}" for name in ("clarabel", "pepit"))
    publish(f"{CHAPTER}{machine()}; {versions}; load {load:.1f} as it ended.\n\n{table(rows)}\n", asked.write)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
