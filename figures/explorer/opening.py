"""``fedbounds open``: the page of all bounds in the browser, at one of them.

The page is kept among the caches and made again where anything of the toolkit has changed; nothing listens anywhere.
"""

from __future__ import annotations

import hashlib
import webbrowser
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import mkdtemp
from urllib.parse import quote

from bounds.errors import BoundsError
from bounds.index import entries as listed
from bounds.showing.files import cache_folder, write_whole
from bounds.showing.usage import bare_parser, Parser
from empirics.progress import progress

FINE = 0
ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
VERSION = "2"
"""Of the page's links."""
LEAD = '<!doctype html><meta charset="utf-8"><title>{0}</title><meta http-equiv="refresh" content="0; url={1}">\
<a href="{1}">{0}</a>\n'
"""A file that leads to a place of the page: what opens files forgets what stands behind a ``#``."""


def open_(arguments: Sequence[str]) -> int:
    """Make the page where it is not there yet, and show it."""
    try:
        args = _parser().parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    place = _place(args.name)
    try:
        shown = webbrowser.open(place.as_uri())
    except webbrowser.Error:
        shown = False
    if not shown:
        raise BoundsError(f"no browser was found; the page is at {place}: open it in one, or name one in BROWSER")
    print(f"opened {place}")
    return FINE


def _place(name: str | None) -> Path:
    """The file to open."""
    if name is None:
        return _kept()
    if name in {entry["name"] for entry in listed()}:
        return _led(_kept(), name)
    from bounds.showing.loading import load

    load(name)  # says what is wrong with it before the page is made
    return _led(_made(Path(mkdtemp(prefix="fedbounds-")) / "explorer.html", name), name)


def _kept() -> Path:
    """The page of all bounds, of the toolkit as it is now; pages of what it was before are dropped."""
    folder = cache_folder() / "explorer"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(mkdtemp(prefix="fedbounds-"))
    page = folder / f"page-{_digest()}.html"
    if not page.exists():
        _made(page)
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


def _made(path: Path, *names: str) -> Path:
    """The page with all bounds, the named ones first."""
    with progress("making the page"):
        from .command import entries, once
        from .page import page

        return write_whole(path, page(once([*entries(names), *entries(())] if names else entries(()))))


def _led(page: Path, name: str) -> Path:
    """A file beside the page that leads to this bound on it."""
    target = escape(page.name + fragment(name))
    place = page.with_name(f"open-{hashlib.sha256(name.encode()).hexdigest()[:12]}.html")
    return write_whole(place, LEAD.format(escape(name), target))


def fragment(name: str) -> str:
    """What leads to a bound on the page, behind its address."""
    return f"#v={VERSION}&b={quote(name, safe='')}"


def _parser() -> Parser:
    parser = bare_parser("open", below=["The page needs neither a server nor the network; BROWSER names a browser."])
    parser.add_argument("name", nargs="?", metavar="NAME", help="a bound of the list, or path/file.py:variable")
    return parser
