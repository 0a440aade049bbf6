"""Results in one small compressed file, with a line of JSON for each; equal results give equal bytes."""

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
    """Return the bytes of a file with these results, sorted by key."""
    ordered = sorted(results, key=lambda kept: str(kept.card["key"]))
    lines = [json.dumps({**kept.card, "columns": kept.columns()}, sort_keys=True) for kept in ordered]
    return lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes, name: str) -> list[Kept]:
    """Return the results in the ``content`` of a packed file; ``name`` is the file's, for errors."""
    results = []
    try:
        for line in lzma.decompress(content).decode().splitlines():
            card = json.loads(line)
            content = compressed(card.pop("columns"))
            results.append(Kept({**card, "key": str(card["key"]), "facts": card["facts"]}, content))
    except (lzma.LZMAError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise PackError(f"{name}: not packed results ({reason}): download or check out the file again") from None
    return results
