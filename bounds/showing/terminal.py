"""Output for terminals: lines wrapped to its width, and verdicts in colour.

A pipe or a file gets unwrapped lines, also without control characters, since its contents may be shown on a terminal.
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
"""The colour of every verdict, in all verbs."""
LOUD = "|".join(word for word in COLOURS if word.isupper())
QUIET = "|".join(word for word in COLOURS if word.islower())
VERDICT = re.compile(rf"\b(?:{LOUD})\b|(?:^|(?<=\s\s))(?:{QUIET})(?=$|\s\s|[;:])")
"""Verdicts in lower case count only in a table cell of their own, not in a sentence."""
GAP = re.compile(r"(?<=\S)\s{2,}(?=\S)")
COMMAND = re.compile(r"(?:^\s*|: )fedbounds [a-z]")
"""A command to copy, which must not be wrapped by us."""
LEFT = 0.6
"""The share of the width in which the last column must begin for its text to be wrapped below it."""
FURTHER = 4
"""The indentation of other continuation lines."""
LEAST = 20
"""The width below which nothing is wrapped."""


CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal: escape sequences, carriage returns, changes of direction."""


def printable(text: str) -> str:
    """Return the text with control characters spelled out, such as ``\\x1b``; line breaks and tabs stay."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Terminal:
    """A stream that spells out control characters, so that names in data cannot control a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.raw = stream
        """The underlying stream, for Rich, whose colours are escape sequences."""

    def write(self, text: str) -> int:
        return self.raw.write(printable(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.raw, name)


def raw(stream: Any) -> Any:
    """Return the stream for a console of Rich; what is written there must be ``printable``."""
    return stream.raw if isinstance(stream, Terminal) else stream


def print_lines(lines: Iterable[str], *, flush: bool = False) -> None:
    """Print lines, wrapped and in colour if standard output is a terminal."""
    for line in lines:
        for part in folded(line, sys.stdout):
            if VERDICT.search(part) and on_terminal(sys.stdout):
                _coloured(part)
            else:
                print(part, flush=flush)


def folded(text: str, stream: TextIO | None) -> list[str]:
    """Return the lines of ``text`` without control characters, wrapped if ``stream`` is a terminal."""
    lines = printable(text).split("\n")
    if not on_terminal(stream):
        return lines
    width = _width()
    return [part for line in lines for part in fold(line, width)]


def fold(line: str, width: int) -> list[str]:
    """Wrap one line to ``width`` columns, at spaces and after ``*``.

    Continuation lines begin below the last column if that begins within ``LEFT``, else they are indented.
    """
    if cells(line) <= width or width < LEAST or COMMAND.search(line):
        return [line]
    column = max((gap.end() for gap in GAP.finditer(line)), default=width)
    indent = len(line) - len(line.lstrip()) + FURTHER
    hang = cells(line[:column]) if column <= LEFT * width else min(indent, width // 2)
    return _Wrapper(width, subsequent_indent=" " * hang).wrap(line)


class _Wrapper(TextWrapper):
    """Wraps text at spaces and after the ``*`` of a product."""

    wordsep_simple_re = re.compile(r"(\s+|(?<=\*)(?=[^*\s]))")

    def __init__(self, width: int, **how: str) -> None:
        super().__init__(width, **how, break_long_words=False, break_on_hyphens=False)  # type: ignore[arg-type]


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is an open terminal."""
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
    """Return a console of Rich, which respects ``NO_COLOR`` and ``TERM=dumb``; importing it takes time."""
    from rich.console import Console

    return Console(file=raw(stream), highlight=False, emoji=False)
