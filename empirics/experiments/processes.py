"""Computes the runs of a sweep in this process, in worker processes, or on a running dask cluster.

Worker processes are new interpreters connected by a pipe: nothing listens on the network, and the script that started
the sweep is not run again, as ``multiprocessing`` would do.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from bounds.showing.loading import message_with_place

from ..errors import EmpiricsError
from ..sizes import CORES, cores
from .machine import lacking

VISIBLE = "CUDA_VISIBLE_DEVICES"
GPUS = "/proc/driver/nvidia/gpus"
"""The folder in which NVIDIA's driver lists the GPUs of a machine."""
DEATHS = 3
"""The number of processes that may die during one run before it counts as failed."""
GRACE = 0.5
"""Seconds for idle processes to end by themselves."""
ANSWER = "5s"
"""Time for a running cluster to answer."""
ENVIRONMENT = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "MKL", "OPENBLAS")}
"""Environment variables of worker processes."""
START = """import sys
sys.path[:] = sys.argv[3:]
from empirics.experiments.processes import serve
serve(int(sys.argv[1]), int(sys.argv[2]))"""

Call = tuple[Any, ...]
"""The arguments of one call."""
Answer = tuple[Any, str]
"""The result of a call, or None and an error message."""
Compute = Callable[[Callable[..., Any], Sequence[Call]], Iterator[tuple[int, Answer]]]
"""A function that calls another one with each of these arguments and yields (index of the call, answer) as calls end.

The next call starts before an answer is yielded, so that workers do not wait while it is stored.
"""


def in_this_process(function: Callable[..., Any], calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
    """Make one call after another; errors are raised."""
    return ((index, (function(*call), "")) for index, call in enumerate(calls))


# ---- processes of our own ----


class Worker:
    """A process that answers one call at a time."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.start()

    def start(self) -> None:
        """Start the process."""
        self.connection, remote = Pipe()
        path = [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109 - sys.path wants strings
        command = [sys.executable, "-c", START, str(remote.fileno()), str(os.getpid()), *path]
        with remote:
            self.process = subprocess.Popen(
                command,
                pass_fds=[remote.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT, **self.environment},
                process_group=0,  # Ctrl-C in a terminal stops only this process, which ends the others
            )

    def restart(self) -> None:
        """Replace a process that died by a new one."""
        self.end(0)
        self.start()

    def send(self, call: tuple[Callable[..., Any], Call]) -> None:
        """Send a call, to a new process if this one died while it was idle."""
        try:
            self.connection.send(call)
        except OSError:
            self.restart()
            self.connection.send(call)

    def end(self, until: float) -> None:
        """Wait for the process to end until this time (monotonic), then kill it."""
        self.connection.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(until - time.monotonic(), 0))
        self.process.kill()
        self.process.wait()


def _compute(
    workers: Sequence[Worker], function: Callable[..., Any], calls: Sequence[Call]
) -> Iterator[tuple[int, Answer]]:
    """Distribute calls over processes; a call whose process died is made again, ``DEATHS`` times in all."""
    waiting, deaths = deque(range(len(calls))), Counter[int]()
    running: dict[Connection, tuple[Worker, int]] = {}

    def give(worker: Worker) -> None:
        if waiting:
            place = waiting.popleft()
            worker.send((function, calls[place]))
            running[worker.connection] = worker, place

    for worker in workers:
        give(worker)
    while running:
        ready: list[Any] = wait(list(running))
        for connection in ready:
            worker, place = running.pop(connection)
            try:
                answer = worker.connection.recv()
            except (EOFError, OSError):
                worker.restart()
                deaths[place] += 1
                if deaths[place] < DEATHS:
                    waiting.appendleft(place)
                    give(worker)
                    continue
                words = "a crash, or memory ran out; --workers 0 computes in this process"
                answer = None, f"its process died {DEATHS} times in a row: {words}"
            give(worker)
            yield place, answer


@contextmanager
def own_processes(count: int | None, gpu: bool = False) -> Iterator[Compute]:
    """Start worker processes on this machine, which end with the block; by default one per core.

    With ``gpu`` each uses one of the GPUs visible to this process, and by default there is one process per GPU.
    """
    workers: list[Worker] = []
    grace = 0.0
    try:
        for environment in environments(count, visible_gpus() if gpu else []):
            workers.append(Worker(environment))
        yield partial(_compute, workers)
        grace = GRACE
    finally:  # after an error there is no grace for running calls
        until = time.monotonic() + grace
        for worker in workers:
            worker.end(until)


def environments(count: int | None, gpus: Sequence[str]) -> list[dict[str, str]]:
    """The environment variables of every process: its share of the cores and, if there are GPUs, one GPU."""
    count = (len(gpus) or cores()) if count is None else count
    share = {CORES: str(max(1, cores() // max(1, count)))}
    return [{**share, **({VISIBLE: gpus[i % len(gpus)]} if gpus else {})} for i in range(count)]


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them, without loading torch."""
    if VISIBLE in os.environ:
        return [gpu.strip() for gpu in os.environ[VISIBLE].split(",") if gpu.strip() not in ("", "-1")]
    folder = Path(GPUS)
    return [str(i) for i in range(len(list(folder.iterdir())))] if folder.is_dir() else []


def serve(file: int, parent: int) -> None:
    """Answer the calls of the parent process until it closes the pipe, or ends."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    connection = Connection(file)
    with suppress(EOFError, OSError):
        while True:
            function, call = connection.recv()
            try:
                connection.send((function(*call), ""))
            except Exception as error:  # in the call, or an answer that cannot be pickled
                connection.send((None, message_with_place(error, quiet=(EmpiricsError,))))


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# ---- a cluster ----


@contextmanager
def running_cluster(address: str, engines: Collection[str]) -> Iterator[Compute]:
    """Connect to a running dask cluster; certificates for ``tls://`` are those of dask's configuration.

    Raises if a worker lacks one of these engines.
    """
    from distributed import as_completed, Client

    try:
        client = Client(address, timeout=ANSWER)
    except (OSError, ValueError, TypeError) as error:
        raise EmpiricsError(f"no cluster answers at {address}: {' '.join(str(error).split())}") from None

    def compute(function: Callable[..., Any], calls: Sequence[Call]) -> Iterator[tuple[int, Answer]]:
        running = {client.submit(function, *call, pure=False): place for place, call in enumerate(calls)}
        for future in as_completed(list(running)):
            yield running.pop(future), answer_of(future)

    with client:
        for worker, reason in client.run(lacking, engines).items():
            if reason:
                raise EmpiricsError(f"on {worker}, {reason}")
        yield compute


def answer_of(future: Any) -> Answer:
    """Fetch the answer of a worker of a cluster."""
    from distributed import CancelledError, KilledWorker
    from distributed.scheduler import NoValidWorkerError, NoWorkerError

    try:
        return future.result(), ""
    except (NoWorkerError, NoValidWorkerError, CancelledError):
        raise EmpiricsError("the cluster has no worker left: run the sweep again to continue") from None
    except KilledWorker as error:
        return None, f"its worker died {error.allowed_failures + 1} times in a row: a crash, or memory ran out"
    except Exception as error:
        return None, message_with_place(error, quiet=(EmpiricsError,))
