"""Stores of the first format under the keys of this one, which know no place of code and no argument at its default."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import EmpiricsError
from .cells import Cell
from .registry import jobs
from .store import Store


def rekeyed(store: Store) -> Iterator[tuple[str, str]]:
    """Take over every result of the first format, and yield its old key with its new one.

    Tables stay as they are, byte by byte. What cannot be taken over (the function of a module of one's own, a damaged
    result) stays where it is and yields an empty new key.
    """
    names = {job.formerly: job.name for job in jobs().values()}
    for path in sorted(store.folder.glob("*.json")):
        card: Any = None
        with contextlib.suppress(OSError, ValueError, RecursionError):
            card = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(card, dict) and card.get("format") == 1 and card.get("key") == path.stem:
            yield path.stem, _taken_over(store, names, path, card)


def _taken_over(store: Store, names: dict[str, str], path: Path, card: dict[str, Any]) -> str:
    try:
        cell = Cell(names[card["function"]], card["arguments"])
        if cell.version != card["version"]:
            return ""
        kept = store.take_over(cell, card, path.with_suffix(".parquet"))
    except (EmpiricsError, LookupError, TypeError):
        return ""
    for old in (path, path.with_suffix(".parquet")):  # only now: whoever stops this loses nothing
        old.unlink(missing_ok=True)
    return str(kept.card["key"])
