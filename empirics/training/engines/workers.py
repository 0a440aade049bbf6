"""The clients of a cohort on all cores: worker processes, each of which trains one client after another.

Every worker runs ``ClientLoop`` on one client at a time, so the numbers are those of ``ClientLoop`` to the last bit,
whatever the number of workers. Large tensors (samples, memories) lie in shared memory by ``torch.multiprocessing``,
everything else is sent by value. Unlike the processes of ``multiprocessing``, workers never run the user's main script
again, so scripts need no guard; classes that only the script knows are pickled by value.
"""

from __future__ import annotations

import io
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
import weakref
from collections import ChainMap, deque
from contextlib import suppress
from functools import cache
from multiprocessing import current_process
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import torch
from torch import Tensor
from torch.multiprocessing.reductions import reduce_tensor

from bounds.showing.loading import files_to_run, run_file

from ...algorithms.algorithm import Algorithm, Work
from ...errors import EmpiricsError
from ...federation.federation import Source
from ...models.model import Trainable
from ...sizes import cores
from ..setting import Setting
from .loop import ClientLoop

LARGE = 1 << 20
"""Bytes from which a tensor is shared with the workers instead of copied to them."""
START = """import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = sys.argv[2:]
from empirics.training.engines.workers import serve
serve(int(sys.argv[1]))"""


class RemoteError(Exception):
    """A worker's own traceback: the cause of the error that is raised here."""


class Workers:
    """``ClientLoop`` on ``count`` processes (default: one per core), which stay for all rounds and runs.

    With ``pays``, rounds run in this process until the processes would save that many seconds; then they start in the
    background and take over once they are there. Without it they start with the first round, or with ``start``. They
    end with ``close``, at the end of a ``with`` block, when the engine is forgotten, or with the interpreter; they also
    end by themselves when this process dies.
    """

    WORTH: ClassVar[float] = 0.005
    """Seconds that a round must take to be sent to workers: its messages take about a millisecond."""

    def __init__(self, count: int | None = None, pays: float | None = None) -> None:
        if count is not None and count < 1:
            raise EmpiricsError(f"workers must be >= 1; got {count}")
        self.count, self.pays = cores() if count is None else count, pays
        self._processes: list[subprocess.Popen[bytes]] = []
        self._connections: list[Connection] = []
        self._end: Any = None
        self._timed: tuple[weakref.ref[Any] | None, float] = (None, 0.0)

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
        self._sent, self._files = dict[str, weakref.ref[Any]](), list[Path]()
        for _ in range(self.count):
            ours, theirs = Pipe()
            self._connections.append(ours)
            self._processes.append(_spawn(theirs))
            theirs.close()
            ours.send(bytes(current_process().authkey))  # opens the shared memory of this process
        self._starting = set(self._connections)
        self._end = weakref.finalize(self, _stop, self._processes, self._connections)

    @property
    def ready(self) -> bool:
        """Whether all processes have started and imported."""
        for connection in wait(list(self._starting), 0) if self._processes else []:
            self._receive(connection)
        return bool(self._processes) and not self._starting

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
            where = work.starts.device
            raise EmpiricsError(f"workers train on the CPU; the data are on {where}: choose another engine")
        if self.pays is not None and not self._taking_over(setting, work, model):
            begin = time.perf_counter()
            result = ClientLoop().local(model, federation, algorithm, setting, work)
            self._timed = weakref.ref(model), time.perf_counter() - begin
            return result
        self.start()
        try:
            while self._starting:
                for connection in wait(list(self._starting)):
                    self._receive(connection)
            self._keep(model=model, federation=federation, algorithm=algorithm, setting=setting)
            return self._round(work)
        except BaseException:  # whatever happened, the workers may still be busy with this round
            self.close()
            raise

    def _taking_over(self, setting: Setting, work: Work, model: Trainable) -> bool:
        """Whether the workers can take this round; starts them when they will save more seconds than ``pays``."""
        timed, seconds = self._timed
        helping = min(self.count, len(work.clients))
        if helping < 2 or timed is None or timed() is not model or seconds < self.WORTH:
            return False
        if self.ready:
            return True
        if seconds * (1 - 1 / helping) * (setting.rounds - work.state.round) > (self.pays or 0.0):
            self.start()
        return False

    def _keep(self, **parts: Any) -> None:
        """Send the parts of a run that the workers do not have yet, after the user's files that may define them."""
        if files := files_to_run(beside=self._files):
            for connection in self._connections:
                self._send(connection, "files", files)
            self._files += files
        for name, part in parts.items():
            sent = self._sent.get(name)
            if sent is None or sent() is not part:
                for connection in self._connections:
                    self._send(connection, name, part)
                self._sent[name] = weakref.ref(part)  # data sets must not live on in here

    def _round(self, work: Work) -> tuple[Tensor, Tensor | None]:
        rows = len(work.clients)
        ends, firsts = torch.empty(work.starts.shape, dtype=work.starts.dtype), dict[int, Tensor]()
        queue = deque(np.argsort(-work.steps, kind="stable").tolist())  # longest first: none is left alone at the end
        common = work.part(slice(0, rows))._replace(starts=work.starts[:0])  # starts go with each client
        connection: Any
        idle, busy = self._connections[: min(self.count, rows)], set[Any]()
        for connection in idle:
            self._send(connection, "work", common)
        while queue or busy:
            while queue and idle:
                row, connection = queue.popleft(), idle.pop()
                self._send(connection, "train", (row, work.starts[row : row + 1]))
                busy.add(connection)
            for connection in wait(list(busy)):
                row, end, first = self._receive(connection)
                ends[row] = torch.from_numpy(end[0])
                if first is not None:
                    firsts[row] = torch.from_numpy(first)
                busy.discard(connection)
                idle.append(connection)
        return ends, torch.cat([firsts[row] for row in range(rows)]) if firsts else None

    def _send(self, connection: Connection, name: str, part: Any) -> None:
        """Send one part to one worker: what lies in shared memory can be fetched once a message."""
        body = io.BytesIO()
        try:
            _Pickler(body).dump((name, part))
        except Exception as error:  # pickling raises whatever it likes
            raise EmpiricsError(f"the {name} cannot be sent to worker processes; use one worker: {error}") from error
        try:
            connection.send_bytes(body.getbuffer())
        except (BrokenPipeError, ConnectionResetError):
            raise self._death() from None

    def _receive(self, connection: Any) -> Any:
        """A worker's answer; its error, or its death, is raised here."""
        try:
            kind, *answer = connection.recv()
        except (EOFError, ConnectionResetError):
            raise self._death() from None
        if kind == "ready":
            self._starting.discard(connection)
        if kind == "error":
            message, trace = answer
            raise EmpiricsError(message) from RemoteError(f"\n{trace}")
        return answer

    def _death(self) -> EmpiricsError:
        time.sleep(0.05)  # a process closes its connection a moment before its exit status can be read
        codes = [process.poll() for process in self._processes]
        code = next((code for code in codes if code is not None), None)
        why = f"signal {-code} ({signal.Signals(-code).name})" if code is not None and code < 0 else f"status {code}"
        return EmpiricsError(
            f"a worker process died ({why}), as happens when memory runs out: take fewer workers (1 starts none)"
        )


