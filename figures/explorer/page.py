"""One self-contained file: the page, its style, its code and the packed data, and a policy that forbids the network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from bounds.catalog import BOUNDS

from . import records
from .records import NamedBound

MODULES = (
    "elements", "numbers", "evaluate", "ties", "speaking", "comparing", "evidence", "runs", "grid", "worker",
    "federation", "chart", "panel", "copying", "contours", "map", "ranking", "running", "exporting", "hands", "stories",
    "opening",
)  # fmt: skip
"""The page's own code, in the order in which it is put together."""
NO_TIES = "const TIES=[],FACTORS=[],SIDES={},TRIVIAL={},PAIR=[],FOLLOWS={},MACHINE_NOISE=null;\n"
"""The script of a page of single bounds: all theorems stand beside each other where all of them are."""
TITLE = "fedbounds"
WORDS = "What do the theorems of federated learning promise for your setting, and what really happens?"


def page(entries: Sequence[NamedBound], store: Path | None = None, *, alone: bool = False) -> str:
    """The HTML of a page that shows these bounds, with the points of a store of runs beside them.

    Where it holds the whole catalogue it compares them, unless each is to be shown ``alone``.
    """
    atlas = None
    if not alone and {e.label for e in entries} >= BOUNDS.keys():
        from .atlas import atlas as compared  # with torch, which pages of single bounds do without

        atlas = compared(entries)
    told = atlas.data if atlas else records.alone(entries)
    if store is not None:
        from . import measured  # with torch, which pages without runs do without

        told["federations"] += measured.settings(entries, store, whole=atlas is not None)
    script, style = _script(entries, atlas.code if atlas else NO_TIES), _part("page.css")
    shown = records.data(entries) | {"atlas": told}
    data = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; worker-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": TITLE,
        "words": escape(WORDS),
        "style": style,
        "data": base64.b64encode(gzip.compress(data.encode(), mtime=0)).decode(),
        "script": script,
    }
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], _part("page.html"))


def _script(entries: Sequence[NamedBound], ties: str) -> str:
    """The formulas as functions and the page's code, closed off from the names of the browser."""
    formulas = ",\n".join(f"{json.dumps(e.label)}:{records.code(e)}" for e in entries)
    code = _bare("\n".join(_part(f"{name}.js") for name in MODULES))
    return _inert(f'(() => {{\n"use strict";\nconst CODE = {{\n{formulas}\n}};\n{ties}{code}}})();\n')


def _bare(code: str) -> str:
    """Without comments on lines of their own, and without indents: no text of the page goes over several lines."""
    return re.sub(r"^ +", "", re.sub(r"^ */\*.*?\*/\n", "", code, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)


def _inert(script: str) -> str:
    """Nothing in a script may look like the end of it."""
    return script.replace("</", "<\\/").replace("<!--", "<\\!--")


def _part(name: str) -> str:
    return (files(__package__) / "web" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """What a policy knows an element's text by."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
