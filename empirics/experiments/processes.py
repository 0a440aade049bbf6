"""Where the cells of a sweep are computed: processes of its own that nobody else can reach, or a running cluster.

Whoever can talk to a worker can make it run anything. So a sweep's own processes listen on the loopback alone, speak
TLS with a certificate that exists in their memory alone, show nothing over HTTP, and keep their scratch folders, which
dask puts on the import path, in a folder of this user.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import resource_tracker, spawn
from pathlib import Path
from typing import Any

from ..errors import EmpiricsError
from ..sizes import CORES, cores
from .whole import runs

HERE = "127.0.0.1"
VISIBLE = "CUDA_VISIBLE_DEVICES"
GPUS = "/proc/driver/nvidia/gpus"
"""Where NVIDIA's driver lists the GPUs of a machine."""
SCRATCH = "fedbounds-"
"""What names of scratch folders begin with; the driver's process follows."""
DEATHS = 8
"""Workers that may die under one cell before it is recorded as failed."""
GRACE = 0.5
"""Seconds that a process of a sweep gets to end by itself when the sweep does."""
LEFT_ALONE = "60s"
"""How long cells of a sweep may wait when no worker is left and none comes up again."""
NEVER = "10000d"
"""When dask gives up a worker whose process died: it would do so even where that process has been started again."""
ANSWER = "5s"
"""How long a running cluster may take to answer."""
ENVIRONMENT = {"DASK_LOGGING__DISTRIBUTED": "critical", **{f"{n}_NUM_THREADS": "1" for n in ("OMP", "MKL", "OPENBLAS")}}
"""Of worker processes, before they import anything."""
SETTINGS = {
    "distributed.deploy.lost-worker-timeout": NEVER,
    "distributed.scheduler.allowed-failures": DEATHS,
    "distributed.scheduler.no-workers-timeout": LEFT_ALONE,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.daemon": False,
    "distributed.nanny.pre-spawn-environ": ENVIRONMENT,
    "logging.distributed": "critical",
}


@contextmanager
def running_cluster(address: str) -> Iterator[Any]:
    """A client of a running dask cluster; certificates for ``tls://`` are those of dask's own configuration."""
    from distributed import Client

    try:
        client = Client(address, timeout=ANSWER)
    except (OSError, ValueError, TypeError) as error:
        raise EmpiricsError(f"no cluster answers at {address}: {' '.join(str(error).split())}") from None
    with client:
        yield client


@contextmanager
def own_cluster(workers: int | None, gpu: bool = False) -> Iterator[Any]:
    """A client of processes on this machine, which end with it: one per core where ``workers`` is None.

    ``gpu``: they compute on GPUs, each on one of those that this process may see, and by default there is one per GPU.
    """
    import dask
    from distributed import Client

    _remove_left_over()
    with (
        _script_left_out(),
        tempfile.TemporaryDirectory(prefix=f"{SCRATCH}{os.getpid()}-", ignore_cleanup_errors=True) as scratch,
        dask.config.set({**SETTINGS, "temporary-directory": scratch}),
        _started(workers, gpu) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def _script_left_out() -> Iterator[None]:
    """New processes do not run the script again that this one was started with: they need nothing of it."""
    usual = spawn.get_preparation_data

    def without_script(name: str) -> dict[str, object]:
        return {word: item for word, item in usual(name).items() if not word.startswith("init_main_")}

    spawn.get_preparation_data = without_script
    try:
        yield
    finally:
        spawn.get_preparation_data = usual


def _remove_left_over() -> None:
    """Delete the scratch folders of drivers that were killed: this user's, of processes that are gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{SCRATCH}*"):
        process = path.name.removeprefix(SCRATCH).partition("-")[0]
        with contextlib.suppress(OSError):
            if process.isdecimal() and path.stat().st_uid == os.getuid() and not runs(int(process)):
                shutil.rmtree(path)


@contextmanager
def _started(workers: int | None, gpu: bool) -> Iterator[Any]:
    """The cluster, built by a thread that is deaf to Ctrl-C, as are then its processes: the driver alone ends them."""
    with ThreadPoolExecutor(1, "sweep", initializer=_deaf) as builder:
        building: Future[Any] = builder.submit(_cluster, workers, visible_gpus() if gpu else [])
        try:
            cluster = building.result()
        except RuntimeError as error:
            raise EmpiricsError(
                f"worker processes could not be started: {_first_cause(error)}; --workers 0 computes in this process"
            ) from None
        except KeyboardInterrupt:
            building.add_done_callback(_abandoned)
            raise
        with cluster:
            yield cluster


def _deaf() -> None:
    resource_tracker.ensure_running()  # starting it later would unblock the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _abandoned(building: Future[Any]) -> None:
    """Close what was still being built when nobody wanted it any more."""
    if building.exception() is None:
        building.result().close()


def _first_cause(error: BaseException) -> str:
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__


def _cluster(workers: int | None, gpus: Sequence[str]) -> Any:
    """One process per core with one thread each, or one per GPU, which then sees only that one."""
    from distributed import Nanny, Scheduler, SpecCluster
    from distributed.security import Security

    class Hasty(Nanny):
        """Ends a process that still computes, whose cell is lost anyway, before the seconds that dask waits."""

        async def kill(self, *arguments: Any, **options: Any) -> None:
            process = self.pid
            ending = None if process is None else asyncio.get_running_loop().call_later(GRACE, _end, process)
            try:
                await super().kill(*arguments, **options)
            finally:
                if ending is not None:
                    ending.cancel()

    count = (len(gpus) or cores()) if workers is None else workers
    here = {"host": HERE, "dashboard": False, "dashboard_address": f"{HERE}:0"}  # free ports: sweeps run side by side
    own = {"security": Security.temporary(), "protocol": "tls", **here}
    spec = {}
    for i in range(count):
        env = {CORES: str(max(1, cores() // max(1, count)))}
        env |= {VISIBLE: gpus[i % len(gpus)]} if gpus else {}
        spec[i] = {"cls": Hasty, "options": {"nthreads": 1, "env": env, "memory_limit": 0, **own}}
    scheduler = {"cls": Scheduler, "options": {"port": 0, **own}}
    return SpecCluster(workers=spec, scheduler=scheduler, security=own["security"], silence_logs=50)


def _end(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them: the others are other people's.

    Without loading torch, which is left to the workers.
    """
    if VISIBLE in os.environ:
        return [gpu.strip() for gpu in os.environ[VISIBLE].split(",") if gpu.strip() not in ("", "-1")]
    folder = Path(GPUS)
    return [str(i) for i in range(len(list(folder.iterdir())))] if folder.is_dir() else []
