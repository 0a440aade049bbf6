"""Files that the user names: read whole, up to a stated size; whatever is wrong with one is one line."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from ..errors import BoundsError

MOST_BYTES = 2**28
"""Of tables and constants: ten million numbers in full precision, as many as a grid may have points."""
MOST_SOURCE = 2**24
"""Of what people write by hand: Python and TOML."""
STREAM = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/(\d+)")
"""What the shell has opened for us: ``<``, ``|`` and ``<(command)``."""


def content(path: Path | str, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file, or of a stream the shell has opened; BoundsError beyond ``most`` bytes.

    Devices, folders and pipes in the file system are refused before they are opened: they may not end.
    """
    try:
        with os.fdopen(_opened(path, most), "rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # a ValueError is a path no system has, with a NUL in it
        raise BoundsError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if len(data) > most:
        raise _too_large(path, most)
    return data


def _opened(path: Path | str, most: int) -> int:
    """A file descriptor to read from."""
    found, stream = Path(path).stat(), STREAM.fullmatch(str(path))
    if stat.S_ISREG(found.st_mode):
        if found.st_size > most:
            raise _too_large(path, most)
        return os.open(path, os.O_RDONLY)
    number = int(stream[1] or 0) if stream else -1
    if stream and (stat.S_ISFIFO(found.st_mode) or stat.S_ISSOCK(found.st_mode) or os.isatty(number)):
        return os.dup(number)  # opened anew, a pipe whose writer has left would wait for another
    kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a device, a pipe or a socket"
    raise BoundsError(f"{path} must be a file; it is {kind}")


def _too_large(path: Path | str, most: int) -> BoundsError:
    return BoundsError(f"{path} is too large: a file of this kind has at most {most // 2**20} MiB")
