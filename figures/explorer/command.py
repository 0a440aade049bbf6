"""``fedbounds explore``: write the page, and open it where that is asked for."""

from __future__ import annotations

import webbrowser
from collections.abc import Sequence
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.showing.files import write_whole
from bounds.showing.loading import load
from bounds.showing.usage import bare_parser, Parser, writable_file
from empirics.experiments import Store
from empirics.experiments.command import path_word
from empirics.progress import progress

from .records import NamedBound

FINE = 0
DEFAULT = Path("explorer.html")


def explore(arguments: Sequence[str]) -> int:
    """Read the line, make the page, write it."""
    try:
        args = _parser().parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    named = entries(args.names)
    store = results(args.store)
    writable_file("-o", args.output, ".html", ".htm")
    with progress("making the page"):
        from .page import page  # with torch, which --help does without

        html = page(named, store)
    try:
        write_whole(args.output, html)
    except OSError as error:  # which names no file where the disk is full
        raise BoundsError(f"-o {args.output}: {error.strerror}") from None
    print(f"wrote {args.output}: {len(named)} bounds, {len(html.encode()) / 1000:.0f} kB")
    if args.open:
        webbrowser.open(args.output.resolve().as_uri())
    return FINE


def entries(names: Sequence[str]) -> list[NamedBound]:
    """The bounds of these names, each once; the whole catalogue where none is named."""
    if not names:
        return [NamedBound(bound, name) for name, bound in BOUNDS.items()]
    return once([NamedBound(load(name), name) for name in names])


def once(named: Sequence[NamedBound]) -> list[NamedBound]:
    """Every bound once, under the first name it was asked for by; two bounds of one name could not be told apart."""
    kept: list[NamedBound] = []
    for entry in named:
        if any(entry.bound is other.bound for other in kept):
            continue
        if any(entry.label == other.label for other in kept):
            raise BoundsError(
                f"explore shows each bound under a name of its own; got two called {entry.label!r}: "
                "rename one with dataclasses.replace(bound, name=...)"
            )
        kept.append(entry)
    return kept


def results(folder: Path | None) -> Path | None:
    """The folder of a store, once it is known to hold results: a wrong one would show no points and say nothing."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise BoundsError(f"there is no store at {folder}; fedbounds figure all --scale smoke fills one")
    if next(iter(Store(folder)), None) is None:
        raise BoundsError(f"the store at {folder} holds no results; fedbounds figure all --scale smoke fills one")
    return folder


def _parser() -> Parser:
    parser = bare_parser("explore", below=["The page needs neither a server nor the network; it opens from disk."])
    add = parser.add_argument
    add("names", nargs="*", metavar="NAME", help="bounds of the list, or path/file.py:variable; none: all of the list")
    add("-o", dest="output", type=path_word, default=DEFAULT, metavar="FILE", help=f"the page ({DEFAULT})")
    add("--open", action="store_true", help="open it in the browser")
    add("--store", type=path_word, metavar="DIR", help="put measured and exact points of this store of runs into it")
    return parser
