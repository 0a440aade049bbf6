"""Files that are there whole or not at all, and what writers that died have left beside them."""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from pathlib import Path
from socket import gethostname

RECORD = ".sweep"
"""How the name of a sweep's record ends."""
PART = re.compile(r"\.[0-9a-f]{20}(?:-[\w.+-]+)?\.(?:json|parquet|sweep)\.(?P<host>.+)\.(?P<process>\d+)\.[0-9a-f]{32}")
"""A file under way, and whose."""
MINUTE, DAY = 60.0, 86400.0


def write_lasting(path: Path, content: bytes) -> None:
    """All of it under its name, lasting through a loss of power, or nothing and an ``OSError``."""
    beside = path.with_name(f".{path.name}.{gethostname()}.{os.getpid()}.{uuid.uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
    _settle(path.parent)


def _settle(folder: Path) -> None:
    """Make the names in a folder last as the contents do; some file systems have no such thing."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def remove_orphans(folder: Path) -> int:
    """Delete what dead writers left, and say how many: of a process that is gone from this machine, or a day old.

    A minute of grace spares a writer that cannot be seen from here, as in a container of this machine.
    """
    removed = 0
    for path in folder.glob(".*"):
        named = PART.fullmatch(path.name)
        with contextlib.suppress(OSError):
            if named and _dead(named["host"], named["process"], time.time() - path.stat().st_mtime):
                path.unlink()
                removed += 1
    return removed


def _dead(host: str, process: str, age: float) -> bool:
    if age > DAY:
        return True
    return host == gethostname() and age > MINUTE and not runs(int(process))


def runs(process: int) -> bool:
    """Whether there is a process of this number on this machine."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # somebody else's
        return True
    return True
