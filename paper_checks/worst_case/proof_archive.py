"""The proofs of a table: an archive per table, and columns of its rows that summarise them."""

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


def columns(row: Row, cell: Cell | None, store: Store) -> tuple[dict[str, Any], Content | None]:
    """Return the columns of a row that summarise its proof, rounded to the safe side, and the proof (or None)."""
    result = None if cell is None else store.get(cell)
    facts = result.card["facts"] if result is not None and result.status == "done" else {}
    if "certificate" not in facts:
        why = f"refused: {facts['refused']}" if facts else NOT_YET
        return {"proved": nan, "excess": nan, "attained": nan, "width": nan, "proof": why}, None
    content, worst = facts["certificate"], row["worst_case"]
    proved = rounded(Fraction(content["bound"]), ROUND_CEILING)
    attained = rounded(Fraction(content["attained"]["value"]), ROUND_FLOOR) if "attained" in content else nan
    summary = {
        "proved": proved, "excess": proved / worst - 1 if worst else proved, "attained": attained,
        "width": 1 - attained / proved if proved else 0.0, "proof": digest(content),
    }  # fmt: skip
    return summary, content


def as_line(content: Content) -> str:
    """Return a proof as a line of a file."""
    return json.dumps(content, separators=(",", ":")) + "\n"


def digest(content: Content) -> str:
    """Return the name of a proof, a digest of its whole content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


# ---- archives ----


def archive(name: str, folder: Path) -> Path:
    return folder / f"{name}{ARCHIVE}"


def check_readable(folder: Path) -> None:
    """Raise ``BoundsError`` if the folder contains an archive that cannot be read."""
    for path in folder.glob(f"*{ARCHIVE}"):
        try:
            verify.read(str(path))
        except verify.INVALID_FILE as error:
            raise BoundsError(f"{path} is not an archive of proofs ({error}): move it, or write elsewhere") from None


def add_proofs(contents: Iterable[Content], name: str, folder: Path) -> Path | None:
    """Add proofs to the archive of a table, except those that another archive of the folder contains; return its path.
    Returns None, and writes nothing, if other archives contain all of them."""
    others, own = set[str](), dict[str, Content]()
    for path in folder.glob(f"*{ARCHIVE}"):
        proofs = {digest(content): content for content in verify.read(str(path))}
        if path == archive(name, folder):
            own = proofs
        else:
            others |= proofs.keys()
    own |= {digest(content): content for content in contents}
    lines = [as_line(own[key]) for key in own if key not in others]
    if not lines:
        return None
    with whole(archive(name, folder)) as temporary:
        temporary.write_bytes(lzma.compress("".join(lines).encode(), preset=9))

    return archive(name, folder)
