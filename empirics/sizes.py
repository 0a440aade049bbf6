"""Whether what a run must hold fits into this machine's memory at all: said before hours of work, not after."""

from __future__ import annotations

import math
import os

from .errors import EmpiricsError

NUMBER = 8
"""Bytes of a number in an array."""
ROW = 150
"""Bytes of a row of a tidy table, at least."""
UNITS = ("B", "kB", "MB", "GB", "TB", "PB", "EB")


def memory() -> float:
    """Bytes of this machine's memory; infinite where the system does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # another system
        return math.inf


def refuse_beyond_memory(size: float, what: str, less: str) -> None:
    """Refuse ``what`` needs ``size`` bytes at least where there are not so many; ``less`` is what to do about it."""
    if size > memory():
        raise EmpiricsError(f"{what} needs {in_words(size)} or more; this machine has {in_words(memory())}: {less}")


def in_words(size: float) -> str:
    """A number of bytes with three digits: 23.1 GB."""
    place = min(len(UNITS) - 1, int(math.log(max(size, 1.0), 1000)))
    return f"{size / 1000**place:.3g} {UNITS[place]}"
