"""The processes of a sweep: who can reach them, what they import, what they say when they die or are stopped."""

import contextlib
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dask
import psutil
import pytest
from distributed import Client
from distributed.client import FutureCancelledError
from distributed.scheduler import NoValidWorkerError, NoWorkerError
from distributed.security import Security
from sweep_cells import HERE, sweeping, wait_for

from empirics.errors import EmpiricsError
from empirics.experiments import Cell, processes, Store
from empirics.experiments.processes import own_cluster
from empirics.experiments.running import _told, sweep
from empirics.sizes import cores

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = {"127.0.0.1", "::1"}


def listeners(pid):
    """The addresses on which a process and all its descendants wait for somebody."""
    top = psutil.Process(pid)
    found = []
    for process in [top, *top.children(recursive=True)]:
        found += [(c.laddr.ip, c.laddr.port) for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    return found


@pytest.fixture(scope="module")
def running():
    """A client of one worker process that runs, and where everything of it listens."""
    before = set(listeners(os.getpid()))
    with own_cluster(1) as client:
        yield client, [at for at in listeners(os.getpid()) if at not in before]


@pytest.mark.parametrize(
    ("visible", "cards", "seen"),
    [(None, 1, ["0"]), (None, 3, ["0", "1", "2"]), ("5,7", 8, ["5", "7"]), ("GPU-4f1a", 8, ["GPU-4f1a"]), ("", 2, [])],
)
def test_workers_take_the_gpus_that_are_theirs_and_cpu_sweeps_none(visible, cards, seen, monkeypatch, tmp_path):
    """One machine with one card: cells of the CPU still get a worker per core, and nobody's cards are taken."""
    for i in range(cards):
        (tmp_path / f"0000:{i:02x}:00.0").mkdir()
    monkeypatch.setattr(processes, "GPUS", str(tmp_path))
    monkeypatch.delenv(processes.VISIBLE, raising=False)
    if visible is not None:
        monkeypatch.setenv(processes.VISIBLE, visible)
    assert processes.visible_gpus() == seen
    planned = []
    monkeypatch.setattr("distributed.SpecCluster", lambda workers, **options: planned.append(workers))
    for cards_of_cells in (seen, []):
        processes._cluster(None, cards_of_cells)
    given = [[spec["options"]["env"].get(processes.VISIBLE) for spec in workers.values()] for workers in planned]
    assert given == [seen or [None] * cores(), [None] * cores()]


def test_processes_that_listen_are_started_in_one_place():
    """What the tests here say of a sweep then holds for every verb that computes in parallel."""
    listening = "Nanny|Scheduler|Worker|LocalCluster|SpecCluster|Listener|Manager|Server"
    imported = re.compile(rf"^\s*from [\w.]+ import (?:\([^)]*|[^(\n]*)\b(?:{listening})\b", re.MULTILINE)
    files = (path for room in ("bounds", "empirics", "paper_checks", "figures") for path in (ROOT / room).rglob("*.py"))
    starters = {path for path in files if imported.search(path.read_text(encoding="utf-8"))}
    assert starters == {Path(processes.__file__)}


def answered(ip, port, page):
    """The status of a plain HTTP request; None from who speaks TLS alone."""
    asking = http.client.HTTPConnection(ip, port, timeout=5)
    try:
        asking.request("GET", f"/{page}")
        return asking.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        asking.close()


@pytest.mark.slow
def test_a_sweep_listens_on_the_loopback_alone_and_to_who_has_its_certificate(running):
    client, found = running
    assert len(found) > 2, "a scheduler, its minder of workers and a worker must listen somewhere"
    assert {ip for ip, _ in found} <= LOOPBACK
    address = client.scheduler.address
    assert address.startswith("tls://127.0.0.1:")
    for stranger in (Security(), Security.temporary()):
        scheme = "tls" if stranger.tls_ca_file else "tcp"
        with pytest.raises((OSError, ssl.SSLError)):
            Client(address.replace("tls:", f"{scheme}:"), security=stranger, timeout="2s")
    for page in ("health", "metrics", "json/identity.json", "statics/css/base.css", "info/logs.html"):
        said = [answered(*at, page) for at in found]
        assert set(said) == {404, None}
        assert said.count(404) == 2, "the scheduler's server and the worker's"


def import_path():
    return sys.path


@pytest.mark.slow
def test_no_process_of_a_sweep_imports_from_a_folder_that_others_can_write(running):
    client, _ = running
    (of_worker,) = client.run(import_path).values()
    shared = Path(tempfile.gettempdir()).resolve()
    own = [Path(place) for place in {*import_path(), *of_worker} if "scratch" in place]
    assert own, "dask puts its scratch folders on the path; where it no longer does, this test has nothing to look at"
    for place in own:
        below = [p for p in (place, *place.parents) if shared in p.parents]
        assert any(p.stat().st_mode & 0o077 == 0 and p.stat().st_uid == os.getuid() for p in below), place


# ---- endings ----


def squares(tmp_path, sleep=0.0, trace=""):
    path = tmp_path / "squares.toml"
    path.write_text(
        f'job = "{HERE}:square"\n[fixed]\nsleep = {sleep}\ntrace = "{trace}"\n[vary]\nnumber = [2, 3, 5, 7]\n'
    )
    return path


def worker_processes(driver):
    found = 0
    for process in psutil.Process(driver).children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):  # gone since it was listed
            found += "--multiprocessing-fork" in process.cmdline()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting", "computing"])
