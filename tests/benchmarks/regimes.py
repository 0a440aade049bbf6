"""Which planted regime violations the falsifier finds: ``python tests/benchmarks/regimes.py [--seeds 5]``.

Eighteen statements that are false in one regime only, and (``--mechanical``) a plant of the same make in every
statement whose verdict is a search's, for each of clients, local steps and rounds that it speaks of. Every hit is
confirmed in exact arithmetic, not made simple. The counts go into ``paper_checks/falsifier/power.json``, which verdicts
quote, after every plant: a benchmark that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from threadpoolctl import threadpool_limits

from paper_checks.falsifier import falsify
from paper_checks.falsifier.planted_regimes import mechanical, regimes
from paper_checks.falsifier.power import MEASURED

EVALUATIONS = 4000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", help="plants whose name matches this pattern", default="")
    parser.add_argument("--mechanical", action="store_true", help="the plants of every searched statement")
    options = parser.parse_args()
    threadpool_limits(1)
    held = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {"plants": {}}
    held["evaluations"] = EVALUATIONS
    plants = mechanical() if options.mechanical else regimes()
    for name, bound in plants.items():
        if not re.search(options.only, name) or held["plants"].get(name, {}).get("seeds", 0) >= options.seeds:
            continue
        seen = []
        began = time.process_time()
        for seed in range(options.seeds):
            found = falsify(bound, EVALUATIONS, seed, simplify=False)
            seen.append(found.evaluations if found.violated else None)
        spent = time.process_time() - began
        held["plants"][name] = {
            "statement": bound.name,
            "seeds": options.seeds,
            "found": sum(count is not None for count in seen),
            "evaluations": seen,
            "processor_seconds": round(spent, 1),
        }
        print(f"{name:<44} {seen} {spent:.1f} s", flush=True)
        MEASURED.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
