"""``fedbounds list data``: the data sets, whether they are here and whole, how large, where, under which licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from bounds.showing.usage import refuse_unused

from ..progress import progress
from ..spec_strings import chosen, refuse_twice
from .catalogue import DATASETS, FILES, OF_ANOTHER, OWN
from .dataset import Dataset
from .features import LICENCE
from .store import DataFormatError, Files, listed, root

EMBEDDED = "inside scikit-learn"
NAMES = tuple(name for name in DATASETS if name not in (*OF_ANOTHER, *OWN))
WORDS = {True: "whole", False: "damaged", None: "no hash listed"}
"""What the listed hash of a file says of it."""
UNITS = ((2**30, "GB"), (2**20, "MB"), (2**10, "kB"))


def data(names: Sequence[str], verify: bool) -> Report:
    """List the sets, or read those that are named and say what is in them; status 1 where a file is damaged."""
    refuse_twice(names)
    for name in names:
        chosen("data set", name, NAMES)
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
            paths = [] if files is None else list(_paths(files))
            hashes = {path: listed(path) for path in paths} if verify else {}
            damaged += [path for path, whole in hashes.items() if whole is False]
            size = sum(path.stat().st_size for path in paths)
            place, licence = (EMBEDDED, LICENCE) if files is None else (f"{files.folder}/", files.licence)
            rows.append([name, _here(files, hashes, bool(paths)), _size(size) if paths else "", place, licence])
            told.append({**dict(zip(head, rows[-1], strict=True)), "bytes": size})
            bar.step()
    lines = [f"folders lie in {root()} ($FEDBOUNDS_DATA)", *aligned(rows, head)]
    lines += [f"damaged: {path}: its hash is not the one that SHA256SUMS lists: fetch it again" for path in damaged]
    found = {"root": str(root()), "sets": told, "damaged": list(map(str, damaged))}
    return Report(lines, found, int(bool(damaged)))


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
    if files is not None:
        for wanted in files.names:
            files.some(wanted)  # refuses what is not here
    about = (make.__doc__ or "").partition("\n")[0]
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
    facts = _facts(found)
    return {**told, **facts}, [*lines, *(f"  {line}" for line in aligned(_rows(facts)))]


def _facts(found: Dataset) -> dict[str, Any]:
    groups = found.groups
    return {
        "samples": len(found),
        "tests": len(found.test) if found.test else None,
        "shape": list(found.inputs.shape[1:]),
        "kind": found.kind,
        "classes": found.classes,
        "groups": None if groups is None else len(np.unique(groups)),
        "group_word": None if groups is None else found.group_word,
        "source": found.source,
        "licence": found.licence,
    }


def _rows(facts: dict[str, Any]) -> list[list[str]]:
    tests = "no test part" if facts["tests"] is None else f"{facts['tests']:,} to test on"
    classes = f", {facts['classes']} classes" if facts["classes"] else ""
    groups = [] if facts["groups"] is None else [["groups", f"{facts['groups']:,} ({facts['group_word']})"]]
    return [
        ["samples", f"{facts['samples']:,}, {tests}"],
        ["one sample", " x ".join(map(str, facts["shape"])) or "a number"],
        ["targets", facts["kind"] + classes],
        *groups,
        *([word, facts[word]] for word in ("source", "licence")),
    ]
