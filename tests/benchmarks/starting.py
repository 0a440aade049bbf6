"""What a short command takes from its start to its end, most of it loading what it needs, and what theorems answer.

    python tests/benchmarks/starting.py [--repeats 7] [--write]

CPU seconds of processes of their own, medians of runs taken in turns so that what others do hits all alike; a first run
of each, which may compile Python's and our own kernels, does not count. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

import torch
from results import machine, options, publish, row, table, turns

ROOT = Path(__file__).resolve().parents[2]
SITES = ("@examples/sites.json", "cohort=10", "step_size=0.028", "runtime=20")
TRAIN = ("train", "--problem", "softmax(digits)", "--rounds", "1", "--clients", "5")
LINES = {  # what follows "python", and the target
    "import torch": (("-c", "import torch"), ""),
    "fedbounds list": (("-m", "fedbounds", "list"), ""),
    "fedbounds show fedals.one_round": (("-m", "fedbounds", "show", "fedals.one_round"), ""),
    "fedbounds compare grad_norm_sq, 40 clients": (
        ("-m", "fedbounds", "compare", "grad_norm_sq", *SITES, "local_steps=16"),
        2.0,
    ),
    "fedbounds advise optimality_gap, 40 clients": (("-m", "fedbounds", "advise", "optimality_gap", *SITES), 15.0),
    f"fedbounds {' '.join(TRAIN)}": (("-m", "fedbounds", *TRAIN), 2.0),
    "the same with --engine compiled": (("-m", "fedbounds", *TRAIN, "--engine", "compiled"), ""),
}


def run(words: tuple[str, ...]) -> None:
    """As a user would, whose Python keeps what it compiled of its modules."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *words], cwd=ROOT, env=kept, capture_output=True, check=True)


def children() -> float:
    """CPU seconds of the processes that have ended, of users and of the system for them."""
    used = os.times()
    return used.children_user + used.children_system


def main() -> None:
    asked = options(__doc__, repeats=7)
    work = {name: lambda words=words: run(words) for name, (words, _) in LINES.items()}
    turns(work, 1)
    times = turns(work, asked.repeats, children)
    medians = {name: statistics.median(times[name]) for name in LINES}
    rows = [row(f"{name}, CPU s", medians[name], target) for name, (_, target) in LINES.items()]
    unit = medians["import torch"]
    rows += [row(f"{name}, imports of torch", medians[name] / unit, "") for name in LINES if SITES[0] in LINES[name][0]]
    publish(
        f"# Starting\n\nWritten by `python tests/benchmarks/starting.py --write`: medians of {asked.repeats} runs.\n"
        f"{machine()}; PyTorch {torch.__version__}; load {os.getloadavg()[0]:.1f} as it ended.\n\n{table(rows)}",
        asked.write,
    )


if __name__ == "__main__":
    main()
