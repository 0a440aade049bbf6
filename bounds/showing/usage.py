"""Errors in a command line, checks of files that it will write, and packages that it needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..errors import BoundsError
from .files import no_file, refuse_foreign, to_write

CREATED: list[Path] = []
"""Folders that this process created for its results; ``remove_empty_folders`` removes those without any."""

EXTRAS = {
    "train": ("torch", "numba", "llvmlite", "sklearn", "pyarrow", "threadpoolctl"),
    "exact": ("clarabel",),
    "cluster": ("distributed", "dask"),
    "data": ("pooch", "PIL"),
}
"""The optional dependencies of this project, and the packages in each."""


class UsageError(BoundsError):
    """A command line that is invalid."""


def refuse_unused(why: str, **options: Any) -> None:
    """Raise ``UsageError`` if options were given that have no effect, for the reason ``why``."""
    if given := [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, False, ())]:
        raise UsageError(f"{why}; leave out {', '.join(given)}")


def writable_file(option: str, path: Path, *endings: str) -> None:
    """Raise ``UsageError`` if a file cannot be written or has a wrong ending, before work starts; change nothing."""
    if endings and path.suffix.lower() not in ("", *endings):
        raise UsageError(f"{option} writes {' or '.join(endings)}; got {path}: call it {path.with_suffix(endings[0])}")
    if no_file(path):
        raise UsageError(f"{option} {path}: it is not a file")
    try:
        with TemporaryFile(dir=path.parent):  # also if the file exists, as a new one will replace it
            pass
    except OSError as error:
        raise UsageError(f"{option} {path}: {error.strerror}") from None
    to_write(path)


def writable_folder(option: str, folder: Path, own: Mapping[str, str | bytes] | None = None) -> None:
    """Create the folder of an option and test that it is writable, before work starts.

    ``own`` maps names of files that will be written there to how they begin; other files of these names are protected.
    """
    if (folder / "__init__.py").exists():
        raise UsageError(f"{option} {folder}: a Python package lies there; choose another folder")
    for name, begins in (own or {}).items():
        refuse_foreign(folder / name, begins)
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        CREATED.extend(reversed(missing))
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # ValueError: the path contains NUL
        raise UsageError(f"{option} {folder}: {getattr(error, 'strerror', None) or error}") from None


def remove_empty_folders() -> None:
    """Remove the created folders to which nothing was written."""
    while CREATED:
        with suppress(OSError):  # it is not empty
            CREATED.pop().rmdir()


def to_install(error: BaseException) -> str:
    """Return how to install a missing package, or an empty string if no foreign package is missing."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or name in ("", "bounds", "empirics", "paper_checks", "figures"):
        return ""
    extra = next((extra for extra, packages in EXTRAS.items() if name in packages), "")
    requirement = f'"fedbounds[{extra}]"' if extra else name
    return f"this needs {name}: pip install {requirement}"


def version() -> str:
    """Return the text of ``fedbounds --version``."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    try:
        own = version("fedbounds")
    except PackageNotFoundError:  # run from its folder, not installed
        own = "(not installed)"
    return f"fedbounds {own}, Python {python_version()}"
