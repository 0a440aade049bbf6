"""Where data lie on this machine, and how their files are found, downloaded, checked and opened.

``sets.toml`` says which files a set has. The root is ``$FEDBOUNDS_DATA``, else the user's cache folder. Files may be
compressed (.gz, .bz2, .xz). Where the root holds a ``SHA256SUMS`` file (the format of the ``sha256sum`` tool), the
files it lists are checked when they are read.
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
"""How files with these endings are opened."""
EMBEDDED = ("breast_cancer", "diabetes", "digits", "iris", "wine")


class MissingDataError(EmpiricsError):
    """A data set that is not on this machine; the message names the ways to get it."""


class DataFormatError(EmpiricsError):
    """A file that is not what its name promises: truncated, damaged, of another format or with another checksum."""


class Download(NamedTuple):
    """One file of a set in public: addresses to try in order, and its sha256 (of md5, forgeries can be made)."""

    urls: tuple[str, ...]
    sha256: str

    @property
    def name(self) -> str:
        return self.urls[0].rsplit("/", 1)[1]


@dataclass(frozen=True)
class Files:
    """The files of a set: a folder under the root and the names (or patterns) in it, without compression ending.

    ``page`` says where they can be had, ``licence`` under which terms; ``downloads`` are those with a hash to check.
    """

    set: str
    folder: str
    names: tuple[str, ...]
    page: str
    downloads: tuple[Download, ...] = ()
    licence: str = "none stated"

    def paths(self, name: str) -> list[Path]:
        """The files called ``name``, compressed or not, in order of their names; empty where there are none."""
        found = (sorted((root() / self.folder).glob(name + ending)) for ending in OPENERS)
        return next(filter(None, found), [])

    @property
    def present(self) -> bool:
        return all(self.paths(name) for name in self.names)

    def one(self, name: str) -> Path:
        """The path of one file; MissingDataError where it is not."""
        return self.some(name)[0]

    def some(self, name: str) -> list[Path]:
        """The paths of the files called ``name``, at least one; MissingDataError, with ways to go on, where none is."""
        if found := self.paths(name):
            return found
        fetch = "or download it from there yourself (no download with a checked hash is known)"
        if self.downloads:
            fetch = f"or pip install 'fedbounds[data]' and call empirics.data.catalogue.download({self.set!r})"
        raise MissingDataError(
            f"{self.set}: no file {self.folder}/{name} (or .gz, .bz2, .xz) under {root()}; put the files of "
            f"{self.page} there or point FEDBOUNDS_DATA at the folder with {self.folder}/, {fetch}, "
            f"or use an embedded set: {', '.join(EMBEDDED)}"
        )


def _listed_files() -> dict[str, Files]:
    sets = tomllib.loads(Path(__file__).with_name("sets.toml").read_text(encoding="utf-8"))
    for name, about in sets.items():
        about["downloads"] = tuple(Download(tuple(one["urls"]), one["sha256"]) for one in about.get("downloads", ()))
        sets[name] = Files(name, **{**about, "names": tuple(about["names"])})
    return sets


FILES = _listed_files()
"""What each set that is not embedded needs on disk."""


def root() -> Path:
    """The folder with one folder per family of sets."""
    given = os.environ.get("FEDBOUNDS_DATA")
    return Path(given).expanduser() if given else cache_folder()


def listed(path: Path) -> bool | None:
    """Whether a file has the hash that ``SHA256SUMS`` of the root lists for it; None where it lists none."""
    listing = root() / "SHA256SUMS"
    lines = listing.read_text().splitlines() if listing.is_file() else []
    rows = (line.split(maxsplit=1) for line in lines)
    sums = {root() / row[1].strip().lstrip("*").removeprefix("./"): row[0] for row in rows if len(row) == 2}
    if path not in sums:
        return None
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == sums[path]


def damaged(path: Path, reason: object) -> DataFormatError:
    """The error for a file that cannot be read."""
    return DataFormatError(f"{path} is truncated, damaged or of another format ({reason}); fetch the file again")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """While a file is opened and parsed: whatever its content makes of a parser is the file's fault."""
    try:
        yield
    except EmpiricsError:
        raise
    except Exception as error:
        raise damaged(path, f"{type(error).__name__}: {error}") from None


def read(path: Path) -> bytes:
    """The content of a file, checked against ``SHA256SUMS`` if it is listed there, and decompressed by its ending."""
    if listed(path) is False:
        raise DataFormatError(f"{path} does not have the sha256 that SHA256SUMS lists; fetch the file again")
    data = path.read_bytes()
    with reading(path):
        return OPENERS.get(path.suffix, bytes)(data)


def members(path: Path, ending: str) -> list[tuple[str, bytes]]:
    """Names and contents of the files in a tar (compressed or not) or zip archive whose names end so, in its order."""
    data = io.BytesIO(read(path))  # decompressed as a whole: tarfile alone would not miss a lost end
    with reading(path):
        if path.suffix == ".zip":
            with zipfile.ZipFile(data) as zipped:
                return [(name, zipped.read(name)) for name in zipped.namelist() if name.endswith(ending)]
        with tarfile.open(fileobj=data) as archive:
            files = [entry for entry in archive if entry.isfile() and entry.name.endswith(ending)]
            return [(entry.name, archive.extractfile(entry).read()) for entry in files]  # type: ignore[union-attr]


def matlab(path: Path, *names: str) -> list[Any]:
    """The variables ``names`` of a MATLAB file (version 5)."""
    from scipy.io import loadmat

    data = read(path)
    with reading(path):
        found = loadmat(io.BytesIO(data), variable_names=names)
        return [found[name] for name in names]


def picture(data: bytes, path: Path, mode: str, size: int) -> np.ndarray:
    """Pixels ``(H, W)`` for mode "L" or ``(H, W, 3)`` for "RGB", made ``size`` x ``size`` by averaging areas."""
    try:
        from PIL import Image
    except ImportError:
        raise EmpiricsError("opening pictures needs Pillow: pip install 'fedbounds[data]'") from None
    with reading(path):
        image = Image.open(io.BytesIO(data)).convert(mode)
    if image.size != (size, size):
        image = image.resize((size, size), Image.Resampling.BOX)
    return np.asarray(image, dtype=np.uint8)


def leaf_users(files: Files, part: str) -> Iterator[tuple[Path, str, list[Any], list[Any]]]:
    """File, name, samples and targets of every user in the files of a part, in order of their names.

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
    """Download the files of a set, unless they are there, with ``pooch`` (the extra ``data``); returns their folder."""
    if not files.downloads:
        raise EmpiricsError(f"no download with a checked hash is known for {files.set}; its files are at {files.page}")
    folder = root() / files.folder
    for download in () if files.present else files.downloads:
        path = _retrieved(download, folder)
        if path.name.endswith((".tar.gz", ".zip")):
            for wanted in files.names:  # the members that the set names, without their folders
                for inside, content in members(path, "/" + wanted):
                    (folder / Path(inside).name).write_bytes(content)
    return folder


def _retrieved(download: Download, folder: Path) -> Path:
    """The file, from the first address that answers."""
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
