"""The verb ``data``: the data sets, whether they are here and whole, how large, where, under which licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.errors import unknown
from bounds.showing.tables import aligned, to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, refuse_idle

from ..progress import progress
from ..spec_strings import refuse_twice
from .catalogue import DATASETS, FILES, OF_ANOTHER, OWN
from .dataset import Dataset
from .embedded import LICENCE
from .store import DataFormatError, Files, listed, MissingDataError, root

FINE, FINDING = 0, 1
DATA_JSON = """\
--json prints one object: root (the folder of all), sets (set, here, size, place, licence, bytes of what is here) and
damaged (paths). With names: a list of objects with set, about, files (path, bytes, state), damaged (why, or empty) and
what is in the set: samples, tests (null: no test part), shape, kind, classes, groups, group_word, source, licence."""
OTHERS = f"""of another set: {", ".join(OF_ANOTHER)}, as in held_out(digits); of your own:
table('my.csv', target='label', group='site')"""
EMBEDDED = "inside scikit-learn"
NAMES = tuple(name for name in DATASETS if name not in (*OF_ANOTHER, *OWN))
WORDS = {True: "whole", False: "damaged", None: "no hash listed"}
"""What the listed hash of a file says of it."""
UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


def data(arguments: Sequence[str]) -> int:
    """List the sets, or read those that are named and say what is in them; 1 where a file is damaged."""
    parser = bare_parser("data", below=[OTHERS, DATA_JSON])
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="sets to read, check and describe; none: list them all"
    )
    parser.add_argument("--verify", action="store_true", help="check every file that is here against SHA256SUMS")
    parser.add_argument("--json", action="store_true", help="print JSON, described below")
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
        found = [_described(name) for name in args.names]
        if args.json:
            print(to_json([about for about, _ in found]))
        else:
            print_lines(line for _, lines in found for line in lines)
        return FINDING if any(about["damaged"] for about, _ in found) else FINE
    return _list(args.verify, args.json)


def _list(verify: bool, as_json: bool) -> int:
    rows, damaged, sizes = [], [], []
    with progress("reading the files") as bar:
        bar.start(len(NAMES))
        for name in NAMES:
            files = FILES.get(name)
            paths = [] if files is None else list(_paths(files))
            hashes = {path: listed(path) for path in paths} if verify else {}
            damaged += [path for path, whole in hashes.items() if whole is False]
            sizes.append(sum(path.stat().st_size for path in paths))
            size = _size(sizes[-1]) if paths else ""
            licence, place = (LICENCE, EMBEDDED) if files is None else (files.licence, f"{files.folder}/")
            rows.append([name, _here(files, hashes, bool(paths)), size, place, licence])
            bar.step()
    head = ["set", "here", "size", "place", "licence"]
    if as_json:
        told = [{**dict(zip(head, row, strict=True)), "bytes": size} for row, size in zip(rows, sizes, strict=True)]
        print(to_json({"root": str(root()), "sets": told, "damaged": list(map(str, damaged))}))
        return FINDING if damaged else FINE
    print_lines([f"folders lie in {root()} ($FEDBOUNDS_DATA)", *aligned(rows, head)])
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


def _described(name: str) -> tuple[dict[str, Any], list[str]]:
    """Read a set, which checks its files: what is in it, for machines and as lines."""
    make: Callable[..., Dataset] = DATASETS[name]
    files = FILES.get(name)
    if files is not None and not files.present:
        raise MissingDataError(files.missing(next(wanted for wanted in files.names if not files.paths(wanted))))
    about = getattr(make, "about", "") or (make.__doc__ or "").partition("\n")[0]
    hashes = [] if files is None else [(path, listed(path)) for path in _paths(files)]
    there = [(str(path.relative_to(root())), path.stat().st_size, WORDS[whole]) for path, whole in hashes]
    lines = [f"{name}: {about}", *(f"  {path}  {_size(size)}, {state}" for path, size, state in there)]
    told: dict[str, Any] = {"set": name, "about": about, "damaged": ", ".join(p for p, _, w in there if w == "damaged")}
    told["files"] = [{"path": path, "bytes": size, "state": state} for path, size, state in there]
    try:
        with progress(f"reading {name}"):
            found = make()
    except DataFormatError as error:
        return {**told, "damaged": str(error)}, [*lines, f"damaged: {error}"]
    return {**told, **_facts(found)}, [*lines, *(f"  {line}" for line in aligned(_rows(found)))]


def _facts(found: Dataset) -> dict[str, Any]:
    return {
        "samples": len(found.inputs),
        "tests": len(found.test.inputs) if found.test else None,
        "shape": list(found.inputs.shape[1:]),
        "kind": found.kind,
        "classes": found.classes,
        "groups": None if found.groups is None else len(set(found.groups.tolist())),
        "group_word": None if found.groups is None else found.group_word,
        "source": found.source,
        "licence": found.licence,
    }


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
