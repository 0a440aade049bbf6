"""What a person at a terminal reads: lines folded to its width, verdicts in colour.

A pipe or a file gets the lines unfolded, in printable characters too: it may end on a terminal (``| tail``).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import lru_cache
from textwrap import TextWrapper
from typing import Any, TextIO

from .tables import cells

COLOURS = {
    "HOLDS": "green", "REPAIRED": "cyan", "FAILS": "red", "OPEN": "yellow",
    "VIOLATED": "red", "UNDECIDED": "yellow", "OUTSIDE": "yellow", "REFUSED": "red",
    "holds here": "green", "violated": "red", "undecided": "yellow",
    "informative": "green", "vacuous": "yellow", "does not apply": "yellow",
}  # fmt: skip
"""The colour of every verdict, the same in all verbs."""
LOUD = "|".join(word for word in COLOURS if word.isupper())
QUIET = "|".join(word for word in COLOURS if word.islower())
VERDICT = re.compile(rf"\b(?:{LOUD})\b|(?:^|(?<=\s\s))(?:{QUIET})(?=$|\s\s|[;:])")
"""In small letters they are verdicts where they stand in a cell of their own; in a sentence they are words."""
GAP = re.compile(r"(?<=\S)\s{2,}(?=\S)")
COMMAND = re.compile(r"(?:^\s*|: )fedbounds [a-z]")
"""A line to copy: broken by the terminal itself it is still one command."""
LEFT = 0.6
"""Share of the width within which the last column must begin for its lines to go on under it."""
FURTHER = 4
"""Elsewhere a line goes on that many columns to the right of where it began."""
LEAST = 20
"""Columns below which nothing is folded."""


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal instead of being shown: escape sequences, carriage returns, changes of direction."""


def printable(text: str) -> str:
    """The text with control characters spelled out, such as ``\\x1b``; lines and tabulators stay."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Terminal:
    """A stream for readers that is written to in printable characters: names in data are not commands to a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream
        """The stream itself, for Rich, whose colours are escape sequences."""

    def write(self, text: str) -> int:
        return self.raw.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: Any) -> Any:
    """The stream to give to a console of Rich; what goes there must be ``printable``."""
    return stream.raw if isinstance(stream, Terminal) else stream


def print_lines(lines: Iterable[str], *, flush: bool = False) -> None:
    """Print lines for a person: folded and in colour where standard output is a terminal."""
    for line in lines:
        for part in folded(line, sys.stdout):
            if VERDICT.search(part) and on_terminal(sys.stdout):
                _coloured(part)
            else:
                print(part, flush=flush)


def folded(text: str, stream: TextIO | None) -> list[str]:
    """The lines of ``text``, printable; where ``stream`` is a terminal, folded."""
    lines = printable(text).split("\n")
    if not on_terminal(stream):
        return lines
    width = _width()
    return [part for line in lines for part in fold(line, width)]


def fold(line: str, width: int) -> list[str]:
    """One line in parts of at most ``width`` columns; a cell of a table that does not fit goes on a line of its own.

    Words and factors stay whole. The last column stays a column where there is room.
    """
    if cells(line) <= width or width < LEAST or COMMAND.search(line):
        return [line]
    indent = len(line) - len(line.lstrip())
    further = " " * min(indent + FURTHER, width // 2)
    parts, at = [""], 0
    for gap in [*GAP.finditer(line), None]:
        cell = line[at : gap.start() if gap else len(line)]
        room = cells(parts[-1]) + cells(cell) <= width
        if not parts[-1].strip() or room or (gap is None and at == len(parts[0]) <= LEFT * width):
            parts[-1] += cell
        else:
            parts.append(further + cell)
        if gap:
            parts[-1] += gap.group() if len(parts) == 1 else "  "
            at = gap.end()
    hang = " " * at if len(parts) == 1 and at else further
    return [folded for part in parts for folded in _Wrapper(width, subsequent_indent=hang).wrap(part.rstrip())]


class _Wrapper(TextWrapper):
    """Breaks at spaces and behind the ``*`` of a product."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=\*)(?=[^*\s]))")

    def __init__(self, width: int, **how: str) -> None:
        super().__init__(width, **how, break_long_words=False, break_on_hyphens=False)  # type: ignore[arg-type]


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads what goes there; a stream may be closed or None."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:
        return False


def _width() -> int:
    from shutil import get_terminal_size  # takes time to load

    return get_terminal_size().columns


def _coloured(line: str) -> None:
    from rich.text import Text

    text = Text(line)
    text.highlight_regex(VERDICT, COLOURS.__getitem__)
    _console(sys.stdout).print(text, soft_wrap=True)


@lru_cache(maxsize=1)
def _console(stream: TextIO) -> Any:
    """Rich's, which heeds ``NO_COLOR``, ``TERM=dumb`` and what the terminal can show; it takes time to load."""
    from rich.console import Console

    return Console(file=raw(stream), highlight=False, emoji=False)
