"""Ten minutes of a GPU, rehearsed on a CPU: everything once, with a kill, and what fails, hangs or crashes."""

import json
import lzma
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpu_checks
import gpu_folder
import gpu_minutes
import gpu_work
import pytest
from gpu_folder import PROGRESS, RUNS, SPEED, STATE, VERDICT

from empirics.experiments import Store
from empirics.experiments.cells import run
from empirics.experiments.packing import unpacked
from empirics.measuring.kept import read

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests/benchmarks/gpu_minutes.py"
MOST = 16 << 20


def started(*words):
    """The command with its output to read from."""
    command = [sys.executable, str(SCRIPT), "--pretend", "--seconds", "600", *map(str, words)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(lines):
    """The items that were told to be finished."""
    return {line.partition("finished ")[2].partition(": ")[0] for line in lines if "  finished " in line}


def results(folder):
    """The packed results by key."""
    packed = content(folder / RUNS) or lzma.compress(b"")
    return {kept.card["key"]: kept for kept in unpacked(packed, RUNS)}


def content(path):
    """Of a file that may be gone."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def items(folder):
    """All that is finished."""
    progress = json.loads((folder / PROGRESS).read_text())
    return {name for part in ("checks", "speed") for name in progress[part]["found"]} | results(folder).keys()


def ended(folder):
    """Whether every process that was told of the folder has ended, soon."""
    told = str(folder).encode()
    for _ in range(100):
        if not any(told in content(path) for path in Path("/proc").glob("[0-9]*/cmdline")):
            return True
        time.sleep(0.1)
    return False


def check(folder, lines):
    """Nothing but whole files, few and small, in which everything is that was told to be finished."""
    names = {path.name for path in folder.iterdir()}
    assert names <= set(gpu_folder.FILES)
    assert all((folder / name).stat().st_size <= MOST for name in names)
    if STATE in names:
        read(folder / STATE)
    progress = json.loads((folder / PROGRESS).read_text())
    texts = {name: (folder / name).read_text() for name in (VERDICT, SPEED)}
    assert all(text.endswith("\n") for text in texts.values())
    kept = results(folder)
    for item in finished(lines):
        if item.startswith("run "):
            assert item.split()[1] in kept
        else:
            part, name = ("speed", SPEED) if item in progress["speed"]["found"] else ("checks", VERDICT)
            assert progress[part]["found"][item]["ok"]
            assert f" {item}: " in texts[name]


@pytest.mark.slow
def test_a_rehearsal_goes_through_everything_and_a_kill_at_any_moment_loses_nothing(tmp_path):
    whole, began = tmp_path / "whole", time.monotonic()
    out, err = (process := started("--out", whole)).communicate(timeout=600)
    seconds = time.monotonic() - began
    assert (process.returncode, err) == (0, "")
    check(whole, out.splitlines())
    for name in (VERDICT, SPEED):
        assert " 0 failed, 0 not reached" in (whole / name).read_text().splitlines()[0]
    words = {"test", "algorithm", "network", "job", "tiny", "run"}
    assert {item.split()[0] for item in finished(out.splitlines())} == words
    store = Store(tmp_path / "store")
    assert gpu_minutes.import_runs(whole, store.folder) == len(results(whole)) > 6
    assert gpu_minutes.import_runs(whole, store.folder) == 0
    for kept in results(whole).values():
        cell = kept.cell
        if cell.arguments["seed"] == 0 and cell.job == "train":  # kept after every round, and the same numbers
            assert store.get(cell).columns() == run(cell.home, cell.arguments).columns
    after = random.uniform(0.3, 0.97) * seconds
    print(f"killed after {after:.2f} s")
    process = started("--out", tmp_path / "out")
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    told = process.communicate()[0].splitlines()
    assert ended(tmp_path / "out"), "nobody goes on writing"
    check(tmp_path / "out", told)
    again = started("--out", tmp_path / "other", "--resume", tmp_path / "out")
    more, err = again.communicate(timeout=600)
    assert (again.returncode, err) == (0, "")
    check(tmp_path / "other", told + more.splitlines())
    assert not finished(told) & finished(more.splitlines())
    assert items(tmp_path / "other") == items(whole)


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


def test_a_device_that_computes_wrongly_is_found(monkeypatch):
    class Wrong(gpu_checks.Graphs):
        def local(self, *given):
            ends, first = super().local(*given)
            return ends * (1 + 1e-4), first

    monkeypatch.setattr(gpu_checks, "Graphs", Wrong)
    assert 1e-5 < gpu_checks.of_algorithm("scaffold", "epochs", gpu_checks.pretended).apart < 1e-2
    assert gpu_work.EXACT < 1e-5
