"""What runs inside a worker process: clients taken from the common queue and trained by the plain loop."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds.showing.loading import run_file

from ...algorithms.algorithm import Work
from ...errors import EmpiricsError
from .loop import ClientLoop
from .sharing import AttachedBuffers

if sys.platform != "win32":
    import fcntl

COUNTER = 0  # the number of the first memory file: which place in the queue is next


def serve(file: int) -> None:
    """Do what the other end of the connection asks for, until it is closed."""
    torch.set_num_threads(1)
    with Connection(file) as connection, suppress(EOFError, ConnectionError):
        attached, parts = AttachedBuffers(connection), dict[str, Any]()
        connection.send(("ready",))
        while True:
            kind, *message = connection.recv()
            try:
                if kind == "buffers":
                    attached.receive(message[0], message[1], keep_file=COUNTER)
                elif kind == "files":
                    for path in message[0]:
                        run_file(path)
                elif kind == "keep":
                    parts[message[0]] = attached.lasting(message[1])
                else:
                    connection.send(("done", _clients(attached, parts, *message)))
            except Exception as error:
                _report(connection, error)


def _clients(attached: AttachedBuffers, parts: dict[str, Any], message: bytes, order: np.ndarray) -> bool:
    """The local work of every client that falls to this worker; whether they report losses."""
    work, results = attached.passing(message)
    with_loss = False
    for row in _queue(attached, order):
        try:
            with_loss = _train(row, parts, work, results)
        except Exception as error:
            error.add_note(f"local training of client {work.clients[row]} failed in a worker process")
            raise
    return with_loss


def _train(row: int, parts: dict[str, Any], work: Work, results: dict[str, Tensor]) -> bool:
    """One client by the plain loop, its end and first loss into shared memory; whether there was a loss."""
    alone = work.part(slice(row, row + 1))
    end, first = ClientLoop().local(**parts, work=alone)
    results["ends"][row] = end[0]
    if first is not None:
        results["firsts"][row] = first[0]
    return first is not None


def _queue(attached: AttachedBuffers, order: np.ndarray) -> Iterator[int]:
    """The rows that fall to this worker: the next in line whenever it asks."""
    counter, file = attached.memory[COUNTER].view(torch.int64), attached.files[COUNTER]
    while True:
        fcntl.lockf(file, fcntl.LOCK_EX)
        place = int(counter[0])
        counter[0] = place + 1
        fcntl.lockf(file, fcntl.LOCK_UN)
        if place >= len(order):
            return
        yield int(order[place])


def _report(connection: Connection, error: Exception) -> None:
    """Send an error in one line, with the traceback apart."""
    line = str(error)
    if not isinstance(error, EmpiricsError):
        line = ": ".join([*getattr(error, "__notes__", []), type(error).__name__, line])
    connection.send(("error", line, traceback.format_exc()))
