"""The lists of bounds and quantities without importing the catalogue: ``index.json``.

The wheel brings the file; in a checkout it is built on first use. It says which declarations it was built from,
as one digest of their texts. Where that is not the digest of the texts that are there, the catalogue is imported; the
file is written again in a checkout alone.
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
"""A file that lies beside the package in a checkout, and not where it is installed."""
DECLARED = ("classics", "decaying_k", "fedals", "fedcog", "fedinit", "vocabulary.py", "papers.py", "ties.py",
            "letters.py", "catalog.py", "showing/cards.py", "showing/quantities.py")  # fmt: skip
"""What the entries are made from: files, and folders with all their files."""


def entries() -> list[dict[str, str]]:
    """What ``fedbounds list`` prints of every bound, in the order of the catalogue."""
    found: list[dict[str, str]] = _held()["bounds"]
    return found


def quantities() -> list[dict[str, Any]]:
    """What ``fedbounds list quantities`` prints of every word, in the order of the vocabulary."""
    found: list[dict[str, Any]] = _held()["quantities"]
    return found


def _held() -> dict[str, Any]:
    try:
        held = json.loads(PATH.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # missing or torn: it is built again
        held = {}
    if isinstance(held, dict) and held.get("declarations") == digest():
        return held
    if CHECKOUT.is_file():
        with contextlib.suppress(BoundsError):  # a folder that cannot be written to
            build()
    fresh: dict[str, Any] = json.loads(text())
    return fresh


def build() -> None:
    """Write the index of the declarations that are there."""
    write_whole(PATH, text())


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


def text() -> str:
    """What the file has to say of the declarations: a line per bound of the catalogue, and per quantity."""
    from .catalog import BOUNDS
    from .showing.cards import summary
    from .showing.quantities import all_entries

    def block(items: Iterable[Any]) -> str:
        return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"

    bounds, words = block(map(summary, BOUNDS.values())), block(all_entries())
    return f'{{"declarations": "{digest()}", "bounds": {bounds}, "quantities": {words}}}\n'
