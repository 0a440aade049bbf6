"""Ten minutes of a GPU, rehearsed on a CPU: everything once, and what fails, hangs or crashes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import gpu_folder
import gpu_minutes
import pytest
from gpu_folder import PROGRESS, RUNS, SPEED, VERDICT

from empirics.experiments import Store
from empirics.experiments.cells import run
from empirics.experiments.packing import unpacked

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


FAKE = """
import json, os, sys, time
given = json.loads(sys.argv[1])
print("a library speaks", flush=True)
for name in ("good", "bad", "hangs", "dies", "after"):
    if name in given["skip"]:
        continue
    print(json.dumps({"begin": name, "limit": 1.0}), flush=True)
    if name == "hangs":
        time.sleep(60)
    if name == "dies":
        sys.stderr.write("illegal memory access")
        os.abort()
    print(json.dumps({"end": name, "ok": name != "bad", "text": "12 apart"}), flush=True)
print(json.dumps({"all": True}), flush=True)
"""


def test_what_fails_hangs_or_crashes_never_stops_the_rest(tmp_path, monkeypatch, capsys):
    (tmp_path / "fake.py").write_text(FAKE)
    monkeypatch.setattr(gpu_minutes, "WORK", tmp_path / "fake.py")
    minutes = gpu_minutes.Minutes(60, tmp_path / "out", False, True, "")
    lanes = [gpu_minutes.Lane(minutes, part, part, "all") for part in ("checks", "speed")]
    gpu_minutes.Lanes(lanes, time.time() + 50).work()
    assert minutes.done["speed"]["found"].keys() == minutes.done["checks"]["found"].keys()
    found = json.loads((tmp_path / "out" / PROGRESS).read_text())["checks"]["found"]
    assert {name: one["ok"] for name, one in found.items()} == {
        "good": True, "bad": False, "hangs": False, "dies": False, "after": True,
    }  # fmt: skip
    assert "longer than 1 s" in found["hangs"]["text"]
    assert "illegal memory access" in found["dies"]["text"]
    assert (tmp_path / "out" / VERDICT).read_text().splitlines()[1].startswith("FAILS")
