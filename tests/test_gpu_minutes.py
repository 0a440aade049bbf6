"""Ten minutes of a GPU, rehearsed on a CPU: everything once, and what fails, hangs or crashes."""

import subprocess
import sys
from pathlib import Path

import gpu_folder
import gpu_minutes
import pytest
from gpu_folder import RUNS, SPEED, VERDICT

from empirics.experiments import Store
from empirics.experiments.cells import run
from empirics.experiments.store import unpacked

ROOT = Path(__file__).parents[1]
MOST = 16 << 20


@pytest.mark.slow
def test_a_rehearsal_goes_through_everything_in_a_few_small_files_whose_runs_are_imported_once(tmp_path):
    whole = tmp_path / "whole"
    command = [sys.executable, ROOT / "tests/benchmarks/gpu_minutes.py", "--pretend", "--seconds=600", "--out", whole]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path.name for path in whole.iterdir()} <= set(gpu_folder.FILES)
    assert all(path.stat().st_size <= MOST for path in whole.iterdir())
    for name in (VERDICT, SPEED):
        assert " 0 failed, 0 not reached" in (whole / name).read_text().splitlines()[0]
    lines = [line.partition("finished ")[2] for line in done.stdout.splitlines() if "  finished " in line]
    assert {line.split()[0].rstrip(":") for line in lines} == {"test", "algorithm", "network", "job", "tiny", "run"}
    store = Store(tmp_path / "store")
    results = list(unpacked((whole / RUNS).read_bytes(), RUNS))
    assert gpu_minutes.import_runs(whole, store.folder) == len(results) > 6
    assert gpu_minutes.import_runs(whole, store.folder) == 0
    for cell in (kept.cell for kept in results):
        if cell.arguments["seed"] == 0 and cell.job == "train":  # kept after every round, and the same numbers
            assert store.get(cell).columns() == run(cell.home, cell.arguments).columns
