"""Digests of the user's files that arguments of runs name: Python files with their imports, and tables in calls.

Files are read, not run, so data that a Python file opens is not part of its digest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from bounds.showing.files import content, MOST_SOURCE

from ..data.csv_tables import table
from ..errors import EmpiricsError
from ..spec_strings import CALL, names_file, tree


def source_digest(path: Path) -> str:
    """Return 12 hex digits for the text of a file and of all files beside it that it imports, directly or not."""
    texts = {path.name: content(path, MOST_SOURCE)}
    unread = [path]
    while unread:
        here = unread.pop()
        text = texts[here.relative_to(path.parent).as_posix()]
        for neighbour in (n for folder in (path.parent, here.parent) for n in _neighbours(folder, text)):
            name = neighbour.relative_to(path.parent).as_posix()
            if name not in texts:
                texts[name] = content(neighbour, MOST_SOURCE)
                unread.append(neighbour)
    if len(texts) == 1:
        return sha256(texts[path.name]).hexdigest()[:12]
    parts = (sha256(name.encode()).digest() + sha256(texts[name]).digest() for name in sorted(texts))
    return sha256(b"".join(parts)).hexdigest()[:12]


def digests(arguments: Any) -> dict[str, str]:
    """Return the digests of the user's files that arguments name, by the text that names them: see ``own_files``."""
    return {name: _digest(path) for name, path in own_files(arguments).items() if path.is_file()}


def own_files(arguments: Any) -> dict[str, Path]:
    """Return the files that arguments name, whether they exist or not, by the text that names them.

    A file is named by ``path/file.py:variable`` or by a call ``table('my.csv', ...)``, also within another call.
    """
    if isinstance(arguments, str):
        if names_file(arguments):
            return {arguments: Path(arguments.strip().rpartition(":")[0])}
        return {file: Path(file) for file in _tables(arguments)}
    inner = arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ()
    return {name: path for each in inner for name, path in own_files(each).items()}


def _tables(text: str) -> Iterator[str]:
    """The files of the tables in a call; none if the text is not a call."""
    if table.__name__ not in text or not CALL.match(text.strip()):
        return
    try:
        calls = [node for node in ast.walk(tree(text)) if isinstance(node, ast.Call)]
    except EmpiricsError:
        return
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == table.__name__:
            values = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "file")]
            yield from (v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))


def _digest(path: Path) -> str:
    """The digest of a Python file with its imports, or of the bytes of another file."""
    if path.suffix == ".py":
        return source_digest(path)
    status = path.stat()
    return _of_bytes(path.resolve(), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)
def _of_bytes(path: Path, changed: int, size: int) -> str:
    """12 hex digits for the bytes of a file; time and size are arguments so that a changed file is read again."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:12]


def _neighbours(folder: Path, text: bytes) -> Iterator[Path]:
    """The files in a folder that a Python text imports."""
    for module in _imports(text):
        place = folder.joinpath(*module.split("."))
        yield from (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file())


@lru_cache(maxsize=256)
def _imports(text: bytes) -> tuple[str, ...]:
    """All modules that a text imports, and the names that it imports from them, which may be modules too."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):  # reported when it is run
        return ()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in (n for n in nodes if isinstance(n, ast.ImportFrom)):
        base = [node.module] if node.module else []
        names |= {".".join(base), *(".".join([*base, alias.name]) for alias in node.names)}
    parts = (name.split(".") for name in names if name)
    return tuple(sorted({".".join(words[:n]) for words in parts for n in range(1, len(words) + 1)}))
