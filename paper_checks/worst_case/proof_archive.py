"""Proofs of a table's grid points: kept in one archive per table, and shown in columns of its rows."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError
from bounds.showing.files import whole
from empirics.experiments import Cell, Store

from . import verify
from .tightness_table import rounded, Row

ARCHIVE = ".proofs.xz"
ARCHIVE_BEGINS = b"\xfd7zXZ\x00"
NOT_YET = "not yet"
Content = Mapping[str, Any]


def columns(row: Row, wanted: Cell | None, store: Store) -> tuple[dict[str, Any], Content | None]:
    """What is proved of a row's worst case, rounded to the safe side, and the proof."""
    kept = None if wanted is None else store.get(wanted)
    done = kept is not None and kept.status == "done"
    facts = kept.card["facts"] if kept is not None and done else {}
    if "certificate" not in facts:
        why = f"refused: {facts['refused']}" if facts else NOT_YET
        return {"proved": nan, "excess": nan, "attained": nan, "width": nan, "proof": why}, None
    content, worst = facts["certificate"], row["worst_case"]
    proved = rounded(Fraction(content["bound"]), ROUND_CEILING)
    attained = rounded(Fraction(content["attained"]["value"]), ROUND_FLOOR) if "attained" in content else nan
    found = {
        "proved": proved,
        "excess": proved / worst - 1 if worst else proved,
        "attained": attained,
        "width": 1 - attained / proved if proved else 0.0,
        "proof": digest(content),
    }
    return found, content


def as_line(content: Content) -> str:
    """A proof as a file holds it."""
    return json.dumps(content, separators=(",", ":")) + "\n"


def digest(content: Content) -> str:
    """The name of a proof: a digest of all of it, so that a better proof of the same claim is another."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


# ---- archives ----


def archive(name: str, folder: Path) -> Path:
    return folder / f"{name}{ARCHIVE}"


def refuse_unread(folder: Path) -> None:
    """Refuse, before the work, a folder with archives whose proofs cannot be read: new ones are compared with them."""
    for path in folder.glob(f"*{ARCHIVE}"):
        try:
            verify.read(str(path))
        except verify.INVALID_FILE as error:
            raise BoundsError(f"{path} is not an archive of proofs ({error}): move it, or write elsewhere") from None


def keep(contents: Iterable[Content], name: str, folder: Path) -> Path | None:
    """Write the archive of a table, without proofs that another archive of the folder holds; None if all are.

    Proofs that the archive holds already stay in it.
    """
    others, mine = set[str](), dict[str, Content]()
    for path in folder.glob(f"*{ARCHIVE}"):
        held = {digest(content): content for content in verify.read(str(path))}
        if path == archive(name, folder):
            mine = held
        else:
            others |= held.keys()
    mine |= {digest(content): content for content in contents}
    lines = [as_line(mine[key]) for key in mine if key not in others]
    if not lines:
        return None
    with whole(archive(name, folder)) as beside:
        beside.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    return archive(name, folder)
