"""Ten minutes of a GPU, rehearsed on a CPU: everything once, with a kill, and what fails, hangs or crashes."""

import json
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import gpu_checks
import gpu_folder
import gpu_minutes
import gpu_training
import gpu_work
import pytest
from gpu_folder import PROGRESS, RUNS, SPEED, STATE, VERDICT

from empirics.data.store import Files
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


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory):
    """The folder of a whole rehearsal, what it printed, and its seconds."""
    folder, began = tmp_path_factory.mktemp("gpu") / "out", time.monotonic()
    out, err = (process := started("--out", folder)).communicate(timeout=600)
    assert (process.returncode, err) == (0, "")
    return folder, out.splitlines(), time.monotonic() - began


@pytest.mark.slow
def test_a_rehearsal_goes_through_everything(rehearsal, tmp_path):
    folder, lines, _ = rehearsal
    check(folder, lines)
    for name in (VERDICT, SPEED):
        assert " 0 failed, 0 not reached" in (folder / name).read_text().splitlines()[0]
    assert {item.split()[0] for item in finished(lines)} == {"test", "algorithm", "network", "job", "tiny", "run"}
    store = Store(tmp_path / "store")
    assert gpu_minutes.import_runs(folder, store.folder) == len(results(folder)) > 6
    assert gpu_minutes.import_runs(folder, store.folder) == 0
    for kept in results(folder).values():
        cell = kept.cell
        if cell.arguments["seed"] == 0 and cell.job == "train":  # kept after every round, and the same numbers
            assert store.get(cell).columns() == run(cell.home, cell.arguments).columns


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing_that_was_finished(rehearsal, tmp_path):
    whole, _, seconds = rehearsal
    seed = random.randrange(10**6)
    after = random.Random(seed).uniform(0.3, 0.97) * seconds
    print(f"seed {seed}: killed after {after:.2f} s")
    process = started("--out", tmp_path / "out")
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    told = process.communicate()[0].splitlines()
    assert ended(tmp_path), "nobody goes on writing"
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


# ---- training ----


class Told:
    skip = frozenset()

    def __init__(self):
        self.said = []

    def say(self, **words):
        self.said.append(words)

    def alive(self):
        pass

    def begin(self, item, **words):
        self.said.append({"begin": item, **words})

    def end(self, item, ok, text, **words):
        self.said.append({"end": item, "ok": ok, "text": text, **words})


def trainer(folder, left, rates=None):
    """A trainer that has so many seconds."""
    (folder / "scratch").mkdir(exist_ok=True, parents=True)
    given = {
        "pretend": True, "deadline": time.time() + gpu_training.END + left, "device": "pretended", "commit": "",
        "rates": rates or {}, "out": str(folder), "scratch": str(folder / "scratch"),
    }  # fmt: skip
    return gpu_training.Trainer(given, Told())


@pytest.mark.parametrize(("job", "share"), [("train", 1 / 4), ("continued", 0.0)])
def test_a_run_that_the_time_cuts_off_goes_on_to_the_same_numbers(job, share, tmp_path, monkeypatch):
    """One that changes its method is kept in the rounds before, in which others may begin alike."""
    runs = (one for one in gpu_training.ranked(scale="smoke") if one.cell.job == job)
    one = next(one for one in runs if one.cell.arguments["rounds"] == 4)
    cut, kept = trainer(tmp_path, 60), []
    take = cut.folder.take

    def second(name, beside):
        kept.append(name)
        if len(kept) == 2:
            cut.deadline = 0.0
        return take(name, beside)

    monkeypatch.setattr(cut.folder, "take", second)
    cut._one(one)
    assert "kept after round 1" in cut.told.said[-1]["note"]
    assert not results(tmp_path)
    later = trainer(tmp_path, 60)
    assert later._going_on(one) == pytest.approx(share)
    later._one(one)
    assert {"note": "goes on after round 1"} in later.told.said
    assert later.told.said[-1]["ok"]
    (kept,) = results(tmp_path).values()
    assert kept.columns() == run(one.cell.home, one.cell.arguments).columns
    assert (tmp_path / STATE).exists() is (job == "continued")


# ---- the folder and the data ----


def test_packed_data_are_found_whatever_their_parts(tmp_path, monkeypatch):
    names = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
    here = tmp_path / "here/mnist"
    here.mkdir(parents=True)
    contents = {name: random.Random(i).randbytes(700_000) for i, name in enumerate(names)}
    for name, content in contents.items():
        (here / f"{name}.xz").write_bytes(lzma.compress(content))
    monkeypatch.setenv("FEDBOUNDS_DATA", str(tmp_path / "here"))
    gpu_minutes.pack_data(tmp_path / "packed", ["mnist"], 2)
    assert len(list((tmp_path / "packed").iterdir())) == 2
    monkeypatch.delenv("FEDBOUNDS_DATA")
    gpu_minutes.find_data(tmp_path / "packed", tmp_path / "scratch")
    monkeypatch.setenv("FEDBOUNDS_DATA", os.environ["FEDBOUNDS_DATA"])  # forgotten afterwards
    files = Files("mnist", "mnist", names, "page")
    assert {name: files.read(name) for name in names} == contents