_REDUCERS = ForkingPickler._extra_reducers  # type: ignore[attr-defined]
"""How ``torch.multiprocessing`` sends what lies in shared memory."""


class _Pickler(cloudpickle.Pickler):
    """cloudpickle, with large tensors in shared memory."""

    dispatch_table: ClassVar[Any] = ChainMap(_REDUCERS, cloudpickle.Pickler.dispatch_table)

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Tensor):
            return super().reducer_override(value)
        if value.nbytes >= LARGE:
            with suppress(RuntimeError):  # no space for shared memory: then by value
                return reduce_tensor(value.detach().share_memory_())
        return _copied, (value.detach().contiguous().numpy(),)


def _copied(array: np.ndarray) -> Tensor:
    """The array in memory of torch's own: its alignment can decide on the last bits of a sum."""
    return torch.from_numpy(array).clone()


def _spawn(connection: Connection) -> subprocess.Popen[bytes]:
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
def shared_workers(count: int, pays: float | None = None) -> Workers:
    """The one set of ``count`` workers that runs share, so that only the first of them waits for processes to start."""
    return Workers(count, pays)


# ---- inside a worker process ----


def serve(file: int) -> None:
    """Do what the other end of the connection asks for, until it is closed."""
    torch.set_num_threads(1)
    with Connection(file) as connection, suppress(EOFError, ConnectionError):
        current_process().authkey = connection.recv()
        connection.send(("ready",))
        parts = dict[str, Any]()
        while True:
            body = connection.recv_bytes()
            try:
                name, part = pickle.loads(body)
                if name == "train":
                    connection.send(("done", *_trained(*part, **parts)))
                elif name == "files":
                    for path in part:
                        run_file(path)
                else:
                    parts[name] = part
            except Exception as error:
                line = str(error)
                if not isinstance(error, EmpiricsError):
                    line = ": ".join([*getattr(error, "__notes__", []), type(error).__name__, line])
                connection.send(("error", line, traceback.format_exc()))


def _trained(row: int, start: Tensor, work: Work, **parts: Any) -> tuple[int, np.ndarray, np.ndarray | None]:
    """One client by the plain loop: its row, its model and its first loss if there is one."""
    try:
        alone = work.part(slice(row, row + 1))._replace(starts=start)
        end, first = ClientLoop().local(**parts, work=alone)
    except Exception as error:
        error.add_note(f"local training of client {work.clients[row]} failed in a worker process")
        raise
    return row, end.numpy(), None if first is None else first.numpy()
