"""NAME everywhere: a bound of the catalogue, or ``path/file.py:variable`` for a bound, or else, of your own."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any, TYPE_CHECKING, TypeVar
from zlib import crc32

from ..errors import BoundsError, said, unknown, UnknownNameError
from .files import content, MOST_SOURCE

if TYPE_CHECKING:
    from ..core import Bound

Kind = TypeVar("Kind")
OF_USERS = "_fedbounds_user_"
"""How the names of users' files as modules begin."""
ALONE = threading.Event()
"""Set where the process is the command's own."""


@contextmanager
def loading() -> Iterator[None]:
    """Modules are loaded here, and stay: looking for garbage among them, now and later, is a tenth of a short run."""
    looking = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if ALONE.is_set():  # in a process that is not ours there may be garbage, which would stay too
            gc.freeze()
        if looking:
            gc.enable()


def load(name: str) -> Bound:
    """The bound of this name; files are run as Python, their output goes to standard error."""
    with loading():
        from ..catalog import get  # all bounds: who trains a user's model does without
        from ..core import Bound

    if not (":" in name or name.endswith(".py")):
        return get(name)
    return from_file(name, Bound)


def from_file(text: str, kind: type[Kind]) -> Kind:
    """The variable that ``path/file.py:variable`` names, if it is of this kind; every failure is one line."""
    path, colon, variable = text.rpartition(":")
    word = kind.__name__
    if not colon or not path.endswith(".py"):
        known = _in_it(run_file(Path(text)), kind) if text.endswith(".py") else ""
        raise UnknownNameError(f"{text!r} is no {word.lower()}: write path/file.py:variable{known}")
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
    """What a file offers instead, to end a message with."""
    known = _of_kind(module, kind)
    return f"; {kind.__name__.lower()}s in it: {', '.join(known)}" if known else ""


def run_file(path: Path) -> ModuleType:
    """Run a file as a module of its own, once as long as it says the same, so that what it makes can be pickled.

    Its folder comes last on the path, so its neighbours shadow nothing.
    """
    source = content(path, MOST_SOURCE)
    name = _name(path, source)
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(path.resolve())
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
"""Files that users' files have imported from their own folders."""


def _name(path: Path, source: bytes) -> str:
    """The module that a file with this source becomes."""
    return f"{OF_USERS}{path.stem}_{crc32(source + bytes(path.resolve())):08x}"


def _files_of_users() -> set[str]:
    """The files of users that have been run so far, and what they have imported."""
    return {str(m.__file__) for name, m in list(sys.modules.items()) if name.startswith(OF_USERS)} | _NEIGHBOURS


def place_in_files(error: BaseException) -> str:
    """Where in a user's file, or in a neighbour that it imports, an error came from, as ``path, line n``; or empty."""
    files = _files_of_users()
    frames = [f for f in traceback.extract_tb(error.__traceback__) if str(Path(f.filename).absolute()) in files]
    if not frames and error.__cause__ is not None:  # a StopIteration on its way out of a generator of ours
        return place_in_files(error.__cause__)
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else ""


def said_with_place(error: BaseException, quiet: tuple[type[BaseException], ...] = ()) -> str:
    """One line: the place in a user's file, if any, the kind of error unless it is a ``quiet`` one, and its message."""
    place, words = place_in_files(error), str(error) if isinstance(error, quiet) else said(error)
    return " ".join([f"{place}:"] * bool(place) + words.split())


@contextmanager
def _failures_as_lines(path: Path) -> Iterator[None]:
    """Whatever goes wrong while the file runs, as one line with the place in it."""
    try:
        yield
    except SyntaxError as error:
        place = f", line {error.lineno}" if error.lineno else ""  # none where the file is no text at all
        raise BoundsError(f"{error.filename or path}{place}: {error.msg}") from None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        words = str(error) if isinstance(error, BoundsError) else said(error)
        raise BoundsError(f"{path}, line {_line(error, path)}: {words}") from None


def _line(error: BaseException, path: Path) -> int:
    """The last line of the file itself on the way to the error."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((f.lineno or 0 for f in reversed(frames) if f.filename == str(path)), 0)
