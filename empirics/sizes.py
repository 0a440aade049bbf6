"""This machine's cores and memory, a check before long work that its arrays will fit, and the C library's allocator."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from functools import cache

from .errors import EmpiricsError

NUMBER = 8
"""Bytes of a number in an array."""
ROW = 150
"""Minimum bytes of a row of a tidy table."""
CORES = "FEDBOUNDS_CORES"
"""Environment variable: the number of cores that this process may use where others compute beside it."""
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's parameters of mallopt
KEPT, MAPPED = 1 << 30, 32 << 20  # bytes of free memory kept at most; size from which arrays are mapped separately
UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def cores() -> int:
    """The number of processor cores this process may use, limited by the variable ``CORES``."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get(CORES, "")
    return min(available, max(int(share), 1)) if share.isdecimal() else available


def memory() -> float:
    """Bytes of this machine's memory; infinite where the system does not report it."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not POSIX
        return math.inf


def refuse_beyond_memory(size: float, what: str, less: str) -> None:
    """Raise if ``what`` needs ``size`` bytes and this machine has fewer; ``less`` says how to reduce it."""
    if size > memory():
        raise EmpiricsError(f"{what} needs {byte_text(size)} or more; this machine has {byte_text(memory())}: {less}")


def byte_text(size: float) -> str:
    """Format a number of bytes with three digits and its unit: 23.1 GB."""
    place = min(len(UNITS) - 1, int(math.log(max(size, 1.0), 1000)))
    return f"{size / 1000**place:.3g} {UNITS[place]}"


@cache
def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next allocation; return whether this is possible (glibc only).

    Training allocates the same arrays in every step. By default the library returns the end of the heap to the system
    after most steps and requests it again in the next one. The page faults, hundreds to thousands per step, cost a
    small CNN up to a third of its time, depending on the layout of the heap. Up to 1 GB is kept; arrays above 32 MB are
    returned as before.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return False
    return bool(mallopt(M_TRIM_THRESHOLD, KEPT)) and bool(mallopt(M_MMAP_THRESHOLD, MAPPED))
