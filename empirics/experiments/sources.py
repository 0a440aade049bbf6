"""Digests of a user's files: a Python file with the files beside it that it imports, and the tables that calls name.

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
    """Twelve letters for the text of a file and of all files beside it that it imports, directly or not."""
    texts = {path.name: content(path, MOST_SOURCE)}
    waiting = [path]
    while waiting:
        here = waiting.pop()
        text = texts[here.relative_to(path.parent).as_posix()]
        for neighbour in (n for folder in (path.parent, here.parent) for n in _neighbours(folder, text)):
            name = neighbour.relative_to(path.parent).as_posix()
            if name not in texts:
                texts[name] = content(neighbour, MOST_SOURCE)
                waiting.append(neighbour)
    if len(texts) == 1:
        return sha256(texts[path.name]).hexdigest()[:12]
    parts = (sha256(name.encode()).digest() + sha256(texts[name]).digest() for name in sorted(texts))
    return sha256(b"".join(parts)).hexdigest()[:12]


def digests(arguments: Any) -> dict[str, str]:
    """The digest of every file of the user's that arguments name, by what names it: see ``own_files``."""
    return {name: _digest(path) for name, path in own_files(arguments).items() if path.is_file()}


def own_files(arguments: Any) -> dict[str, Path]:
    """The files that arguments name, there or not, by what names them.

    ``path/file.py:variable`` names one, and so does the call ``table('my.csv', ...)`` wherever it stands in another.
    """
    if isinstance(arguments, str):
        if names_file(arguments):
            return {arguments: Path(arguments.strip().rpartition(":")[0])}
        return {file: Path(file) for file in _tables(arguments)}
    inner = arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ()
    return {name: path for each in inner for name, path in own_files(each).items()}


def _tables(text: str) -> Iterator[str]:
    """The files of the tables in a call; a text that is not a call has none."""
    if table.__name__ not in text or not CALL.match(text.strip()):
        return
    try:
        calls = [node for node in ast.walk(tree(text)) if isinstance(node, ast.Call)]
    except EmpiricsError:
        return
    for call in calls:
        if isinstance(call.func, ast.Name) and call.func.id == table.__name__:
            named = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "file")]
            yield from (n.value for n in named if isinstance(n, ast.Constant) and isinstance(n.value, str))


def _digest(path: Path) -> str:
    """Of a Python file with what it imports, of another file its bytes."""
    if path.suffix == ".py":
        return source_digest(path)
    stands = path.stat()
    return _of_bytes(path.resolve(), stands.st_mtime_ns, stands.st_size)


@lru_cache(maxsize=64)
def _of_bytes(path: Path, changed: int, size: int) -> str:
    """Twelve letters for the bytes of a file; read again where it has changed since."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()[:12]


def _neighbours(folder: Path, text: bytes) -> Iterator[Path]:
    """The files in a folder that a text imports by name."""
    for module in _imported(text):
        place = folder.joinpath(*module.split("."))
        yield from (p for p in (place.with_suffix(".py"), place / "__init__.py") if p.is_file())


@lru_cache(maxsize=256)
def _imported(text: bytes) -> tuple[str, ...]:
    """Every module that a text imports, and what it takes from them: these may be modules too."""
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):  # reported when it is run
        return ()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in (n for n in nodes if isinstance(n, ast.ImportFrom)):
        base = [node.module] if node.module else []
        found |= {".".join(base), *(".".join([*base, alias.name]) for alias in node.names)}
    parts = (name.split(".") for name in found if name)
    return tuple(sorted({".".join(words[:n]) for words in parts for n in range(1, len(words) + 1)}))
