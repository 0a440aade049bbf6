"""The one folder that comes back: few files, none large, each of them whole whenever the machine goes away."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path

MOST = 15 << 20
"""Bytes of a file: 16 MiB come back, and a little is left."""
VERDICT, SPEED, PROGRESS, LOG, RUNS, STATE = FILES = (
    "verdict.txt", "speed.txt", "progress.json", "log.txt", "runs.jsonl.xz", "state.pt",
)  # fmt: skip
"""All that are ever written; with one that is on its way where nothing else can be done, these are seven."""


class Folder:
    """Where the files lie, and a place beside it where they are written before."""

    def __init__(self, path: Path, scratch: Path) -> None:
        self.path, self.scratch = path, scratch

    def read(self, name: str) -> bytes:
        """The content of a file, empty where there is none."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return b""

    def put(self, name: str, content: bytes) -> bool:
        """Whether there was room for it."""
        beside = self.scratch / f"{name}.{os.getpid()}"
        beside.write_bytes(content)
        return self.take(name, beside)

    def take(self, name: str, beside: Path) -> bool:
        """The same for a file that was written elsewhere."""
        assert name in FILES
        if beside.stat().st_size > MOST:
            beside.unlink()
            return False
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        try:
            beside.replace(self.path / name)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            shutil.move(beside, self.path / "whole.part")
            (self.path / "whole.part").replace(self.path / name)
        return True


def opened(path: Path) -> Folder:
    """The folder with an empty place beside it, on the same file system where there is one."""
    path.mkdir(parents=True, exist_ok=True)
    path = path.resolve()
    (path / "whole.part").unlink(missing_ok=True)
    scratch = path.with_name(f".{path.name}.scratch")
    try:
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
    except OSError:
        scratch = Path(tempfile.mkdtemp())
    return Folder(path, scratch)
