"""This machine's cores, and whether what a run must hold fits into its memory: said before hours of work, not after."""

from __future__ import annotations

import math
import os

from .errors import EmpiricsError

NUMBER = 8
"""Bytes of a number in an array."""
ROW = 150
"""Bytes of a row of a tidy table, at least."""
CORES = "FEDBOUNDS_CORES"
"""Environment variable: the cores that are this process's share where others compute beside it."""
UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def cores() -> int:
    """The processor cores this process may run on, or its share of them."""
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    share = os.environ.get(CORES, "")
    return min(there, max(int(share), 1)) if share.isdecimal() else there


def memory() -> float:
    """Bytes of this machine's memory; infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # another system
        return math.inf


def refuse_beyond_memory(size: float, what: str, less: str) -> None:
    """Raise if ``what`` needs ``size`` bytes and there are fewer; ``less`` says what to do about it."""
    if size > memory():
        raise EmpiricsError(f"{what} needs {in_words(size)} or more; this machine has {in_words(memory())}: {less}")


def in_words(size: float) -> str:
    """A number of bytes with three digits: 23.1 GB."""
    place = min(len(UNITS) - 1, int(math.log(max(size, 1.0), 1000)))
    return f"{size / 1000**place:.3g} {UNITS[place]}"
