"""Escape texts and formulas for the Markdown of MyST."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

BREAK = " \\\\\n"
"""A possible line break in a displayed formula."""
SPECIAL = re.compile(r"([\\`*_\[\]{}<>|$#~])")


def plain(words: object) -> str:
    """A text on one line with all Markdown characters escaped."""
    return SPECIAL.sub(r"\\\1", " ".join(str(words).split()))


def docstring(item: Any) -> str:
    """A docstring as Markdown: paragraphs and ``code`` are kept, everything else is escaped."""
    paragraphs = re.split(r"\n\s*\n", (inspect.getdoc(item) or "").strip())
    return "\n\n".join("".join(_piece(p) for p in re.split(r"(``.+?``)", part, flags=re.S)) for part in paragraphs)


def first_paragraph(item: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(docstring(item).partition("\n\n")[0].split())


def _piece(words: str) -> str:
    if words.startswith("``"):
        return f"`{' '.join(words[2:-2].split())}`"
    ends = words[:1].isspace(), words[-1:].isspace()
    return f"{' ' * ends[0]}{plain(words)}{' ' * ends[1]}" if words.strip() else " " * bool(words)


def cell_math(latex: str) -> str:
    """A formula inside a table; a bare vertical bar would end the cell."""
    return f"${latex}$".replace("|", r"\|")


def slug(heading: str) -> str:
    """The anchor of a heading, as MyST and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def counted(words: Iterable[str]) -> str:
    """The number of occurrences of each word, as a text."""
    return ", ".join(f"{count} {word}" for word, count in sorted(Counter(words).items()))


def page_of(name: str, ending: str = "md") -> str:
    """The page of a bound, a figure or a table, as a path from the folder of all of them."""
    return f"{name.replace('.', '/', 1)}.{ending}"
