"""The processes of a sweep: what they can see, and what happens when they die or are stopped."""

import contextlib
import os
import signal
import time

import psutil
import pytest
from sweep_cells import HERE, sweeping, wait_for

from empirics.experiments import Cell, processes, Store
from empirics.experiments.processes import environments
from empirics.experiments.running import run_missing
from empirics.sizes import cores


@pytest.mark.parametrize(
    ("visible", "cards", "seen"),
    [(None, 1, ["0"]), (None, 3, ["0", "1", "2"]), ("5,7", 8, ["5", "7"]), ("GPU-4f1a", 8, ["GPU-4f1a"]), ("", 2, [])],
)
def test_workers_take_the_gpus_that_are_theirs_and_cpu_sweeps_none(visible, cards, seen, monkeypatch, tmp_path):
    """One machine with one card: runs on the CPU still get a worker per core, and nobody's cards are taken."""
    for i in range(cards):
        (tmp_path / f"0000:{i:02x}:00.0").mkdir()
    monkeypatch.setattr(processes, "GPUS", str(tmp_path))
    monkeypatch.delenv(processes.VISIBLE, raising=False)
    if visible is not None:
        monkeypatch.setenv(processes.VISIBLE, visible)
    assert processes.visible_gpus() == seen
    given = [[each.get(processes.VISIBLE) for each in environments(None, gpus)] for gpus in (seen, [])]
    assert given == [seen or [None] * cores(), [None] * cores()]
    assert [each[processes.VISIBLE] for each in environments(5, ["a", "b"])] == ["a", "b", "a", "b", "a"]


def squares(tmp_path, sleep=0.0, trace=""):
    path = tmp_path / "squares.toml"
    path.write_text(
        f'job = "{HERE}:square"\n[fixed]\nsleep = {sleep}\ntrace = "{trace}"\n[vary]\nnumber = [2, 3, 5, 7]\n'
    )
    return path


def worker_processes(sweep):
    found = []
    for process in psutil.Process(sweep).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # gone since it was listed
            found += [process] if "serve(int" in " ".join(process.cmdline()) else []
    return found


def left_over(processes):
    """Those that do not end; one that was just being started ends by itself when it sees that its sweep is gone."""
    until = time.monotonic() + 30
    while True:
        running = []
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):  # it has ended, though its parent has not read its status
                running += [process] if process.is_running() and process.status() != psutil.STATUS_ZOMBIE else []
        if not running or time.monotonic() > until:
            return running
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "workers", "ends", "status"),
    [("starting", "2", signal.SIGINT, 130), ("computing", "2", signal.SIGTERM, 143),
     ("computing", "2", signal.SIGINT, 130), ("computing", "0", signal.SIGTERM, 143)],
)  # fmt: skip
def test_a_sweep_is_stopped_soon_by_either_signal_and_says_one_line(tmp_path, moment, workers, ends, status):
    """Also where SIGINT is ignored at first, as in what a shell script starts in the background."""
    trace = tmp_path / "trace"
    trace.mkdir()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = sweeping(squares(tmp_path, 60.0, trace), tmp_path / "store", "--workers", workers)
    finally:
        signal.signal(signal.SIGINT, before)

    def begun():
        if moment == "starting":
            return len(worker_processes(process.pid)) == 2
        return any(trace.iterdir())

    wait_for(begun, process)
    working = worker_processes(process.pid)
    os.killpg(process.pid, ends)  # as a terminal does
    out, err = process.communicate(timeout=30)
    assert process.returncode == status
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("fedbounds: interrupted: none of 4 runs")
    assert not left_over(working)


@pytest.mark.slow
def test_workers_end_with_a_sweep_that_is_killed(tmp_path):
    trace = tmp_path / "trace"
    trace.mkdir()
    process = sweeping(squares(tmp_path, 60.0, trace), tmp_path / "store", "--workers", "2")
    wait_for(lambda: len(list(trace.iterdir())) == 2, process)
    working = worker_processes(process.pid)
    process.kill()
    process.communicate()
    assert len(working) == 2
    assert not left_over(working)


DIES_LATE = """
import os, time
from empirics.experiments import Outcome
def own(wait) -> Outcome:
    time.sleep(wait)
    os._exit(0) if wait else None
    return Outcome({}, {"wait": wait})
"""


@pytest.mark.slow
def test_a_run_whose_process_dies_again_and_again_fails_alone(tmp_path):
    (tmp_path / "late.py").write_text(DIES_LATE)
    cells = [Cell(f"{tmp_path / 'late.py'}:own", {"wait": wait}) for wait in (0.3, 0, 0.0001)]
    found = {done.cell.arguments["wait"]: done for done in run_missing(cells, Store(tmp_path / "store"), workers=1)}
    assert {wait: done.how for wait, done in found.items()} == {0.3: "failed", 0: "done", 0.0001: "failed"}
    assert "died 3 times" in found[0.3].error
    (unsent,) = run_missing([Cell(f"{HERE}:odd", {"kind": "unpicklable"})], Store(tmp_path / "store"), workers=1)
    assert (unsent.how, "pickle" in unsent.error, "lambda" in unsent.error) == ("failed", True, True)
