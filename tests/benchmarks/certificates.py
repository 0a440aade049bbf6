"""Proved worst cases: CPU seconds of the proof from both sides and of the verifier, and how long the interval is.

    python tests/benchmarks/certificates.py [--write]

Two clients, the loss gap of L-smooth, mu-strongly convex clients. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import json
import os
import time
from importlib.metadata import version
from math import nan

from results import machine, options, publish, table

from empirics.algorithms import algorithm
from empirics.training.setting import Setting
from paper_checks.worst_case import verify
from paper_checks.worst_case.certificate import certify
from paper_checks.worst_case.formulation import program_of
from paper_checks.worst_case.interior_point import optimum
from paper_checks.worst_case.problem import WorstCaseProblem

GIVEN = {"smoothness": 1.0, "strong_convexity": 0.1, "initial_distance_sq": 1.0, "optimum_dissimilarity": 1.0}
PLACES = (
    ("fedavg()", 2, 2, 1 / 4), ("fedavg()", 2, 2, 1e-4), ("scaffold()", 2, 2, 1e-3), ("fedprox(mu=0.5)", 5, 2, 0.1),
    ("fedinit(beta=0.1)", 3, 3, 0.1), ("scaffold()", 4, 3, 1 / 8), ("fedavg()", 4, 4, 1 / 8), ("fedavg()", 5, 4, 0.1),
    ("fedavg()", 8, 5, 1 / 16),
)  # fmt: skip
SOLVED = 20
"""Gradients of a client up to which the worst case is also solved in floats, which a proof does not need."""
CHAPTER = """\
# Proved worst cases

Written by `python tests/benchmarks/certificates.py --write`: two clients, loss gap, mu = 0.1, CPU seconds. The width
is that of the proved interval, relative to its upper end; 1: it has an upper end alone. ``solved`` is the worst case in
floats, of which the proof makes no use; nan: not computed.
"""


def main() -> None:
    asked, rows = options(__doc__), []
    for method, steps, rounds, size in PLACES:
        plan = Setting(rounds, 2, local_steps=steps, step_size=size)
        question = WorstCaseProblem(algorithm(method), plan, GIVEN, "optimality_gap")
        begin = time.process_time()
        value = optimum(program_of(question)).value if steps * rounds <= SOLVED else nan
        solved = time.process_time()
        found = certify(question, value)
        proved = time.process_time()
        verify.check(found.content)
        shown = {"method": method, "K": steps, "R": rounds, "step size": size, "solved": solved - begin}
        shown |= {"proved": proved - solved, "verified": time.process_time() - proved}
        shown |= {"kB": len(json.dumps(found.content, separators=(",", ":"))) / 1000}
        rows.append({**shown, "excess": float(found.bound) / found.value - 1, "width": found.width})
    words = f"clarabel {version('clarabel')}; load {os.getloadavg()[0]:.1f} as it ended"
    publish(f"{CHAPTER}{machine()}; {words}.\n\n{table(rows)}\n", asked.write)


if __name__ == "__main__":
    main()
