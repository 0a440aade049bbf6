"""This machine's cores and memory, and a check before long work that its arrays will fit."""

from __future__ import annotations

import math
import os

from .errors import EmpiricsError

NUMBER = 8
"""Bytes of a number in an array."""
ROW = 150
"""Minimum bytes of a row of a tidy table."""
CORES = "FEDBOUNDS_CORES"
"""Environment variable: the number of cores that this process may use where others compute beside it."""
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
