"""Open the page in the browser: of all bounds, at one of them, or of some.

The page of all bounds is cached and made again when a file of the toolkit has changed; there is no server.
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
PACKAGES = ("bounds", "empirics", "paper_checks", "figures")
VERSION = "2"
"""Version of the page's links."""
LEAD = '<!doctype html><meta charset="utf-8"><title>{0}</title><meta http-equiv="refresh" content="0; url={1}">\
<a href="{1}">{0}</a>\n'
"""A file that redirects to a fragment of the page, since opening a file drops what follows ``#``."""


def opened(explorer: Explorer) -> Path:
    """Open a page in the browser and return its file; a single bound is shown on the page of all bounds."""
    path = _page(explorer)
    try:
        shown = webbrowser.open(path.as_uri())
    except webbrowser.Error:
        shown = False
    if not shown:
        raise BoundsError(f"no browser was found; the page is at {path}: open it in one, or name one in BROWSER")
    return path


def _page(explorer: Explorer) -> Path:
    """Return the file to open, made if necessary."""
    if explorer.store is None and explorer.all:
        return _cached()
    if explorer.store is None and len(explorer.bounds) == 1:
        (entry,) = explorer.bounds
        if BOUNDS.get(entry.label) is entry.bound:
            return _redirect(_cached(), entry.label)
        together = Explorer(tuple(once([entry, *entries(())])), all=False)
        return _redirect(together.save(_temporary()), entry.label)
    return explorer.save(_temporary())


def _temporary() -> Path:
    return Path(mkdtemp(prefix="fedbounds-")) / "explorer.html"


def _cached() -> Path:
    """Return the cached page of all bounds, made again if the toolkit has changed; older pages are deleted."""
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
    """Return a digest of the toolkit's files: names, sizes and dates."""
    digest = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.*")):
            if path.is_file() and path.suffix != ".pyc":
                stat = path.stat()
                digest.update(f"{path.relative_to(ROOT)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]


def _redirect(page: Path, name: str) -> Path:
    """Write a file beside the page that redirects to this bound on it; return its path."""
    target = escape(page.name + fragment(name))
    path = page.with_name(f"open-{hashlib.sha256(name.encode()).hexdigest()[:12]}.html")
    return write_whole(path, LEAD.format(escape(name), target))


def fragment(name: str) -> str:
    """Return the fragment of the page's address that shows a bound."""
    return f"#v={VERSION}&b={quote(name, safe='')}"
