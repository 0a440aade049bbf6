"""Tensors that several processes see at once, without names on any disk: memory files, mapped and passed on by number.

The lending side pickles whatever the workers need; tensors inside travel as numbers of memory files or as places in
one scratch file that is filled anew for every message. The files vanish with the last process that maps them.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from typing import Any

import cloudpickle
import torch
from torch import Tensor

ALIGNED = 64  # bytes: what torch's own allocator gives, and what vector code may depend on in the last bits
Place = tuple[int, int, torch.dtype, tuple[int, ...], bool]


def memory_file(size: int) -> int:
    """The descriptor of a file in memory (elsewhere than on Linux: an unnamed temporary file) of ``size`` bytes."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("fedbounds")
    else:
        with tempfile.TemporaryFile() as unnamed:
            file = os.dup(unnamed.fileno())
    os.ftruncate(file, size)
    return file


def mapped(file: int, size: int) -> Tensor:
    """The bytes of a memory file as a tensor; the mapping lives as long as the tensor."""
    return torch.frombuffer(mmap.mmap(file, size), dtype=torch.uint8)


@dataclass(frozen=True)
class SharedFile:
    """A memory file on its way to the workers."""

    number: int
    file: int
    size: int


class SharedBuffers:
    """Moves tensors into shared memory and pickles values that contain them."""

    def __init__(self) -> None:
        self.new: list[SharedFile] = []
        self.ended: list[int] = []
        self._known: dict[int, tuple[weakref.ref[Tensor], int, int]] = {}
        self._count = 0
        self._scratch = torch.empty(0, dtype=torch.uint8)
        self._scratch_number = -1
        self._close_files = weakref.finalize(self, _close, self.new)

    def allocate(self, size: int) -> tuple[int, Tensor]:
        """A new memory file: its number and its bytes."""
        size = max(size, ALIGNED)
        file, number = memory_file(size), self._count
        self._count += 1
        self.new.append(SharedFile(number, file, size))
        return number, mapped(file, size)

    def lend(self, tensor: Tensor) -> int:
        """The number of the memory file that ``tensor`` lives in, to which it is moved the first time."""
        known = self._known.get(id(tensor))
        if known and known[0]() is tensor and known[2] == tensor.data_ptr():
            return known[1]
        number, memory = self.allocate(tensor.numel() * tensor.element_size())
        shared = _viewed(memory, 0, tensor.dtype, tensor.shape)
        shared.copy_(tensor.detach())
        tensor.data = shared
        key = id(tensor)
        self._known[key] = (weakref.ref(tensor, lambda _: self._end(key, number)), number, tensor.data_ptr())
        return number

    def _end(self, key: int, number: int) -> None:
        self.ended.append(number)
        if key in self._known and self._known[key][1] == number:
            del self._known[key]

    def lasting(self, value: Any) -> bytes:
        """``value`` pickled, every tensor in it lent: for what is sent once and used again."""
        return _Pickler.pickled(value, lambda tensor: (self.lend(tensor), 0, tensor.dtype, tuple(tensor.shape), False))

    def passing(self, value: Any, lasting: Iterable[Tensor], extra: Mapping[str, Tensor]) -> tuple[bytes, list[Tensor]]:
        """``value`` and the empty tensors ``extra`` pickled for one use, and where ``extra`` lies here.

        Tensors in ``lasting`` are lent; all others are copied into the scratch file, which the next call overwrites.
        """
        lent = {id(tensor) for tensor in lasting}
        copies: list[tuple[int, Tensor]] = []
        end = 0

        def place(tensor: Tensor) -> Place:
            nonlocal end
            if id(tensor) in lent:
                return self.lend(tensor), 0, tensor.dtype, tuple(tensor.shape), False
            repeats = tensor.ndim > 1 and len(tensor) > 1 and tensor.stride(0) == 0
            copies.append((end, tensor[:1] if repeats else tensor))
            begin, size = end, copies[-1][1].numel() * tensor.element_size()
            end = -(-(begin + size) // ALIGNED) * ALIGNED
            return -1, begin, tensor.dtype, tuple(tensor.shape), repeats

        body = _Pickler.pickled((value, dict(extra)), place)
        self._grow(end)
        empty = {id(tensor) for tensor in extra.values()}
        views = {}
        for begin, tensor in copies:
            view = _viewed(self._scratch, begin, tensor.dtype, tensor.shape)
            if id(tensor) in empty:
                views[id(tensor)] = view
            else:
                view.copy_(tensor.detach())
        return pickle.dumps((self._scratch_number, body)), [views[id(tensor)] for tensor in extra.values()]

    def _grow(self, size: int) -> None:
        if size > self._scratch.numel():
            if self._scratch_number >= 0:
                self.ended.append(self._scratch_number)
            self._scratch_number, self._scratch = self.allocate(size + size // 4)

    def deliver(self, connections: Iterable[tuple[Connection, int]]) -> None:
        """Send all new memory files to all workers, given as (connection, process number), and end old ones."""
        files, ended = list(self.new), list(self.ended)
        for connection, process in connections:
            connection.send(("buffers", [(loan.number, loan.size) for loan in files], ended))
            for loan in files:
                send_handle(connection, loan.file, process)
        _close(self.new)
        self.ended.clear()


def _close(files: list[SharedFile]) -> None:
    for loan in files:
        os.close(loan.file)
    files.clear()


class AttachedBuffers:
    """The other side: maps the memory files it is sent and unpickles what lies in them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.memory: dict[int, Tensor] = {}
        self.files: dict[int, int] = {}

    def receive(self, files: list[tuple[int, int]], ended: list[int], keep_file: int | None = None) -> None:
        """Map new files, forget old ones; the descriptor of file number ``keep_file`` stays open."""
        for number, size in files:
            file = recv_handle(self._connection)
            self.memory[number] = mapped(file, size)
            if number == keep_file:
                self.files[number] = file
            else:
                os.close(file)
        for number in ended:
            self.memory.pop(number, None)

    def lasting(self, body: bytes) -> Any:
        return _Unpickler.value(body, self._tensor)

    def passing(self, message: bytes) -> tuple[Any, dict[str, Tensor]]:
        scratch, body = pickle.loads(message)
        value: tuple[Any, dict[str, Tensor]] = _Unpickler.value(body, lambda place: self._tensor(place, scratch))
        return value

    def _tensor(self, place: Place, scratch: int = -1) -> Tensor:
        number, begin, dtype, shape, repeats = place
        memory = self.memory[scratch if number < 0 else number]
        if repeats:
            return _viewed(memory, begin, dtype, (1, *shape[1:])).expand(shape)
        return _viewed(memory, begin, dtype, shape)


def _viewed(memory: Tensor, begin: int, dtype: torch.dtype, shape: Iterable[int]) -> Tensor:
    """A part of some bytes as a tensor."""
    shape = torch.Size(shape)
    return memory[begin : begin + shape.numel() * dtype.itemsize].view(dtype).view(shape)


class _Pickler(cloudpickle.Pickler):
    """Pickles by value what a fresh process could not import (a notebook's classes), and tensors by place."""

    place: Any = None

    @classmethod
    def pickled(cls, value: Any, place: Any) -> bytes:
        file = io.BytesIO()
        pickler = cls(file, protocol=pickle.HIGHEST_PROTOCOL)
        pickler.place = place
        pickler.dump(value)
        return file.getvalue()

    def persistent_id(self, value: Any) -> Place | None:
        return self.place(value) if isinstance(value, Tensor) else None


class _Unpickler(pickle.Unpickler):
    place: Any = None

    @classmethod
    def value(cls, body: bytes, place: Any) -> Any:
        unpickler = cls(io.BytesIO(body))
        unpickler.place = place
        return unpickler.load()

    def persistent_load(self, place: Any) -> Any:
        return self.place(place)