def test_ctrl_c_is_one_line_whatever_the_processes_are_doing(tmp_path, moment):
    trace = tmp_path / "trace"
    trace.mkdir()
    process = sweeping(squares(tmp_path, 60.0, trace), tmp_path / "store", "--workers", "2")

    def begun():
        return worker_processes(process.pid) == 2 if moment == "starting" else any(trace.iterdir())

    wait_for(begun, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the driver and every worker
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "fedbounds: interrupted"
    assert "4 to do: run it again to go on" in out


DIES = """
import os, sys
if any("spawn_main" in word for word in sys.orig_argv):
    os._exit(3)
"""


@pytest.mark.slow
def test_a_process_that_still_computes_is_ended_when_nobody_wants_its_cell(monkeypatch):
    ended, end = [], processes._end
    monkeypatch.setattr(processes, "_end", lambda process: (ended.append(process), end(process)))
    with own_cluster(2) as client:
        everyone = set(client.run(os.getpid).values())
        client.submit(time.sleep, 600)
        idle = client.submit(os.getpid).result()  # the other one: a process takes one cell at a time
    assert everyone - {idle} <= {*ended} <= everyone  # on a machine that is busy, the idle one is late as well


@pytest.mark.slow
def test_workers_that_die_while_they_start_are_one_line(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(DIES)
    grid = squares(tmp_path)
    process = sweeping(grid, tmp_path / "store", "--workers", "2", PYTHONPATH=str(tmp_path))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert len(err.splitlines()) == 1
    assert "worker processes could not be started" in err
    assert "--workers 0" in err


def test_a_sweep_whose_workers_are_all_gone_ends_instead_of_failing_every_cell():
    """A result that was there dies with its worker, too: between two questions to a future its answer changes."""

    class Future:
        def __init__(self, error, seen_first):
            self.error, self.seen_first = error, seen_first

        def exception(self):
            return self.error if self.seen_first else None

        def result(self):
            raise self.error

    lost = NoWorkerError("cell-3", 60), FutureCancelledError("cell-3", "scheduler-connection-lost")
    for error in (*lost, NoValidWorkerError("cell-3", set(), set(), set(), 60)):
        for seen_first in (True, False):
            with pytest.raises(EmpiricsError):
                _told(Future(error, seen_first))


DIES_LATE = """
import os, time
from empirics.experiments import Outcome
def own(wait) -> Outcome:
    time.sleep(wait)
    os._exit(0) if wait else None
    return Outcome({}, {"wait": wait})
"""


@pytest.mark.slow
def test_a_worker_that_dies_is_started_again_and_its_cell_fails_in_our_words(tmp_path, monkeypatch):
    """Even where dask, looking after a while whether the process is back, meets it between two of its deaths."""
    monkeypatch.setitem(processes.SETTINGS, "distributed.scheduler.allowed-failures", 2)
    monkeypatch.setitem(processes.SETTINGS, "distributed.scheduler.no-workers-timeout", "10s")
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "0.1s"}):  # in place of 15 seconds
        (tmp_path / "late.py").write_text(DIES_LATE)
        cells = [Cell(f"{tmp_path / 'late.py'}:own", {"wait": wait}) for wait in (0.3, 0)]
        found = {done.cell.arguments["wait"]: done for done in sweep(cells, Store(tmp_path / "store"), workers=1)}
    assert {wait: done.how for wait, done in found.items()} == {0.3: "failed", 0: "done"}
    assert "died 3 times" in found[0.3].error
    assert "dask" not in found[0.3].error


# ---- a cluster ----


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
