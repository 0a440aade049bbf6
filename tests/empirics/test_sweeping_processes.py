"""The processes of a sweep: what they can see, what happens when they die or are stopped, and clusters."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from distributed.security import Security
from sweep_cells import HERE, sweeping, wait_for

from empirics.experiments import Cell, processes, Store
from empirics.experiments.processes import environments
from empirics.experiments.running import sweep
from empirics.sizes import cores

ROOT = Path(__file__).resolve().parents[2]


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


def test_no_process_of_ours_listens():
    """What a sweep's own processes are told comes through a pipe; only clusters of the user's own listen."""
    listening = "Nanny|Scheduler|Worker|LocalCluster|SpecCluster|Listener|Manager|Server"
    imported = re.compile(rf"^\s*from [\w.]+ import (?:\([^)]*|[^(\n]*)\b(?:{listening})\b", re.MULTILINE)
    files = (path for room in ("bounds", "empirics", "paper_checks", "figures") for path in (ROOT / room).rglob("*.py"))
    assert not [path for path in files if imported.search(path.read_text(encoding="utf-8"))]


def about():
    return {name: os.environ.get(name) for name in ("FEDBOUNDS_CORES", "OMP_NUM_THREADS")}, sys.path


# ---- endings ----


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


def alive(processes):
    """Those that have not ended; one that nobody has waited for has."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            found += [process] if process.is_running() and process.status() != psutil.STATUS_ZOMBIE else []
    return found


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
    assert err.strip() == "fedbounds: interrupted"
    assert "4 to do: run it again to go on" in out
    assert not alive(working)


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
    until = time.monotonic() + 30
    while alive(working) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(working)


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
    found = {done.cell.arguments["wait"]: done for done in sweep(cells, Store(tmp_path / "store"), workers=1)}
    assert {wait: done.how for wait, done in found.items()} == {0.3: "failed", 0: "done", 0.0001: "failed"}
    assert "died 3 times" in found[0.3].error
    (unsent,) = sweep([Cell(f"{HERE}:odd", {"kind": "unpicklable"})], Store(tmp_path / "store"), workers=1)
    assert (unsent.how, "pickle" in unsent.error, "lambda" in unsent.error) == ("failed", True, True)


@pytest.mark.slow
def test_a_cluster_that_wants_certificates_gets_those_of_dasks_configuration(tmp_path):
    made = Security.temporary()
    (tmp_path / "cert.pem").write_text(made.tls_client_cert)
    (tmp_path / "key.pem").write_text(made.tls_client_key)
    words = ("ca_file", "scheduler__cert", "worker__cert", "client__cert")
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{w.upper()}": str(tmp_path / "cert.pem") for w in words}
    tls |= {f"DASK_DISTRIBUTED__COMM__TLS__{w.upper()}__KEY": str(tmp_path / "key.pem")
            for w in ("scheduler", "worker", "client")}  # fmt: skip
    where = tmp_path / "cluster.json"
    dask = [sys.executable, "-m", "dask"]
    about = {"env": {**os.environ, **tls}, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = f"scheduler --protocol tls --host 127.0.0.1 --port 0 --no-dashboard --scheduler-file {where}"
    running = [subprocess.Popen([*dask, *words.split()], **about)]
    try:
        wait_for(where.exists, running[0])
        address = json.loads(where.read_text())["address"]
        running.append(subprocess.Popen([*dask, "worker", address, "--nthreads", "1", "--no-dashboard"], **about))
        grid = squares(tmp_path)
        refused = sweeping(grid, tmp_path / "none", "--scheduler", address)
        _, err = refused.communicate(timeout=120)
        assert refused.returncode == 2
        assert f"no cluster answers at {address}" in err
        assert len(err.splitlines()) == 1
        process = sweeping(grid, tmp_path / "store", "--scheduler", address, **tls)
        told = process.communicate(timeout=240)
        assert process.returncode == 0, told
        assert "4 done" in told[0]
    finally:
        for process in running[::-1]:
            process.terminate()
            process.wait(timeout=30)
