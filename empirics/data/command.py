"""``fedbounds list data``: the data sets, whether they are here and whole, how large, where, under which licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from bounds.showing.usage import refuse_unused

from ..progress import progress
from ..sizes import byte_text
from ..spec_strings import check_choice, refuse_twice
from .catalogue import DATASETS, FILES, OF_ANOTHER, OWN
from .dataset import Dataset
from .features import LICENCE
from .store import DataFormatError, Files, listed, root

NAMES = tuple(name for name in DATASETS if name not in (*OF_ANOTHER, *OWN))
WORDS = {True: "whole", False: "damaged", None: "no hash listed"}
"""What the listed hash of a file says of it."""


def data(names: Sequence[str], verify: bool) -> Report:
    """List the sets, or read those that are named and say what is in them; status 1 where a file is damaged."""
    refuse_twice(names)
    for name in names:
        check_choice("data set", name, NAMES)
    if not names:
        return _list(verify)
    refuse_unused("a set that is named is checked anyway", verify=verify)
    found = [_described(name) for name in names]
    damaged = any(about["damaged"] for about, _ in found)
    return Report([line for _, lines in found for line in lines], [about for about, _ in found], int(damaged))


def _list(verify: bool) -> Report:
    head = ["set", "here", "size", "place", "licence"]
    rows, damaged, told = [], [], []
    with progress("reading the files") as bar:
        bar.start(len(NAMES))
        for name in NAMES:
            files = FILES.get(name)
            hashes = {path: listed(path) if verify else True for path in _paths(files)}
            damaged += [path for path, whole in hashes.items() if whole is False]
            size = sum(path.stat().st_size for path in hashes)
            here = "yes" if files is None or files.present else "in part" if hashes else "no"
            if verify and hashes and here == "yes":
                here = WORDS[min(hashes.values(), key=[False, None, True].index)]
            place, licence = ("inside scikit-learn", LICENCE) if files is None else (f"{files.folder}/", files.licence)
            rows.append([name, here, byte_text(size) if hashes else "", place, licence])
            told.append({**dict(zip(head, rows[-1], strict=True)), "bytes": size})
            bar.step()
    lines = [f"folders lie in {root()} ($FEDBOUNDS_DATA)", *aligned(rows, head)]
    lines += [f"damaged: {path}: its hash is not the one that SHA256SUMS lists: fetch it again" for path in damaged]
    found = {"root": str(root()), "sets": told, "damaged": list(map(str, damaged))}
    return Report(lines, found, int(bool(damaged)))


def _paths(files: Files | None) -> Iterator[Path]:
    """The files of a set that are here; some come as folders."""
    for path in [path for name in files.names for path in files.paths(name)] if files else []:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _described(name: str) -> tuple[dict[str, Any], list[str]]:
    """Read a set, which checks its files: what is in it, for machines and as lines."""
    make: Callable[..., Dataset] = DATASETS[name]
    files = FILES.get(name)
    _ = [files.some(wanted) for wanted in files.names] if files else []  # refuses what is not here
    about = (make.__doc__ or "").partition("\n")[0]
    there: list[dict[str, Any]] = [
        {"path": str(path.relative_to(root())), "bytes": path.stat().st_size, "state": WORDS[listed(path)]}
        for path in _paths(files)
    ]
    lines = [f"{name}: {about}", *(f"  {one['path']}  {byte_text(one['bytes'])}, {one['state']}" for one in there)]
    told: dict[str, Any] = {"set": name, "about": about, "files": there}
    told["damaged"] = ", ".join(one["path"] for one in there if one["state"] == WORDS[False])
    try:
        with progress(f"reading {name}"):
            found = make()
    except DataFormatError as error:
        return {**told, "damaged": str(error)}, [*lines, f"damaged: {error}"]
    groups, tests = found.groups, found.test
    facts: dict[str, Any] = {
        "samples": len(found),
        "tests": None if tests is None else len(tests),
        "shape": list(found.inputs.shape[1:]),
        "kind": found.kind,
        "classes": found.classes,
        "groups": None if groups is None else len(np.unique(groups)),
        "group_word": None if groups is None else found.group_word,
        "source": found.source,
        "licence": found.licence,
    }
    rows = [
        ["samples", f"{len(found):,}, {'no test part' if tests is None else f'{len(tests):,} to test on'}"],
        ["one sample", " x ".join(map(str, found.inputs.shape[1:])) or "a number"],
        ["targets", found.kind + (f", {found.classes} classes" if found.classes else "")],
        *([] if groups is None else [["groups", f"{facts['groups']:,} ({found.group_word})"]]),
        *([word, facts[word]] for word in ("source", "licence")),
    ]
    return {**told, **facts}, [*lines, *(f"  {line}" for line in aligned(rows))]
