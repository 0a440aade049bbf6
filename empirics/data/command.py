"""The verb ``data``: the data sets, whether they are here and whole, how large, where, under which licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import unknown
from bounds.showing.tables import aligned
from bounds.showing.usage import bare_parser, refuse_idle

from ..calls import refuse_twice
from ..progress import progress
from .catalogue import DATASETS, FILES, OF_ANOTHER, OWN
from .dataset import Dataset
from .embedded import LICENCE
from .store import DataFormatError, Files, listed, MissingDataError, root

FINE, FINDING = 0, 1
OTHERS = f"""of another set: {", ".join(OF_ANOTHER)}, as in held_out(digits); of your own:
table('my.csv', target='label', group='site')"""
EMBEDDED = "inside scikit-learn"
NAMES = tuple(name for name in DATASETS if name not in (*OF_ANOTHER, *OWN))
WORDS = {True: "whole", False: "damaged", None: "no hash listed"}
"""What the listed hash of a file says of it."""
UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


def data(arguments: Sequence[str]) -> int:
    """List the sets, or read those that are named and say what is in them; 1 where a file is damaged."""
    parser = bare_parser("data", below=[OTHERS])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="sets to read, check and describe; none: list them all"
    )
    parser.add_argument("--verify", action="store_true", help="check every file that is here against SHA256SUMS")
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return FINE
    refuse_twice(args.names)
    for name in args.names:
        if name not in NAMES:
            raise unknown("data set", name, NAMES)
    if args.names:
        refuse_idle(parser, args, ("verify",), "a set that is named is checked anyway")
        return max([_describe(name) for name in args.names])
    return _list(args.verify)


def _list(verify: bool) -> int:
    rows, damaged = [], []
    with progress("reading the files") as bar:
        bar.start(len(NAMES))
        for name in NAMES:
            files = FILES.get(name)
            paths = [] if files is None else list(_paths(files))
            hashes = {path: listed(path) for path in paths} if verify else {}
            damaged += [path for path, whole in hashes.items() if whole is False]
            size = _size(sum(path.stat().st_size for path in paths)) if paths else ""
            licence, place = (LICENCE, EMBEDDED) if files is None else (files.licence, f"{files.folder}/")
            rows.append([name, _here(files, hashes, bool(paths)), size, place, licence])
            bar.step()
    head = ["set", "here", "size", "place", "licence"]
    print("\n".join([f"folders lie in {root()} ($FEDBOUNDS_DATA)", *aligned(rows, head)]))
    for path in damaged:
        print(f"damaged: {path}: its hash is not the one that SHA256SUMS lists: fetch it again")
    return FINDING if damaged else FINE


def _here(files: Files | None, hashes: Mapping[Path, bool | None], some: bool) -> str:
    """Whether a set is here; where its files were checked, what was found."""
    if files is None or not files.present:
        return "yes" if files is None else "in part" if some else "no"
    found = set(hashes.values())
    return WORDS[False if False in found else None if None in found else True] if found else "yes"


def _paths(files: Files) -> Iterator[Path]:
    """The files of a set that are here; some come as folders."""
    for name in files.names:
        for path in files.paths(name):
            yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _size(count: float) -> str:
    return next((f"{count / unit:.3g} {word}" for unit, word in UNITS if count >= unit), f"{count} bytes")


def _describe(name: str) -> int:
    """Read a set, which checks its files, and say what is in it."""
    make: Callable[..., Dataset] = DATASETS[name]
    files = FILES.get(name)
    if files is not None and not files.present:
        raise MissingDataError(files.missing(next(wanted for wanted in files.names if not files.paths(wanted))))
    about = getattr(make, "about", "") or (make.__doc__ or "").partition("\n")[0]
    print(f"{name}: {about}")
    hashes = [] if files is None else [(path, listed(path)) for path in _paths(files)]
    for path, whole in hashes:
        print(f"  {path.relative_to(root())}  {_size(path.stat().st_size)}, {WORDS[whole]}")
    try:
        with progress(f"reading {name}"):
            found = make()
    except DataFormatError as error:
        print(f"damaged: {error}")
        return FINDING
    print("\n".join(f"  {line}" for line in aligned(_rows(found))))
    return FINDING if any(whole is False for _, whole in hashes) else FINE


def _rows(found: Dataset) -> list[list[str]]:
    shape: Any = found.inputs.shape[1:]
    samples = f"{len(found.inputs):,}" + (
        f", {len(found.test.inputs):,} to test on" if found.test else ", no test part"
    )
    rows = [["samples", samples], ["one sample", " x ".join(map(str, shape)) or "a number"]]
    rows += [["targets", found.kind + (f", {found.classes} classes" if found.classes else "")]]
    if found.groups is not None:
        rows += [["groups", f"{len(set(found.groups.tolist())):,} ({found.group_word})"]]
    return [*rows, ["source", found.source], ["licence", found.licence]]
