"""Results as one small file: a line of JSON for each, what its card tells and its table, all of them compressed.

A store's tables are read at once and its cards say where they were made, but hundreds of them are hundreds of files of
which each repeats the others. Packed they are a tenth of that, and the same bytes wherever they are packed.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import EmpiricsError
from .cells import Outcome
from .store import Kept

SUFFIX = ".jsonl.xz"
STORED = ("rows", "bytes", "sha256", "digest", "format")
"""What a card says of its own files, which others are written for."""


class PackError(EmpiricsError):
    """A file of packed results that cannot be read."""


def packed(results: Iterable[Kept]) -> bytes:
    """These results, by key."""
    lines = [
        json.dumps(_told(kept), sort_keys=True) for kept in sorted(results, key=lambda kept: str(kept.card["key"]))
    ]
    return lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def _told(kept: Kept) -> dict[str, Any]:
    return {**{word: item for word, item in kept.card.items() if word not in STORED}, "columns": kept.columns()}


def unpacked(content: bytes, name: str) -> Iterator[tuple[Mapping[str, Any], Outcome]]:
    """What the card of every result tells, and the result; ``name`` is the file's, for errors."""
    try:
        lines = lzma.decompress(content).decode().splitlines()
        for line in lines:
            card = json.loads(line)
            outcome = Outcome(card.pop("columns"), card.pop("facts"), card["status"])
            yield {**card, "key": str(card["key"])}, outcome
    except (lzma.LZMAError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        why = " ".join(str(error).split())
        raise PackError(f"{name}: not packed results ({why}): take it from the source again") from None
