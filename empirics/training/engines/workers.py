"""The clients of a cohort on all cores: one process per core, one torch thread each, all taking from one queue.

Every worker runs ``ClientLoop`` on one client at a time, so the numbers are those of ``ClientLoop`` to the last bit,
whatever the number of workers. Samples, memories and models lie in shared memory. No barrier stands inside a local
step, so a busy neighbour costs its share and no more.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref
from functools import cache
from itertools import chain
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from bounds.showing.loading import files_run

from ...algorithms.algorithm import Algorithm, Work
from ...errors import EmpiricsError
from ...federation.federation import Source
from ...models.model import Trainable
from ...sizes import cores
from ..setting import Setting
from .loop import ClientLoop
from .sharing import SharedBuffers

START = """import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = sys.argv[2:]
from empirics.training.engines.serving import serve
serve(int(sys.argv[1]))"""


class RemoteError(Exception):
    """What a worker's own traceback says: the cause of the error that is raised here."""


class Workers:
    """``ClientLoop`` on ``count`` processes (default: one per core), which stay for all rounds and runs.

    Processes start with the first round or with ``start`` and end with ``close``, at the end of a ``with`` block, when
    the engine is forgotten, or with the interpreter; they also end by themselves when this process dies.
    """

    def __init__(self, count: int | None = None) -> None:
        if count is not None and count < 1:
            raise EmpiricsError(f"workers must be >= 1; got {count}")
        self.count = cores() if count is None else count
        self._processes: list[subprocess.Popen[bytes]] = []
        self._connections: list[Connection] = []
        self._end: Any = None

    def __enter__(self) -> Workers:
        self.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    # ---- life ----

    def start(self) -> None:
        """Start the processes unless they run; returns at once, while they are still importing."""
        if self._processes:
            return
        self._buffers, self._sent, self._files = SharedBuffers(), dict[str, weakref.ref[Any]](), list[Path]()
        _, self._counter = self._buffers.allocate(8)
        for _ in range(self.count):
            ours, theirs = Pipe()
            self._connections.append(ours)
            self._processes.append(_spawn(theirs))
            theirs.close()
        self._waiting = set(self._connections)
        self._end = weakref.finalize(self, _stop, self._processes, self._connections)

    @property
    def ready(self) -> bool:
        """Whether all processes have started and imported."""
        for connection in wait(list(self._waiting), 0) if self._processes else []:
            self._receive(connection)
        return bool(self._processes) and not self._waiting

    def close(self) -> None:
        """End the processes: those that wait leave by themselves, those that work are stopped."""
        if self._end is not None:
            self._end()
            self._processes, self._connections, self._end = [], [], None

    # ---- rounds ----

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        if work.starts.device.type != "cpu":
            raise EmpiricsError(
                f"workers train on the CPU; the data are on {work.starts.device}: choose another engine"
            )
        self.start()
        try:
            self._keep(model=model, federation=federation, algorithm=algorithm, setting=setting)
            return self._round(work)
        except BaseException:  # whatever happened, the workers may still be busy with this round
            self.close()
            raise

    def _keep(self, **parts: Any) -> None:
        """Send the parts of a run that the workers do not have yet, after the user's files that may define them."""
        if files := [path for path in files_run() if path not in self._files]:
            self._broadcast(("files", files), len(self._connections))
            self._files += files
        for name, part in parts.items():
            sent = self._sent.get(name)
            if sent is None or sent() is not part:
                body = _pickled(name, lambda part=part: self._buffers.lasting(part))
                self._broadcast(("keep", name, body), len(self._connections))
                self._sent[name] = weakref.ref(part)  # data sets must not live on in here

    def _round(self, work: Work) -> tuple[Tensor, Tensor | None]:
        rows = len(work.clients)
        results = {
            "ends": torch.empty(work.starts.shape, dtype=work.starts.dtype, device="meta"),
            "firsts": torch.empty(rows, dtype=work.starts.dtype, device="meta"),
        }
        lasting = [*work.state.memory.values(), *chain.from_iterable(work.state.exchanges.values())]
        message, (ends, firsts) = _pickled(
            "work", lambda: self._buffers.passing(work.part(slice(0, rows)), lasting, results)
        )
        self._counter.zero_()
        order = np.argsort(-work.steps, kind="stable")  # longest first, so that none is left alone at the end
        busy = self._broadcast(("work", message, order), min(self.count, rows))
        with_losses = [self._receive(connection) for connection in _as_they_come(busy)]
        return ends.clone(), firsts.clone() if any(with_losses) else None  # a late worker may have found no client left

    def _broadcast(self, message: tuple[Any, ...], count: int) -> list[Connection]:
        """Send to the first ``count`` workers, and to all of them the memory files it speaks of."""
        while self._waiting:
            for connection in wait(list(self._waiting)):
                self._receive(connection)
        try:
            if self._buffers.new or self._buffers.ended:
                self._buffers.deliver(zip(self._connections, [p.pid for p in self._processes], strict=True))
            for connection in self._connections[:count]:
                connection.send(message)
        except (BrokenPipeError, ConnectionResetError):
            raise self._death() from None
        return self._connections[:count]

    def _receive(self, connection: Any) -> Any:
        """A worker's answer; its error, or its death, is raised here."""
        try:
            kind, *answer = connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._death() from None
        if kind == "ready":
            self._waiting.discard(connection)
        if kind == "error":
            message, trace = answer
            raise EmpiricsError(message) from RemoteError(f"\n{trace}")
        return answer[0] if answer else None

    def _death(self) -> EmpiricsError:
        time.sleep(0.05)  # a process closes its connection a moment before its exit status can be read
        codes = [process.poll() for process in self._processes]
        code = next((code for code in codes if code is not None), None)
        why = f"signal {-code} ({signal.Signals(-code).name})" if code is not None and code < 0 else f"status {code}"
        return EmpiricsError(
            f"a worker process died ({why}), as happens when memory runs out: take fewer workers (1 starts none)"
        )


