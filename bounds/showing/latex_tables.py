"""Tables for LaTeX, ruled by booktabs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .printing import escaped

NUMBER = re.compile(r"(-?)(\d+(?:\.\d+)?)(?:e([+-]?\d+))?")


def booktabs(head: Sequence[str], body: Sequence[Sequence[str]], columns: str) -> list[str]:
    """Return the lines of a ``tabular`` of plain text; ``columns`` are the letters of their alignment."""
    return [
        rf"\begin{{tabular}}{{{columns}}}",
        r"  \toprule",
        f"  {' & '.join(map(escaped, head))} \\\\",
        r"  \midrule",
        *(f"  {' & '.join(map(_cell, row))} \\\\" for row in body),
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def _cell(words: str) -> str:
    """Return text, or a number with a proper minus and power of ten."""
    number = NUMBER.fullmatch(words)
    if number is None or not (number[1] or number[3]):
        return escaped(words)
    power = rf" \times 10^{{{int(number[3])}}}" if number[3] else ""
    return f"${number[1]}{number[2]}{power}$"
