"""Fetching public files with checked hashes, by ``pooch`` (the extra ``data``)."""

from __future__ import annotations

from pathlib import Path

from ..errors import EmpiricsError
from .store import Download, Files, members, root


def fetch(files: Files) -> Path:
    """Download the files of a set unless they are there; returns their folder."""
    if not files.downloads:
        raise EmpiricsError(f"no download with a checked hash is known for {files.set}; its files are at {files.page}")
    folder = root() / files.folder
    if files.present:
        return folder
    for download in files.downloads:
        path = _retrieve(download, folder)
        if path.name.endswith((".tar.gz", ".zip")):
            for wanted in files.names:  # the members that the set names, without their folders
                for inside, content in members(path, "/" + wanted):
                    (folder / Path(inside).name).write_bytes(content)
    return folder


def _retrieve(download: Download, folder: Path) -> Path:
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
