"""What a certified rate takes: contraction, floors, and the proofs with their verification.

    python tests/benchmarks/rates.py [--most 40] [--write]

CPU seconds of one run each, step size 1/(2K), L = 1, mu = 0.1; up to ``--most`` local steps. ``--write`` puts the
chapter into RESULTS.md.
"""

from __future__ import annotations

import time

from results import machine, options, publish, row, table

from empirics.algorithms import algorithm
from paper_checks.worst_case.rate_problem import RateProblem
from paper_checks.worst_case.rate_search import certify_rate

TARGETS = {2: 5.0, 5: 5.0, 10: 5.0, 40: 60.0}
"""Local steps, and the CPU seconds that they should take at most."""


def main() -> None:
    asked = options(__doc__, most=40)
    rows = []
    for method in ("scaffold()", "fedavg()"):
        for steps, target in TARGETS.items():
            if steps > asked.most:
                continue
            begin = time.process_time()
            found = certify_rate(RateProblem(algorithm(method), steps, 0.5 / steps, 1.0, 0.1))
            took = time.process_time() - begin
            proofs = sum(said.proof is not None for said in found.bounds)
            rows.append(
                row(f"{method}, K = {steps}, {len(found.bounds)} statements, {proofs} proved, CPU s", took, target)
            )
    publish(
        f"# Rates\n\nWritten by `python tests/benchmarks/rates.py --write`: contraction, floors, proofs and their "
        f"verification, one run each.\n{machine()}.\n\n{table(rows)}",
        asked.write,
    )


if __name__ == "__main__":
    main()
