"""The list of bounds without building them: ``index.json``, which is built again by itself when a declaration changed.

The file says which declarations it was built from, as one digest of their texts. Where that is not the digest of the
texts that are there, the catalogue is imported and the file written again, if its folder lets itself be written to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from .errors import BoundsError
from .showing.files import write_whole

PATH = Path(__file__).with_name("index.json")
DECLARED = ("classics", "decaying_k", "fedals", "fedcog", "fedinit", "vocabulary.py", "papers.py", "showing/cards.py")
"""What the entries are made from: files, and folders with all their files."""


def entries() -> list[dict[str, str]]:
    """What ``fedbounds list`` prints of every bound, in the order of the catalogue."""
    try:
        held = json.loads(PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing or torn: it is built again
        held = {}
    now = digest()
    if not (isinstance(held, dict) and held.get("declarations") == now):
        written = text(now)
        held = json.loads(written)
        with contextlib.suppress(BoundsError):
            write_whole(PATH, written)
    found: list[dict[str, str]] = held["bounds"]
    return found


def digest() -> str:
    """One digest of the texts of all declarations."""
    total = hashlib.sha256()
    for file in _files():
        total.update(file.read_bytes())
    return total.hexdigest()[:20]


def _files() -> Iterable[Path]:
    for name in DECLARED:
        place = PATH.parent / name
        yield from [place] if place.suffix else sorted(place.glob("*.py"))


def text(declarations: str) -> str:
    """What the file has to say of these declarations: one line per bound of the catalogue."""
    from .catalog import BOUNDS
    from .showing.cards import summary

    lines = (json.dumps(summary(bound), ensure_ascii=False) for bound in BOUNDS.values())
    return f'{{"declarations": "{declarations}", "bounds": [\n' + ",\n".join(lines) + "\n]}\n"
