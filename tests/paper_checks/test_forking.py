"""Work in forked processes: what comes out, and that no worker outlives what it works for."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from paper_checks.forking import forked_map, WorkerError

ROOT = Path(__file__).resolve().parents[2]
LONG = """
import os, sys, time
from paper_checks.forking import forked_map

def work(item):
    if item == 0:
        return os.getpid()
    os.write(2, f"{os.getpid()}\\n".encode())  # in one piece: others write too
    time.sleep(600)

for _, pid in forked_map(work, range(4), 3):
    print(pid, flush=True)
"""


def alive(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def gone(pids):
    """Waits until no process of these is left: a minute is for a machine that is busy."""
    for _ in range(600):
        if not any(map(alive, pids)):
            return True
        time.sleep(0.1)
    return False


def test_results_come_with_their_places_whatever_the_workers():
    squares = {i: i * i for i in range(3, 9)}
    for workers in (1, 2, 500):
        assert {i + 3: r for i, r in forked_map(lambda x: x * x, range(3, 9), workers)} == squares
    assert list(forked_map(lambda x: x, [], 4)) == []


def test_a_worker_that_is_killed_is_one_line():
    with pytest.raises(WorkerError, match="a worker died, perhaps for want of memory: try fewer --workers"):
        list(forked_map(lambda x: os.kill(os.getpid(), signal.SIGKILL), range(3), 2))


def test_who_stops_listening_leaves_no_worker_behind():
    def work(item):
        time.sleep(600 if item else 0)

    found = forked_map(work, range(5), 3)
    assert next(found)[0] == 0
    workers = [child.pid for child in multiprocessing.active_children()]
    assert len(workers) == 3
    found.close()
    assert gone(workers)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_the_process_that_started_them(how):
    command = [sys.executable, "-c", LONG]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True) as process:
        first = int(process.stdout.readline())
        workers = {first} | {int(process.stderr.readline()) for _ in range(2)}
        process.send_signal(how)
        assert gone(workers)
        process.wait(60)
