"""Words and formulas as Markdown that MyST reads as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

BREAK = " \\\\\n"
"""Where a displayed formula may go on in another line."""
SPECIAL = re.compile(r"([\\`*_\[\]{}<>|$#~])")


def plain(words: str) -> str:
    """Words on one line, nothing in them read as Markdown."""
    return SPECIAL.sub(r"\\\1", " ".join(words.split()))


def docstring(words: str) -> str:
    """A docstring: paragraphs stay, ``code`` becomes code, the rest is plain."""
    paragraphs = re.split(r"\n\s*\n", words.strip())
    return "\n\n".join("".join(_piece(p) for p in re.split(r"(``.+?``)", part, flags=re.S)) for part in paragraphs)


def _piece(words: str) -> str:
    if words.startswith("``"):
        return f"`{' '.join(words[2:-2].split())}`"
    ends = words[:1].isspace(), words[-1:].isspace()
    return f"{' ' * ends[0]}{plain(words)}{' ' * ends[1]}" if words.strip() else " " * bool(words)


def cell_math(latex: str) -> str:
    """A formula inside a table, where a bare stroke would end the cell."""
    return f"${latex}$".replace("|", r"\|")


def lines_of_math(parts: Sequence[str]) -> str:
    """A displayed formula that folds between its parts; a sign in front of one stands apart from it."""
    first, *others = parts
    return f"$$\n{BREAK.join([first, *(f'{{}} {part}' for part in others)])}\n$$"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Cells are Markdown already."""
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]


def slug(heading: str) -> str:
    """The anchor of a heading, as MyST and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def page(*parts: str | Iterable[str]) -> str:
    """Parts with an empty line between them."""
    joined = (part if isinstance(part, str) else "\n".join(part) for part in parts)
    return "\n\n".join(part.strip("\n") for part in joined if part) + "\n"


def wide(title: str, *parts: str | Iterable[str]) -> str:
    """A page for a table that needs more room than words do."""
    return "---\nhide-toc: true\n---\n\n" + page(title, '<div class="wide"></div>', *parts)


def entries(*words: str, main: bool = False) -> list[str]:
    """Words under which the search field finds a page; a ``main`` one comes before all others."""
    return [f"```{{index}} {', '.join(f'!{word}' if main else word for word in words)}", "```"]


def folded(title: str, part: list[str]) -> tuple[str, list[str], str]:
    """A part that is shown when its title is clicked."""
    return f"<details><summary>{title}</summary>", part, "</details>"


def alone(title: str, up: str, *parts: str | Iterable[str]) -> str:
    """A page that no list beside the pages names, since there are too many of them; ``up`` leads back."""
    return "---\norphan: true\n---\n\n" + page(["```{container} up", up, "```"], title, *parts)
