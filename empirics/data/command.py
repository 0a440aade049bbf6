"""``fedbounds list data``: the data sets with their state on this machine, size, folder and licence."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.command_line import Report
from bounds.showing.tables import aligned
from bounds.showing.usage import refuse_unused

from ..numbers import check_choice
from ..progress import progress
from ..sizes import byte_text
from ..spec_strings import refuse_twice
from .catalogue import DATASETS, FILES, OF_ANOTHER, OWN
from .dataset import Dataset
from .features import LICENCE
from .store import DataFormatError, Files, matches_hash, root

NAMES = tuple(name for name in DATASETS if name not in (*OF_ANOTHER, *OWN))
STATES = {True: "whole", False: "damaged", None: "no hash listed"}
"""State of a file by whether it has its listed hash."""


def data(names: Sequence[str], verify: bool) -> Report:
    """List the data sets, or read and describe the named ones; the exit status is 1 if a file is damaged."""
    refuse_twice(names)
    for name in names:
        check_choice("data set", name, NAMES)
    if not names:
        return _list(verify)
    refuse_unused("a named set is always checked", verify=verify)
    descriptions = [_describe(name) for name in names]
    damaged = any(facts["damaged"] for facts, _ in descriptions)
    lines = [line for _, lines in descriptions for line in lines]
    return Report(lines, [facts for facts, _ in descriptions], int(damaged))


def _list(verify: bool) -> Report:
    head = ["set", "here", "size", "place", "licence"]
    rows, damaged, records = [], [], []
    with progress("reading the files") as bar:
        bar.start(len(NAMES))
        for name in NAMES:
            files = FILES.get(name)
            hashes = {path: matches_hash(path) if verify else True for path in _paths(files)}
            damaged += [path for path, whole in hashes.items() if whole is False]
            size = sum(path.stat().st_size for path in hashes)
            here = "yes" if files is None or files.present else "in part" if hashes else "no"
            if verify and hashes and here == "yes":
                here = STATES[min(hashes.values(), key=[False, None, True].index)]
            place, licence = ("inside scikit-learn", LICENCE) if files is None else (f"{files.folder}/", files.licence)
            rows.append([name, here, byte_text(size) if hashes else "", place, licence])
            records.append({**dict(zip(head, rows[-1], strict=True)), "bytes": size})
            bar.step()
    lines = [f"folders are in {root()} ($FEDBOUNDS_DATA)", *aligned(rows, head)]
    lines += [f"damaged: {path}: its hash differs from the one in SHA256SUMS: fetch it again" for path in damaged]
    record = {"root": str(root()), "sets": records, "damaged": list(map(str, damaged))}
    return Report(lines, record, int(bool(damaged)))


def _paths(files: Files | None) -> Iterator[Path]:
    """Yield the files of a set that are on this machine, including those inside its folders."""
    for path in [path for name in files.names for path in files.paths(name)] if files else []:
        yield from sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]


def _describe(name: str) -> tuple[dict[str, Any], list[str]]:
    """Read a set, which checks its files, and return its facts as JSON values and as lines of text."""
    make: Callable[..., Dataset] = DATASETS[name]
    files = FILES.get(name)
    if files:
        for pattern in files.names:
            files.some(pattern)  # raises if a file is missing
    about = (make.__doc__ or "").partition("\n")[0]
    parts: list[dict[str, Any]] = [
        {"path": str(path.relative_to(root())), "bytes": path.stat().st_size, "state": STATES[matches_hash(path)]}
        for path in _paths(files)
    ]
    lines = [f"{name}: {about}", *(f"  {part['path']}  {byte_text(part['bytes'])}, {part['state']}" for part in parts)]
    record: dict[str, Any] = {"set": name, "about": about, "files": parts}
    record["damaged"] = ", ".join(part["path"] for part in parts if part["state"] == STATES[False])
    try:
        with progress(f"reading {name}"):
            data = make()
    except DataFormatError as error:
        return {**record, "damaged": str(error)}, [*lines, f"damaged: {error}"]
    groups, tests = data.groups, data.test
    record |= {
        "samples": len(data),
        "tests": None if tests is None else len(tests),
        "shape": list(data.inputs.shape[1:]),
        "kind": data.kind,
        "classes": data.classes,
        "groups": None if groups is None else len(np.unique(groups)),
        "group_word": None if groups is None else data.group_word,
        "source": data.source,
        "licence": data.licence,
    }
    rows = [
        ["samples", f"{len(data):,}, {'no test part' if tests is None else f'{len(tests):,} to test on'}"],
        ["one sample", " x ".join(map(str, data.inputs.shape[1:])) or "a number"],
        ["targets", data.kind + (f", {data.classes} classes" if data.classes else "")],
        *([] if groups is None else [["groups", f"{record['groups']:,} ({data.group_word})"]]),
        *([key, record[key]] for key in ("source", "licence")),
    ]
    return record, [*lines, *(f"  {line}" for line in aligned(rows))]
