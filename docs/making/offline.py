"""Warn about every page, style sheet or script of the built site that loads something from a network."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

LINKS_THAT_LOAD_NOTHING = {"author", "canonical", "index", "next", "prev", "search"}
LOADING = {"src", "srcset", "data", "poster", "xlink:href"}
"""Attributes whose value a browser fetches in any element; it fetches ``href`` only in some."""
INSIDE = re.compile(r"<(style|script)([^>]*)>(.*?)</\1>", re.DOTALL)
TAG = re.compile(r"<([\w-]+)([^>]*)>")
ATTRIBUTE = re.compile(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
ELSEWHERE = re.compile(r"(?:https?:)?//[\w.-]+\.\w")
FETCHED_BY_STYLE = re.compile(r"url\(\s*['\"]?([^)'\"]*)|@import\s+['\"]([^'\"]*)")
ADDRESS_IN_SCRIPT = re.compile(r"[\"'`]((?:https?:)?//[\w.-]+\.\w[^\"'`]*)")
NAMESPACES = re.compile(r"https?://www\.w3\.org/")
"""Identifiers that look like addresses but are never fetched."""


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", refuse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def refuse(app: Sphinx, error: Exception | None) -> None:
    """Log a warning for each address that a page would load from a network."""
    if error is None and app.builder.format == "html":
        for path, address in loads(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s loads %s from the network", path, address)


def loads(folder: Path) -> list[tuple[str, str]]:
    """(file, address) for every address that a file of the built site fetches from a network."""
    readers = {".html": of_page, ".svg": of_page, ".css": of_style, ".js": of_script}
    return [
        (str(path.relative_to(folder)), address)
        for path in sorted(folder.rglob("*"))
        if path.suffix in readers
        for address in readers[path.suffix](path.read_text(encoding="utf-8"))
    ]


def of_page(text: str) -> list[str]:
    """Network addresses that a page or an SVG picture fetches by itself; links to click on do not count."""
    addresses = []
    for kind, _, content in INSIDE.findall(text):
        addresses += of_style(content) if kind == "style" else of_script(content)
    for tag, rest in TAG.findall(INSIDE.sub(r"<\1\2>", text)):
        given = {name: one or other for name, one, other in ATTRIBUTE.findall(rest)}
        link = tag == "link" and not set(given.get("rel", "").split()) <= LINKS_THAT_LOAD_NOTHING
        fetched = LOADING | ({"href"} if link or tag in ("image", "use") else set())
        values = [part for name, value in given.items() if name in fetched for part in re.split(r"[\s,]+", value)]
        addresses += [*of_style(given.get("style", "")), *filter(ELSEWHERE.match, values)]
    return [address for address in addresses if not NAMESPACES.match(address)]


def of_style(text: str) -> list[str]:
    return [address for match in FETCHED_BY_STYLE.findall(text) for address in match if ELSEWHERE.match(address)]


def of_script(text: str) -> list[str]:
    return [address for address in ADDRESS_IN_SCRIPT.findall(text) if not NAMESPACES.match(address)]
