"""Freed memory stays with the process: training allocates and frees the same arrays in every step."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

TRIM, MMAP = -1, -3  # glibc's names for what mallopt sets
KEPT, MAPPED = 1 << 30, 32 << 20  # bytes of free memory kept at most; size from which arrays are mapped on their own


@cache
def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next allocation; True where this is possible (glibc).

    By itself it gives the end of the heap back to the system after most steps and takes it again in the next, every
    page of which is then cleared anew: hundreds to thousands of page faults a step, which cost a small CNN between
    nothing and a third of its time, as the layout of the heap happens to be. Up to 1 GB is kept; larger arrays than
    32 MB come and go as before. Nothing else changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return False
    return bool(mallopt(TRIM, KEPT)) and bool(mallopt(MMAP, MAPPED))
