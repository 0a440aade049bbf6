"""Load a bound by name: one of the catalogue, or ``path/file.py:variable``. Other objects load from files, too."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, TYPE_CHECKING, TypeVar
from zlib import crc32

from ..errors import BoundsError, message_of, unknown, UnknownNameError
from .files import content, MOST_SOURCE

if TYPE_CHECKING:
    from ..core import Bound

Kind = TypeVar("Kind")
OF_USERS = "_fedbounds_user_"
"""The prefix of the module names of users' files."""


def load(name: str | Bound) -> Bound:
    """Return the bound of this name, or itself. Files are run as Python, and their output goes to standard error."""
    from ..catalog import get  # imports all bounds, which training does not need
    from ..core import Bound

    if isinstance(name, Bound):
        return name
    if not (":" in name or name.endswith(".py")):
        return get(name)
    return from_file(name, Bound)


def from_file(text: str, kind: type[Kind]) -> Kind:
    """Return the variable that ``path/file.py:variable`` names, if it is of this type; failures are one-line errors."""
    path, colon, variable = text.rpartition(":")
    word = kind.__name__
    if not colon or not path.endswith(".py"):
        known = _in_it(run_file(Path(text)), kind) if text.endswith(".py") else ""
        raise UnknownNameError(f"{text!r} does not name an object of type {word}: write path/file.py:variable{known}")
    module = run_file(Path(path))
    names = _of_kind(module, kind)
    if variable not in vars(module):
        empty = UnknownNameError(f"{path} holds no {word}")
        raise unknown(f"{word.lower()} in {path}", variable, names) if names else empty
    if variable not in names:
        found = type(vars(module)[variable]).__name__
        article = "an" if word[0] in "AEIO" else "a"
        raise UnknownNameError(f"{variable} in {path} is of type {found}, not {article} {word}{_in_it(module, kind)}")
    return names[variable]


def _of_kind(module: ModuleType, kind: type[Kind]) -> dict[str, Kind]:
    return {name: value for name, value in vars(module).items() if isinstance(value, kind)}


def _in_it(module: ModuleType, kind: type[Any]) -> str:
    """Return the end of an error message that lists the objects of this type in a file."""
    known = _of_kind(module, kind)
    return f"; {kind.__name__.lower()}s in it: {', '.join(known)}" if known else ""


def run_file(path: Path) -> ModuleType:
    """Run a file as a module, once per content, so that its objects can be pickled.

    Its folder is appended to the path, so that its neighbours do not shadow other modules.
    """
    source = content(path, MOST_SOURCE)
    name = _name(path, source)
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__, module.__package__ = str(path.resolve()), ""
    folder, before = str(path.parent.resolve()), set(sys.modules)
    sys.modules[name] = module
    sys.path.append(folder)
    try:
        with redirect_stdout(sys.stderr), _failures_as_lines(path):
            exec(compile(source, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[name]
        raise
    finally:
        sys.path.remove(folder)
        files = [getattr(sys.modules[new], "__file__", None) for new in set(sys.modules) - before]
        _NEIGHBOURS.update(file for file in files if file and str(Path(file).parent) == folder)
    return module


_NEIGHBOURS: set[str] = set()
"""Files that users' files imported from their own folders."""


def _name(path: Path, source: bytes) -> str:
    """Return the name of the module for a file with this content."""
    return f"{OF_USERS}{path.stem}_{crc32(source + bytes(path.resolve())):08x}"


def _files_of_users() -> set[str]:
    """Return all users' files that were run, and the neighbours that they imported."""
    return {str(m.__file__) for name, m in list(sys.modules.items()) if name.startswith(OF_USERS)} | _NEIGHBOURS


def place_in_files(error: BaseException) -> str:
    """Return where in a user's file an error was raised, as ``path, line n``, or an empty string."""
    files = _files_of_users()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).absolute()) in files]
    if not frames and error.__cause__ is not None:  # a StopIteration that left one of our generators
        return place_in_files(error.__cause__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def message_with_place(error: BaseException, quiet: tuple[type[BaseException], ...] = ()) -> str:
    """Return an error as one line: the place in a user's file, the type unless it is ``quiet``, and the message."""
    place, words = place_in_files(error), str(error) if isinstance(error, quiet) else message_of(error)
    return " ".join([f"{place}:"] * bool(place) + words.split())


@contextmanager
def _failures_as_lines(path: Path) -> Iterator[None]:
    """Turn errors of the file that runs into one line with the place."""
    try:
        yield
    except SyntaxError as error:
        place = f", line {error.lineno}" if error.lineno else ""  # missing if the file is not text
        raise BoundsError(f"{error.filename or path}{place}: {error.msg}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        words = str(error) if isinstance(error, BoundsError) else message_of(error)
        if isinstance(error, ImportError) and "relative import" in words:
            words = "a file that is named by its path is in no package: import its neighbours without the dot"
        raise BoundsError(f"{path}, line {_line(error, path)}: {words}") from None


def _line(error: BaseException, path: Path) -> int:
    """Return the last line of the file itself in the traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == str(path)), 0)
