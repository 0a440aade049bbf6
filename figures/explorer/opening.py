"""The page of bounds in the browser: of all of them, at one of them, or of some.

The page is kept among the caches and made again where anything of the toolkit has changed; nothing listens anywhere.
"""

from __future__ import annotations

import hashlib
import webbrowser
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.files import cache_folder, write_whole

from .command import entries, Explorer, once

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
VERSION = "2"
"""Of the page's links."""
LEAD = '<!doctype html><meta charset="utf-8"><title>{0}</title><meta http-equiv="refresh" content="0; url={1}">\
<a href="{1}">{0}</a>\n'
"""A file that leads to a place of the page: what opens files forgets what stands behind a ``#``."""


def opened(found: Explorer) -> Path:
    """Show a page in the browser; returns its file. One bound is shown on the page of all bounds, which is kept."""
    place = _place(found)
    try:
        shown = webbrowser.open(place.as_uri())
    except webbrowser.Error:
        shown = False
    if not shown:
        raise BoundsError(f"no browser was found; the page is at {place}: open it in one, or name one in BROWSER")
    return place


def _place(found: Explorer) -> Path:
    if found.store is None and found.all:
        return _kept()
    if found.store is None and len(found.bounds) == 1:
        [(bound, name)] = [(entry.bound, entry.label) for entry in found.bounds]
        if BOUNDS.get(name) is bound:
            return _led(_kept(), name)
        found = Explorer(tuple(once([*found.bounds, *entries(())])), all=False)
        return _led(found.save(_temporary()), name)
    return found.save(_temporary())


def _temporary() -> Path:
    return Path(mkdtemp(prefix="fedbounds-")) / "explorer.html"


def _kept() -> Path:
    """The page of all bounds, of the toolkit as it is now; pages of what it was before are dropped."""
    folder = cache_folder() / "explorer"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(mkdtemp(prefix="fedbounds-"))
    page = folder / f"page-{_digest()}.html"
    if not page.exists():
        Explorer(tuple(entries(())), all=True).save(page)
        for other in folder.glob("page-*.html"):
            if other != page:
                other.unlink(missing_ok=True)
    return page


def _digest() -> str:
    """What tells this state of the toolkit from others: its files' names, sizes and dates."""
    found = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.*")):
            if path.is_file() and path.suffix != ".pyc":
                about = path.stat()
                found.update(f"{path.relative_to(ROOT)} {about.st_size} {about.st_mtime_ns}\n".encode())
    return found.hexdigest()[:12]


def _led(page: Path, name: str) -> Path:
    """A file beside the page that leads to this bound on it."""
    target = escape(page.name + fragment(name))
    place = page.with_name(f"open-{hashlib.sha256(name.encode()).hexdigest()[:12]}.html")
    return write_whole(place, LEAD.format(escape(name), target))


def fragment(name: str) -> str:
    """What leads to a bound on the page, behind its address."""
    return f"#v={VERSION}&b={quote(name, safe='')}"
