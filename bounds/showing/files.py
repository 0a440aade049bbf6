"""Read and write files that the user names: up to a maximum size, completely or not at all, with one-line errors."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..errors import BoundsError

MOST_BYTES = 2**28
"""The largest size of tables and constants: ten million numbers, the largest number of points of a grid."""
MOST_SOURCE = 2**24
"""The largest size of hand-written files, Python and TOML."""
STREAM = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/(\d+)")
"""Streams that the shell opened for the process by ``<``, ``|`` or ``<(command)``."""


_READ: list[set[str]] = []
"""For each running command, the files that it has read."""
_TO_WRITE: list[set[str]] = []
"""For each running command, the files that it has announced to write."""


@contextmanager
def inputs_kept() -> Iterator[None]:
    """While a command runs, protect the files that it has read from being overwritten by it."""
    _READ.append(set())
    _TO_WRITE.append(set())
    try:
        yield
    finally:
        _READ.pop()
        _TO_WRITE.pop()


def to_write(path: Path | str) -> None:
    """Announce before the work that the command will write this file; raise if it has read it."""
    _refuse_both(path, _READ)
    for command in _TO_WRITE:
        command.add(os.path.realpath(path))


def _refuse_both(path: Path | str, others: list[set[str]]) -> None:
    if any(os.path.realpath(path) in command for command in others):
        raise BoundsError(f"{path} is read by this command: write to another file")


def refuse_foreign(path: Path, begins: str | bytes) -> None:
    """Raise if a file exists that was not named by the user and does not begin like ours."""
    irregular = False
    with suppress(OSError, ValueError):  # the path is invalid
        irregular = no_file(path)
    if irregular:
        raise BoundsError(f"{path} is not a regular file: move it, or write elsewhere")
    found, ours = b"", begins.encode() if isinstance(begins, str) else begins
    with suppress(OSError, ValueError), path.open("rb") as file:  # an unreadable file cannot be replaced either
        found = file.read(len(ours))
    if found not in (b"", ours):
        raise BoundsError(f"{path} exists and was not written by this command: move it, or write elsewhere")


def content(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file or of a stream of the shell; raise ``BoundsError`` beyond ``most`` bytes.

    Devices, folders and named pipes are rejected before they are opened, since reading might never end.
    """
    try:
        with os.fdopen(_opened(path, most), "rb") as file:
            data = file.read(most + 1)
    except BoundsError:
        raise
    except (OSError, ValueError) as error:  # a ValueError is a path no system has, with a NUL in it
        hint = ": fedbounds examples copies that folder" if str(path).startswith("examples/") else ""
        raise BoundsError(f"{path}: {getattr(error, 'strerror', None) or error}{hint}") from None
    if len(data) > most:
        raise _too_large(path, most)
    return data


def _opened(path: Path | str, most: int) -> int:
    """Return a file descriptor to read from."""
    found, stream = Path(path).stat(), STREAM.fullmatch(str(path))
    if stat.S_ISREG(found.st_mode):
        if found.st_size > most:
            raise _too_large(path, most)
        _refuse_both(path, _TO_WRITE)
        for command in _READ:
            command.add(os.path.realpath(path))
        return os.open(path, os.O_RDONLY)
    number = int(stream[1] or 0) if stream else -1
    if stream and (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) or os.isatty(number)):
        return os.dup(number)  # opening it again would wait for another writer
    kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device, a pipe or a socket"
    raise BoundsError(f"{path} must be a file; it is {kind}")


def _too_large(path: Path | str, most: int) -> BoundsError:
    return BoundsError(f"{path} is too large: a file of this kind has at most {most // 2**20} MiB")


def from_json(path: Path | str, **how: Any) -> Any:
    """Return the contents of a JSON file; ``how`` are options of ``json.loads``. Duplicate names are rejected."""
    data = content(path)
    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=_once, **how)
    except BoundsError as error:
        raise BoundsError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or lists a thousand deep
        samples = Path(path).suffix.lower() == ".csv"
        hint = "; a file of samples is given with --csv FILE --target COLUMN" if samples else ""
        raise BoundsError(f"{path} is not JSON: {error}{hint}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of these pairs; raise if a name occurs twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise BoundsError(f"{next(n for n in names if names.count(n) > 1)} is given twice")
    return found


def no_file(path: Path) -> bool:
    """Whether a path exists and is not a regular file. A stream of the shell does not count as one."""
    place = Path(os.path.realpath(path.parent)) / path.name
    return path.exists() and (not path.is_file() or str(place).startswith(("/proc/", "/dev/std")))


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary path; when the block ends, the file written there replaces ``path`` atomically.

    Links are followed. An existing device, pipe or folder is rejected.
    """
    beside: Path | None = None
    try:
        place = Path(os.path.realpath(path))
        beside = place.with_name(f".{uuid4().hex}{path.suffix}")
        if no_file(path):
            raise BoundsError(f"{path}: the file cannot be written")
        _refuse_both(path, _READ)
        yield beside
        beside.replace(place)
        for command in _TO_WRITE:
            command.discard(str(place))
    except BoundsError:
        raise
    except (OSError, ValueError) as error:  # a ValueError is a path no system has, with a NUL in it
        words = getattr(error, "strerror", None) or str(error)
        raise BoundsError(f"{path}: {words}; the file was not changed: fix this and run again") from None
    finally:
        if beside is not None:
            with suppress(OSError, ValueError):
                beside.unlink(missing_ok=True)


def cache_folder() -> Path:
    """Return the folder for caches of this user; it may not exist."""
    if sys.platform == "win32":
        caches = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return caches / "fedbounds"


def write_whole(path: Path, words: str) -> Path:
    """Write text to a file, completely or not at all."""
    with whole(path) as beside:
        beside.write_text(words, encoding="utf-8")
    return path
