"""Settings of the C library's allocator for training, which allocates and frees the same arrays in every step."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # glibc's parameters of mallopt
KEPT, MAPPED = 1 << 30, 32 << 20  # bytes of free memory kept at most; size from which arrays are mapped separately


@cache
def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next allocation; return whether this is possible (glibc only).

    By default it returns the end of the heap to the system after most steps and requests it again in the next one. The
    page faults, hundreds to thousands per step, cost a small CNN up to a third of its time, depending on the layout of
    the heap. Up to 1 GB is kept; arrays above 32 MB are returned as before.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return False
    return bool(mallopt(M_TRIM_THRESHOLD, KEPT)) and bool(mallopt(M_MMAP_THRESHOLD, MAPPED))
