"""The pictures that sessions of hand-written pages draw with ``fedbounds plot``, drawn by these very commands."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from fedbounds import main

DOCS = Path(__file__).resolve().parents[1]
TYPED = re.compile(r"^\$ fedbounds (plot (?:.*\\\n)*.*)\n", re.MULTILINE)


def plots(docs: Path = DOCS) -> Iterator[tuple[str, list[str]]]:
    """Each picture's name and the words that draw it; pages show it as ``reference/sessions/NAME``."""
    for page in sorted([*docs.glob("*.md"), *docs.glob("how-to/*.md")]):
        for typed in TYPED.findall(page.read_text(encoding="utf-8")):
            words = shlex.split(typed.replace("\\\n", " "))
            yield words[words.index("-o") + 1], words


def pictures(folder: Path) -> None:
    """Draws them into ``folder``; the lines that the commands print are on the pages already."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in plots():
        words[words.index("-o") + 1] = str(folder / name)
        with contextlib.redirect_stdout(io.StringIO()):
            if status := main(words):
                raise RuntimeError(f"{name} is not drawn: fedbounds {shlex.join(words)} ended with {status}")
