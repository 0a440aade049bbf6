"""Lists of bounds and quantities without importing the catalogue, from ``index.json``.

The wheel includes the file; a checkout builds it on first use. The file has a digest of the declarations that it was
built from. If this differs from the digest of the present declarations, the catalogue is imported instead, and in a
checkout the file is written again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import BoundsError
from .showing.files import write_whole

PATH = Path(__file__).with_name("index.json")
CHECKOUT = PATH.parents[1] / "pyproject.toml"
"""A file that exists in a checkout, but not in an installation."""
DECLARED = ("classics", "decaying_k", "fedals", "fedcog", "fedinit", "vocabulary.py", "papers.py", "identities.py",
            "letters.py", "catalog.py", "showing/cards.py", "showing/vocabulary_table.py")  # fmt: skip
"""The files and folders that declare the entries."""


def entries() -> Any:
    """Return the entries of ``fedbounds list``, in the order of the catalogue."""
    return _index()["bounds"]


def quantities() -> Any:
    """Return the entries of ``fedbounds list quantities``, in the order of the vocabulary."""
    return _index()["quantities"]


def _index() -> dict[str, Any]:
    try:
        index = json.loads(PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing or incomplete
        index = {}
    if isinstance(index, dict) and index.get("declarations") == digest():
        return index
    if CHECKOUT.is_file():
        with contextlib.suppress(BoundsError):  # the folder is not writable
            build()
    fresh: dict[str, Any] = json.loads(text())
    return fresh


def build() -> None:
    """Write the index."""
    write_whole(PATH, text())


def digest() -> str:
    """Return a digest of all files with declarations."""
    total = hashlib.sha256()
    for file in _files():
        total.update(file.read_bytes())
    return total.hexdigest()[:20]


def _files() -> Iterable[Path]:
    for name in DECLARED:
        place = PATH.parent / name
        yield from [place] if place.suffix else sorted(place.glob("*.py"))


def text() -> str:
    """Return the text of the index, with one line per bound and quantity."""
    from .catalog import BOUNDS
    from .showing.cards import summary
    from .showing.vocabulary_table import all_entries

    def block(items: Iterable[Any]) -> str:
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"

    bounds, words = block(map(summary, BOUNDS.values())), block(all_entries())
    return f'{{"declarations": "{digest()}", "bounds": {bounds}, "quantities": {words}}}\n'
