"""``fedbounds explore``: write the page, and open it where that is asked for."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.loading import load
from bounds.showing.usage import bare_parser, Parser

from .page import page
from .records import Entry

FINE = 0
DEFAULT = Path("explorer.html")


def explore(arguments: Sequence[str]) -> int:
    """Read the line, make the page, write it."""
    try:
        args = _parser().parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    named = entries(args.names)
    if args.store is not None and not args.store.is_dir():
        raise BoundsError(f"--store {args.store}: there is no such folder")
    _writable(args.output)
    html = page(named, args.store)
    args.output.write_text(html, encoding="utf-8")
    print(f"wrote {args.output}: {len(named)} bounds, {len(html.encode()) / 1000:.0f} kB")
    if args.open:
        webbrowser.open(args.output.resolve().as_uri())
    return FINE


def entries(names: Sequence[str]) -> list[Entry]:
    """The bounds of these names, each once; the whole catalogue where none is named."""
    if not names:
        return [Entry(bound, name) for name, bound in BOUNDS.items()]
    return [Entry(load(name), name) for name in dict.fromkeys(names)]


def _writable(path: Path) -> None:
    """Find out before the page is made; what stands in the file stays as it is."""
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise BoundsError(f"-o {path}: {error.strerror}") from None


def _parser() -> Parser:
    parser = bare_parser("explore", below=["The page needs neither a server nor the network; it opens from disk."])
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="bounds of the list, or path/file.py:variable; none: all of the list")
    add("-o", dest="output", type=Path, default=DEFAULT, metavar="FILE", help=f"the page ({DEFAULT})")
    add("--open", action="store_true", help="open it in the browser")
    add("--store", type=Path, metavar="DIR", help="put measured and exact points of this store of runs into it")
    return parser
