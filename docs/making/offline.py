"""A built site that loads anything from elsewhere is refused: pages, style sheets and scripts are read for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

LINKS_THAT_LOAD_NOTHING = {"author", "canonical", "index", "next", "prev", "search"}
LOADING = {"src", "srcset", "data", "poster", "xlink:href", "style"}
"""Attributes whose value a browser fetches, in any element; ``href`` is one in some."""
ELSEWHERE = re.compile(r"(?:https?:)?//[\w.-]+\.\w")
FETCHED_BY_STYLE = re.compile(r"url\(\s*['\"]?([^)'\"]*)|@import\s+['\"]([^'\"]*)")
ADDRESS_IN_SCRIPT = re.compile(r"[\"'`]((?:https?:)?//[\w.-]+\.\w[^\"'`]*)")
NAMESPACES = re.compile(r"https?://www\.w3\.org/")
"""Names that look like addresses and are never fetched."""


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", refuse)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def refuse(app: Sphinx, error: Exception | None) -> None:
    """A warning for each thing that a page would load from elsewhere."""
    if error is None and app.builder.format == "html":
        for path, address in loads(Path(app.outdir)):
            logging.getLogger(__name__).warning("%s loads %s from the network", path, address)


def loads(folder: Path) -> list[tuple[str, str]]:
    """Each file of a built site with an address that it fetches from elsewhere."""
    readers = {".html": of_page, ".svg": of_page, ".css": of_style, ".js": of_script}
    return [
        (str(path.relative_to(folder)), address)
        for path in sorted(folder.rglob("*"))
        if path.suffix in readers
        for address in readers[path.suffix](path.read_text(encoding="utf-8"))
    ]


def of_page(text: str) -> list[str]:
    """Addresses elsewhere that a page or a picture fetches by itself; links to follow are none."""
    reader = _Reader()
    reader.feed(text)
    return [address for address in reader.found if not NAMESPACES.match(address)]


def of_style(text: str) -> list[str]:
    return [a for found in FETCHED_BY_STYLE.findall(text) for a in found if ELSEWHERE.match(a)]


def of_script(text: str) -> list[str]:
    return [address for address in ADDRESS_IN_SCRIPT.findall(text) if not NAMESPACES.match(address)]


class _Reader(HTMLParser):
    """Collects what a page fetches: by attributes, and in the style and script it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        given = {name: value or "" for name, value in attrs}
        for name, value in given.items():
            self.found += list(_fetched(tag, name, value, given.get("rel", "")))

    def handle_data(self, data: str) -> None:
        if self.inside == "style":
            self.found += of_style(data)
        elif self.inside == "script":
            self.found += of_script(data)


def _fetched(tag: str, name: str, value: str, rel: str) -> Iterator[str]:
    if name == "style":
        yield from of_style(value)
    elif name in LOADING or (name == "href" and _loads(tag, rel)):
        yield from (part for part in re.split(r"[\s,]+", value) if ELSEWHERE.match(part))


def _loads(tag: str, rel: str) -> bool:
    return tag in ("image", "use") or (tag == "link" and not set(rel.split()) <= LINKS_THAT_LOAD_NOTHING)
