"""Sweeps and figures as whole commands: resuming with nothing to do, how busy the cores are, drawing from a full store.

    python tests/benchmarks/sweeping.py [--store DIR --scale S] [--write]

``--store`` adds the time of drawing everything from that store. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import machine, options, publish, row, table

from empirics.experiments import Outcome, Store
from empirics.experiments.grids import Grid
from empirics.experiments.running import Done, sweep

HERE = Path(__file__).resolve().parent
CELLS, RUNS, CORES = 1000, 24, os.cpu_count() or 1
WORK = {"problem": "femnist_dnn(held_out(digits))", "algorithm": "fedavg()", "clients": 10, "rounds": 20,
        "local_steps": 10, "batch": 32, "step_size": 0.1, "measure": ["train_loss"]}  # fmt: skip


CHAPTER = """\
# Sweeps and figures

Written by `python tests/benchmarks/sweeping.py --store DIR --write`.
"""


def resumed() -> float:
    """Seconds of ``fedbounds sweep`` on a grid of which every cell is there."""
    with tempfile.TemporaryDirectory() as scratch:
        grid, store = Path(scratch, "grid.toml"), Path(scratch, "store")
        grid.write_text(f'[fixed]\nproblem = "softmax(digits)"\n[vary]\nseed = {list(range(CELLS))}\n')
        kept = Store(store)
        for cell in Grid("grid", {"problem": "softmax(digits)"}, {"seed": list(range(CELLS))}).cells():
            kept.keep(cell, Outcome({"round": [0, 1], "value": [0.7, 0.3]}), 0.1)
        begin = time.perf_counter()
        command = [sys.executable, "-m", "fedbounds", "sweep", str(grid), "--store", str(store)]
        said = subprocess.run(command, check=True, cwd=HERE.parents[1], capture_output=True, text=True).stdout
        seconds = time.perf_counter() - begin
    if f"{CELLS} there before" not in said:
        raise SystemExit(f"the cells were not there: {said}")
    return seconds


def busy() -> tuple[float, float]:
    """The share of the workers' time spent inside cells: of the whole sweep, and from the first cell's start on."""
    with tempfile.TemporaryDirectory() as scratch:
        cells, ends, inside = Grid("busy", WORK, {"seed": list(range(RUNS))}).cells(), [], []
        begin = time.perf_counter()

        def heard(done: Done) -> None:
            ends.append(time.perf_counter())
            inside.append(done.minutes * 60)

        sweep(cells, Store(Path(scratch)), CORES, heard=heard)
        end = time.perf_counter()
    first = min(ended - took for ended, took in zip(ends, inside, strict=True))
    return sum(inside) / (CORES * (end - begin)), sum(inside) / (CORES * (ends[-1] - first))


def drawn(store: Path, scale: str) -> float:
    """Seconds of drawing every figure and table."""
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.perf_counter()
        words = ["figure", "all", "--scale", scale, "--no-sweep", "--store", str(store.resolve()), "-o", scratch]
        subprocess.run(
            [sys.executable, "-m", "fedbounds", *words], check=True, cwd=HERE.parents[1], stdout=subprocess.DEVNULL
        )
        return time.perf_counter() - begin


def main() -> None:
    asked = options(__doc__, store="", scale="laptop")
    whole, during = busy()
    rows = [
        row(f"resuming {CELLS} cells with nothing to do, s", resumed(), 2),
        row(f"time of the workers inside cells, {RUNS} short runs, start-up included, %", 100 * whole),
        row("the same from the first cell's start to the last one's end, %", 100 * during, 90),
    ]
    if asked.store:
        seconds = drawn(Path(asked.store), asked.scale)
        rows.append(row(f"drawing every figure and table of scale {asked.scale}, s", seconds, 30))
    publish(f"{CHAPTER}{machine()}.\n\n{table(rows)}\n", asked.write)


if __name__ == "__main__":
    main()