def _pickled(name: str, pickle: Any) -> Any:
    try:
        return pickle()
    except Exception as error:  # pickling raises whatever it likes
        raise EmpiricsError(f"the {name} cannot be sent to worker processes; use one worker: {error}") from error


def _as_they_come(connections: list[Connection]) -> Any:
    open_ = list(connections)
    while open_:
        for connection in wait(open_):
            yield connection
            open_.remove(connection)  # type: ignore[arg-type]


def _spawn(connection: Connection) -> subprocess.Popen[bytes]:
    """A fresh interpreter that serves; unlike multiprocessing's, it never runs the user's main script again."""
    file = connection.fileno()
    path = [entry or os.getcwd() for entry in sys.path]  # noqa: PTH109 - sys.path wants strings
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    command = [sys.executable, "-c", START, str(file), *path]
    return subprocess.Popen(command, pass_fds=[file], stdin=subprocess.DEVNULL, env={**os.environ, **threads})


def _stop(processes: list[subprocess.Popen[bytes]], connections: list[Connection]) -> None:
    """Close the connections, which ends waiting workers, and kill what has not ended soon after."""
    for connection in connections:
        connection.close()
    deadline = time.monotonic() + 0.5
    for process in processes:
        try:
            process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@cache
def shared_workers(count: int) -> Workers:
    """The one set of ``count`` workers that runs share, so that only the first of them waits for processes to start."""
    return Workers(count)


class LoopThenWorkers:
    """``ClientLoop``, and ``Workers`` once the work ahead is worth starting processes for: the numbers are the same.

    The processes start in the background while the loop goes on. ``pays`` is how many seconds they must save.
    """

    WORTH: ClassVar[float] = 0.005  # seconds a round must take: its messages take about a millisecond

    def __init__(self, count: int | None = None, pays: float = 10.0) -> None:
        self.count, self.pays = cores() if count is None else count, pays
        self._loop, self._seconds = ClientLoop(), 0.0

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        if self._started(setting, work):
            return shared_workers(self.count).local(model, federation, algorithm, setting, work)
        begin = time.perf_counter()
        result = self._loop.local(model, federation, algorithm, setting, work)
        self._seconds = time.perf_counter() - begin
        return result

    def _started(self, setting: Setting, work: Work) -> bool:
        """Whether the workers can take this round; starts them when what they will save exceeds their price."""
        helping = min(self.count, len(work.clients))
        if helping < 2 or self._seconds < self.WORTH:
            return False
        workers = shared_workers(self.count)
        if workers.ready:
            return True
        saved = self._seconds * (1 - 1 / helping) * (setting.rounds - work.state.round)
        if saved > self.pays:
            workers.start()
        return False
