"""Put the page together: one HTML file with style, code, packed data and a policy that forbids the network."""

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
    "elements", "numbers", "evaluate", "identities", "theorems", "compare", "evidence", "runs", "grid", "worker",
    "state", "controls", "link", "chart", "panel", "copy", "contours", "map", "ranking", "best_plans", "files",
    "export", "events", "stories", "main",
)  # fmt: skip
"""The modules of the page in the order in which they are concatenated."""
NO_COMPARISON = "const IDENTITIES=[],FACTORS=[],SIDES={},TRIVIAL={},PAIR=[],DERIVED={},MACHINE_NOISE=null;\n"
"""In place of the code of the atlas in a page of single bounds, which compares nothing."""
TITLE = "fedbounds"
WORDS = "What do the theorems of federated learning promise for your setting, and what really happens?"


def page(entries: Sequence[NamedBound], store: Path | None = None, *, alone: bool = False) -> str:
    """Return the HTML of a page that shows these bounds, with the points of a store of runs.

    A page with the whole catalogue compares the bounds, unless they are to be shown ``alone``.
    """
    atlas = None
    if not alone and {e.label for e in entries} >= BOUNDS.keys():
        from .atlas import atlas as make_atlas  # imports torch, which pages of single bounds do not need

        atlas = make_atlas(entries)
    comparison = atlas.data if atlas else records.alone(entries)
    if store is not None:
        from . import measured  # imports torch

        comparison["federations"] += measured.settings(entries, store, whole=atlas is not None)
    script, style = _script(entries, atlas.code if atlas else NO_COMPARISON), _bare(_part("page.css"))
    content = records.data(entries) | {"atlas": comparison}
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
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
        "data": _packed(data),
        "script": script,
    }
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], _part("page.html"))


def _script(entries: Sequence[NamedBound], comparison: str) -> str:
    """Return the script: formulas as functions and the page's code, inside a function of its own scope."""
    formulas = ",\n".join(f"{json.dumps(e.label)}:{records.code(e)}" for e in entries)
    code = _bare("\n".join(_part(f"{name}.js") for name in MODULES))
    script = f'(() => {{\n"use strict";\nconst CODE = {{\n{formulas}\n}};\n{comparison}{code}}})();\n'
    return script.replace("</", "<\\/").replace("<!--", "<\\!--")  # nothing may look like the end of a script


def _bare(code: str) -> str:
    """Return the code without comments on lines of their own and without indents; no text spans several lines."""
    return re.sub(r"^ +", "", re.sub(r"^ */\*.*?\*/\n", "", code, flags=re.MULTILINE | re.DOTALL), flags=re.MULTILINE)


def _part(name: str) -> str:
    return (files(__package__) / "web" / name).read_text(encoding="utf-8")


def _packed(text: str) -> str:
    """Return the compressed text in Ascii85; what the page decodes has ``v`` for ``<`` and no abbreviation of zeros."""
    code = base64.a85encode(gzip.compress(text.encode(), mtime=0)).decode()
    return code.replace("z", "!!!!!").replace("<", "v")


def _digest(text: str) -> str:
    """Return the hash by which a content security policy allows an element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
