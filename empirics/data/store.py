"""Files of data sets on this machine: finding, downloading, checking and opening them.

``sets.toml`` lists the files of each set. The root folder is ``$FEDBOUNDS_DATA``, else the user's cache folder. Files
may be compressed (.gz, .bz2, .xz). Files that are listed in a ``SHA256SUMS`` file in the root (in the format of the
``sha256sum`` tool) are checked when they are read.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bounds.showing.files import cache_folder

from ..errors import EmpiricsError

OPENERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
"""Decompression of files by their ending."""
EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class MissingDataError(EmpiricsError):
    """A data set is not on this machine; the message names the ways to get it."""


class DataFormatError(EmpiricsError):
    """A file is truncated, damaged, of another format, or has another checksum."""


class Download(NamedTuple):
    """A public file of a set: addresses to try in order, and its sha256."""

    urls: tuple[str, ...]
    sha256: str

    @property
    def name(self) -> str:
        return self.urls[0].rsplit("/", 1)[1]


@dataclass(frozen=True)
class Files:
    """The files of a set: a folder under the root and the names (or patterns) in it, without compression ending.

    ``page`` is the web page that offers them; ``downloads`` are the files with a hash to check.
    """

    set: str
    folder: str
    names: tuple[str, ...]
    page: str
    downloads: tuple[Download, ...] = ()
    licence: str = "none stated"

    def paths(self, name: str) -> list[Path]:
        """Return the files called ``name``, compressed or not, sorted; empty if there are none."""
        matches = (sorted((root() / self.folder).glob(name + ending)) for ending in OPENERS)
        return next(filter(None, matches), [])

    @property
    def present(self) -> bool:
        return all(self.paths(name) for name in self.names)

    def one(self, name: str) -> Path:
        """Return the path of the file ``name``; raise MissingDataError if it does not exist."""
        return self.some(name)[0]

    def some(self, name: str) -> list[Path]:
        """Return the paths of the files called ``name``; raise MissingDataError if there are none."""
        if paths := self.paths(name):
            return paths
        fetch = "or download it from there yourself (no download with a checked hash is known)"
        if self.downloads:
            fetch = f"or pip install 'fedbounds[data]' and call empirics.data.catalogue.download({self.set!r})"
        raise MissingDataError(
            f"{self.set}: no file {self.folder}/{name} (or .gz, .bz2, .xz) under {root()}; put the files of "
            f"{self.page} there or point FEDBOUNDS_DATA at the folder with {self.folder}/, {fetch}, "
            f"or use an embedded set: {', '.join(EMBEDDED)}"
        )


def _read_files() -> dict[str, Files]:
    sets = tomllib.loads(Path(__file__).with_name("sets.toml").read_text(encoding="utf-8"))
    for name, entry in sets.items():
        entry["downloads"] = tuple(Download(tuple(file["urls"]), file["sha256"]) for file in entry.get("downloads", ()))
        sets[name] = Files(name, **{**entry, "names": tuple(entry["names"])})
    return sets


FILES = _read_files()
"""Files of each data set that is not embedded in scikit-learn."""


def root() -> Path:
    """Return the folder that contains one folder per family of data sets."""
    folder = os.environ.get("FEDBOUNDS_DATA")
    return Path(folder).expanduser() if folder else cache_folder()


def matches_hash(path: Path) -> bool | None:
    """Whether a file has the hash that the root's ``SHA256SUMS`` lists for it; None if it lists none."""
    listing = root() / "SHA256SUMS"
    lines = listing.read_text().splitlines() if listing.is_file() else []
    rows = (line.split(maxsplit=1) for line in lines)
    sums = {root() / row[1].strip().lstrip("*").removeprefix("./"): row[0] for row in rows if len(row) == 2}
    if path not in sums:
        return None
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == sums[path]


