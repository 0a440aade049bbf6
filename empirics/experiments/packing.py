"""Results as one small file: a line of JSON for each, its card and its table, all of them compressed.

The bytes are the same wherever the same results are packed.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable

from ..errors import EmpiricsError
from .store import compressed, Kept

SUFFIX = ".jsonl.xz"


class PackError(EmpiricsError):
    """A file of packed results that cannot be read."""


def packed(results: Iterable[Kept]) -> bytes:
    """These results, by key."""
    ordered = sorted(results, key=lambda kept: str(kept.card["key"]))
    lines = [json.dumps({**kept.card, "columns": kept.columns()}, sort_keys=True) for kept in ordered]
    return lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes, name: str) -> list[Kept]:
    """The results of a packed file; ``name`` is the file's, for errors."""
    found = []
    try:
        for line in lzma.decompress(content).decode().splitlines():
            card = json.loads(line)
            content = compressed(card.pop("columns"))
            found.append(Kept({**card, "key": str(card["key"]), "facts": card["facts"]}, content))
    except (lzma.LZMAError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        why = " ".join(str(error).split())
        raise PackError(f"{name}: not packed results ({why}): take it from the source again") from None
    return found
