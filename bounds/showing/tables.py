"""Numbers for reading and for machines: aligned columns, six digits, and JSON that strict parsers accept."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any


def number(value: float, digits: int = 6) -> str:
    """A number as tables show it: ``digits`` significant ones, whole numbers without a point."""
    return f"{value:.{digits}g}"


def aligned(rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3) -> list[str]:
    """Lines with columns padded to one width; the last column is not padded."""
    return list(streamed(rows, head, gap, sys.maxsize))


def streamed(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3, together: int = 10_000
) -> Iterator[str]:
    """The same with a number of rows aligned ``together``: a long table begins before it is done, and may grow
    wider."""
    left = chain([head] if head else [], rows)
    widths: list[int] = []
    while table := list(islice(left, together)):
        longest = [max(cells(row[i]) for row in table) for i in range(len(table[0]))]
        widths = list(map(max, longest, widths or longest))
        for row in table:
            yield (" " * gap).join(cell + " " * (w - cells(cell)) for cell, w in zip(row, widths, strict=True)).rstrip()


def cells(text: str) -> int:
    """The columns of a terminal that a text takes: a sign on top of a letter takes none."""
    return len(text) if text.isascii() else sum(not unicodedata.combining(sign) for sign in text)


def to_json(item: Any) -> str:
    """What ``--json`` prints: two spaces of indentation, NaN as null, letters as codes where they cannot be written."""
    import json

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return json.dumps(plain(item), indent=2, allow_nan=False, ensure_ascii=not encoding.lower().startswith("utf"))


def plain(value: Any) -> Any:
    """Lists and numbers for JSON in the shape of ``value``: NaN is null, infinities are "inf" and "-inf"."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy, which need not be imported to know
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value
