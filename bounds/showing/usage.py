"""Mistakes in a command line, and the files that it names to be written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from ..errors import BoundsError
from .files import no_file, refuse_foreign, to_write


class UsageError(BoundsError):
    """A command line that cannot be read."""


def refuse_unused(why: str, **options: Any) -> None:
    """Refuse those of the options that were given although they change nothing, for the reason ``why``."""
    if given := [f"--{name.replace('_', '-')}" for name, value in options.items() if value not in (None, False, ())]:
        raise UsageError(f"{why}; leave out {', '.join(given)}")


def writable_file(option: str, path: Path, *endings: str) -> None:
    """Refuse a file that could not be written, before time is spent on what would go there; nothing is touched.

    So is a name that says it holds something else, where the ``endings`` say what will be in it.
    """
    if endings and path.suffix.lower() not in ("", *endings):
        raise UsageError(f"{option} writes {' or '.join(endings)}; got {path}: call it {path.with_suffix(endings[0])}")
    folder = path.parent
    if "\0" in str(path):
        wrong = "no file can have this name"
    elif path.is_dir():
        wrong = "Is a directory"
    elif no_file(path):
        wrong = "the file cannot be written"
    elif not folder.is_dir():
        wrong = "Not a directory" if folder.exists() else "No such file or directory"
    else:
        wrong = "" if os.access(path if path.exists() else folder, os.W_OK) else "Permission denied"
    if wrong:
        raise UsageError(f"{option} {path}: {wrong}")
    to_write(path)


def writable_folder(option: str, folder: Path, own: Mapping[str, str | bytes] | None = None) -> None:
    """Make the folder of ``option`` and try it, before time is spent on what would go there.

    ``own`` says how the files begin that will be written there by names of their own: others of these names are
    somebody else's, and are refused.
    """
    if (folder / "__init__.py").exists():
        raise UsageError(f"{option} {folder}: a Python package lies there; choose another folder")
    for name, begins in (own or {}).items():
        refuse_foreign(folder / name, begins)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:  # a ValueError is a path no system has, with a NUL in it
        raise UsageError(f"{option} {folder}: {getattr(error, 'strerror', None) or error}") from None


def version() -> str:
    """What ``fedbounds --version`` prints."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    try:
        own = version("fedbounds")
    except PackageNotFoundError:  # run from its folder, not installed
        own = "(not installed)"
    return f"fedbounds {own}, Python {python_version()}"
