"""Compiling kernels, and where the compiled code is kept between runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config

config: Any = numba_config  # neither says all that it holds
njit: Any = numba.njit
HERE = Path(__file__).resolve().parent
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, "boundscheck": False}
AS_WRITTEN = {"contract"}
FLAGS = {*AS_WRITTEN, "reassoc", "nsz", "arcp"}  # not those that take numbers for finite: divergence must be seen


def version() -> str:
    """What the kernels are: a digest of their text."""
    text = b"".join(path.read_bytes() for path in sorted(HERE.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:12]


@cache
def folder() -> Path | None:
    """The folder of this version's compiled code; None where none can be written, and code stays in memory.

    Numba checks the file of the outermost function alone, so that a change of an inner one would go unnoticed: the
    version is in the folder's name.
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
    """``function`` compiled when it is first called: inner loops, which the outermost kernel takes in.

    ``inline``: without calls; one with a dozen numbers and arrays takes longer than a small block of sums.
    """
    return njit(fastmath=flags, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=inline, **OPTIONS)(function)


def kept_kernel(function: Callable[..., Any]) -> Any:
    """``function`` compiled, code kept in ``folder``: an outermost kernel, beside which other threads may run."""
    place, before = folder(), config.CACHE_DIR
    config.CACHE_DIR = "" if place is None else str(place)
    try:
        return njit(fastmath=FLAGS, cache=place is not None, no_cfunc_wrapper=True, **OPTIONS)(function)
    finally:
        config.CACHE_DIR = before
