"""Compilation of kernels by numba, and the cache of compiled code between runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config

config: Any = numba_config  # numba's type hints are incomplete
njit: Any = numba.njit
HERE = Path(__file__).resolve().parent
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "boundscheck": False}
AS_WRITTEN = {"contract"}
FLAGS = {*AS_WRITTEN, "reassoc", "nsz", "arcp"}  # not those that assume finite numbers, which would hide divergence


def version() -> str:
    """Return a digest of the source code of all kernels."""
    text = b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


@cache
def folder() -> Path | None:
    """Return the folder of this version's compiled code, or None if no folder can be written.

    The version is part of the folder's name, since numba checks only the file of the outermost function and would not
    notice changes of inner ones.
    """
    root = os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    place = Path(root) / "fedbounds" / f"kernels-{version()}"
    try:
        place.mkdir(parents=True, exist_ok=True)
        probe = place / f".{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError:
        return None
    return place


def kernel(function: Callable[..., Any], flags: set[str] = FLAGS, inline: bool = False) -> Any:
    """Compile an inner kernel, which other kernels call, when it is first used.

    ``inline`` avoids calls: a call with a dozen numbers and arrays takes longer than a small block of sums.
    """
    return njit(fastmath=flags, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=inline, **OPTIONS)(function)


def cached_kernel(function: Callable[..., Any]) -> Any:
    """Compile an outermost kernel, which Python calls, and cache its code in ``folder``; it releases the GIL."""
    place, before = folder(), config.CACHE_DIR
    config.CACHE_DIR = "" if place is None else str(place)
    try:
        return njit(fastmath=FLAGS, cache=place is not None, no_cfunc_wrapper=True, **OPTIONS)(function)
    finally:
        config.CACHE_DIR = before
