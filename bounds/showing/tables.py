"""Format tables with aligned columns, numbers with six digits, and strict JSON."""

from __future__ import annotations

import math
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any


def number(value: float, digits: int = 6) -> str:
    """Format a number with ``digits`` significant digits, integers without a point."""
    return f"{value:.{digits}g}"


def aligned(rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3) -> list[str]:
    """Return lines with aligned columns; the last column is not padded."""
    return list(streamed(rows, head, gap, sys.maxsize))


def streamed(
    rows: Iterable[Sequence[str]], head: Sequence[str] = (), gap: int = 3, together: int = 10_000
) -> Iterator[str]:
    """Yield aligned lines, ``together`` rows at a time, so that a long table starts early; it may widen later."""
    left = chain([head] if head else [], rows)
    widths: list[int] = []
    while table := list(islice(left, together)):
        longest = [max(cells(row[i]) for row in table) for i in range(len(table[0]))]
        widths = list(map(max, longest, widths or longest))
        for row in table:
            yield (" " * gap).join(cell + " " * (w - cells(cell)) for cell, w in zip(row, widths, strict=True)).rstrip()


def cells(text: str) -> int:
    """Return the width of a text in terminal columns; combining characters have none."""
    return len(text) if text.isascii() else sum(not unicodedata.combining(sign) for sign in text)


def to_json(item: Any) -> str:
    """Return indented JSON in which NaN is null; characters that cannot be encoded are escaped."""
    import json

    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return json.dumps(plain(item), indent=2, allow_nan=False, ensure_ascii=not encoding.lower().startswith("utf"))


def plain(value: Any) -> Any:
    """Convert to lists and numbers for JSON: NaN is null, infinities are "inf" and "-inf"."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "tolist"):  # a NumPy array or scalar; NumPy need not be imported
        return plain(value.tolist())
    if isinstance(value, float):
        if math.isnan(value):
            return None
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
    return value
