"""Proofs of a table's places: made as cells of a store, kept in one archive per table, told in columns of its rows."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from decimal import Context, Decimal, ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import nan
from pathlib import Path
from statistics import median
from typing import Any

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import whole, write_whole
from empirics.experiments import Cell, Store

from . import verify
from .federation import question_to_json
from .grid_point import Place, question
from .solve import Question
from .work_estimate import least_time

JOB = "certificate"
ARCHIVE = ".proofs.xz"
ARCHIVE_BEGINS = b"\xfd7zXZ\x00"
DIGITS = 9
"""Of a number in a table: those of a proof are rounded to the safe side."""
NOT_YET = "not yet"
COLUMNS = ("proved", "excess", "attained", "width", "proof")
Content = Mapping[str, Any]


def cell(asked: Question, about: float) -> Cell:
    """The proof of a question whose worst case is about so large: two digits of it are enough, and make fewer cells."""
    return Cell(JOB, {"question": question_to_json(asked), "about": float(f"{about:.2g}")})


def cells(bound: Bound, rows: Sequence[Mapping[str, Any]], patience: float) -> list[Cell | None]:
    """The proof of every row's worst case; None where it would take longer than ``patience`` seconds."""
    places = [Place.of_row(row) for row in rows]
    within = [least_time(place) <= patience for place in places]
    return [
        cell(question(bound, place), row["worst_case"]) if k else None
        for place, row, k in zip(places, rows, within, strict=True)
    ]


def columns(row: Mapping[str, Any], wanted: Cell | None, store: Store) -> tuple[dict[str, Any], Content | None]:
    """What is proved of a row's worst case, and the proof."""
    kept = None if wanted is None else store.get(wanted)
    if kept is None or kept.status != "done":
        return _unproved(NOT_YET), None
    facts = kept.card["facts"]
    if "refused" in facts:
        return _unproved(f"refused: {facts['refused']}"), None
    content = facts["certificate"]
    proved = rounded(Fraction(content["bound"]), ROUND_CEILING)
    attained = rounded(Fraction(content["attained"]["value"]), ROUND_FLOOR) if "attained" in content else nan
    worst = row["worst_case"]
    found = {
        "proved": proved,
        "excess": proved / worst - 1 if worst else proved,
        "attained": attained,
        "width": 1 - attained / proved if proved else 0.0,
        "proof": digest(content),
    }
    return found, content


def _unproved(why: str) -> dict[str, Any]:
    return {"proved": nan, "excess": nan, "attained": nan, "width": nan, "proof": why}


def rounded(x: Fraction, way: str, digits: int = DIGITS) -> float:
    """A fraction as a number of the digits that tables show, rounded up or down for good."""
    context = Context(prec=digits, rounding=way)
    return float(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


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
        except verify.KNOWN as error:
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
    lines = [json.dumps(mine[key], separators=(",", ":")) + "\n" for key in mine if key not in others]
    if not lines:
        return None
    with whole(archive(name, folder)) as beside:
        beside.write_bytes(lzma.compress("".join(lines).encode(), preset=9))
    return archive(name, folder)


def keep_one(content: Content, path: Path) -> Path:
    """Write a proof as a file of its own."""
    return write_whole(path, json.dumps(content, separators=(",", ":")) + "\n")


# ---- what the tables say ----


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How many places of a table are proved from both sides or from above alone, refused, not yet tried; how well."""
    proved = [row for row in rows if row["proved"] == row["proved"]]
    widths = sorted(row["width"] for row in proved if row["attained"] == row["attained"])
    excesses = [row["excess"] for row in proved]
    return {
        "places": len(rows),
        "both sides": len(widths),
        "above alone": len(proved) - len(widths),
        "refused": sum(row["proof"].startswith("refused") for row in rows),
        "not yet": sum(row["proof"] == NOT_YET for row in rows),
        "median width": median(widths) if widths else nan,
        "largest width": max(widths, default=nan),
        "largest excess": max(excesses, default=nan),
    }