def damaged(path: Path, reason: object) -> DataFormatError:
    """Return the error for a file that cannot be read."""
    return DataFormatError(f"{path} is truncated, damaged or of another format ({reason}); fetch the file again")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn any error while a file is opened and parsed into a ``DataFormatError`` about the file."""
    try:
        yield
    except EmpiricsError:
        raise
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None


def read(path: Path) -> bytes:
    """Return the content of a file, checked against ``SHA256SUMS`` and decompressed by its ending."""
    if matches_hash(path) is False:
        raise DataFormatError(f"{path} does not have the sha256 that SHA256SUMS lists; fetch the file again")
    data = path.read_bytes()
    with reading(path):
        return OPENERS.get(path.suffix, bytes)(data)


def members(path: Path, ending: str) -> list[tuple[str, bytes]]:
    """Return names and contents of the files in a tar or zip archive whose names have an ending, in its order."""
    data = io.BytesIO(read(path))  # decompressed as a whole, since tarfile would not notice a truncated archive
    with reading(path):
        if path.suffix == ".zip":
            with zipfile.ZipFile(data) as zipped:
                return [(name, zipped.read(name)) for name in zipped.namelist() if name.endswith(ending)]
        with tarfile.open(fileobj=data) as archive:
            files = [entry for entry in archive if entry.isfile() and entry.name.endswith(ending)]
            return [(entry.name, archive.extractfile(entry).read()) for entry in files]  # type: ignore[union-attr]


def matlab(path: Path, *names: str) -> list[Any]:
    """Return the variables ``names`` of a MATLAB file (version 5)."""
    from scipy.io import loadmat

    data = read(path)
    with reading(path):
        variables = loadmat(io.BytesIO(data), variable_names=names)
        return [variables[name] for name in names]


def picture(data: bytes, path: Path, mode: str, size: int) -> np.ndarray:
    """Decode an image: bytes ``(size, size)`` for mode "L" or ``(size, size, 3)`` for "RGB", resized by averaging."""
    try:
        from PIL import Image
    except ImportError:
        raise EmpiricsError("opening images needs Pillow: pip install 'fedbounds[data]'") from None
    with reading(path):
        image = Image.open(io.BytesIO(data)).convert(mode)
    if image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.uint8)


def leaf_users(files: Files, part: str) -> Iterator[tuple[Path, str, list[Any], list[Any]]]:
    """Yield file, name, samples and targets of every user in the files of a part, file after file.

    LEAF's JSON (Caldas et al. 2018) holds ``users``, ``num_samples`` and ``user_data`` with lists ``x`` and ``y`` per
    user; a set is a folder with ``train/*.json`` and ``test/*.json``.
    """
    for path in files.some(part):
        with reading(path):
            rows = json.loads(read(path))["user_data"].items()
        for name, data in rows:
            if not isinstance(data, dict) or len(data.get("x", ())) != len(data.get("y", "?")):
                raise damaged(path, f"user {name} has no lists x and y of one length")
            yield path, name, data["x"], data["y"]


# ---- downloads ----


def fetch(files: Files) -> Path:
    """Download missing files of a set with ``pooch`` (the extra ``data``) and return their folder."""
    if not files.downloads:
        raise EmpiricsError(f"no download with a checked hash is known for {files.set}; its files are at {files.page}")
    folder = root() / files.folder
    for download in () if files.present else files.downloads:
        path = _retrieve(download, folder)
        if path.name.endswith((".tar.gz", ".zip")):
            for name in files.names:  # archives are unpacked without their folders
                for member, content in members(path, "/" + name):
                    (folder / Path(member).name).write_bytes(content)
    return folder


def _retrieve(download: Download, folder: Path) -> Path:
    """Download a file from the first address that answers and return its path."""
    try:
        import pooch
    except ImportError:
        raise EmpiricsError("downloading needs pooch: pip install 'fedbounds[data]'") from None
    reasons = []
    for url in download.urls:
        try:
            return Path(pooch.retrieve(url, f"sha256:{download.sha256}", fname=download.name, path=folder))
        except (OSError, ValueError) as error:  # requests' errors are OSErrors; a wrong hash is a ValueError
            reasons.append(f"{url}: {str(error).splitlines()[0]}")
    causes = "; ".join(reasons)
    raise EmpiricsError(f"could not download {download.name} ({causes}); download it yourself and put it into {folder}")
