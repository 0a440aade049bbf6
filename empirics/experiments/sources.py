"""What a user's file says, with the neighbours that it imports, in one digest: other text may give other numbers.

Files are read, not run. Data that a file opens is not known: it is the user's to keep, or to name in an argument.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from bounds.showing.files import content, MOST_SOURCE

from ..calls import in_a_file


def source_digest(path: Path) -> str:
    """Twelve letters for the text of a file and of all files beside it that it imports, however indirectly."""
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
    """The digest of every file that is named as ``path/file.py:variable`` among arguments, by what names it."""
    return {name: source_digest(path) for name, path in own_files(arguments).items() if path.is_file()}


def own_files(arguments: Any) -> dict[str, Path]:
    """The files that are named as ``path/file.py:variable`` among arguments, there or not, by what names them."""
    if isinstance(arguments, str):
        return {arguments: Path(arguments.strip().rpartition(":")[0])} if in_a_file(arguments) else {}
    inner = arguments.values() if isinstance(arguments, dict) else arguments if isinstance(arguments, list) else ()
    return {name: path for each in inner for name, path in own_files(each).items()}


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
    except (SyntaxError, ValueError):  # said when it is run, with the line
        return ()
    found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in (n for n in nodes if isinstance(n, ast.ImportFrom)):
        base = [node.module] if node.module else []
        found |= {".".join(base), *(".".join([*base, alias.name]) for alias in node.names)}
    parts = (name.split(".") for name in found if name)
    return tuple(sorted({".".join(words[:n]) for words in parts for n in range(1, len(words) + 1)}))
