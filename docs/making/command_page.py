"""The reference of the command: the help of every verb, as the command itself prints it."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stdout

from bounds.showing.verbs import VERBS
from fedbounds import main

from .text import alone, page, plain, table

WIDE = "100"
"""Letters of a line."""


def command() -> str:
    """The list of all verbs."""
    said = "`NAME` is a bound of the list, or `path/file.py:variable` for one of your own."
    rows = ([f"[{name}]({name}.md)", f"{plain(verb.help)}"] for name, verb in VERBS.items())
    return page("# The command", said, table(["verb", ""], rows))


def of_verb(name: str) -> str:
    """The page of one: its help."""
    said = f"{plain(VERBS[name].help)}"
    return alone(f"# fedbounds {name}", "[The command](index.md)", said, f"```text\n{_help(name)}```")


def _help(verb: str) -> str:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDE
    try:
        with redirect_stdout(io.StringIO()) as printed:
            main([verb, "--help"])
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return printed.getvalue()
