"""Files that are there as a whole or not at all: written beside their place, then moved to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from empirics.errors import EmpiricsError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A path to write to, of the same suffix; what is written takes the place of ``path`` when all of it is there."""
    beside = path.with_name(f".{uuid4().hex}{path.suffix}")
    try:
        yield beside
        beside.replace(path)
    except OSError as error:
        words = error.strerror or str(error)
        raise EmpiricsError(f"{path}: {words}; what was there is there still: mend it and run again") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def text(path: Path, words: str) -> Path:
    """Words in one file."""
    with whole(path) as beside:
        beside.write_text(words, encoding="utf-8")
    return path
